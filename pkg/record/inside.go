package record

// InsideDir is the directory for ethos's own files inside a sandbox. Nobody there can write to it.
const InsideDir = "/run/ethos"

// The names in [InsideDir].
const (
	InsideGit     = InsideDir + "/git"           // the real git, if every other git is ethos-git
	InsideDecide  = InsideDir + "/ethos-decide"  // called by that ethos-git
	InsideCEL     = InsideDir + "/ethos-cel"     // what that ethos-decide becomes where it needs CEL
	InsideSandbox = InsideDir + "/ethos-sandbox" // performs file operations in a session
	InsideSignGPG = InsideDir + "/sign-gpg"      // git's gpg program: it requests a signature from outside
	InsideSignSSH = InsideDir + "/sign-ssh"      // git's ssh-keygen program: it does the same
	InsideTraces  = InsideDir + "/traces"        // its trace store, which is writable
)
