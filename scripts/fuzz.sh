#!/usr/bin/env bash
# Runs every fuzz test of the tree for the given time each (default 3s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-3s}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# The runner sometimes calls its own end of time a failure
# (https://github.com/golang/go/issues/48591); a real one leaves a failing input.
ran_out_of_time() {
	grep -q 'context deadline exceeded' "$output" && ! grep -qE 'Failing input|panic|Error Trace' "$output"
}

grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
	grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //' | while read -r name; do
		if ! go test "$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x -parallel 2 >"$output" 2>&1 && ! ran_out_of_time; then
			cat "$output"
			echo "FAIL: $name in $file" >&2
			exit 1
		fi
		echo "fuzzed $name ($(dirname "$file")) for $time"
	done
done
