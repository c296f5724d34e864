package explain

import (
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// unresolved are the phrases of a name that could not be looked up: those of
// gai_strerror(3), and what common programs and languages write.
var unresolved = []string{
	"could not resolve", "couldn't resolve", "unable to resolve", "failed to resolve", "temporary failure", "name or service not known", "enotfound", "eai_again", "no such host",
	"name resolution", "nodename nor servname", "unknown host", "unknownhostexception", "cannot resolve", "can't resolve", "bad address", "dial tcp: lookup", "failed to lookup",
}

// names are the hosts that messages say could not be looked up, where the command
// has no network at all: a gateway tells of its own refusals, for a fact.
func (x *Explainer) names(output string) (list []record.Denial) {
	if x.plan.Network != "none" && x.plan.Network != "loopback" {
		return nil
	}
	lines, taken := strings.Split(output, "\n"), 0
	for _, line := range slices.Backward(lines) {
		line = strings.ToLower(plainText(line[:min(len(line), maxLine)]))
		if !slices.ContainsFunc(unresolved, func(phrase string) bool { return strings.Contains(line, phrase) }) {
			continue
		}
		if name := hostIn(line); name != "" {
			d := record.Denial{
				Layer: record.LayerNetwork, What: shown(name), Kind: record.KindName, Certainty: record.Inferred,
				Reason: "could not be looked up: the command's network is " + x.plan.Network, Remedy: "--allow-domain " + printable.Word(name),
			}
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
		if taken++; taken == maxLines || len(list) == maxInferred {
			break
		}
	}
	return list
}

// hostIn is the first name of a host in a line, "" where there is none that can be
// allowed.
func hostIn(line string) string {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t()[]{}<>,;=|:/@"+quotes, r) }) {
		word = strings.TrimRight(word, ".!?")
		if hostLike(word) && capability.CheckDomain(word) == nil {
			return word
		}
	}
	return ""
}

// hostLike tells a name of at least two labels, whose last one is a word, from a
// version or the name of a file with a usual suffix.
func hostLike(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	if dot <= 0 || len(word) > 253 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || strings.Contains(word, "..") {
		return false
	}
	last := word[dot+1:]
	private := []string{"internal", "local", "localhost", "localdomain", "arpa"}
	suffix := []string{"go", "py", "js", "ts", "rb", "c", "h", "txt", "json", "java", "lock", "toml", "yaml", "yml", "conf", "log", "sum", "mod", "exe", "gz"}
	return len(last) > 1 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && !slices.Contains(private, last) && !slices.Contains(suffix, last)
}
