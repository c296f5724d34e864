// Package explain says what the boundary refused a command, and which
// declaration would allow it.
//
// A [Need] is what a command asked of a path. It comes from two sources:
// [Explainer.Infer] infers it from the output and the arguments of a failed
// command, or an observer saw it in the command's system calls.
// [Explainer.Denial] compares a need with the plan and the host: what would
// also have failed outside is not a denial.
//
// # Contract
//
// A proposed declaration is one that works: the plan was made again with it,
// and gives access to the path. Nothing is proposed for credentials, for files
// that decide what runs outside, for a home directory or for a whole system
// tree. A command chooses what it prints and which names it asks for. A denial
// from either source is therefore advice for a person, and nothing acts on it
// automatically. All texts are printable, except for a denial's Path, which is
// unchanged.
//
// # Limits
//
// Messages are recognised in English and by the names of errors. The number of
// paths looked up and of denials reported per command is limited.
package explain
