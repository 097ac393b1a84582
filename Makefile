# Weir. Run make to see the targets.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

# Set these on the command line or in the environment: make up WEIR_DATA=~/weir
WEIR_DATA    ?= .weir
UP_FLAGS     ?= --demo
# Packages built and tested at once. Two keeps a small machine usable, and with a
# third the browser tests take twice as long.
JOBS         ?= 2
PKG          ?= ./...
TEST_TIMEOUT ?= 25m
TEST_FLAGS   ?= -count=1
BENCH_FLAGS  ?=
CHAOS        ?= 30m
FUZZ_TIME    ?= 20s
MUTATE       ?=
VERSION      ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# What is built does not depend on the folder, so that a fresh clone finds what another one has built.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)

# The race detector needs a C compiler. What make check builds with it, make test finds built.
RACE    = $(shell [ "$$(go env CGO_ENABLED)" != 1 ] || echo -race)

TOOL    := go tool -modfile=tools/go.mod
# A private PostgreSQL around a command; it sets WEIR_TEST_DATABASE_URL.
WITH_DB := go run ./internal/testdb/serve --
# Packages whose tests compare with files that -rewrite writes again.
GOLDEN  = $(shell grep -rlE --include='*_test.go' 'flag\.Bool(Var)?.*"rewrite"' . 2>/dev/null | grep -v '^./bench/' | xargs -r dirname | sort -u)
GOLDEN_RUN ?= Golden|Scenario

.PHONY: help build up test setup-test check format vet lint mod fresh gen bench bench-pages bench-quick chaos mutate fuzz vuln clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without cgo: the same program runs inside containers, whatever C library they have.
build: ## Build bin/weir
	@mkdir -p bin
	CGO_ENABLED=0 go build -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o bin/weir ./cmd/weir

up: build ## Build and run Weir with its own PostgreSQL and a demo; data in ./.weir or $WEIR_DATA
	bin/weir up --data "$(WEIR_DATA)" $(UP_FLAGS)

setup-test:
	@echo "test: look for PostgreSQL, psql, psycopg2 and a C compiler; install what is missing"
	@scripts/setup-test

test: setup-test ## Install what tests need, start a private PostgreSQL, run every test, with -race where anything runs at once
	@mkdir -p bin
	@go build -buildvcs=false -o bin/testsum ./scripts/testsum
	@echo "test: start a private PostgreSQL and run the tests of every module"
	@$(WITH_DB) scripts/go-test -p $(JOBS) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $(PKG) | bin/testsum

bench: ## Measure Weir beside its peers: a table, a JSON file and one line (about 6 minutes)
	cd bench && go run . $(BENCH_FLAGS)

bench-pages: ## Measure every page over 1 M jobs and 10 M tasks (about 20 minutes and 15 GB of disk)
	cd bench && go run . -only pages -json pages.json $(BENCH_FLAGS)

bench-quick: ## Measure queue throughput beside River only (under a minute)
	cd bench && go run . -quick $(BENCH_FLAGS)

chaos: setup-test ## Break things for CHAOS=30m and check the history; prints its seed
	WEIR_CHAOS=$(CHAOS) go test -tags chaos ./chaos -count=1 -v -run Long -timeout 120m
	go test -tags chaos ./internal/engine/enginetest ./internal/fleet/lab ./internal/workspace/home -count=1 -v -run Long -timeout 120m

mutate: setup-test ## Take out one guard after the other; the test of its row must fail. MUTATE='-run claim' for some
	$(WITH_DB) go run ./scripts/mutate -jobs $(JOBS) $(MUTATE)

fuzz: ## Run every fuzz target for FUZZ_TIME=20s
	@{ grep -rnoE --include='*_test.go' --exclude-dir=bench 'func Fuzz[A-Za-z0-9_]+' . || echo "fuzz: no targets" >&2; } | sed -E 's/^(.*)\/[^/]+:[0-9]+:func (.*)/\1 \2/' | \
	while read -r dir name; do \
		echo "fuzz: $$dir $$name"; \
		go test "$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZ_TIME) </dev/null; \
	done

check: format vet lint mod fresh ## Check format, vet, linters, modules and generated files; make test has the rest
	@echo "check: all is well"

format:
	@echo "check: format (gofumpt, templ)"
	@out=$$($(TOOL) gofumpt -l .); [ -z "$$out" ] || { echo "$$out"; echo "run: $(TOOL) gofumpt -w ."; exit 1; }
	@$(TOOL) templ fmt -fail -log-level error internal/web || { echo "run: $(TOOL) templ fmt internal/web"; exit 1; }

vet:
	@echo "check: go vet"
	@go vet -p $(JOBS) $(RACE) ./...
	@cd bench && go vet -p $(JOBS) ./...
	@cd tools && go vet ./...

lint:
	@echo "check: staticcheck and gosec (tools/lint)"
	@mkdir -p bin
	@cd tools && go build -o ../bin/lint ./lint
	@GOFLAGS="$$(go env GOFLAGS) $(RACE)" bin/lint ./...
	@cd bench && ../bin/lint -checks='all,-QF*,-gosec' ./...

mod:
	@echo "check: modules are verified and tidy"
	@for dir in . bench tools; do \
		[ -f $$dir/go.mod ] || continue; \
		(cd $$dir && go mod verify >/dev/null && go mod tidy -diff) || { echo "in $$dir: go mod tidy"; exit 1; }; \
	done

fresh:
	@echo "check: generated files are fresh"
	@scripts/check-fresh

gen: ## Write generated and golden files again; read the diff before you commit
	go generate ./...
	@[ -z "$(GOLDEN)" ] || $(WITH_DB) go test -count=1 -p $(JOBS) -run '$(GOLDEN_RUN)' $(GOLDEN) -rewrite

vuln: ## Look for known vulnerabilities (asks the Go vulnerability database online)
	$(TOOL) govulncheck ./...

clean: ## Remove what make built; your data in .weir stays
	rm -rf bin
	go clean -testcache
