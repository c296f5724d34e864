package session

import (
	"crypto/rand"
	"strings"
)

// NewName returns a random name.
func NewName() string { return "s-" + strings.ToLower(rand.Text()[:8]) }
