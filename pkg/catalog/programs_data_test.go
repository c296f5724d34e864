package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// programText is an entry of data/programs.yaml, whose head explains the keys.
type programText struct {
	Name         string                `yaml:"name"`
	ValueOptions []string              `yaml:"value_options"`
	Wrapper      part[wrapperText]     `yaml:"wrapper"`
	Interpreter  part[interpreterText] `yaml:"interpreter"`
	Files        part[filesText]       `yaml:"files"`
	Words        part[wordsText]       `yaml:"words"`
	Console      part[consoleText]     `yaml:"console"`
	Prompt       part[promptText]      `yaml:"prompt"`
	Network      part[networkText]     `yaml:"network"`
	Traits       []string              `yaml:"traits"`

	position
}

type wrapperText struct {
	Kind        string `yaml:"kind" must:"wrapper"`
	Skip        int    `yaml:"skip"`
	Subcommands string `yaml:"subcommands" go:"query"`
	Below       string `yaml:"below"`
	Markers     string `yaml:"markers" go:"query"`
	Code        string `yaml:"code" go:"query"`
	Queries     string `yaml:"queries" go:"query"`
	Chdir       string `yaml:"chdir"`
	Elsewhere   bool   `yaml:"elsewhere"`
	Output      string `yaml:"output"`
	Short       string `yaml:"short"`
	Long        string `yaml:"long"`
}

// wrong finds a list of words that is not the one that wrappers of a kind have.
func (w wrapperText) wrong() string {
	key := map[string]string{"carrier": "subcommands", "terminal": "subcommands", "after": "markers", "option": "code"}[w.Kind]
	switch {
	case w.Subcommands != "" && key != "subcommands", w.Markers != "" && key != "markers", w.Code != "" && key != "code", w.Queries != "" && key != "":
		return fmt.Sprintf("the words of a wrapper of kind %q are its %s", w.Kind, cmp.Or(key, "queries"))
	}
	return ""
}

type interpreterText struct {
	Shell    string `yaml:"shell" may:"dialect" go:"dialect"`
	Foreign  bool   `yaml:"foreign"`
	Language string `yaml:"language" may:"language"`
	Inline   string `yaml:"inline"`
	Argument string `yaml:"argument"`
	Attached string `yaml:"attached"`
	File     string `yaml:"file"`
	Module   string `yaml:"module"`
	Program  bool   `yaml:"program"`
	Words    bool   `yaml:"words"`
	Verbs    string `yaml:"verbs"`
	Evals    string `yaml:"evals"`
}

type filesText struct {
	Effect string `yaml:"effect" must:"effect"`
	Short  string `yaml:"short"`
	Long   string `yaml:"long"`
	With   string `yaml:"with"`
}

type wordsText struct {
	Runs     string `yaml:"runs"`
	Again    string `yaml:"again"`
	Code     string `yaml:"code"`
	Language string `yaml:"language" may:"language"`
	Loads    string `yaml:"loads"`
	Commas   string `yaml:"commas"`
	Settings string `yaml:"settings"`
	Keys     string `yaml:"keys"`
	Options  string `yaml:"options"`
	Passes   string `yaml:"passes"`
	Embeds   string `yaml:"embeds" may:"notation"`
	Writes   string `yaml:"writes"`
	Reads    string `yaml:"reads"`
	Target   string `yaml:"target" may:"target"`
	When     string `yaml:"when"`
}

type consoleText struct {
	Code     string `yaml:"code"`
	Operands *int   `yaml:"operands"`
	Plus     bool   `yaml:"plus"`
	Stdin    bool   `yaml:"stdin"`
	Short    string `yaml:"short"`
	Long     string `yaml:"long"`
}

type promptText struct {
	Operands *int   `yaml:"operands"`
	Not      string `yaml:"not"`
	Verbs    string `yaml:"verbs"`
	Bare     bool   `yaml:"bare"`
	Needs    string `yaml:"needs"`
	Other    bool   `yaml:"other"`
	Short    string `yaml:"short"`
	Long     string `yaml:"long"`
}

