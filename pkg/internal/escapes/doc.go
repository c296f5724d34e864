// Package escapes attacks the sandbox with the programs of testdata/escapes.
//
// A case is an attack, the errno or signal it must meet, and a twin that must succeed beside it; see the README there. [Parse] reads a file of them; the tests
// run each, confined and, to prove that it bites, unconfined. As root they run once more as an ordinary user.
//
//	go test ./pkg/internal/escapes -run TestEscapes/root/mount-bind
package escapes
