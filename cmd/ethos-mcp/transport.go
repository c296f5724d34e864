package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ethos/pkg/cli"
)

// stdio is the transport of standard input and output. The library cancels what it has not answered
// at the end of the input; here the input ends when everything received is answered, or when nobody
// can read an answer.
type stdio struct{ mcp.StdioTransport }

func (t *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.StdioTransport.Connect(ctx)
	return &answering{Connection: inner, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{}), changed: make(chan struct{}, 1)}, err
}

// answering is a connection that knows which requests wait for an answer.
type answering struct {
	mcp.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]bool
	changed chan struct{} // receives after an answer
	closed  chan struct{}
	close   sync.Once
}

func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := a.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		a.drain(ctx)
	}
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		a.received(r)
	}
	return m, err
}

// received notes a request. One that is given up may get no answer.
func (a *answering) received(r *jsonrpc.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.IsCall() {
		a.open[r.ID] = true
		return
	}
	var gone struct {
		RequestID any `json:"requestId"`
	}
	if r.Method == "notifications/cancelled" && json.Unmarshal(r.Params, &gone) == nil {
		if id, err := jsonrpc.MakeID(gone.RequestID); err == nil {
			delete(a.open, id)
		}
	}
}

func (a *answering) Write(ctx context.Context, m jsonrpc.Message) error {
	err := a.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		a.mu.Lock()
		delete(a.open, r.ID)
		a.mu.Unlock()
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
	return err
}

func (a *answering) Close() error {
	a.close.Do(func() { close(a.closed) })
	return a.Connection.Close()
}

// drain waits until every request has its answer.
func (a *answering) drain(ctx context.Context) {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for a.waiting() > 0 && !cli.HungUp(os.Stdout) {
		select {
		case <-a.changed:
		case <-look.C:
		case <-a.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (a *answering) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open)
}
