package seccomp

import (
	"strings"
	"testing"
)

// ociGood are profiles with calls and what they answer on amd64.
var ociGood = []struct {
	name, text string
	calls      []ociCall
}{
	{"allow list", `{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"],
		"syscalls":[{"names":["read","write","exit_group","_llseek","socketcall"],"action":"SCMP_ACT_ALLOW"}]}`,
		[]ociCall{{"read", [6]uint64{}, Allow}, {"write", [6]uint64{}, Allow}, {"open", [6]uint64{}, eperm}}},
	{"default errno", `{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[]}]}`,
		[]ociCall{{"open", [6]uint64{}, enosys}}},
	{"every op", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[
		{"names":["mmap"],"action":"SCMP_ACT_ERRNO","errnoRet":1,"args":[{"index":0,"value":5,"op":"SCMP_CMP_EQ"}]},
		{"names":["munmap"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":5,"op":"SCMP_CMP_NE"}]},
		{"names":["mprotect"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":4294967297,"op":"SCMP_CMP_LT"}]},
		{"names":["msync"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":4294967297,"op":"SCMP_CMP_LE"}]},
		{"names":["mlock"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":4294967297,"op":"SCMP_CMP_GE"}]},
		{"names":["munlock"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":4294967297,"op":"SCMP_CMP_GT"}]},
		{"names":["mremap"],"action":"SCMP_ACT_ERRNO","args":[{"index":3,"value":6,"valueTwo":2,"op":"SCMP_CMP_MASKED_EQ"}]}]}`,
		[]ociCall{
			{"mmap", [6]uint64{5}, eperm}, {"mmap", [6]uint64{1<<32 | 5}, Allow}, {"mmap", [6]uint64{6}, Allow},
			{"munmap", [6]uint64{5}, Allow}, {"munmap", [6]uint64{1<<32 | 5}, eperm}, {"munmap", [6]uint64{4}, eperm},
			{"mprotect", [6]uint64{0, 1 << 32}, eperm}, {"mprotect", [6]uint64{0, 1<<32 | 1}, Allow}, {"mprotect", [6]uint64{0, 1 << 33}, Allow}, {"mprotect", [6]uint64{0, 9}, eperm},
			{"msync", [6]uint64{0, 1<<32 | 1}, eperm}, {"msync", [6]uint64{0, 1<<32 | 2}, Allow}, {"msync", [6]uint64{0, 0xffffffff}, eperm},
			{"mlock", [6]uint64{0, 1<<32 | 1}, eperm}, {"mlock", [6]uint64{0, 1 << 32}, Allow}, {"mlock", [6]uint64{0, 1 << 33}, eperm},
			{"munlock", [6]uint64{0, 1<<32 | 1}, Allow}, {"munlock", [6]uint64{0, 1<<32 | 2}, eperm}, {"munlock", [6]uint64{0, 0xffffffff}, Allow},
			{"mremap", [6]uint64{0, 0, 0, 3}, eperm}, {"mremap", [6]uint64{0, 0, 0, 7}, Allow}, {"mremap", [6]uint64{0, 0, 0, 1<<40 | 2}, eperm},
		}},
	{"arguments of one rule must all hold", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["socket"],"action":"SCMP_ACT_ERRNO",
		"args":[{"index":0,"value":2,"op":"SCMP_CMP_EQ"},{"index":1,"value":3,"op":"SCMP_CMP_EQ"}]}]}`,
		[]ociCall{{"socket", [6]uint64{2, 3}, eperm}, {"socket", [6]uint64{2, 1}, Allow}, {"socket", [6]uint64{10, 3}, Allow}}},
	{"one argument twice is an alternative", `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["personality"],"action":"SCMP_ACT_ALLOW",
		"args":[{"index":0,"value":0,"op":"SCMP_CMP_EQ"},{"index":0,"value":8,"op":"SCMP_CMP_EQ"}]}]}`,
		[]ociCall{{"personality", [6]uint64{0}, Allow}, {"personality", [6]uint64{8}, Allow}, {"personality", [6]uint64{9}, eperm}}},
	{"the strictest action wins in any order", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[
		{"names":["socket"],"action":"SCMP_ACT_ALLOW"},
		{"names":["socket"],"action":"SCMP_ACT_ERRNO","errnoRet":97,"args":[{"index":0,"value":40,"op":"SCMP_CMP_EQ"}]},
		{"names":["socket"],"action":"SCMP_ACT_KILL_PROCESS","args":[{"index":1,"value":3,"op":"SCMP_CMP_EQ"}]}]}`,
		[]ociCall{{"socket", [6]uint64{40, 3}, KillProcess}, {"socket", [6]uint64{junk | 40, 1}, enofam}, {"socket", [6]uint64{2, 1}, Allow}}},
	{"actions", `{"defaultAction":"SCMP_ACT_LOG","flags":["SECCOMP_FILTER_FLAG_LOG"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_KILL"},
		{"names":["write"],"action":"SCMP_ACT_TRAP"},{"names":["open"],"action":"SCMP_ACT_TRACE","errnoRet":7},{"names":["stat"],"action":"SCMP_ACT_KILL_PROCESS"}]}`,
		[]ociCall{{"read", [6]uint64{}, KillThread}, {"write", [6]uint64{}, Trap}, {"open", [6]uint64{}, Trace | 7}, {"stat", [6]uint64{}, KillProcess}, {"close", [6]uint64{}, Log}}},
	{"a negative argument", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["openat"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":18446744073709551516,"op":"SCMP_CMP_EQ"}]}]}`,
		[]ociCall{{"openat", [6]uint64{^uint64(99)}, eperm}, {"openat", [6]uint64{0xffffff9c}, eperm}, {"openat", [6]uint64{3}, Allow}}},
}

type ociCall struct {
	call string
	args [6]uint64
	want Action
}

func TestParseOCI(t *testing.T) {
	for _, c := range ociGood {
		p, err := ParseOCI(c.name, []byte(c.text), AMD64())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		machine := newVM(t, compile(t, p, AMD64()))
		for _, call := range c.calls {
			d := data{number: number(t, AMD64(), call.call), arch: archAMD64.audit, args: call.args}
			if got := machine.run(t, d); got != call.want {
				t.Errorf("%s: %s%#x = %v, want %v", c.name, call.call, call.args, got, call.want)
			}
		}
		for _, d := range []data{{number: 1, arch: 0x40000003}, {number: x32Bit | 1, arch: archAMD64.audit}} {
			if got := machine.run(t, d); got != KillProcess {
				t.Errorf("%s: foreign call = %v", c.name, got)
			}
		}
	}
}

// ociBad are profiles that must not load, and the words that the error must hold.
var ociBad = []struct{ text, want string }{
	{``, "unexpected EOF"},
	{`null`, "defaultAction"},
	{`{}`, "defaultAction: it is missing"},
	{`[]`, "cannot unmarshal"},
	{`{"defaultAction":"SCMP_ACT_ALLOW"`, "EOF"},
	{`{"defaultAction":"SCMP_ACT_ALLOW"} {}`, "more after"},
	{`{"defaultAction":"SCMP_ACT_ALLOW"}}`, "more after"},
	{`{"defaultAction":"SCMP_ACT_SING"}`, `unknown action "SCMP_ACT_SING"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","defaultAction":"SCMP_ACT_ERRNO"}`, `"defaultAction" occurs twice`},
	{`{"defaultaction":"SCMP_ACT_ALLOW"}`, `unknown field "defaultaction"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","archMap":[]}`, `unknown field "archMap"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","names":["read"]}`, `unknown field "names"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/x"}`, `unknown field "listenerPath"`},
	{`{"defaultAction":"SCMP_ACT_NOTIFY"}`, "listener"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","defaultErrnoRet":1}`, "takes no errno"},
	{`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":0}`, "errno 0"},
	{`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":4096}`, "errno 4096"},
	{`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":-1}`, "defaultErrnoRet"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_VAX"]}`, `"SCMP_ARCH_VAX"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","architectures":[""]}`, `unknown architecture ""`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_AARCH64"]}`, "does not list SCMP_ARCH_X86_64"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","flags":["SECCOMP_FILTER_FLAG_NEW_LISTENER"]}`, "NEW_LISTENER"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["raed"],"action":"SCMP_ACT_ERRNO"}]}`, `unknown system call "raed"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":[],"action":"SCMP_ACT_ERRNO"}]}`, "syscalls[0]: names is empty"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"action":"SCMP_ACT_ERRNO"}]}`, "names is empty"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"]}]}`, "action: it is missing"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","comment":"x"}]}`, `unknown field "comment"`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"value":1,"op":"SCMP_CMP_EQ"}]}]}`, "index is missing"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"op":"SCMP_CMP_EQ"}]}]}`, "value is missing"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":6,"value":1,"op":"SCMP_CMP_EQ"}]}]}`, "index 6"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1}]}]}`, `unknown op ""`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"op":"=="}]}]}`, `unknown op "=="`},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"valueTwo":1,"op":"SCMP_CMP_EQ"}]}]}`, "valueTwo"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":4294967296,"op":"SCMP_CMP_EQ"}]}]}`, "does not fit"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mmap"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"valueTwo":2,"op":"SCMP_CMP_MASKED_EQ"}]}]}`, "outside the mask"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mmap"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":0,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}]}]}`, "mask 0x0"},
	{`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["read"],"action":"SCMP_ACT_ERRNO","args":[null]}]}`, "index is missing"},
}

func TestParseOCIRejects(t *testing.T) {
	for _, c := range ociBad {
		_, err := ParseOCI("file.json", []byte(c.text), AMD64())
		if err == nil {
			t.Errorf("%s: it was loaded", c.text)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"file.json"`) {
			t.Errorf("%s: error %q does not hold %q", c.text, err, c.want)
		}
	}
}
