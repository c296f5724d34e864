package explain

import (
	"iter"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// unresolved lists the phrases for a name that could not be looked up: those of
// gai_strerror(3), and what common programs and languages print.
var unresolved = []string{
	"could not resolve", "couldn't resolve", "unable to resolve", "failed to resolve", "temporary failure", "name or service not known", "enotfound", "eai_again", "no such host",
	"name resolution", "nodename nor servname", "unknown host", "unknownhostexception", "cannot resolve", "can't resolve", "bad address", "dial tcp: lookup", "failed to lookup",
}

// names returns the hosts that messages report as not found, if the command has
// no network at all. With a network, the gateway itself reports its refusals.
func (x *Explainer) names(output string) (list []record.Denial) {
	if x.plan.Network != "none" && x.plan.Network != "loopback" {
		return nil
	}
	for line := range linesWith(output, unresolved) {
		name := hostIn(line)
		if name == "" {
			continue
		}
		d := record.Denial{
			Layer: record.LayerNetwork, What: shown(name), Kind: record.KindName, Certainty: record.Inferred,
			Reason: "could not be looked up: the command's network is " + x.plan.Network, Remedy: "--allow-domain " + printable.Word(name),
		}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
		if len(list) == maxInferred {
			break
		}
	}
	return list
}

// linesWith yields the lines of an output that have one of the phrases, in lower
// case, last one first.
func linesWith(output string, phrases []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines, taken := strings.Split(output, "\n"), 0
		for _, line := range slices.Backward(lines) {
			line = strings.ToLower(plainText(line[:min(len(line), maxLine)]))
			if !slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(line, phrase) }) {
				continue
			}
			if taken++; !yield(line) || taken == maxLines {
				return
			}
		}
	}
}

// hostIn returns the first host name in a line, or "" if there is none that can
// be allowed.
func hostIn(line string) string {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t()[]{}<>,;=|:/@"+quotes, r) }) {
		word = strings.TrimRight(word, ".!?")
		if hostLike(word) && capability.CheckDomain(word) == nil {
			return word
		}
	}
	return ""
}

// hostLike distinguishes a name of at least two labels, the last of which is a
// word, from a version number or a file name with a common suffix.
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
