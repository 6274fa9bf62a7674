#!/usr/bin/env bash
# Installs what the tests need and runs all of them, most with the race detector. The fuzz tests run with the inputs
# that are kept with them: what chance finds beyond that (make fuzz) must not decide whether a change lands. Ends with the
# summary of go test.
set -euo pipefail
cd "$(dirname "$0")/.."

# What ssdprobe uses, what makes devices and filesystems, what reads its metrics and packages.
scripts/install.sh fio util-linux e2fsprogs dosfstools genext2fs btrfs-progs xfsprogs bindfs autofs gcc libc6-dev
scripts/install.sh curl chromium prometheus prometheus-alertmanager nodejs npm
scripts/install.sh runc rpm busybox-static systemd mandoc bash-completion zsh fish tmux procps
scripts/install.sh clang-14 llvm-14 libbpf-dev
scripts/lab-setup.sh
scripts/build-tool.sh helm kustomize nfpm >/dev/null

# Tests that find something missing say so and fail when CI is set; a person may
# run them without root, and sees which ones were left out.
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
status=0
wing=./internal/test

# The race detector waits a second at the end of every process, and some tests run their own program dozens of times.
export GORACE="${GORACE-atexit_sleep_ms=100}"

# CPUs are scarcer here than memory: promtool, for one, needs a fifth less of them with a heap that may grow.
export GOGC="${GOGC-400}"

# The linter runs vet. With -trimpath, a fresh clone uses what was compiled in another. No result is taken from the cache:
# many tests run the product as a program, of which the cache does not know.
# The race detector itself may fail in a bubble of synctest (https://go.dev/issue/78156). If no test failed, these packages run
# once more.
tests() {
	local go=(go test -vet=off -trimpath -count 1 -timeout 40m) flags=() again log failed=0
	log=$(mktemp)
	"${go[@]}" "$@" 2>&1 | tee "$log" || failed=$?
	if grep -q '^ThreadSanitizer: CHECK failed' "$log" && ! grep -q '^--- FAIL' "$log"; then
		mapfile -t again < <(awk '$1 == "FAIL" && NF > 1 { print $2 }' "$log")
		sed -i '/^FAIL/d' "$log"
		for arg in "$@"; do [[ $arg == ./* || $arg == github.com/* ]] || flags+=("$arg"); done
		echo "The race detector failed, and no test. Once more: ${again[*]}"
		failed=0
		"${go[@]}" "${flags[@]}" "${again[@]}" 2>&1 | tee -a "$log" || failed=$?
	fi
	cat "$log" >>"$summary"
	rm "$log"
	return "$failed"
}

# These simulate years of drives, compute or render, and start no goroutine: the race detector finds nothing there, and
# they take up to five times as long with it. What fleetbench does on several CPUs is run with it on a small fleet.
sequential=(./internal/{analysis,check,compare,config,drift/drifttest,finding,generate,record/...,replay,report/...,state,units} $wing/{verdicts,fleetbench} ./internal/{judge,drift})
# These compute, or read and write small files, so none has a deadline to miss.
computing=(./internal/{admit,export,history,recorder} $wing/driftbench ./pkg/fio ./internal/{store,target,fleet})
# What ships is rendered, evaluated and installed. The tests run the product as a program that is built without the race
# detector, which would watch only the tests themselves.
shipped=($wing/{deploytest,manifesttest})
# Both take what the others leave of the CPUs, so that no emulated machine waits for them. They run beside each other, so
# that no CPU is idle if they end last.
(
	renice -n 19 "$BASHPID" >/dev/null
	failed=0
	tests -timeout 80m -p 1 "${sequential[@]}" || failed=$?
	tests -timeout 80m -race -short $wing/fleetbench || failed=$?
	tests -timeout 80m -p 1 "${shipped[@]}" || failed=$?
	exit "$failed"
) &
background=($!)
(
	renice -n 19 "$BASHPID" >/dev/null
	tests -timeout 80m -race -p 1 "${computing[@]}"
) &
background+=($!)

# Those that take longest begin first, so that none is left alone at the end.
# These run the product as a program, too. Two packages at a time, as more make each other's emulated machines time out.
outside=($wing/{labtest,storytest,lab,docstest})
tests -p 2 "${outside[@]}" || status=$?
# These start the product hundreds of times, which takes twice the CPU with the race detector. It watches the goroutines in
# the tests of their own packages, and here in the tests that keep most of them busy at once.
programs=(./internal/cli $wing/faulttest)
crowded='^(TestSoak|TestRunIsStopped|TestTopInATerminal)$'
(
	failed=0
	tests -p 2 -skip "$crowded" "${programs[@]}" || failed=$?
	tests -race -p 2 -run "$crowded" ./internal/cli $wing/faulttest || failed=$?
	exit "$failed"
) &
background+=($!)
# None of these starts an emulated machine, and some wait half of their time.
long=(./internal/{suite,safety,fiorun,probe,measure,iolatency,daemon,device,nodestatus,web,run})
mapfile -t others < <(go list ./... | grep -vxF "$(go list "${sequential[@]}" "${computing[@]}" "${shipped[@]}" "${outside[@]}" "${programs[@]}" "${long[@]}")")
tests -race -p 2 "${long[@]}" "${others[@]}" || status=$?
for pid in "${background[@]}"; do
	wait "$pid" || status=$?
done

echo
echo "go test: $(grep -c '^ok' "$summary" || true) packages passed, $(grep -c '^FAIL.*github.com' "$summary" || true) failed"
exit "$status"
