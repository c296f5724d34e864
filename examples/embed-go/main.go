// Embed-go is a small agent loop that confines what it runs: it reads one shell
// command a line, as a model would ask for them, runs each in a boundary around the
// working directory, and tells how it ended and what was refused.
//
//	go run ./examples/embed-go <<'EOF'
//	go version
//	cat ~/.ssh/id_ed25519
//	EOF
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"ethos/pkg/sandbox"
)

func main() {
	sandbox.ExecShim() // this program makes the boundaries itself; ethos-sandbox need not be installed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := loop(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed-go:", err)
		os.Exit(1)
	}
}

func loop(ctx context.Context) error {
	box, err := sandbox.New(
		sandbox.WithNetwork(sandbox.NetworkLoopback),
		sandbox.WithLimits(sandbox.Limits{Timeout: time.Minute, MemoryBytes: 1 << 30}),
	)
	if err != nil {
		return err // this machine cannot confine: nothing runs
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		cmd := exec.Command("sh", "-c", in.Text())
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		result, err := box.Run(ctx, cmd)
		if err != nil {
			return err // refused: nothing ran
		}
		fmt.Printf("%s: %s %d\n", in.Text(), result.Status, result.ExitCode)
		for _, denied := range result.Capture.Sandbox.Denials {
			fmt.Printf("  refused: %s: %s\n", denied.What, denied.Reason)
		}
	}
	return ctx.Err()
}
