// Package netargs reads the command lines of network programs and returns the hosts that they would
// connect to. Begin with [Read].
//
//	r := netargs.Read(&command)
//	r := netargs.ReadGit(&git)
//
// # Contract
//
// A host counts wherever the program takes one from: operands, options such as curl's --proxy,
// --resolve and --connect-to, jump hosts, and the variables of the same command that name a proxy
// or a registry. Hosts are in the normal form of [rule.Host], whatever their spelling.
//
// If a host comes from something that the words do not show (a variable, a file of options or URLs,
// an address that cannot be parsed), the reading says so in Hidden. This includes a program that
// always connects to a host but names none.
//
// If words can have two meanings, both count: a reading has one host too many rather than one too
// few.
//
// # Limits
//
// The user's own configuration (~/.curlrc, ~/.ssh/config, .npmrc, pip.conf), a lock file, and a
// redirect of the server lead to hosts that no word names. A remote that git knows by a name is
// defined by the configuration of the repository. Commands that would change it there are analysed,
// and name the host.
package netargs
