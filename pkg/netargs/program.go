package netargs

import (
	"strings"
	"sync"
)

// program describes the command line of one program. An option is a letter or a long name; one that
// is not listed takes no value.
type program struct {
	names    string
	values   string // options with a value that names no host
	urls     string // options with a URL, whose scheme may be missing
	proxies  string
	links    string // options with a URL, or a word that names no host
	hosts    string // options with [user@]host[:port]
	lists    string // options with several of these, separated by commas
	hides    string // options by which hosts come from elsewhere
	special  map[string]form
	port     uint16 // the port of a host without one
	operands func(*call)
	needs    bool // it always connects to a host
	stops    int  // number of operands after which there are no options; 0: no limit
	dash     bool // long options have one dash

	forms map[string]form
}

// begins reports whether an option that names a host has this prefix.
func (p *program) begins(name string) bool {
	for each, f := range p.forms {
		if len(name) > 1 && f > value1 && strings.HasPrefix(each, name) {
			return true
		}
	}
	return false
}

// table follows the programs' manual pages. The programs in one row agree in every listed option.
var table = sync.OnceValue(func() []program {
	ssh := map[string]form{"o": asSSH}
	return []program{
		{
			names: "curl", needs: true, urls: "url", proxies: "x proxy preproxy socks4 socks4a socks5 socks5-hostname proxy1.0",
			links: "doh-url", lists: "dns-servers", hides: "K config alt-svc hsts ipfs-gateway",
			special: map[string]form{"resolve": asResolve, "connect-to": asConnect},
			values: "A b c C d D e E F H m o P Q r t T u U w X y Y z abstract-unix-socket aws-sigv4 cacert capath cert cert-type ciphers " +
				"connect-timeout continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw data-urlencode " +
				"delegation dns-interface dns-ipv4-addr dns-ipv6-addr dump-header ech egd-file engine etag-compare etag-save expect100-timeout form " +
				"form-string ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip " +
				"header hostpubmd5 hostpubsha256 interface ip-tos json keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port " +
				"login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir " +
				"parallel-max parallel-max-host knownhosts upload-flags pass pinnedpubkey proto proto-default proto-redir proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers " +
				"proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers " +
				"proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user pubkey quote random-file range rate referer request request-target " +
				"retry retry-delay retry-max-time sasl-authzid service-name sigalgs socks5-gssapi-service speed-limit speed-time stderr " +
				"telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config " +
				"unix-socket upload-file url-query user user-agent variable vlan-priority write-out",
			operands: urlOperands,
		},
		{
			names: "wget", needs: true, links: "B base", lists: "dns-servers",
			hides: "i input-file e execute config H span-hosts input-metalink hsts-file",
			values: "a A D I l o O P Q R t T U w X output-document directory-prefix output-file append-output header user password user-agent post-data " +
				"post-file body-data body-file method tries timeout dns-timeout connect-timeout read-timeout wait waitretry quota level accept reject domains " +
				"exclude-domains include-directories exclude-directories load-cookies save-cookies ca-certificate ca-directory certificate " +
				"certificate-type private-key private-key-type crl-file pinnedpubkey secure-protocol ciphers referer limit-rate cut-dirs default-page " +
				"warc-file warc-header http-user http-password proxy-user proxy-password ftp-user ftp-password bind-address restrict-file-names " +
				"accept-regex reject-regex regex-type progress report-speed local-encoding remote-encoding prefer-family max-redirect follow-tags " +
				"ignore-tags random-file start-pos use-askpass rejected-log retry-on-http-error compression warc-max-size warc-dedup warc-tempdir",
			operands: urlOperands,
		},
		{
			names: "aria2c", needs: true, proxies: "all-proxy http-proxy https-proxy ftp-proxy", hides: "i input-file conf-path", operands: urlOnly,
			values: "d o s x k j l m t U M T dir out split log header user-agent referer timeout",
		},
		{
			names: "http https xh xhs", needs: true, proxies: "proxy", operands: httpieOperands,
			values: "a A o p s auth auth-type output print style session session-read-only timeout verify cert cert-key max-redirects pretty",
		},
		{
			names: "ssh slogin", needs: true, stops: 2, port: 22, lists: "J", hosts: "W", hides: "F", special: ssh,
			values: "B b c D E e I i L l m O p P Q R S w", operands: firstRemote,
		},
		{
			names: "autossh", needs: true, stops: 2, port: 22, lists: "J", hosts: "W", hides: "F", special: ssh,
			values: "B b c D E e I i L l m M O p P Q R S w", operands: firstRemote,
		},
		{names: "mosh", needs: true, stops: 2, port: 22, hides: "ssh client server", values: "p port", operands: firstRemote},
		{names: "scp", port: 22, lists: "J", hides: "F S", values: "c D i l P X", special: ssh, operands: remoteOperands},
		{names: "sftp", needs: true, port: 22, lists: "J", hides: "F S", values: "B b c D i l P R s X", special: ssh, operands: firstRemote},
		{names: "sshfs", needs: true, port: 22, hides: "F", values: "p", special: ssh, operands: firstRemote},
		{names: "ssh-copy-id", needs: true, port: 22, hides: "F", values: "i p t", special: ssh, operands: firstRemote},
		{
			names: "rsync", port: 22, special: map[string]form{"files-from": asRemote, "e": value1, "rsh": value1}, operands: remoteOperands,
			values: "f T B M exclude exclude-from include include-from filter backup-dir suffix chmod chown usermap groupmap temp-dir partial-dir " +
				"compare-dest copy-dest link-dest log-file log-file-format password-file port bwlimit max-size min-size timeout contimeout " +
				"out-format info debug rsync-path sockopts block-size max-delete modify-window checksum-choice compress-choice compress-level remote-option iconv address",
		},
		{
			names: "nc ncat netcat", needs: true, proxies: "x proxy", hides: "e c exec sh-exec lua-exec g", operands: ncOperands,
			values: "i I m M o O P p q s T V w W X Z proxy-type proxy-auth source source-port wait idle-timeout ssl-cert ssl-key",
		},
		{names: "telnet", needs: true, port: 23, values: "b e l n S X k", operands: hostPortOperands},
		{names: "ftp", needs: true, port: 21, values: "N P o q r s u T", operands: hostPortOperands},
		{names: "lftp", needs: true, port: 21, hides: "c e f", values: "p u", operands: hostPortOperands},
		{names: "socat", needs: true, values: "b l L s t T", operands: socatOperands},
		{names: "openssl", dash: true, operands: opensslOperands},
		{names: "dig nslookup host drill kdig whois ping ping6 traceroute tracepath mtr", port: 53, operands: nameOperands},
		{names: "psql", port: 5432, hosts: "h host", values: "c d f F L o p P R T U v", operands: dsnOperands},
		{names: "pg_dump pg_dumpall pg_restore createdb dropdb pg_isready", port: 5432, hosts: "h host", values: "d f p t U", operands: dsnOperands},
		{
			names: "mysql mysqldump mysqladmin mariadb mariadb-dump", port: 3306, hosts: "h host",
			values: "D e P S u", special: map[string]form{"p": attachedOnly}, operands: dsnOperands,
		},
		{names: "redis-cli valkey-cli", port: 6379, hosts: "h", urls: "u", values: "a n p s", operands: dsnOperands},
		{names: "mongosh mongo mongodump mongorestore", port: 27017, hosts: "h host", values: "d p u", operands: dsnOperands},
		{names: "npm npx pnpm pnpx yarn yarnpkg bun bunx", hides: "userconfig globalconfig", operands: packageWords},
		{names: "pip pip3 pipx uv uvx poetry pdm pipenv twine", hides: "config-file", operands: packageWords},
		{names: "cargo gem bundle composer", operands: packageWords},
		{names: "go", dash: true, operands: goWords},
		{
			names: "conda mamba mvn gradle sbt mix opam cabal luarocks terraform tofu aws gsutil gcloud az rclone gh glab hub tea kubectl helm svn hg " +
				"fossil deno docker podman skopeo apt apt-get dnf yum apk brew nix flatpak yt-dlp lynx w3m links elinks wrk ab hey siege k6 grpcurl s3cmd",
			hosts: "hostname", operands: linkWords,
		},
	}
})

// programs maps the names of programs to the rows of the table.
var programs = sync.OnceValue(func() map[string]*program {
	out, table := map[string]*program{}, table()
	for i := range table {
		p := &table[i]
		p.forms = map[string]form{}
		lists := map[form]string{
			value1: p.values, asURL: p.urls, asProxy: p.proxies, asLink: p.links, asHost: p.hosts, asHosts: p.lists, hides: p.hides,
		}
		for f, names := range lists {
			for name := range strings.FieldsSeq(names) {
				p.forms[name] = f
			}
		}
		for name, f := range p.special {
			p.forms[name] = f
		}
		for name := range strings.FieldsSeq(p.names) {
			out[name] = p
		}
	}
	return out
})
