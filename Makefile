# ethos: build it, try it, check it. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

GO      ?= go
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=

PROGRAMS := ethos-facts ethos-decide ethos-sandbox ethos-trace ethos-git
# What others become: no manual page, no completion.
SERVERS := ethos-cel ethos-egress ethos-mcp ethos-otlp ethos-attest

# Programs are static: no C library, no cgo. Only the race detector needs cgo.
export CGO_ENABLED := 0

# More arguments for `go test`, such as TESTFLAGS='-count=1 -run TestX'.
TESTFLAGS ?=
# The packages whose tests test and test-all run.
PACKAGES  ?= ./...
# How long one package's tests may take, for machines that are slow or busy.
TESTTIMEOUT ?= 30m
# How long each fuzz target runs; 3000x is a count of inputs.
FUZZTIME  ?= 10s
# How long all guests of the lab may take together, on a slow machine. Two idle processors need a quarter of it.
LABTIMEOUT ?= 70m
# Which benchmarks run, and how often.
BENCH     ?= .
BENCHTIME ?= 1s

# Tools are pinned here and nowhere else. They are looked for in the module cache first,
# so that `make check` works without network once it has run with it.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
# Only what `make test-foreign` checks against; no part of the module.
COSIGN      := github.com/sigstore/cosign/v2/cmd/cosign@v2.6.5
COLLECTOR   := go.opentelemetry.io/collector/cmd/builder@v0.164.0
DUCKDB      := @duckdb/node-api@1.5.6-r.1
# Only what `make bench` measures against; no part of the module.
OPA         := github.com/open-policy-agent/opa@v1.22.2
CACHED = GOPROXY="file://$$($(GO) env GOMODCACHE)/cache/download,$$($(GO) env GOPROXY)"
TOOL   = $(CACHED) $(GO) run

# Where the programs that tests drive as clients are installed (about 1.3 GB).
export ETHOS_TEST_CLIENTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ethos-test/clients
MULTITOOL := node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool
export ETHOS_SARIF_MULTITOOL ?= $(wildcard $(ETHOS_TEST_CLIENTS)/$(MULTITOOL))

# Every file that could be generated, with its hash.
SNAPSHOT = git ls-files -co --exclude-standard -z -- cmd pkg docs examples README.md | xargs -0 sha256sum

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: programs ## build the five programs into build/ and prove that this machine can confine
	@echo "$(BUILD)/ethos-sandbox probe"
	@$(BUILD)/ethos-sandbox probe || { \
	  echo "make: error: runtime.sandbox_dependency: this machine cannot enforce the default profile" >&2; \
	  echo "make: hint: the lines above name each lack and its remedy; the programs themselves are built" >&2; \
	  exit 1; }

# How programs are built; paths of this machine are in none that is installed.
BUILDFLAGS = -trimpath

.PHONY: programs
programs:
	GO="$(GO)" packaging/build "$(abspath $(BUILD))" $(BUILDFLAGS)

# Built as `go vet` compiles, so that nothing is compiled twice; -v shows how far it is, also where nobody has a terminal.
quickstart: BUILDFLAGS = -v

.PHONY: quickstart
quickstart: build ## run `go vet` on this repository through the whole pipe
	@echo "$(GO) list: fetching and compiling what go vet reads; it runs without network"
	@$(GO) list -export -deps -test ./... > /dev/null
	$(BUILD)/ethos-facts --grant timeout=30m -- go vet ./... | $(BUILD)/ethos-decide | $(BUILD)/ethos-sandbox | $(BUILD)/ethos-trace --sarif $(BUILD)/vet.sarif
	@echo "SARIF report: $(BUILD)/vet.sarif"

.PHONY: test
test: ## run the tests, a part of each suite that takes long: some minutes
	@echo "$(GO) test: compiling and running the tests of $$($(GO) list $(PACKAGES) | wc -l) packages"
	$(GO) test -short -timeout $(TESTTIMEOUT) $(TESTFLAGS) $(PACKAGES)

