package control

import (
	"os"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/plan"
)

// filter is one seccomp program of a run, with the profile that it was compiled from.
type filter struct {
	seccomp.Profile
	program seccomp.Program
}

// filters compiles the programs of the plan for this machine: always the one that denies
// privileges, and in addition the profile file that the plan names. The kernel takes the
// strictest answer of all filters (seccomp(2), "Return values"), so a file can only restrict
// further. A filter that cannot be loaded is a refusal, never left out.
func filters(p *plan.Plan, read func(path string) ([]byte, error)) ([]filter, error) {
	arch, err := seccomp.Native()
	if err != nil {
		return nil, &plan.Refusal{Code: plan.CodeRequire, Err: err, Hint: "amd64 and arm64 are supported"}
	}
	open := seccomp.Openings{Tracing: p.Debug, Namespaces: p.NestedUserns != "", Mounts: p.NestedUserns == capability.NestedMounts}
	profiles := []seccomp.Profile{seccomp.DenyPrivilegeBut(open)}
	if p.Ports != nil || p.NoUnixSockets {
		profiles = append(profiles, seccomp.Sockets(p.Ports != nil, p.NoUnixSockets))
	}
	if p.Owner != nil { // otherwise a program could give root's group to the owner
		profiles = append(profiles, seccomp.NoSetGroupID())
	}
	if p.Backend == plan.Landlock {
		profiles = append(profiles, seccomp.Alone(p.Network == "host"))
	}
	var list []filter
	for _, profile := range profiles {
		program, err := profile.Compile(arch)
		if err != nil {
			return nil, &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
		list = append(list, filter{profile, program})
	}
	if p.SeccompFile == "" {
		if p.Seccomp != seccomp.DenyPrivilegeName {
			return nil, plan.Refuse(plan.CodeDeclaration, "it is "+seccomp.DenyPrivilegeName+", or name a profile file in the OCI form", "unknown seccomp profile %q", p.Seccomp)
		}
		return list, nil
	}
	profile, err := profileFile(p, arch, read)
	if err != nil {
		return nil, err
	}
	program, err := profile.Compile(arch)
	if err != nil {
		return nil, plan.Refuse(plan.CodeDeclaration, "shorten the profile", "seccomp profile %s: %w", p.SeccompFile, err)
	}
	return append(list, filter{profile, program}), nil
}

// profileFile reads the profile that the plan names, in the format of the OCI runtime
// specification. ethos reads it before the start, outside, so that the command cannot change
// what is loaded.
func profileFile(p *plan.Plan, arch *seccomp.Arch, read func(path string) ([]byte, error)) (seccomp.Profile, error) {
	text, err := read(p.SeccompFile)
	if err != nil {
		return seccomp.Profile{}, plan.Refuse(plan.CodeDeclaration, "name a file that can be read", "seccomp profile: %w", err)
	}
	profile, err := seccomp.ParseOCI(p.Seccomp, text, arch)
	if err != nil {
		return seccomp.Profile{}, plan.Refuse(plan.CodeDeclaration, "it must be a profile in the OCI form (linux.seccomp)", "seccomp profile %s: %w", p.SeccompFile, err)
	}
	return profile, nil
}

// SeccompText returns the plan's filter programs in the syntax of bpf_asm.
func SeccompText(p *plan.Plan) (string, error) {
	list, err := filters(p, os.ReadFile)
	if err != nil {
		return "", err
	}
	arch, err := seccomp.Native()
	if err != nil {
		return "", err
	}
	text := ""
	for _, f := range list {
		text += "; " + f.Name + "\n" + f.program.Asm(arch)
	}
	return text, nil
}
