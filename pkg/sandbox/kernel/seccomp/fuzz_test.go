package seccomp

import (
	"encoding/binary"
	"math/rand/v2"
	"syscall"
	"testing"
)

// source reads choices from fuzz input; after its end it reads zeros.
type source struct{ bytes []byte }

func (s *source) byte() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

func (s *source) uint64() uint64 {
	var b [8]byte
	for i := range b {
		b[i] = s.byte()
	}
	return binary.LittleEndian.Uint64(b[:])
}

// value prefers numbers at which comparisons change their answer.
func (s *source) value() uint64 {
	base := []uint64{0, 1, 2, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1<<32 | 1, 1 << 63, ^uint64(0)}
	switch n := int(s.byte()); {
	case n < len(base):
		return base[n]
	case n < 128:
		return uint64(n)
	default:
		return s.uint64()
	}
}

var fuzzActions = []Action{Allow, Log, Errno(1), Errno(38), Trap, KillThread, KillProcess, Trace | 3}

// profile makes up to 24 rules, each about up to 4 calls.
func (s *source) profile(a *Arch) Profile {
	p := Profile{Name: "fuzz", Default: fuzzActions[int(s.byte())%len(fuzzActions)]}
	for range s.byte() % 24 {
		rule := Rule{Action: fuzzActions[int(s.byte())%len(fuzzActions)]}
		for range 1 + s.byte()%4 {
			rule.Calls = append(rule.Calls, a.calls[int(binary.LittleEndian.Uint16([]byte{s.byte(), s.byte()}))%len(a.calls)].name)
		}
		for range s.byte() % 5 {
			cond := Cond{Arg: int(s.byte() % 6), Op: Op(s.byte()) % (AnyBit + 1), Value: s.value()}
			if cond.Op == MaskedEqual {
				cond.Mask = s.value()
				cond.Value &= cond.Mask
			}
			rule.When = append(rule.When, cond)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

// probes are the calls to try: those the profile is about, with arguments at the values it compares with.
func (s *source) probes(p Profile, a *Arch) []data {
	list := []data{{number: 0, arch: a.audit}, {number: a.newest() + 1, arch: a.audit}, {number: x32Bit | 1, arch: a.audit}, {number: 1, arch: 0x40000003}}
	for _, rule := range p.Rules {
		for _, name := range rule.Calls {
			d := data{number: a.find(name).number, arch: a.audit}
			list = append(list, d)
			for _, cond := range rule.When {
				d.args[cond.Arg] = cond.Value
			}
			list = append(list, d)
			for i := range d.args {
				d.args[i] += uint64(int64(int8(s.byte())))
			}
			list = append(list, d)
			d.args[s.byte()%6] ^= s.value()
			list = append(list, d)
		}
	}
	return list
}

// FuzzCompile compares programs with the meaning of their profiles, on two interpreters.
func FuzzCompile(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 3, 2, 0, 16, 0, 1, 1, 0, 5, 0, 6, 1, 0, 16, 0, 1, 1, 0, 9})
	f.Add([]byte("\x02\x17many rules about many calls with many conditions on many arguments, so that jumps are long: 0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		input := make([]byte, 2000)
		for i := range input {
			input[i] = byte(random.Uint32())
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			s := &source{input}
			p := s.profile(arch)
			program, err := p.Compile(arch)
			if err != nil {
				continue // a condition that cannot hold, or too many
			}
			machine := newVM(t, program)
			for _, d := range s.probes(p, arch) {
				agree(t, p, program, machine, arch, d)
			}
		}
	})
}

// FuzzParseOCI : what loads compiles, keeps foreign calls out, and means what it says.
func FuzzParseOCI(f *testing.F) {
	for _, c := range ociGood {
		f.Add(c.text)
	}
	for _, c := range ociBad {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseOCI("fuzz", []byte(text), AMD64())
		if err != nil {
			return
		}
		machine := newVM(t, compile(t, p, AMD64()))
		if got := machine.run(t, data{number: 1, arch: 0x40000003}); got != KillProcess {
			t.Errorf("i386: %v", got)
		}
		if got := machine.run(t, data{number: x32Bit | 1, arch: archAMD64.audit}); got != KillProcess {
			t.Errorf("x32: %v", got)
		}
		for _, d := range (&source{[]byte(text)}).probes(p.native(), AMD64()) {
			if got, want := machine.run(t, d), judge(p, AMD64(), d); got != want {
				t.Errorf("%s%#x: %v, want %v", AMD64().NameOf(d.number), d.args, got, want)
			}
		}
	})
}

// native leaves out the names that this architecture does not have.
func (p Profile) native() Profile {
	out := p
	out.Rules = nil
	for _, rule := range p.Rules {
		var calls []string
		for _, name := range rule.Calls {
			if archAMD64.find(name) != nil {
				calls = append(calls, name)
			}
		}
		rule.Calls = calls
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// TestLongJumps makes a program in which every kind of jump is out of reach of its 8 bits somewhere.
func TestLongJumps(t *testing.T) {
	p := Profile{Name: "long", Default: Allow}
	for i, c := range archAMD64.calls {
		if i%2 == 0 {
			continue
		}
		for n := range 4 {
			cond := Cond{Arg: 5, Op: Equal, Value: uint64(1000 + 10*n)}
			if c.width(5) != 64 {
				cond.Arg = 0
			}
			p.Rules = append(p.Rules, Rule{Calls: []string{c.name}, Action: Errno(syscall.Errno(1 + i%200)), When: []Cond{cond}})
		}
	}
	program := compile(t, p, AMD64())
	if len(program) < 4*reach {
		t.Fatalf("%d instructions are too few to show anything", len(program))
	}
	machine := newVM(t, program)
	for _, c := range archAMD64.calls {
		for _, arg := range []uint64{0, 1000, 1010, 1030, 1031, 1<<32 | 1000} {
			agree(t, p, program, machine, AMD64(), data{number: c.number, arch: archAMD64.audit, args: [6]uint64{arg, 0, 0, 0, 0, arg}})
		}
	}
}