type networkText struct {
	Operands string `yaml:"operands" must:"operands"`
	Needs    bool   `yaml:"needs"`
	Port     int    `yaml:"port"`
	Stops    int    `yaml:"stops"`
	Dash     bool   `yaml:"dash"`
	URLs     string `yaml:"urls"`
	Proxies  string `yaml:"proxies"`
	Links    string `yaml:"links"`
	Hosts    string `yaml:"hosts"`
	Lists    string `yaml:"lists"`
	Remotes  string `yaml:"remotes"`
	Resolves string `yaml:"resolves"`
	Connects string `yaml:"connects"`
	Settings string `yaml:"settings"`
	Hides    string `yaml:"hides"`
	Attached string `yaml:"attached"`
	Values   string `yaml:"values"`
}

// wrong finds an option with two forms, and a port that is none.
func (n networkText) wrong() string {
	seen := map[string]bool{}
	lists := []string{n.URLs, n.Proxies, n.Links, n.Hosts, n.Lists, n.Remotes, n.Resolves, n.Connects, n.Settings, n.Hides, n.Attached, n.Values}
	for option := range strings.FieldsSeq(strings.Join(lists, " ")) {
		if seen[option] {
			return fmt.Sprintf("option %q is in two lists of network", option)
		}
		seen[option] = true
	}
	if n.Port > 65535 {
		return "the port is above 65535"
	}
	return ""
}

// constants are the words that a key may have, and what each is in Go. The tag
// "may" of a field names the set, as "must" does for a key that is required.
var constants = map[string]map[string]string{
	"dialect":  {"any": "dialectAny", "bash": "dialectBash", "korn": "dialectKorn", "posix": "dialectPOSIX", "zsh": "dialectZsh"},
	"language": languages(),
	"effect": identifiers("eff", "none read delete create write mode touch move copy install link dd tee truncate shred patch sed perl awk tar unzip zip "+
		"rsync curl wget in-place pack output sort grep split scp mknod archive iconv editor crontab gio temporary go ssh serve"),
	"operands": {
		"databases": "dsnOperands", "first-remote": "firstRemote", "go": "goWords", "host-port": "hostPortOperands", "httpie": "httpieOperands",
		"links": "linkWords", "names": "nameOperands", "nc": "ncOperands", "openssl": "opensslOperands", "packages": "packageWords",
		"remotes": "remoteOperands", "socat": "socatOperands", "urls": "urlOperands", "urls-only": "urlOnly",
	},
	"notation": texts("fzf gs rpm tex tmux"),
	"target":   texts("all first last second third"),
	"wrapper": identifiers("wrap", "plain assign builtin shell su string flock xargs find parallel script arch netns carrier direct after option terminal "+
		"tmux maven input sandbox"),
}

// traits are what may be true of a program as a whole. An entry names them sorted.
var traits = identifiers("trait", "companion compose deleter filter inert lister lister-if-asked loads-environment names-only own-language pager relay "+
	"relay-always relay-expression shows-input shows-words statements")

