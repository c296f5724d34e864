package catalog

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// configKeys are the keys of repo_config.yaml that have values, by the types
// that the file is read into.
func configKeys(t reflect.Type, prefix string) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[wordText]() || t == reflect.TypeFor[pathText]() {
		return []string{prefix}
	}
	if m, ok := reflect.New(t).Interface().(mapping); ok {
		return memberKeys(m, prefix)
	}
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" {
			out = append(out, configKeys(t.Field(i).Type, strings.TrimPrefix(prefix+"."+tag, "."))...)
		}
	}
	return out
}

func memberKeys(m mapping, prefix string) (out []string) {
	for _, key := range m.Keys() {
		member := m.Member(key)
		name := strings.TrimPrefix(prefix+"."+key, ".")
		if section, ok := member.(**capability.Section); ok {
			out = append(out, memberKeys(*section, name)...)
		} else {
			out = append(out, configKeys(reflect.TypeOf(member), name)...)
		}
	}
	return out
}

func classOf(key string) (keyClass, bool) {
	classes := keyClasses()
	for at := key; at != ""; at = at[:max(strings.LastIndexByte(at, '.'), 0)] {
		if i := slices.IndexFunc(classes, func(k keyClass) bool { return k.key == at }); i >= 0 {
			return classes[i], true
		}
	}
	return keyClass{}, false
}

// TestEveryKeyHasAClass: a key that was added to the file's types is judged by
// nothing until somebody says whether it can widen.
func TestEveryKeyHasAClass(t *testing.T) {
	keys := configKeys(reflect.TypeFor[configText](), "")
	if len(keys) < 30 {
		t.Errorf("only %d keys: %v", len(keys), keys)
	}
	for _, key := range keys {
		if _, ok := classOf(key); !ok {
			t.Errorf("%s: in no class of keyClasses: can a value of it give a command more?", key)
		}
	}
	for _, k := range keyClasses() {
		within := func(key string) bool { return key == k.key || strings.HasPrefix(key, k.key+".") }
		if !slices.ContainsFunc(keys, within) {
			t.Errorf("%s is classed, and no key", k.key)
		}
		if (k.widens == nil) != (k.why != "") {
			t.Errorf("%s: says why it cannot widen if it cannot, and only then", k.key)
		}
	}
}

