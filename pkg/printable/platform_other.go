//go:build !darwin && !(linux && (amd64 || arm64))

package cli

// The programs are for Linux on amd64 and arm64, and also compile on macOS.
// docs/install.md explains why other systems are not supported.
var _ = ethos_needs_linux_on_amd64_or_arm64_see_docs_install_md
