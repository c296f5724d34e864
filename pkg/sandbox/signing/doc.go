// Package signing has git's commits and tags signed with the person's key, which
// stays outside of the boundary.
//
// Inside, git runs [Inside] in the place of gpg and ssh-keygen: it sends what is to
// be signed through a socket. Outside, a [Signer] reads it, and signs nothing but a
// commit or a tag ([Parse]) that the person made ([Person.Judge]) of objects that
// the repository has ([Stored]). Which key signs, and by which program, says the
// person's configuration of git ([Read]), the system's and the user's, as it was
// before the command began. What comes back is the signature.
//
// # Limits
//
// The content of a commit is the command's: the signature says that it was
// committed in the person's name by who had the person's leave to, not that the
// person has read it. The formats are openpgp and ssh.
package signing