// identifiers are words that are constants in Go, with a prefix.
func identifiers(prefix, words string) map[string]string {
	return goNames(words, func(word string) string {
		name := prefix
		for part := range strings.SplitSeq(word, "-") {
			if part == "dd" || part == "ssh" {
				part = strings.ToUpper(part)
			}
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		return name
	})
}

// languages are those of pkg/snippet.
func languages() map[string]string {
	out := map[string]string{}
	for name := range strings.FieldsSeq("AppleScript Awk Console JavaScript Julia Lisp Lua Makefile Other PHP Perl PowerShell Python R Ruby Tcl") {
		out[strings.ToLower(name)] = "snippet." + name
	}
	return out
}

// texts are words that are strings in Go too.
func texts(words string) map[string]string {
	return goNames(words, func(word string) string { return fmt.Sprintf("%q", word) })
}

func goNames(words string, of func(word string) string) map[string]string {
	out := map[string]string{}
	for word := range strings.FieldsSeq(words) {
		out[word] = of(word)
	}
	return out
}

func wrongProgram(at position, hint, format string, args ...any) *ConfigError {
	return &ConfigError{File: programsFile, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// part is one kind of knowledge about a program, or the name of another one of
// which the same is true.
type part[T any] struct {
	text T
	like string
	position
}

// knowledge is a part of any kind.
type knowledge interface {
	where() position
	likeness() string
	value() reflect.Value
}

func (p *part[T]) readScalar(name string) { p.like = name }
func (p *part[T]) Keys() []string         { return keys(reflect.TypeFor[T]()) }
func (p *part[T]) where() position        { return p.position }
func (p *part[T]) likeness() string       { return p.like }
func (p *part[T]) value() reflect.Value   { return reflect.ValueOf(&p.text).Elem() }

func (p *part[T]) Member(key string) any {
	return fieldOf(p.value(), slices.Index(p.Keys(), key)).Addr().Interface()
}

// knows returns what is known of a program under a key, or nil.
func (p *programText) knows(key string) knowledge {
	i := slices.Index(keys(reflect.TypeFor[programText]()), key)
	if k, ok := fieldOf(reflect.ValueOf(p).Elem(), i).Addr().Interface().(knowledge); ok && k.where().line > 0 {
		return k
	}
	return nil
}

// program returns the entry of a name, or nil.
func (in *programsText) program(name string) *programText {
	i, found := sort.Find(len(in.Programs), func(i int) int { return strings.Compare(name, in.Programs[i].Name) })
	if !found {
		return nil
	}
	return &in.Programs[i]
}

// check finds what the strict decoder cannot know: names that are not sorted or
// stand twice, words that are none of those that a key takes, entries that say
// nothing.
func (in *programsText) check() *ConfigError {
	for i := range in.Programs {
		p := &in.Programs[i]
		switch before := in.Programs[max(i-1, 0)].Name; {
		case p.Name == "":
			return wrongProgram(p.position, "", "a program has no name")
		case i > 0 && p.Name == before:
			return wrongProgram(p.position, "write everything about a program in one entry", "program %q stands twice", p.Name)
		case i > 0 && p.Name < before:
			return wrongProgram(p.position, "programs are sorted by name, in the order of bytes", "program %q stands after %q", p.Name, before)
		}
	}
	for i := range in.Programs {
		if err := in.Programs[i].check(in); err != nil {
			return err
		}
	}
	return nil
}

func (p *programText) check(in *programsText) *ConfigError {
	if err := p.checkTraits(); err != nil {
		return err
	}
	empty := len(p.Traits)+len(p.ValueOptions) == 0
	for _, key := range keys(reflect.TypeFor[programText]()) {
		k := p.knows(key)
		if k == nil {
			continue
		}
		empty = false
		if like := k.likeness(); like != "" {
			other := in.program(like)
			if other == nil || other.knows(key) == nil || other.knows(key).likeness() != "" {
				return wrongProgram(k.where(), "name a program whose entry has "+key+" in full", "%s of %q: %q has none of its own", key, p.Name, like)
			}
		} else if err := checkFields(k, key); err != nil {
			return err
		}
	}
	if empty {
		return wrongProgram(p.position, "", "nothing is said of %q", p.Name)
	}
	return nil
}

func (p *programText) checkTraits() *ConfigError {
	for i, trait := range p.Traits {
		switch {
		case traits[trait] == "":
			return wrongProgram(p.position, known(trait, slices.Sorted(maps.Keys(traits))), "unknown trait %q of %q", trait, p.Name)
		case i > 0 && trait <= p.Traits[i-1]:
			return wrongProgram(p.position, "traits are sorted", "trait %q of %q stands after %q", trait, p.Name, p.Traits[i-1])
		}
	}
	return nil
}

// checkFields finds words that are none of those that a key takes, and words
// that stand twice.
func checkFields(k knowledge, what string) *ConfigError {
	v := k.value()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		key, must := tag.Get("yaml"), tag.Get("must")
		if v.Field(i).Kind() != reflect.String {
			continue
		}
		text := v.Field(i).String()
		switch set := constants[must+tag.Get("may")]; {
		case text == "" && must != "":
			return wrongProgram(k.where(), "", "%s has no %s", what, key)
		case text != "" && set != nil && set[text] == "":
			return wrongProgram(k.where(), known(text, slices.Sorted(maps.Keys(set))), "unknown %s %q in %s", key, text, what)
		}
		words := strings.Fields(text)
		for n, word := range words {
			if slices.Contains(words[:n], word) {
				return wrongProgram(k.where(), "", "%q occurs twice in %s of %s", word, key, what)
			}
		}
	}
	if c, ok := v.Interface().(interface{ wrong() string }); ok && c.wrong() != "" {
		return wrongProgram(k.where(), "", "%s", c.wrong())
	}
	return nil
}