// hostile is, for each key that can widen, what a stranger would write. A tool
// is taken in the place of make.
var hostile = map[string]string{
	"sandbox.read_paths":                        "sandbox: {read_paths: [~/other]}",
	"sandbox.read_write_paths":                  "sandbox: {read_write_paths: [~/.profile, ~/.local/bin]}",
	"sandbox.network_tools.tool":                "sandbox: {network_tools: [{tool: node-packages, allow_domains: [x.example]}]}",
	"sandbox.network_tools.mode":                "sandbox: {network_tools: [{tool: make, mode: host}]}",
	"sandbox.network_tools.allow_domains":       "sandbox: {network_tools: [{tool: make, mode: proxy, allow_domains: [evil.example]}]}",
	"sandbox.network_tools.sni":                 "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], sni: allow}]}",
	"sandbox.network_tools.mitm.ca_bundle":      "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}}]}",
	"sandbox.network_tools.allow.host":          "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, allow: [{host: registry.npmjs.org}]}]}",
	"sandbox.network_tools.allow.methods":       "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, allow: [{host: registry.npmjs.org, methods: [GET, POST]}]}]}",
	"sandbox.network_tools.allow.paths":         "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, allow: [{host: registry.npmjs.org, paths: [/-/*]}]}]}",
	"sandbox.network_tools.inject.host":         "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, inject: [{host: registry.npmjs.org, header: Authorization, from_env: TOKEN}]}]}",
	"sandbox.network_tools.inject.header":       "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, inject: [{host: registry.npmjs.org, header: X, from_env: TOKEN}]}]}",
	"sandbox.network_tools.inject.from_env":     "sandbox: {network_tools: [{tool: npm-audit, allow_domains: [registry.npmjs.org], mitm: {ca_bundle: ~/ca.pem}, inject: [{host: registry.npmjs.org, header: X, from_env: AWS_SECRET_ACCESS_KEY}]}]}",
	"sandbox.unix_sockets":                      "sandbox: {unix_sockets: [.s.sock, /run/docker.sock]}",
	"sandbox.env_files":                         "sandbox: {env_files: read}",
	"sandbox.nested_userns":                     "sandbox: {nested_userns: namespaces}",
	"sandbox.git_signing":                       "sandbox: {git_signing: own}",
	"tools.id":                                  "tools: [{id: mine, match: [make]}]",
	"tools.category":                            "tools: [{id: mine, category: lint, match: [make]}]",
	"tools.format":                              "tools: [{id: mine, format: gnu, match: [make]}]",
	"tools.managed":                             "tools: [{id: go-vet, managed: false, match: [go vet], capabilities: {cache_paths: [\"@go\"], env: {set: {GOPROXY: \"off\"}}}}]",
	"tools.match.argv":                          "tools: [{id: go-vet, match: [make], capabilities: {cache_paths: [\"@go\"], env: {set: {GOPROXY: \"off\"}}}}]",
	"tools.match.format":                        "tools: [{id: go-vet, match: [{argv: make, format: gnu}], capabilities: {cache_paths: [\"@go\"], env: {set: {GOPROXY: \"off\"}}}}]",
	"tools.config_files":                        "tools: [{id: mine, match: [make], config_files: [Makefile]}]",
	"tools.capabilities.sandbox_profile":        tool("sandbox_profile: build"),
	"tools.capabilities.seccomp_profile":        tool("seccomp_profile: deny-privilege"),
	"tools.capabilities.seccomp_profile_path":   tool("seccomp_profile_path: filter.json"),
	"tools.capabilities.tags":                   tool("tags: [no-network]"),
	"tools.capabilities.read_paths":             tool("read_paths: [src]"),
	"tools.capabilities.write_paths":            tool("sandbox_profile: build, write_paths: [.]"),
	"tools.capabilities.deny_read_paths":        tool("deny_read_paths: [x]"),
	"tools.capabilities.allow_read_within_deny": tool("deny_read_paths: [x], allow_read_within_deny: []"),
	"tools.capabilities.deny_write_paths":       tool("deny_write_paths: [x]"),
	"tools.capabilities.deny_exec_paths":        tool("deny_exec_paths: [x]"),
	"tools.capabilities.masks":                  tool("masks: [x=y]"),
	"tools.capabilities.unix_family":            tool("unix_family: none"),
	"tools.capabilities.nested_userns":          tool("nested_userns: none"),
	"tools.capabilities.network.connect_ports":  tool(`sandbox_profile: build, network: {mode: loopback, connect_ports: ["443"]}`),
	"tools.capabilities.network.bind_ports":     tool(`sandbox_profile: build, network: {mode: loopback, bind_ports: ["8080"]}`),
	"tools.capabilities.cache_paths":            tool(`cache_paths: ["@go"]`),
	"tools.capabilities.view":                   tool("view: copy-on-write"),
	"tools.capabilities.unix_sockets":           tool("unix_sockets: []"),
	"tools.capabilities.requires_network":       tool("requires_network: false"),
	"tools.capabilities.requires_git":           tool("requires_git: false"),
	"tools.capabilities.requires_env":           tool("requires_env: true"),
	"tools.capabilities.network.mode":           tool("sandbox_profile: build, network: {mode: loopback}"),
	"tools.capabilities.network.allow_domains":  tool("network: {allow_domains: []}"),
	"tools.capabilities.network.deny_domains":   tool("network: {deny_domains: [x.example]}"),
	"tools.capabilities.network.sni":            tool("network: {sni: require}"),
	"tools.capabilities.network.ca_bundle":      tool("network: {ca_bundle: ~/ca.pem}"),
	"tools.capabilities.network.allow_requests": tool("network: {allow_requests: [a.example GET]}"),
	"tools.capabilities.network.inject":         tool("network: {inject: [a.example X=TOKEN]}"),
	"tools.capabilities.env.pass":               tool("env: {pass: []}"),
	"tools.capabilities.env.set":                tool("env: {set: {}}"),
	"tools.capabilities.git":                    tool("git: none"),
	"tools.capabilities.env_files":              tool("env_files: hidden"),
	"tools.capabilities.git_signing":            tool("git_signing: none"),
	"tools.capabilities.enforce":                tool("enforce: available"),
	"tools.capabilities.timeout_seconds":        tool("timeout_seconds: 300"),
	"tools.capabilities.memory_mb":              tool("sandbox_profile: build, memory_mb: 8192"),
	"tools.capabilities.cpu_quota_percent":      tool("sandbox_profile: build, cpu_quota_percent: 900"),
	"tools.capabilities.pids":                   tool("sandbox_profile: build, pids: 8192"),
	"tools.capabilities.open_files":             tool("sandbox_profile: build, open_files: 65536"),
	"tools.capabilities.output_bytes":           tool("sandbox_profile: build, output_bytes: 67108864"),
}

