package record

import (
	"context"
	"io"
)

// Interruptible returns a reader of r whose Read fails with ctx's error once ctx is done, even
// while r blocks, as a terminal or a pipe does. The goroutine that reads r then remains until r
// returns.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if ctx.Done() == nil {
		return r
	}
	return &interruptible{ctx: ctx, from: r}
}

type interruptible struct {
	ctx    context.Context
	from   io.Reader
	want   chan []byte // buffers to fill
	have   chan filled
	buffer []byte
	rest   []byte
	err    error
}

type filled struct {
	n   int
	err error
}

func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if err := r.refill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if len(r.rest) == 0 && n == 0 {
		return 0, r.err
	}
	return n, nil
}

func (r *interruptible) refill() error {
	if r.want == nil {
		r.want, r.have, r.buffer = make(chan []byte), make(chan filled, 1), make([]byte, 64<<10)
		go r.pump()
	}
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case r.want <- r.buffer:
	}
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case got := <-r.have:
		r.rest, r.err = r.buffer[:got.n], got.err
		return nil
	}
}

// pump fills one buffer at a time. It ends with the first error, or when no more is requested.
func (r *interruptible) pump() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case buffer := <-r.want:
			n, err := r.from.Read(buffer)
			r.have <- filled{n, err}
			if err != nil {
				return
			}
		}
	}
}
