package catalog

import (
	"strings"
	"testing"

	"ethos/pkg/catalog/shipped"
)

func argv(line string) []*string {
	var out []*string
	for _, w := range strings.Fields(line) {
		if w == "‹?›" {
			out = append(out, nil)
		} else {
			out = append(out, &w)
		}
	}
	return out
}

func TestMatch(t *testing.T) {
	c := New(Config{})
	for line, want := range map[string]string{
		// The same tool by its name, a path, a version, a launcher.
		"eslint .": "eslint eslint",
		"./node_modules/.bin/eslint src --max-warnings 0": "eslint eslint",
		"npx eslint .":                                           "eslint eslint",
		"npx -y eslint@9.1.0 .":                                  "eslint eslint",
		"npx --package eslint eslint .":                          "eslint eslint",
		"npm exec -- eslint .":                                   "eslint eslint",
		"npm x eslint -- .":                                      "eslint eslint",
		"pnpm exec eslint .":                                     "eslint eslint",
		"pnpm eslint .":                                          "eslint eslint",
		"pnpm dlx eslint@9 .":                                    "eslint eslint",
		"yarn eslint .":                                          "eslint eslint",
		"yarn dlx eslint .":                                      "eslint eslint",
		"bunx eslint .":                                          "eslint eslint",
		"npx @biomejs/biome check .":                             "biome ",
		"npx @biomejs/biome@1.9.4 check .":                       "biome ",
		"ruff check .":                                           "ruff ruff",
		"uv run ruff check .":                                    "ruff ruff",
		"uv run --with ruff -p 3.12 ruff check .":                "ruff ruff",
		"uvx ruff@0.8.0 check .":                                 "ruff ruff",
		"uvx ruff==0.8.0 check":                                  "ruff ruff",
		"uvx --from ruff ruff check":                             "ruff ruff",
		"uv tool run ruff check":                                 "ruff ruff",
		"poetry run ruff check .":                                "ruff ruff",
		"pipenv run ruff check .":                                "ruff ruff",
		"pdm run ruff check .":                                   "ruff ruff",
		"hatch run ruff check .":                                 "ruff ruff",
		"pipx run ruff check .":                                  "ruff ruff",
		"python -m ruff check .":                                 "ruff ruff",
		"python3.12 -m ruff check .":                             "ruff ruff",
		".venv/bin/python -m ruff check .":                       "ruff ruff",
		"uv run python -m mypy .":                                "mypy mypy",
		"poetry run uv run python3 -m mypy pkg":                  "mypy mypy",
		"python -m pip_audit":                                    "", // reaches the network, and by a launcher
		"pip-audit":                                              "pip-audit ",
		"python -m pip install requests":                         "python-packages ",
		"python -m unittest discover":                            "pytest ",
		"go run honnef.co/go/tools/cmd/staticcheck@2025.1 ./...": "staticcheck staticcheck",
		"go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.1.0 run": "golangci-lint golangci-lint",
		"go run mvdan.cc/gofumpt@latest -l .":                                      "goimports file-list",
		"go run mvdan.cc/sh/v3/cmd/shfmt@v3 -d .":                                  "shfmt file-list",
		"go run github.com/rhysd/actionlint/cmd/actionlint@v1":                     "actionlint actionlint",
		"go tool staticcheck ./...":                                                "staticcheck staticcheck",
		"go run ./cmd/staticcheck":                                                 "", // a program of the work space: its name says nothing
		"go run .":                                                                 "",
		"/usr/local/go/bin/go vet ./...":                                           "go-vet go-vet",
		"go -C sub vet ./...":                                                      "go-vet go-vet",
		"go vet -json ./...":                                                       "go-vet go-vet",
		"cargo +nightly clippy --all-targets -- -D warnings":                       "clippy cargo",
		"cargo clippy --message-format=json":                                       "clippy cargo",
		"cargo clippy --message-format json":                                       "clippy cargo",
		"clang-format-18 --dry-run a.c":                                            "clang-format gcc",
		"bundle exec rubocop":                                                      "ruby-linters gcc",
		"mise exec -- shellcheck x.sh":                                             "shellcheck shellcheck",

		// One program, several tools: what it is told decides.
		"ruff check --fix .":                 "ruff-fix ruff",
		"ruff format .":                      "ruff-fix ruff",
		"ruff format --check .":              "ruff ruff",
		"ruff check --output-format=json .":  "ruff ruff",
		"ruff check --output-format sarif .": "ruff sarif",
		"eslint --fix .":                     "eslint-fix eslint",
		"eslint -f json .":                   "eslint eslint",
		"gofmt -l .":                         "gofmt file-list",
		"gofmt -w .":                         "gofmt-write ",
		"gofmt -s -w=true .":                 "gofmt-write ",
		"go fmt ./...":                       "gofmt-write ",
		"go test -json ./...":                "go-test go-test",
		"go build ./...":                     "go-build go-build",
		"go install ./cmd/x":                 "go-build go-build",
		"go install example.com/x@latest":    "go-module ",
		"go mod tidy":                        "go-module ",
		"go mod graph":                       "go-list ",
		"tsc --noEmit -p .":                  "tsc tsc",
		"tsc -p .":                           "tsc-build tsc",
		"black --check .":                    "black errorformat:would reformat %f",
		"black .":                            "black-write ",
		"terraform -chdir=infra fmt -check":  "terraform-fmt ",
		"terraform fmt":                      "terraform-fmt-write ",
		"terraform apply":                    "containers ",
		"npm audit":                          "npm-audit ",
		"npm audit fix":                      "node-packages ",
		"npm ci":                             "node-packages ",
		"npm --prefix web run build":         "npm-script ",
		"npm run lint -- --fix":              "npm-script ",
		"yarn":                               "node-packages ",
		"yarn install --frozen-lockfile":     "node-packages ",
		"docker build .":                     "containers ",
		"git push origin main":               "git-remote ",
		"git -C sub push":                    "git-remote ",
		"git status":                         "git ",
		"golangci-lint run --fix":            "golangci-lint-fix golangci-lint",
		"golangci-lint run --output.json.path stdout ./...": "golangci-lint golangci-lint",
		"shellcheck -f json1 x.sh":                          "shellcheck shellcheck",
		"shellcheck -fjson x.sh":                            "shellcheck shellcheck",

		// A name that reaches the network must be the installed program's.
		"gemini -p review":             "gemini-check ",
		"/usr/bin/gemini -p review":    "gemini-check ",
		"./gemini -p review":           "",
		"bin/gemini -p review":         "",
		"npx gemini -p review":         "",
		"/tmp/gemini --prompt=review":  "",
		"/usr/bin/../../tmp/gemini -p": "",

		// What is not known is no tool.
		"‹?› vet":    "",
		"go ‹?›":     "",
		"frobnicate": "",
		"npx ‹?›":    "",
		"npx":        "",
		"python -m":  "",
		"":           "",
	} {
		tool, form, ok := c.Match(argv(line))
		have := ""
		if ok {
			have = tool.ID + " " + form.Format
		}
		if have != want {
			t.Errorf("%s: have %q, want %q", line, have, want)
		}
	}
}

