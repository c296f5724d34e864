package netargs

import (
	"sort"
	"strings"
)

// program describes the command line of one program. The lists are options separated by spaces, a
// letter or a long name each; an option that is not listed takes no value.
type program struct {
	name     string
	operands func(*call)
	needs    bool   // it always connects to a host
	port     uint16 // the port of a host without one
	stops    int    // number of operands after which there are no options; 0: no limit
	dash     bool   // long options have one dash

	values   string // options of the form value1, and so on
	attached string
	hides    string
	urls     string
	proxies  string
	links    string
	hosts    string
	lists    string
	remotes  string
	resolves string
	connects string
	settings string
}

// findProgram returns the entry of a program in pkg/catalog/data/programs.yaml, or nil.
func findProgram(name string) *program {
	i, found := sort.Find(len(programs), func(i int) int { return strings.Compare(name, programs[i].name) })
	if !found {
		return nil
	}
	return &programs[i]
}

// optionList is a list of options that have a form in common.
type optionList struct {
	form    form
	options string
}

func (p *program) options() [12]optionList {
	return [...]optionList{
		{value1, p.values}, {attachedOnly, p.attached}, {hides, p.hides}, {asURL, p.urls}, {asProxy, p.proxies}, {asLink, p.links}, {asHost, p.hosts},
		{asHosts, p.lists}, {asRemote, p.remotes}, {asResolve, p.resolves}, {asConnect, p.connects}, {asSSH, p.settings},
	}
}

func (p *program) form(name string) form {
	for _, list := range p.options() {
		for option := range strings.FieldsSeq(list.options) {
			if option == name {
				return list.form
			}
		}
	}
	return flag
}

// begins reports whether an option that names a host has this prefix.
func (p *program) begins(name string) bool {
	if len(name) < 2 {
		return false
	}
	for _, list := range p.options() {
		for option := range strings.FieldsSeq(list.options) {
			if list.form > value1 && strings.HasPrefix(option, name) {
				return true
			}
		}
	}
	return false
}
