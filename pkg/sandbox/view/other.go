//go:build !linux

package view

import (
	"context"
	"errors"
)

// errLinux says that views need Linux, because a view is an overlay.
var errLinux = errors.New("copy-on-write views need Linux")

// Create makes a view.
func Create(Place) (*View, error) { return nil, errLinux }

// Open opens a view by its name.
func Open(func(string) string, string) (*View, error) { return nil, errLinux }

// OpenAt opens a view by its directory.
func OpenAt(func(string) string, string) (*View, error) { return nil, errLinux }

// Changes lists what is different in the view.
func (v *View) Changes(context.Context) ([]Change, error) { return nil, errLinux }

// Unhashed lists what is different in the view, without hashes.
func (v *View) Unhashed(context.Context) ([]Change, error) { return nil, errLinux }

// Refused returns the changes that would be left out.
func (v *View) Refused([]Change) []Left { return nil }

// Save saves what was applied.
func (v *View) Save() error { return errLinux }

// Close lets other processes open the view.
func (v *View) Close() error { return errLinux }

// Remove removes the view.
func (v *View) Remove() error { return errLinux }