.PHONY: test-all
test-all: ## run all tests, whole
	$(GO) test -timeout $(TESTTIMEOUT) $(TESTFLAGS) $(PACKAGES)

# Tests with golden files have a flag -update; those of the lab are written by test-lab.
.PHONY: update
update: ## write all golden files anew
	@grep -rl --include='*_test.go' 'flag.Bool("update"' cmd pkg | grep -v /internal/lab/ | xargs -n1 dirname | sort -u | while read -r package; do \
	  names=$$(grep -l '\*update\b\|Lookup("update")' $$package/*_test.go | { xargs grep -hoP '^func \KTest\w+' || true; } | paste -sd '|'); \
	  $(GO) test ./$$package -run "^($${names:-.*})\$$" -count=1 -update; \
	done

# Where the race detector would find nothing: packages without a goroutine of their own, and tests of programs, which are
# built without it.
RACELESS = cmd/ethos-decide cmd/ethos-git pkg/facts/committed pkg/sandbox/quarantine pkg/sandbox/seatbelt pkg/internal/boundary pkg/internal/e2e pkg/internal/escapes

.PHONY: race
race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout $(TESTTIMEOUT) $(TESTFLAGS) $$($(GO) list ./... | grep -v $(RACELESS:%=-e '/%$$'))

.PHONY: test-lab
test-lab: ## boot kernels in QEMU and run the sandbox's tests in them (Debian; downloads the kernels once)
	$(GO) test -tags lab ./pkg/internal/lab -run '^TestLanes' -count=1 -v -timeout $(LABTIMEOUT) $(TESTFLAGS)

.PHONY: test-lab-later
test-lab-later: ## boot a kernel of Debian's unstable, whose Landlock is newer than any release's, and run the attacks in it
	$(GO) test -tags lab ./pkg/internal/lab -run '^TestLater' -count=1 -v -timeout $(LABTIMEOUT) $(TESTFLAGS)

# Where test-podman keeps its image and what the engine stores (about 200 MB).
export ETHOS_TEST_PODMAN ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ethos-test/podman

.PHONY: test-podman
test-podman: ## run the attacks, egress and everyday use in containers of Podman, as root and as an ordinary user inside (Debian; minutes)
	ETHOS_REQUIRE=podman $(GO) test -tags podman ./pkg/internal/podman -count=1 -v -timeout 60m $(TESTFLAGS)

.PHONY: test-agents
test-agents: ## drive real agents with a scripted model through the recipes (needs `make clients`)
	$(GO) test -tags agents ./pkg/internal/e2e -run '^TestAgents' -count=1 -v -parallel 4 -timeout 30m $(TESTFLAGS)

# Where foreign programs are built and installed that check what ethos writes (about 500 MB).
export ETHOS_TEST_FOREIGN ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ethos-test/foreign

.PHONY: foreign
foreign: ## build cosign and an OpenTelemetry Collector, and install DuckDB, for test-foreign (npm, network; minutes)
	@mkdir -p "$(ETHOS_TEST_FOREIGN)"
	GOBIN="$(ETHOS_TEST_FOREIGN)" $(GO) install -trimpath -ldflags '-s -w' $(COSIGN)
	sed 's|^dist:|&\n  output_path: $(ETHOS_TEST_FOREIGN)/collector|' testdata/clients/collector.yaml >"$(ETHOS_TEST_FOREIGN)/collector.yaml"
	cd "$(ETHOS_TEST_FOREIGN)" && $(GO) run $(COLLECTOR) --config collector.yaml
	npm install --ignore-scripts --no-audit --no-fund --no-save --prefix "$(ETHOS_TEST_FOREIGN)" $(DUCKDB)

.PHONY: test-foreign
test-foreign: ## check bundles with cosign, an export with a collector that is killed, queries with DuckDB (needs `make foreign`)
	ETHOS_REQUIRE=cosign,otelcol,duckdb ETHOS_TEST_EXPORTED=100000 $(GO) test ./pkg/internal/e2e -run '^TestForeign' -count=1 -v -timeout 30m $(TESTFLAGS)

.PHONY: test-faults
test-faults: ## make every system call of a sandbox's start fail, with every plausible errno (minutes)
	ETHOS_TEST_ALL_FAULTS=1 $(GO) test ./pkg/sandbox ./pkg/internal/boundary -run '^(TestEverySystemCall|TestPreforkFaults)$$' -count=1 -v -timeout 60m $(TESTFLAGS)

.PHONY: test-races
test-races: ## start a thousand sandboxes while a hostile process swaps the names in the work space (minutes)
	ETHOS_TEST_RACE_STARTS=1000 $(GO) test ./pkg/sandbox -run '^(TestSwaps|TestParallelStarts)$$' -count=1 -v -timeout 60m $(TESTFLAGS)

.PHONY: test-soak
test-soak: ## kill sessions at a thousand random moments, and run ten thousand commands in one (minutes)
	ETHOS_TEST_SESSION_KILLS=1000 ETHOS_TEST_SESSION_COMMANDS=10000 $(GO) test ./pkg/internal/boundary -run '^(TestSessionKilledAtRandom|TestSessionDoesNotGrow)$$' -count=1 -v -timeout 3h $(TESTFLAGS)

.PHONY: test-grants
test-grants: ## take one grant from each of 426 commands: explain names it, a proof finds it; 208 failures propose nothing (half an hour)
	ETHOS_TEST_EXPLAIN_WHOLE=1 $(GO) test ./pkg/sandbox -run '^(TestExplainedGrants|TestNothingProposedForFailures|TestSmallestGrant|TestNothingProvedForFailures)$$' -count=1 -v -timeout 3h $(TESTFLAGS)

# How many plants the oracle makes.
PLANTS ?= 5000
.PHONY: test-oracle
test-oracle: ## leave things for git by chance, PLANTS of them, with real git as the victim (an hour)
	ETHOS_TEST_PLANTS=$(PLANTS) ETHOS_TEST_HONEST=100 $(GO) test ./pkg/sandbox/quarantine -run '^(TestOracle|TestOracleBites|TestHonest)$$' -count=1 -v -timeout 12h $(TESTFLAGS)

.PHONY: test-mutants
test-mutants: ## take the sandbox's defences away one at a time; the tests must notice (an hour)
	$(GO) test -tags mutants ./pkg/internal/mutants -run '^TestMutants' -count=1 -v -timeout 5h $(TESTFLAGS)

# A target whose time ends while a worker is at it may be told to have failed: "context deadline exceeded" and nothing else.
# What fails for a reason names an input, a seed, or a worker that is gone.
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each
	@mkdir -p $(BUILD)
	@for package in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd pkg | xargs -r -n1 dirname | sort -u); do \
	  for target in $$(grep -hoP '^func \KFuzz\w+' $$package/*_test.go | sort -u); do \
	    echo "$$package $$target"; \
	    $(GO) test ./$$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) 2>&1 | tee $(BUILD)/fuzz.log || { \
	      grep -qE '^ +context deadline exceeded$$' $(BUILD)/fuzz.log \
	        && ! grep -qE 'Failing input|seed corpus|terminated unexpectedly|panic|build failed|_test\.go:' $(BUILD)/fuzz.log \
	        || exit 1; \
	      echo 'no failure: its time was over'; }; \
	  done; \
	done

.PHONY: bench
bench: $(BUILD)/bench/opa ## compare ethos with other programs, write the table of docs/performance.md, and run all other benchmarks
	PATH="$(abspath $(BUILD))/bench:$$PATH" $(GO) test ./pkg/internal/speed -run '^$$' -bench Figures -benchtime 1x -timeout 1h -update
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $$($(GO) list ./... | grep -v /internal/speed)

# Built once, by its version: it takes minutes.
$(BUILD)/bench/opa:
	GOBIN="$(abspath $(BUILD))/bench" $(CACHED) $(GO) install -trimpath -ldflags '-s -w' $(OPA)

.PHONY: cover
cover: ## run all tests and write build/cover.html
	@mkdir -p $(BUILD)
	$(GO) test -coverpkg=./... -coverprofile=$(BUILD)/cover.out ./...
	$(GO) tool cover -html=$(BUILD)/cover.out -o $(BUILD)/cover.html
	@$(GO) tool cover -func=$(BUILD)/cover.out | tail -n 1

.PHONY: check
check: lint check-generated check-policies test-all ## everything that must hold before a change is proposed

.PHONY: lint
lint: ## the checks that run nothing: format, vet, staticcheck, modules, other platforms
	@out=$$(gofmt -l cmd pkg); [ -z "$$out" ] || { echo "gofmt: these files need formatting:" $$out >&2; exit 1; }
	$(GO) vet ./...
	$(GO) build -tags nocel,nomodel -o /dev/null ./cmd/ethos-decide
	$(GO) build -tags nocel -o /dev/null ./cmd/ethos-git
	$(GO) build -tags noegress,nomodel -o /dev/null ./cmd/ethos-sandbox
	$(GO) vet -tags lab ./pkg/internal/lab/...
	$(GO) vet -tags mutants ./pkg/internal/mutants
	$(GO) vet -tags agents ./pkg/internal/e2e
	$(GO) vet -tags compat ./pkg/internal/compat
	$(GO) vet -tags podman ./pkg/internal/podman
	$(TOOL) $(STATICCHECK) ./...
	$(TOOL) $(ACTIONLINT) examples/github-actions/*.yml
	$(GO) mod tidy -diff
	$(GO) mod verify
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin GOARCH=amd64 $(GO) build -o /dev/null ./...
	GOOS=linux GOARCH=386 $(GO) build -o /dev/null ./...
	@out=$$(GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/... 2>&1 || true); case "$$out" in *ethos_needs_linux_or_macos_see_docs_install_md*) ;; \
	  *) echo "windows: the build does not say why there is none: $$out" >&2; exit 1; esac

.PHONY: generate
generate: ## write the generated sources
	$(GO) generate ./...

.PHONY: docs
docs: programs ## write docs/man and the exit table from the code
	@mkdir -p docs/man
	@for p in $(filter-out ethos-git,$(PROGRAMS)); do $(BUILD)/$$p --man > docs/man/$$p.1; done
	@$(BUILD)/ethos-git ethos --man > docs/man/ethos-git.1
	$(GO) test ./pkg/internal/repocheck -run TestExitTableInDocs -count=1 -update

.PHONY: check-generated
check-generated: ## fail when generated sources or docs are not what is committed
	@before=$$($(SNAPSHOT)); \
	$(MAKE) --no-print-directory generate docs; \
	diff <(echo "$$before") <($(SNAPSHOT)) >&2 || { \
	  echo "make: error: generated files were out of date and have been written anew" >&2; \
	  echo "make: hint: review them with 'git diff' and commit them" >&2; exit 1; }

.PHONY: check-policies
check-policies: programs ## run the policies' examples and both corpora: ordinary commands pass, harmful ones do not
	$(BUILD)/ethos-decide check --everyday testdata/policies/everyday.txt --everyday testdata/policies/programs-everyday.txt --harmful testdata/policies/harmful.txt --harmful testdata/policies/programs.txt

.PHONY: clients
clients: ## install the pinned programs that tests drive as clients (npm, network)
	@mkdir -p "$(ETHOS_TEST_CLIENTS)"
	cp testdata/clients/package.json testdata/clients/package-lock.json "$(ETHOS_TEST_CLIENTS)/"
	npm ci --ignore-scripts --no-audit --no-fund --prefix "$(ETHOS_TEST_CLIENTS)"
	chmod a+x "$(ETHOS_TEST_CLIENTS)/$(MULTITOOL)" # all that its install script would do

.PHONY: install
install: install-files install-apparmor ## install the programs, man pages and completions under PREFIX (default /usr/local)

.PHONY: install-files
install-files: programs
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d" \
	  "$(DESTDIR)$(PREFIX)/share/doc/ethos"
	@for p in $(filter-out ethos-git,$(PROGRAMS)); do \
	  $(BUILD)/$$p --completion bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$p" && \
	  $(BUILD)/$$p --completion zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_$$p" && \
	  $(BUILD)/$$p --completion fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$p.fish" || exit 1; \
	done
	install -m 0755 $(PROGRAMS:%=$(BUILD)/%) $(SERVERS:%=$(BUILD)/%) "$(DESTDIR)$(PREFIX)/bin/"
	install -m 0644 $(PROGRAMS:%=docs/man/%.1) "$(DESTDIR)$(PREFIX)/share/man/man1/"
	install -m 0644 LICENSE README.md CHANGELOG.md "$(DESTDIR)$(PREFIX)/share/doc/ethos/"
	rm -rf "$(DESTDIR)$(PREFIX)/share/doc/ethos/docs" "$(DESTDIR)$(PREFIX)/share/doc/ethos/examples"
	install -d "$(DESTDIR)$(PREFIX)/share/doc/ethos/docs"
	cp -R docs/*.md docs/decisions "$(DESTDIR)$(PREFIX)/share/doc/ethos/docs/"
	cp -R examples "$(DESTDIR)$(PREFIX)/share/doc/ethos/"
	chmod -R u=rwX,go=rX "$(DESTDIR)$(PREFIX)/share/doc/ethos"

# AppArmor since 4.0 can restrict user namespaces; its profile lets ethos-sandbox make them. Below DESTDIR it is always there.
APPARMOR := /etc/apparmor.d
.PHONY: install-apparmor
install-apparmor:
	@if [ -n "$(DESTDIR)" ] || [ -e "$(APPARMOR)/abi/4.0" -a -w "$(APPARMOR)" ]; then \
	  install -d "$(DESTDIR)$(APPARMOR)"; \
	  sed 's|@BINDIR@|$(PREFIX)/bin|' packaging/apparmor/ethos-sandbox > "$(DESTDIR)$(APPARMOR)/ethos-sandbox"; \
	  echo "$(DESTDIR)$(APPARMOR)/ethos-sandbox"; \
	  [ -n "$(DESTDIR)" ] || apparmor_parser -r "$(APPARMOR)/ethos-sandbox"; \
	elif [ "$$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2> /dev/null)" = 1 ]; then \
	  echo "make: warning: AppArmor restricts user namespaces; as root: make install-apparmor PREFIX=$(PREFIX)" >&2; \
	fi

.PHONY: dist
dist: ## write a release of this commit into build/dist: tarballs, .deb, .rpm, SBOM, checksums (jq; network once)
	$(CACHED) NFPM="$(GO) run $(NFPM)" packaging/dist "$(BUILD)/dist"

# Debian's releases in whose roots the .deb is installed, and where the roots are kept (about 500 MB).
SUITES ?= bookworm trixie
ROOTS  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ethos-test/roots
.PHONY: test-dist
test-dist: ## build a release twice and compare it, install it in clean Debian roots (root, mmdebstrap, network once; minutes)
	$(CACHED) NFPM="$(GO) run $(NFPM)" packaging/test-bytes "$(BUILD)/test-dist"
	ROOTS="$(ROOTS)" packaging/test-install "$(BUILD)/test-dist/first/dist" $(SUITES)

.PHONY: rename-module
rename-module: ## make MODULE the module path, in every file that names it: make rename-module MODULE=example.org/ethos
	packaging/rename-module "$(MODULE)"

.PHONY: clean
clean: ## remove build/
	rm -rf $(BUILD)

# What test-compat runs, prepared by compat-suites (about 2 GB).
export ETHOS_TEST_COMPAT ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ethos-test/compat

.PHONY: compat-suites
compat-suites: ## fetch and compile other projects' tests for test-compat (Debian, npm, network; half an hour)
	pkg/internal/compat/testdata/prepare "$(ETHOS_TEST_COMPAT)"

.PHONY: test-compat
test-compat: ## run other projects' tests outside and under ethos, and compare them test by test (needs `make compat-suites`; hours)
	ETHOS_REQUIRE=file,command $(GO) test -tags compat ./pkg/internal/compat -count=1 -v -timeout 8h $(TESTFLAGS)
