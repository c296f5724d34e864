package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
)

// data is struct seccomp_data: what a filter sees of a call.
type data struct {
	number uint32
	arch   uint32
	args   [6]uint64
}

// words are the 32-bit words of the struct as a little-endian machine lays them out.
func (d data) words() [16]uint32 {
	w := [16]uint32{0: d.number, 1: d.arch}
	for i, arg := range d.args {
		w[4+2*i], w[5+2*i] = uint32(arg), uint32(arg>>32)
	}
	return w
}

// vm runs programs on the interpreter of golang.org/x/net/bpf. It loads words big-endian, as packets have them, so it
// is given words in that order; seccomp(2) loads them in the machine's.
type vm struct{ *bpf.VM }

func newVM(t testing.TB, p Program) vm {
	t.Helper()
	instructions, ok := bpf.Disassemble(p)
	if !ok {
		t.Fatal("the program has instructions that are not classic BPF")
	}
	machine, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	return vm{machine}
}

func (m vm) run(t testing.TB, d data) Action {
	t.Helper()
	packet := make([]byte, 0, 64)
	for _, word := range d.words() {
		packet = binary.BigEndian.AppendUint32(packet, word)
	}
	n, err := m.Run(packet)
	if err != nil {
		t.Fatal(err)
	}
	return Action(n)
}

func compile(t testing.TB, p Profile, a *Arch) Program {
	t.Helper()
	program, err := p.Compile(a)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func number(t testing.TB, a *Arch, name string) uint32 {
	t.Helper()
	n, ok := a.NumberOf(name)
	if !ok {
		t.Fatalf("no system call %s on %s", name, a)
	}
	return n
}
