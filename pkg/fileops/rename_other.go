//go:build !linux

package fileops

func renameNew(from int, name string, to int, base string) error {
	return renameUnseen(from, name, to, base)
}
