package services

import (
	"net/netip"
	"net/url"
	"strings"

	"ethos/pkg/record"
)

// servicePorts are the default ports, by the documentation of each, of services that take requests
// which change their data.
const servicePorts = " 9200:elasticsearch 9201:elasticsearch 7700:meilisearch 8983:solr 8108:typesense 6333:qdrant" +
	" 19530:milvus 9091:milvus 8001:kong 8444:kong 9180:apisix 9090:prometheus 9093:prometheus" +
	" 8428:prometheus 3100:loki 8086:influxdb 5984:couchdb 8123:clickhouse 8529:arangodb 7474:neo4j" +
	" 15672:rabbitmq 8081:kafka 8083:kafka 8200:vault 8500:consul 4646:nomad 2379:etcd 2375:docker" +
	" 2376:docker 6443:kubernetes "

func servicePort(port string) (service string) {
	if _, after, ok := strings.Cut(servicePorts, " "+port+":"); ok {
		service, _, _ = strings.Cut(after, " ")
	}
	return service
}

// requests returns what an HTTP client deletes.
func requests(name string, argv []*string) (found []record.Service) {
	var method string
	var places []string
	switch name {
	case "curl":
		method, places = curl(argv)
	case "wget":
		method, places = asked(argv, "--method", "--body-data", "--post-data")
	case "http", "https", "xh", "xhs":
		method, places = spoken(argv)
	default:
		return nil
	}
	for _, p := range places {
		if s, ok := request(method, p); ok && len(found) < most {
			found = append(found, s)
		}
	}
	return found
}

// curl returns the method and the URLs of a curl command; -G and -I send no
// body.
func curl(argv []*string) (method string, places []string) {
	method, places = asked(argv, "--request", "--data", "--data-raw", "--data-binary", "--json")
	w := words{argv: argv}
	for i := range argv {
		if given, value := w.given("-X", i, true); given {
			method = value
		}
	}
	if method == "" && (w.option("-d|--data|--data-raw|--data-binary|--json") || w.option("-d=*")) {
		method = "POST"
	}
	return method, places
}

func asked(argv []*string, option string, bodies ...string) (method string, places []string) {
	w := words{argv: argv}
	for i := range argv {
		if given, value := w.given(option, i, true); given {
			method = value
		}
		for _, body := range bodies {
			if given, _ := w.given(body, i, false); given && method == "" {
				method = "POST"
			}
		}
		if !w.isOption(i) && strings.ContainsAny(w.text(i), ":/.") {
			places = append(places, w.text(i))
		}
	}
	return method, places
}

// spoken parses `http [METHOD] URL [ITEM…]`.
func spoken(argv []*string) (method string, places []string) {
	w := words{argv: argv}
	for i := range argv {
		switch t := w.text(i); {
		case w.isOption(i) || t == "":
		case method == "" && len(places) == 0 && isMethod(t):
			method = t
		case len(places) == 0:
			places = append(places, t)
		case method == "":
			method = "POST"
		}
	}
	return method, places
}

func isMethod(text string) bool {
	return strings.Contains(" GET POST PUT PATCH DELETE HEAD OPTIONS ", " "+strings.ToUpper(text)+" ")
}

// request returns the effect of one request. On this machine only the ports of
// services count, because software under development there may receive any
// request.
func request(method, place string) (record.Service, bool) {
	if strings.HasPrefix(place, ":") {
		place = "localhost" + place
	}
	if !strings.Contains(place, "://") {
		place = "http://" + place
	}
	u, err := url.Parse(place)
	if err != nil || u.Host == "" {
		return record.Service{}, false
	}
	system := servicePort(u.Port())
	if system == "" {
		if local(u.Hostname()) {
			return record.Service{}, false
		}
		system = "http"
	}
	switch method = strings.ToUpper(method); {
	case method == "DELETE":
	case (method == "POST" || method == "PUT") && system != "http" && loses(u.Path):
	default:
		return record.Service{}, false
	}
	return made(system, Destroy, method, u.Path), true
}

func loses(p string) bool {
	for name := range strings.SplitSeq(strings.ToLower(p), "/") {
		if strings.Contains(name, "delete") || name == "purge" || name == "drop" || name == "flush_all" || name == "clean_tombstones" || name == "delete_series" {
			return true
		}
	}
	return false
}

// local reports whether a host is this machine, or an address that is not
// public.
func local(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}
