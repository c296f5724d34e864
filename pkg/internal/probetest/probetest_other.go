//go:build !linux

package probetest

func userNamespaces() string { return "not Linux" }