// Each form of the data must mean its own tool: a form that another one always beats is dead.
func TestEveryFormMeansItsTool(t *testing.T) {
	c := New(Config{})
	for _, tool := range c.Tools() {
		for _, f := range tool.Forms {
			words := []string{f.Program}
			for _, alternatives := range f.Operands {
				words = append(words, alternatives[0])
			}
			for _, flag := range f.With {
				words = append(words, exampleFlag(flag))
			}
			if f.Version > 0 {
				words = append(words, "example.com/x@v1")
			}
			have, form, ok := c.Match(argv(strings.ReplaceAll(strings.Join(words, " "), "{{json .}}", "{{json.}}")))
			if strings.Contains(strings.Join(words, " "), "{{") {
				continue // a value with blanks, which the line above cannot write
			}
			if !ok || have.ID != tool.ID || form.Format != f.Format {
				t.Errorf("%q is %s (%s), want %s (%s)", words, have.ID, form.Format, tool.ID, f.Format)
			}
		}
	}
}

func exampleFlag(f shipped.Flag) string {
	name := f.Name
	if !strings.HasPrefix(name, "-") {
		name = "--" + name
	}
	if f.Value != "" {
		return name + "=" + f.Value
	}
	return name
}

func TestCatalogCoversItsWorlds(t *testing.T) {
	c := New(Config{})
	if n := len(c.Tools()); n < 40 {
		t.Errorf("%d tools, want at least 40", n)
	}
	for _, line := range []string{
		"go vet ./...", "go test ./...", "go build ./...", "gofmt -l .", "staticcheck ./...", "govulncheck ./...", "golangci-lint run", "shellcheck a.sh", "actionlint", "make check", "git status",
		"pytest", "mypy .", "eslint .", "prettier --check .", "cargo test", "bats test", "hadolint Dockerfile", "yamllint .", "sqlfluff lint", "terraform validate", "markdownlint README.md",
	} {
		if _, _, ok := c.Match(argv(line)); !ok {
			t.Errorf("no tool for %q", line)
		}
	}
}
