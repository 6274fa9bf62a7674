#!/usr/bin/env bash
# Compiles the programs for the kernel and writes the Go code that embeds them. The result depends
# on the version of clang, so that of Debian 12 is asked for. Without it, what is there stays.
set -euo pipefail
cd "$(dirname "$0")/../internal/iolatency"
clang=$(command -v clang-14 || true)
if [ -z "$clang" ] || ! command -v llvm-strip-14 >/dev/null; then
	echo "internal/iolatency: clang 14 is not here, so the programs for the kernel are not compiled again: scripts/install.sh clang-14 llvm-14 libbpf-dev" >&2
	exit 0
fi
GOPACKAGE=iolatency go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -cc "$clang" -strip llvm-strip-14 \
	-cflags "-O2 -g -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter" -output-dir "${1:-.}" -no-global-types programs bpf/iolatency.bpf.c >&2
