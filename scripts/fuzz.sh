#!/usr/bin/env bash
# Runs every fuzz test of the tree for the given time each (default 3s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-3s}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
	grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/^func //' | while read -r name; do
		go test "$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -parallel 2 >/tmp/ssdprobe-fuzz.$$ 2>&1 || {
			cat /tmp/ssdprobe-fuzz.$$
			rm -f /tmp/ssdprobe-fuzz.$$
			echo "FAIL: $name in $file" >&2
			exit 1
		}
		echo "fuzzed $name ($(dirname "$file")) for $time"
	done
done
rm -f /tmp/ssdprobe-fuzz.$$
