//go:build !darwin && !(linux && (amd64 || arm64 || 386))

package printable

// The programs are for Linux on amd64 and arm64. They also compile on macOS and for 386, where
// ethos-sandbox says what it cannot do. docs/install.md explains why other systems are not
// supported. The error is in this package because every program has it and it needs no other.
var _ = ethos_needs_linux_or_macos_see_docs_install_md
