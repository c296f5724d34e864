package cgroup

import "sync"

// ahead are files of which some are being read before they are asked for.
type ahead struct {
	Files
	mu    sync.Mutex
	texts map[string]*text // each is given out once
}

type text struct {
	ended chan struct{}
	bytes []byte
	err   error
}

// Ahead begins to read what [Discover] reads first, and returns files that give
// it out once. What is read later, or again, is read then.
func Ahead(files Files) Files {
	a := &ahead{Files: files, texts: map[string]*text{}}
	for _, path := range []string{mountTable, ownCgroup} {
		t := &text{ended: make(chan struct{})}
		a.texts[path] = t
		go func() {
			defer close(t.ended)
			t.bytes, t.err = files.ReadFile(path)
		}()
	}
	return a
}

func (a *ahead) ReadFile(path string) ([]byte, error) {
	a.mu.Lock()
	t := a.texts[path]
	delete(a.texts, path)
	a.mu.Unlock()
	if t == nil {
		return a.Files.ReadFile(path)
	}
	<-t.ended
	return t.bytes, t.err
}
