// Package explain says what the boundary refused a command, and which
// declaration would allow it.
//
// Two ways lead to a [Need], what a command asked of a path: [Explainer.Infer]
// reads what a failed command printed and was given as arguments, and an observer
// of its system calls saw it. [Explainer.Denial] holds a need against the plan and
// the host: what would have been no different outside is no denial.
//
// # Contract
//
// A declaration that is proposed is one that can be had: the plan was made again
// with it, and gives the path. Nothing is proposed for credentials, for what
// decides what runs outside, for a home directory or a whole tree of the system.
// A command chooses what it prints and which names it asks for, so a denial of
// either kind is advice for a person, and is never acted on. Texts can be printed,
// but for a denial's Path, which is as it is.
//
// # Limits
//
// Messages are known in English and by the names of errors. Only so many paths of
// one command are looked up, and only so many denials told.
package explain
