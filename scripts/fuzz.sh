#!/usr/bin/env bash
# Runs every fuzz test of the tree for the given time each (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$work/output
# Inputs that reach new code are kept where go test -fuzz keeps them.
corpus=$(go env GOCACHE)/fuzz

# The runner sometimes calls its own end of time a failure
# (https://github.com/golang/go/issues/48591); a real one leaves a failing input.
ran_out_of_time() {
	grep -q 'context deadline exceeded' "$output" && ! grep -qE 'Failing input|panic|Error Trace' "$output"
}

# The test binary of each package is built once for all its fuzz tests.
grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r package; do
	go test -vet=off -c -fuzz . -o "$work/fuzz.test" "$package"
	import=$(go list "$package")
	grep -ohE '^func Fuzz[A-Za-z0-9_]+' "$package"/*_test.go | sed 's/^func //' | while read -r name; do
		if ! (cd "$package" && "$work/fuzz.test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" \
			-test.fuzzminimizetime 20x -test.fuzzcachedir "$corpus/$import" -test.parallel 2) >"$output" 2>&1 && ! ran_out_of_time; then
			cat "$output"
			echo "FAIL: $name in $package" >&2
			exit 1
		fi
		echo "fuzzed $name ($package) for $time"
	done
done
