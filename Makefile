# What CI runs is what you run here: `make test` and `make lint`.
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
CACHE       := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ssdprobe
GOLANGCI_VERSION := v2.15.0
GOLANGCI    := $(CACHE)/bin/golangci-lint-$(GOLANGCI_VERSION)
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -s -w -X github.com/ssdprobe/ssdprobe/internal/cli.version=$(VERSION)
ARGS        ?=
FUZZTIME    ?= 10s
SEED        ?= 1
SOAK        ?= 15m

.PHONY: help build run unit test test-kubernetes test-story test-container picture fuzz lint vulncheck dist bench soak drift-bench fleet-bench generate golden fixtures lab clean

help: ## show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

build: ## one static binary: bin/ssdprobe
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ssdprobe ./cmd/ssdprobe

run: build ## install what is missing and start the daemon; pass flags with ARGS='…'
	@scripts/install.sh fio || echo "Going on without fio: the daemon probes without it; ssdprobe run quick needs it." >&2
	@exec bin/ssdprobe daemon $(ARGS)

# Those that take longest begin first, so that no CPU is idle at the end.
unit: ## the tests that need neither root, nor programs, nor a network: a minute
	GOGC=$${GOGC-400} go test -short -vet=off -p $$((2 * $$(nproc))) ./internal/judge ./internal/daemon $$(go list ./... | grep -v /internal/test/)

test: ## all tests; installs what they need
	scripts/test.sh

test-kubernetes: ## the DaemonSet on two real nodes, and leases against a real API server; builds Kubernetes once
	scripts/test-kubernetes.sh

test-story: ## a drive gets slow, in real time with default settings: prints when each step came; forty minutes; builds an API server once
	scripts/install.sh fio socat etcd-server prometheus prometheus-alertmanager
	scripts/lab-setup.sh
	go test -timeout 3h -count 1 -v -tags kubernetes -run TestStoryInRealTime ./internal/test/storytest

picture: ## make docs/status-page.png anew: a node with eight drives, one of which gets slow; half an hour with nothing beside it; needs root
	scripts/install.sh chromium xfsprogs
	scripts/lab-setup.sh
	go test -timeout 2h -count 1 -tags picture -run TestPicture ./internal/test/storytest

test-container: ## the container file, carried out in a fresh Debian instead of by docker, for amd64 and arm64
	scripts/install.sh debootstrap runc qemu-user-static btrfs-progs
	go test -timeout 30m -count 1 -v -tags container -run '^TestImage' ./internal/test/manifesttest

fuzz: ## looks for new inputs that break the parsers: every fuzz test for FUZZTIME (10s)
	scripts/fuzz.sh $(FUZZTIME)

lint: $(GOLANGCI) ## linters, vet among them; that it builds for arm64; dependencies and their licences
	GOARCH=arm64 CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/ssdprobe
	$(GOLANGCI) run --allow-parallel-runners
	go mod verify
	scripts/licences.sh

vulncheck: ## known vulnerabilities of what is called; asks the database of the Go project
	tool=$$(scripts/build-tool.sh govulncheck) && $$tool -tags kubernetes -test ./...

$(GOLANGCI):
	GOBIN=$@.d go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $@.d/golangci-lint $@ && rmdir $@.d

dist: ## static binaries, their bills of materials, .deb and .rpm for amd64 and arm64, man pages, completions, checksums
	VERSION=$(VERSION) scripts/dist.sh

bench: build ## accuracy and cost beside fio and node_exporter, then drift detection for SEED; ARGS='-only latency,scrape' for parts
	@scripts/install.sh fio e2fsprogs util-linux prometheus-node-exporter sysstat
	go run ./internal/test/bench -binary bin/ssdprobe $(ARGS)
	@[ -n "$(ARGS)" ] || go run ./internal/test/driftbench -seed $(SEED)

soak: ## 200 scrapers for a minute, then random faults for SOAK (15m) in an order that SEED decides
	@scripts/install.sh fio e2fsprogs util-linux
	SSDPROBE_SOAK=$(SOAK) SSDPROBE_SOAK_SEED=$(SEED) go test -race -count 1 -timeout 0 -v -run '^(TestSoak|TestParallelScrapers)$$' ./internal/test/faulttest

drift-bench: ## drift detection against what has to hold: alone, reacting streams, nodes; ARGS='-seed 7' or ARGS='FOLDER…' with recorded streams
	go run ./internal/test/driftbench $(ARGS)

fleet-bench: ## a simulated fleet: false verdicts and delays by kind; two hours, or ARGS='-device-years 100 -seed 7'
	go run ./internal/test/fleetbench $(ARGS)

generate: ## rewrite what ships and is made from code: dashboards, monitoring, default configuration, schema, lists of keys and metrics
	go generate ./...

golden: generate ## rewrite those, and the expected outputs of tests
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update", false, "rewrite' internal | xargs dirname | sed 's|^|./|') -update

fixtures: ## capture a fixture of this machine's /sys and /proc
	scripts/capture-fixture.sh

lab: build ## a shell in a machine with two emulated NVMe drives
	scripts/lab-setup.sh
	go run ./internal/test/lab/shell

clean: ## remove what was built
	rm -rf bin dist
