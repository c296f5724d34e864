//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/internal/escapes"
)

// repository is the root of this repository, seen from the tests.
const repository = "../../.."

// testNames are the tests in the sources of a package whose names begin with prefix and do not match skip, which is not empty.
func testNames(dir, prefix, skip string) (names []string) {
	skipped, declared := regexp.MustCompile(skip), regexp.MustCompile(`(?m)^func (`+prefix+`\w*)\(t \*testing\.T\)`)
	for _, text := range texts(dir, "*_test.go") {
		for _, found := range declared.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(found[1], "Test") && !skipped.MatchString(found[1]) {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// attackNames are the attacks that are for root, or for an ordinary user, as their test names them: all but those about a later Landlock, or with a program,
// that is not required to be there.
func attackNames(who, required string) (names []string) {
	later := func(need string) bool {
		named := strings.HasPrefix(need, "landlock-abi-") || strings.HasPrefix(need, "command:") || need == "upper"
		return named && !slices.Contains(strings.Split(required, ","), need)
	}
	for _, text := range texts("testdata/escapes", "*.txt") {
		cases, err := escapes.Parse(text)
		if err != nil {
			panic(err)
		}
		for _, c := range cases {
			if (c.As == "" || c.As == who) && !slices.ContainsFunc(c.Needs, later) {
				names = append(names, "TestEscapes/"+who+"/"+c.Name)
			}
		}
	}
	return names
}

func texts(dir, pattern string) (all []string) {
	files, err := filepath.Glob(filepath.Join(repository, dir, pattern))
	if err != nil || len(files) == 0 {
		panic(fmt.Sprint(dir, "/", pattern, ": no files, ", err))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		all = append(all, string(text))
	}
	return all
}

// ended finds what a test program says at the end of a test. A test that says why it skips counts: ETHOS_REQUIRE forbids the skips that would hide something.
var ended = regexp.MustCompile(`(?m)^ *--- (?:PASS|SKIP): (\S+) \(`)

// missing are the wanted tests that did not run to their end. An attack is never skipped.
func (c Case) missing(output string) (names []string) {
	seen := map[string]bool{}
	for _, found := range ended.FindAllStringSubmatch(output, -1) {
		seen[found[1]] = !strings.Contains(found[0], "SKIP") || !strings.HasPrefix(found[1], "TestEscapes/")
	}
	for _, name := range c.Tests {
		if !seen[name] {
			names = append(names, name)
		}
	}
	return names
}
