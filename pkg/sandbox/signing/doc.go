// Package signing signs git's commits and tags with the user's key, which stays
// outside of the boundary.
//
// Inside, git runs [Inside] in place of gpg and ssh-keygen; it sends the text
// to be signed through a socket. Outside, a [Signer] reads it. It signs only a
// commit or a tag ([Parse]) that the user made ([Person.Judge]) from objects
// that the repository has ([Stored]). The user's git configuration ([Read]),
// from the system and user files as they were before the command began,
// determines the key and the program. The answer is the signature.
//
// # Limits
//
// The command controls the content of a commit. The signature says that it was
// committed in the user's name and with the user's permission, not that the
// user has read it. The supported formats are openpgp and ssh.
package signing
