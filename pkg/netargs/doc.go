// Package netargs reads the command lines of network programs: which places
// they name that would be connected to.
//
//	r := netargs.Read(&command)
//	r := netargs.ReadGit(&git)
//
// # Contract
//
// A place counts wherever the program takes one from: operands, options such as
// curl's --proxy, --resolve and --connect-to, jump hosts, and the variables of
// the same command that name a proxy or a registry. Hosts are in the normal
// form of [rule.Host], whatever their spelling.
//
// Where a place comes from something that the words do not show (a variable, a
// file of options or URLs, an address that no rule can read) the reading says
// so in Hidden. A program that connects somewhere by all it does, and names
// nothing, is such a case.
//
// Where words could mean one thing or another, both are taken: a reading names
// rather a place too much than one too few.
//
// # Limits
//
// The user's own configuration (~/.curlrc, ~/.ssh/config, .npmrc, pip.conf), a
// lock file and a redirect of the server lead to places that no word names.
// A remote that git knows by a name is what the configuration of the repository
// says: the commands that would change it there are read, and name the place.
package netargs
