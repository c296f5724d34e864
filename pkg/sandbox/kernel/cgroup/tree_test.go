package cgroup

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
)

// divided is a tree with a first process, 200, that has moved.
func divided(t *testing.T, limits Limits) (*kernel, *Delegation, *Tree) {
	t.Helper()
	k, d := delegation(t)
	tree, err := d.NewTree(limits)
	if err != nil {
		t.Fatal(err)
	}
	first(k, tree)
	procs := tree.KeeperFD()
	if err := tree.Divide(200, []string{"memory", "pids"}); err != nil {
		t.Fatal(err)
	}
	if procs == 0 || tree.KeeperFD() != 0 { // with it, a command could leave its leaf
		t.Errorf("the way out of a leaf is descriptor %d, and once the tree is divided %d", procs, tree.KeeperFD())
	}
	return k, d, tree
}

// first is what the first process of a session does.
func first(k *kernel, tree *Tree) {
	id := strings.TrimPrefix(tree.keeper(), k.point)
	k.groups[id].procs = append(k.groups[id].procs, "200")
}

// TestTree : what holds for the session is above, what holds for a command below, and memory that runs out above ends one leaf.
func TestTree(t *testing.T) {
	k, _, tree := divided(t, Limits{MemoryBytes: 1 << 20, Pids: 20})
	leaf, err := tree.NewLeaf(Limits{MemoryBytes: 1 << 19, CPUPercent: 50, Pids: 5})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		tree.Path + "/memory.max": "1048576", tree.Path + "/pids.max": "20", tree.Path + "/memory.oom.group": "0", tree.Path + "/cgroup.procs": "",
		leaf.Path + "/memory.max": "524288", leaf.Path + "/pids.max": "5", leaf.Path + "/memory.oom.group": "1", leaf.Path + "/cpu.max": "50000 100000",
		leaf.Path + "/memory.swap.max": "0",
	} {
		if got, err := k.ReadFile(path); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
		}
	}
	k.groups[strings.TrimPrefix(leaf.Path, k.point)].procs = []string{"300"}
	if populated, err := leaf.Populated(); err != nil || !populated {
		t.Errorf("%v, %v", populated, err)
	}
	if err := errors.Join(leaf.Kill(), leaf.Remove(context.Background())); err != nil {
		t.Error(err)
	}
	if populated, err := tree.Populated(); err != nil || !populated {
		t.Errorf("the kill of one command has ended the session: %v, %v", populated, err)
	}
	if _, err := tree.NewLeaf(Limits{}); err != nil { // one that outlives its command
		t.Error(err)
	}
	if err := errors.Join(tree.Kill(), tree.Remove(context.Background())); err != nil {
		t.Error(err)
	}
	for id := range k.groups {
		if strings.Contains(id, "/run-") {
			t.Errorf("%s is left behind", id)
		}
	}
}

// TestTreeIsNotDividedEarly : the controllers are given away only when the first process has moved, which the kernel asks for as well.
func TestTreeIsNotDividedEarly(t *testing.T) {
	k, d := delegation(t)
	tree, err := d.NewTree(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Divide(200, need); err == nil || !strings.Contains(err.Error(), "process 200 is not in") {
		t.Error(err)
	}
	first(k, tree)
	if err := tree.Divide(20, need); err == nil {
		t.Error("another process is taken for the first")
	}
	k.groups[strings.TrimPrefix(tree.Path, k.point)].procs = []string{"201"}
	if err := tree.Divide(200, need); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("%v, with a process in the tree itself", err)
	}
}

// TestTreeWithoutController : a limit that no leaf can hold is an error that says so.
func TestTreeWithoutController(t *testing.T) {
	k := newKernel(user, "/d/me", "/d:1000:memory,pids", "/d/me:1000")
	d, err := Discover(t.Context(), k.caller(), []string{"memory", "pids"})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := d.NewTree(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	first(k, tree)
	if err := tree.Divide(200, []string{"memory", "pids"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.NewLeaf(Limits{CPUPercent: 50}); !errors.Is(err, ErrNoController) || !strings.HasSuffix(err.Error(), " cpu") {
		t.Error(err)
	}
	if _, err := tree.NewLeaf(Limits{Pids: 5}); err != nil {
		t.Error(err)
	}
}

// TestTreeFaults : whatever goes wrong while a tree or a leaf of it is made, nothing of it is left.
func TestTreeFaults(t *testing.T) {
	for n := range 200 {
		k, d := delegation(t)
		count, injected := 0, ""
		k.fault = func(op, name string) error {
			if op != "rmdir" {
				count++
			}
			if count == n+1 && injected == "" {
				injected = op + " " + name
				return syscall.EIO
			}
			return nil
		}
		tree, err := d.NewTree(Limits{MemoryBytes: 1 << 20, CPUPercent: 50, Pids: 5})
		if injected == "" {
			k.fault = nil
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if tree != nil || err == nil || !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("%s failed: %v, %v", injected, tree, err)
		}
		for id := range k.groups {
			if strings.Contains(id, "/run-") {
				t.Errorf("%s failed: %s is left behind", injected, id)
			}
		}
	}
	t.Error("200 operations were not enough")
}

// TestSweepOfTree : the next one to come removes the tree of a session whose supervisor was killed, with what is alive in it.
func TestSweepOfTree(t *testing.T) {
	k, d, tree := divided(t, Limits{})
	leaf, err := tree.NewLeaf(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	k.groups[strings.TrimPrefix(leaf.Path, k.point)].procs = []string{"300"}
	d.sweep()
	if _, err := tree.Populated(); err != nil {
		t.Errorf("the tree of a living session was removed: %v", err)
	}
	if err := errors.Join(tree.dir.Close(), leaf.dir.Close()); err != nil { // what the end of its maker does
		t.Fatal(err)
	}
	d.sweep()
	for id := range k.groups {
		if strings.Contains(id, "/run-") {
			t.Errorf("%s is left behind", id)
		}
	}
}
