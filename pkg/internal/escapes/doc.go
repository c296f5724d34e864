// Package escapes attacks the sandbox with the programs of testdata/escapes.
//
// A case is an attack, the errno or signal that must stop it, and a twin that must succeed; see the
// README there. [Parse] parses a file of cases. The tests run each case confined and, to prove that
// it is effective, unconfined. As root they run once more as an ordinary user.
//
//	go test ./pkg/internal/escapes -run TestEscapes/root/mount-bind
package escapes
