# The targets are described in README.md and CONTRIBUTING.md.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fairlead
LINT_VERSION := v2.15.0
LINT    := $(CACHE)/tools/golangci-lint-$(LINT_VERSION)/golangci-lint
SUITES  ?= all
DEMO_LISTEN ?= 127.0.0.1:7007
UI_AS ?= developer

.PHONY: build demo demo-ui ui ui-packages demo-full test test-real check fmt vet lint generated bench fuzz golden clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/fairlead ./cmd/fairleadd ./cmd/fairlead-supervisor ./cmd/fairlead-render

demo: build
	bin/fairleadd demo --listen $(DEMO_LISTEN)

# The front end in Backstage's clothes, built once for each state of its files.
ui:
	internal/realtest/ui.sh

# The plug-ins for Backstage as they are published; the last line is the folder.
ui-packages:
	internal/realtest/ui.sh packages

demo-ui: build
	internal/realtest/ui.sh
	bin/fairleadd demo --listen $(DEMO_LISTEN) --ui "$$(internal/realtest/ui.sh | tail -n 1)" --ui-as $(UI_AS)

# The demo on real servers, which are built first where they are missing; with
# UI=1 in Backstage, too.
demo-full: build
	go build -trimpath -o bin/demo-full ./internal/realtest/full
	bin/demo-full --listen $(DEMO_LISTEN) $(if $(UI),--ui "$$(internal/realtest/ui.sh | tail -n 1)")

# Packages that link Argo CD's client, which takes minutes to build once more
# for the race detector.
HEAVY := ./internal/argo ./cmd/fairleadd

# SQLite is C that a program translated to Go: whether each of its pointers
# looks as Go's do is checked in vain, for a quarter of the tests' time.
UNCHECKED := -gcflags=modernc.org/...=-d=checkptr=0

test:
	go test -short -race $(UNCHECKED) -timeout 30m $$(go list ./... | grep -vxF -e "$$(go list $(HEAVY))")
	go test -short $(HEAVY)

test-real:
	scripts/test-real.sh $(SUITES)

check: fmt vet lint generated test

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (run gofmt -w):"; echo "$$out"; exit 1; fi

vet:
	go vet ./...

lint: $(LINT)
	$(LINT) run --allow-parallel-runners ./...

$(LINT):
	@echo "building golangci-lint $(LINT_VERSION) once into $(CACHE) (a few minutes)"
	GOBIN=$(dir $(LINT)) GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

generated:
	@go mod tidy -diff >/dev/null || { echo "go.mod or go.sum is not tidy: run go mod tidy"; exit 1; }

golden:
	FAIRLEAD_UPDATE_GOLDEN=1 go test -short ./...

bench:
	scripts/bench.sh $(BENCH)

fuzz:
	scripts/fuzz.sh

clean:
	rm -rf bin
