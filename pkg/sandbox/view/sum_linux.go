package view

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"sync"

	"ethos/pkg/timerslack"
)

// sums computes the hashes of files while the walk goes on.
type sums struct {
	files chan listedFile // nil before the first file
	wait  sync.WaitGroup
	mu    sync.Mutex
	done  map[int]string // by the index of the change
	err   error
}

// listedFile is an open file and the index of its change.
type listedFile struct {
	at int
	f  *os.File
}

// openFiles is how many files may wait for a worker, each with a descriptor.
const openFiles = 64

// later computes the hash of a file, which it closes.
func (s *sums) later(at int, f *os.File) {
	if s.files == nil {
		s.files, s.done = make(chan listedFile, openFiles), map[int]string{}
		for range runtime.GOMAXPROCS(0) {
			s.wait.Go(s.work)
		}
	}
	s.files <- listedFile{at, f}
}

func (s *sums) work() {
	for file := range s.files {
		timerslack.Restore()
		text, err := sum(file.f)
		file.f.Close()
		s.mu.Lock()
		s.done[file.at] = text
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
	}
}

func (s *sums) finish(list []Change) error {
	if s.files == nil {
		return nil
	}
	close(s.files)
	s.wait.Wait()
	if s.err != nil {
		return s.err
	}
	for at, text := range s.done {
		list[at].Sum = text
	}
	return nil
}

var sumBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

func sum(f *os.File) (string, error) {
	buffer := sumBuffers.Get().(*[64 << 10]byte)
	defer sumBuffers.Put(buffer)
	h := sha256.New()
	// The type is hidden so that io.CopyBuffer uses the buffer.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buffer[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
