package plan

import (
	"path/filepath"
	"slices"
	"strconv"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

// SigningDir is the directory inside that contains the socket of git's signer: see package
// signing.
const SigningDir = record.InsideDir + "/signing"

// SigningSocket is that socket.
const SigningSocket = SigningDir + "/socket"

// ControlSigning is the name of the control that has git's commits and tags signed outside.
const ControlSigning = "git_signing"

// signingConfig is the git configuration inside that names the signing programs.
var signingConfig = [][2]string{
	{"gpg.program", record.InsideSignGPG}, {"gpg.openpgp.program", record.InsideSignGPG}, {"gpg.ssh.program", record.InsideSignSSH},
}

// signs reports whether commits and tags are signed outside.
func (b *builder) signs() bool {
	return b.set.GitSigning != "" && b.set.GitSigning != "none"
}

// signing records in the plan whose commits and tags are signed.
func (b *builder) signing(p *Plan) error {
	if !b.signs() {
		return nil
	}
	switch {
	case b.set.GitSigning != capability.SignOwn && b.set.GitSigning != capability.SignCommitter:
		return Refuse(CodeDeclaration, "use none, "+capability.SignOwn+" or "+capability.SignCommitter, "unknown git_signing %q", b.set.GitSigning)
	case b.spec.Backend != "":
		return Refuse(CodeDeclaration, "omit --git-signing or --backend", "git_signing needs the backend native, not %s", b.spec.Backend)
	case b.set.UnixFamily == capability.NoUnixSockets:
		return Refuse(CodeDeclaration, "remove one of the two", "git_signing needs a Unix socket, but unix_family denies Unix sockets")
	}
	p.GitSigning = b.set.GitSigning
	return nil
}

// signingEnv sets the variables that make git inside sign with the program that asks for
// signatures: git-config(1), ENVIRONMENT. They override every configuration file.
func (b *builder) signingEnv(values map[string]string) {
	if !b.signs() {
		return
	}
	values["GIT_CONFIG_COUNT"] = strconv.Itoa(len(signingConfig))
	for i, s := range signingConfig {
		n := strconv.Itoa(i)
		values["GIT_CONFIG_KEY_"+n], values["GIT_CONFIG_VALUE_"+n] = s[0], s[1]
	}
}

// signingMounts returns the mounts of that program, which is ethos-sandbox under another
// name.
func (b *builder) signingMounts() []mount.Mount {
	if !b.signs() || b.spec.Signer == "" {
		return nil
	}
	return []mount.Mount{managedFile(record.InsideSignGPG, b.spec.Signer, "asks for signatures"), managedFile(record.InsideSignSSH, b.spec.Signer, "asks for signatures")}
}

// signingDir adds the directory of the socket to the table.
func (b *builder) signingDir(entries []Entry) []Entry {
	if !b.signs() {
		return entries
	}
	return privately(entries, SigningDir, "the socket of git's signer")
}

// privately adds a directory on the run's own tmpfs to a table.
func privately(entries []Entry, path, why string) []Entry {
	entries = append(slices.Clone(entries), Entry{Path: path, Access: Private, Dir: true, Why: why})
	slices.SortStableFunc(entries, func(x, y Entry) int { return mount.Depth(x.Path) - mount.Depth(y.Path) })
	return entries
}

// CommandWrites reports whether the command can change what a path names in a host
// directory.
func (p *Plan) CommandWrites(path string) bool {
	return Covering(p.Paths, filepath.Clean(path)).Access == ReadWrite
}
