package main

import (
	"sync"

	"ethos/pkg/session"
	"ethos/pkg/session/cmdserver"
	"ethos/pkg/session/dial"
)

// callServers are the processes that do for agents' hooks what ethos-facts and
// ethos-decide would do. One session of a user has them, for all hooks.
type callServers struct {
	registry *session.Registry

	mu      sync.Mutex
	lock    *session.Lock
	running map[string]*cmdserver.Process // by their programs
	ended   bool
}

// take starts the servers that were not started, or were killed, unless another
// session has them.
// Hooks work without: they start their programs.
func (c *callServers) take() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if c.lock == nil {
		lock, err := c.registry.LockCalls()
		if err != nil {
			return
		}
		c.lock, c.running = lock, map[string]*cmdserver.Process{}
	}
	for _, program := range dial.Served() {
		if p := c.running[program]; p != nil && !p.Killed() {
			continue
		}
		if p, err := cmdserver.Start(program, c.lock.Folder); err == nil {
			c.running[program] = p
		}
	}
}

func (c *callServers) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, p := range c.running {
		p.End()
	}
	if c.lock != nil {
		c.lock.Release()
	}
}
