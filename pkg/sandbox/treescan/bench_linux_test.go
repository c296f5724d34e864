package treescan

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkScan times a scan without memory and one with it of trees of so many
// directories with so many files each, eight directories in one.
func BenchmarkScan(b *testing.B) {
	for _, size := range []struct{ dirs, files int }{{100, 9}, {525, 95}, {5000, 9}, {20_000, 9}} {
		s := newSite(b)
		s.grow(size.dirs, size.files)
		name := fmt.Sprintf("dirs=%d/entries=%d", size.dirs, size.dirs*(size.files+1))
		b.Run(name+"/cold", func(b *testing.B) {
			plain := *s
			plain.Memory = ""
			for b.Loop() {
				plain.scan()
			}
		})
		s.remember()
		b.Run(name+"/memory", func(b *testing.B) {
			for b.Loop() {
				s.scan()
			}
		})
		tree := s.scan()
		b.Run(name+"/again", func(b *testing.B) {
			for b.Loop() {
				if _, err := tree.Rescan(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/save", func(b *testing.B) {
			for b.Loop() {
				tree.fresh = tree.Dirs
				s.ok(tree.Save())
			}
		})
	}
}

func (s *site) grow(dirs, files int) {
	list := []string{"."}
	for i := 1; i < dirs; i++ {
		list = append(list, fmt.Sprintf("%s/directory%d", list[(i-1)/8], i))
	}
	for _, dir := range list {
		s.mkdir(dir)
		for k := range files {
			s.ok(unix.Mknod(s.in(fmt.Sprintf("%s/file%d.go", dir, k)), unix.S_IFREG|0o644, 0))
		}
	}
}
