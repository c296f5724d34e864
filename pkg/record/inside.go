package record

// InsideDir is where a sandbox puts what ethos needs inside it: a directory that nobody there can write to.
const InsideDir = "/run/ethos"

// The names in [InsideDir].
const (
	InsideGit     = InsideDir + "/git"           // the real git, where ethos-git is every other
	InsideDecide  = InsideDir + "/ethos-decide"  // asked by that ethos-git
	InsideSandbox = InsideDir + "/ethos-sandbox" // carries out file operations in a session
	InsideSignGPG = InsideDir + "/sign-gpg"      // what git has in the place of gpg: it asks for a signature from outside
	InsideSignSSH = InsideDir + "/sign-ssh"      // the same in the place of ssh-keygen
	InsideTraces  = InsideDir + "/traces"        // its trace store, which is writable
)
