package shell_test

import (
	"fmt"

	"ethos/pkg/shell"
)

func ExampleAnalyze() {
	a := shell.Analyze(`cd build && sudo sh -c 'rm -rf "$1"/*' _ out`, shell.Options{Cwd: "/w", Workspace: "/w"})
	for i, c := range a.Shell.Commands {
		fmt.Println(c.Line, c.Column, c.Name, c.Wrappers, c.Within, a.Cwds[i])
	}
	for _, w := range a.Shell.Writes {
		fmt.Println(w.Op, w.Path, w.Certain)
	}
	fmt.Println(a.Shell.Risks, a.Incomplete)
	// Output:
	// 1 1 cd [] [] /w
	// 1 18 sh [sudo] [] /w/build
	// 1 25 rm [sudo] [sh -c] /w/build
	// delete build/out/* true
	// [cd expansion operator] []
}

func ExampleAnalyzeArgv() {
	a := shell.AnalyzeArgv([]string{"env", "A=b", "timeout", "5", "git", "rm", "f"}, shell.Options{Cwd: "/w", Workspace: "/w"})
	c := a.Shell.Commands[0]
	fmt.Println(c.Name, c.Wrappers, c.Assignments[0].Name, a.Shell.Writes[0].Path)
	// Output: git [env timeout] A f
}