// tool defines one that takes the place of make, with these capabilities.
func tool(capabilities string) string {
	return "tools: [{id: mine, match: [make], capabilities: {" + capabilities + "}}]"
}

func workSpace() WorkSpace {
	return WorkSpace{capability.Space{Workspace: "/home/u/w", Home: "/home/u"}, path.Clean}
}

// TestHostileClone: whatever a file says, an action may use no more by what
// holds of it untrusted than without it; and each key that can widen is told.
func TestHostileClone(t *testing.T) {
	for _, key := range configKeys(reflect.TypeFor[configText](), "") {
		class, _ := classOf(key)
		text, ok := hostile[key]
		if ok != (class.widens != nil) {
			t.Errorf("%s: a hostile value is written for each key that can widen, and for no other", key)
			continue
		}
		if !ok {
			continue
		}
		t.Run(key, func(t *testing.T) {
			config, err := ParseConfig("repo_config.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			told := config.Widenings(workSpace())
			if !slices.ContainsFunc(told, func(w Widening) bool { return strings.HasPrefix(key, w.Key) && w.Value != "" }) {
				t.Errorf("it is not told: %v", told)
			}
			neverMore(t, config)
		})
	}
	for key := range hostile {
		if !slices.Contains(configKeys(reflect.TypeFor[configText](), ""), key) {
			t.Errorf("%s is no key", key)
		}
	}
}

// neverMore compares what actions of many kinds may use with a file that nobody
// has trusted and without it, as package facts puts the two together.
func neverMore(t *testing.T, config Config) {
	t.Helper()
	w, none := workSpace(), New(Config{})
	for _, line := range []string{"make", "go vet ./...", "go test ./...", "npm audit", "npm install", "ls"} {
		for _, agent := range []bool{false, true} {
			for _, mode := range []string{record.ModeSafe, record.ModePlan, record.ModeAuto} {
				r := func(from *Catalog) capability.Request {
					out := capability.Request{Agent: agent, Mode: mode, Space: w.Space}
					if found, _, ok := from.Match(argv(line)); ok {
						return Ask(out, &found)
					}
					return out
				}
				without, err := capability.Effective(capability.Repository{}, r(none))
				if err != nil {
					t.Fatal(err)
				}
				less := config.Bounded(w)
				with, err := capability.Effective(less.Repository, r(none))
				if err != nil {
					t.Fatal(err)
				}
				defined, err := capability.Effective(less.Repository, r(New(config)))
				if err != nil {
					t.Fatal(err)
				}
				if over := capability.Widens(w.Space, without, capability.Meet(w.Space, with, defined)); len(over) > 0 {
					t.Errorf("%s, agent %t, %s: %v", line, agent, mode, over)
				}
			}
		}
	}
}

// TestHostileCloneWouldWiden: the values above are attacks: trusted, each that is
// about capabilities gives something.
func TestHostileCloneWouldWiden(t *testing.T) {
	w := workSpace()
	for _, key := range []string{"sandbox.read_paths", "sandbox.read_write_paths", "sandbox.network_tools.tool", "sandbox.network_tools.mode",
		"sandbox.network_tools.allow_domains", "sandbox.network_tools.sni", "sandbox.network_tools.mitm.ca_bundle", "sandbox.network_tools.inject.host", "tools.managed"} {
		config, err := ParseConfig("repo_config.yaml", []byte(hostile[key]))
		if err != nil {
			t.Fatal(err)
		}
		wider := false
		for _, line := range []string{"make", "go vet ./...", "npm install", "npm audit"} {
			of := func(from *Catalog) capability.Request {
				out := capability.Request{Space: w.Space}
				if found, _, ok := from.Match(argv(line)); ok {
					return Ask(out, &found)
				}
				return out
			}
			without, _ := capability.Effective(capability.Repository{}, of(New(Config{})))
			with, _ := capability.Effective(config.Repository, of(New(config)))
			wider = wider || len(capability.Widens(w.Space, without, with)) > 0
		}
		if !wider {
			t.Errorf("%s: %s gives nothing even when it is trusted", key, hostile[key])
		}
	}
}

// TestNarrowing: what takes away, and what is about the work space alone, holds
// without trust.
func TestNarrowing(t *testing.T) {
	config, err := ParseConfig("repo_config.yaml", []byte(`
sandbox:
  read_paths: [src, "./docs?", /home/u/w/x, ~/w/y]
  read_write_paths: [build]
  network_tools: [{tool: make, mode: loopback}, {tool: gemini-check, mode: loopback}]
  enforce: cgroup
git: {protected_branches: [release/*]}
`))
	if err != nil {
		t.Fatal(err)
	}
	w := workSpace()
	shippedVet, _ := New(Config{}).Tool("go-vet")
	narrowed := shippedVet
	narrowed.Capabilities.MemoryMB = 100
	config.Tools = []Tool{narrowed}
	if told := config.Widenings(w); len(told) > 0 {
		t.Errorf("told as widening: %v", told)
	}
	less := config.Bounded(w)
	for _, p := range slices.Concat(less.Adds.ReadPaths, less.Adds.WritePaths) {
		if !strings.HasSuffix(p, "?") || strings.HasSuffix(p, "??") {
			t.Errorf("%s: a path that nobody has trusted must exist", p)
		}
	}
	if len(less.Adds.ReadPaths) != 4 || len(less.Adds.WritePaths) != 1 || len(less.NetworkTools) != 2 || less.Adds.Enforce != "cgroup" || len(less.ProtectedBranches) != 1 {
		t.Errorf("something is left out: %+v", less)
	}
	check, _ := New(Config{}).Tool("gemini-check")
	c, err := capability.Effective(less.Repository, Ask(capability.Request{Space: w.Space}, &check))
	if err != nil || c.Network.Mode != "loopback" || c.Enforce != "cgroup" {
		t.Errorf("%s %s %v", c.Network.Mode, c.Enforce, err)
	}
}

// TestLinksLeadOutside: a path is where its links lead.
func TestLinksLeadOutside(t *testing.T) {
	w := workSpace()
	w.Resolve = func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/home/u/w/out"); ok {
			return "/home/u" + rest
		}
		return p
	}
	for declared, want := range map[string]bool{
		"out": true, "out/x": true, "/home/u/w/out": true, "outer": true, "in": false, ".": false, "in/../out": true, "out?": true,
		".claude": true, "x/.cursor/rules": true, ".coding-ethos/traces": true, ".git/hooks": true, ".claude-notes": false, "..": true, "../w": false, "../w2": true, "~/w/in": false, "~/other": true, "~": true, "/home/u": true, "/home/u/w": false, "/": true, "~other": false,
	} {
		if declared == "outer" {
			want = true // the fake resolver goes by prefixes: /home/uer
		}
		if got := w.outside(declared); got != want {
			t.Errorf("%s: outside %t", declared, got)
		}
	}
	w.Space.Home = ""
	if !w.outside("~/w/in") {
		t.Error("a home directory that is not known is taken for the work space")
	}
}
