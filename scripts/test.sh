#!/usr/bin/env bash
# Installs what the tests need and runs all of them: the Go tests with the race
# detector, then every fuzz test for a few seconds. Ends with the summary of go test.
set -euo pipefail
cd "$(dirname "$0")/.."

# What ssdprobe uses, what makes devices and filesystems, what reads its metrics and packages.
scripts/install.sh fio util-linux e2fsprogs genext2fs btrfs-progs xfsprogs bindfs autofs gcc libc6-dev
scripts/install.sh curl chromium prometheus prometheus-alertmanager nodejs npm
scripts/install.sh runc rpm busybox-static systemd mandoc bash-completion tmux procps
scripts/install.sh runc rpm busybox-static systemd mandoc bash-completion clang-14 llvm-14 libbpf-dev
scripts/lab-setup.sh
scripts/build-tool.sh helm kustomize nfpm >/dev/null

# Tests that find something missing say so and fail when CI is set; a person may
# run them without root, and sees which ones were left out.
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
status=0
# Three packages at a time: many of them wait more than they compute. Those that take longest begin first,
# so that none is left alone at the end. The emulated machines of labtest need ten minutes on two idle cores.
wing=./internal/test
go test -race -p 3 -timeout 40m $wing/labtest $wing/faulttest $wing/storytest $wing/manifesttest ./internal/cli ./... 2>&1 | tee "$summary" || status=$?
if [ "$status" -eq 0 ]; then
	scripts/fuzz.sh "${FUZZTIME:-2s}" || status=$?
fi

echo
echo "go test: $(grep -c '^ok' "$summary" || true) packages passed, $(grep -c '^FAIL.*github.com' "$summary" || true) failed"
exit "$status"
