package fileops

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"ethos/pkg/record"
)

type handler func(context.Context, *Request) (any, error)

// Do performs one request other than cancel. Results are limited in size. A panic becomes the error
// of this request.
func (t *Tree) Do(ctx context.Context, r *Request) (answer *Answer) {
	defer func() {
		if p := recover(); p != nil {
			answer = &Answer{ID: r.ID, Error: errorOf(r, fmt.Errorf("internal error: %v", p))}
		}
	}()
	do, ok := map[string]handler{
		"read": t.read, "write": t.alone(t.write), "edit": t.alone(t.edit), "list": t.list, "glob": t.glob, "grep": t.grep,
		"stat": t.stat, "mkdir": t.alone(t.mkdir), "rename": t.alone(t.rename), "remove": t.alone(t.remove),
	}[r.Op]
	if !ok {
		return &Answer{ID: r.ID, Error: errorOf(r, errno(syscall.EINVAL, "no such operation", ""))}
	}
	err := ctx.Err()
	var result any
	if err == nil {
		result, err = do(ctx, r)
	}
	return answerOf(r, result, err)
}

func answerOf(r *Request, result any, err error) *Answer {
	var text []byte
	if err == nil {
		text, err = json.Marshal(result)
	}
	if err != nil {
		return &Answer{ID: r.ID, Error: errorOf(r, err)}
	}
	return &Answer{ID: r.ID, Result: text}
}

// Serve reads requests from in and writes an answer to each of them to out, in the order in which
// they finish. Up to jobs requests run at once. It returns at the end of the input after all are
// answered, or with the error of a stream. The lines must have passed [Parse]; one that does not is
// an error.
func Serve(ctx context.Context, t *Tree, in io.Reader, out io.Writer, maxLine, jobs int) error {
	s := &server{tree: t, out: out, slots: make(chan struct{}, jobs), under: map[string]context.CancelFunc{}}
	defer s.running.Wait()
	lines := record.NewReader(bufio.NewReader(in), maxLine)
	for {
		line, err := lines.NextText()
		if errors.Is(err, io.EOF) {
			s.running.Wait()
			return s.failed()
		}
		if err != nil {
			return err
		}
		r, err := Parse(line)
		if err != nil {
			return err
		}
		s.start(ctx, r)
	}
}

// server is the state of one [Serve].
type server struct {
	tree    *Tree
	slots   chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex
	out   io.Writer
	err   error
	under map[string]context.CancelFunc // by id
}

func (s *server) start(ctx context.Context, r *Request) {
	if r.Cancel != "" {
		s.mu.Lock()
		cancel, found := s.under[r.Cancel]
		s.mu.Unlock()
		if found {
			cancel()
		}
		s.write(answerOf(r, &DoneResult{Done: found}, nil))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.under[r.ID] = cancel
	s.mu.Unlock()
	s.running.Go(func() {
		defer cancel()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
		}
		answer := s.tree.Do(ctx, r)
		s.mu.Lock()
		delete(s.under, r.ID) // before the answer, after which its id can be used again
		s.mu.Unlock()
		s.write(answer)
	})
}

func (s *server) write(a *Answer) {
	line, err := json.Marshal(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		_, err = s.out.Write(append(line, '\n'))
	}
	s.err = errors.Join(s.err, err)
}

func (s *server) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
