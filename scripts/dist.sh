#!/usr/bin/env bash
# Makes what is handed out: static binaries, their bills of materials, .deb and .rpm, man
# pages, completions, and SHA256SUMS over all of it. The same commit gives the same bytes.
# Usage: scripts/dist.sh [-o DIR] [ARCH…]; by default into dist, for amd64 and arm64.
set -euo pipefail
cd "$(dirname "$0")/.."

out=dist
if [ "${1:-}" = -o ]; then
	out=$2
	shift 2
fi
[ $# -gt 0 ] || set -- amd64 arm64
nfpm=$(scripts/build-tool.sh nfpm)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -rf "$out"/ssdprobe* "$out"/man "$out"/completions "$out"/SHA256SUMS
mkdir "$out/man" "$out/completions"

# All times in it are the commit's.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH TZ=UTC

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
VERSION=$(scripts/package-version.sh "$version" "$SOURCE_DATE_EPOCH")
export VERSION

build() { # ARCH FILE
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 go build -trimpath \
		-ldflags "-s -w -X github.com/ssdprobe/ssdprobe/internal/cli.version=$version" -o "$2" ./cmd/ssdprobe
}

for arch in "$@"; do
	build "$arch" "$out/ssdprobe-linux-$arch"
	go run ./internal/sbom "$version" "$SOURCE_DATE_EPOCH" "$out/ssdprobe-linux-$arch" >"$out/ssdprobe-linux-$arch.cdx.json"
done
native=$out/ssdprobe-linux-$(go env GOHOSTARCH)
if [ ! -x "$native" ]; then
	native=$work/ssdprobe
	build "$(go env GOHOSTARCH)" "$native"
fi
"$native" completion bash >"$out/completions/ssdprobe.bash"
"$native" completion fish >"$out/completions/ssdprobe.fish"
"$native" completion zsh >"$out/completions/_ssdprobe"
go run ./internal/cli/manpages "$version" "$(date -d "@$SOURCE_DATE_EPOCH" +%F)" "$out/man"
gzip -9 -n "$out"/man/*

export OUT=$out
for ARCH in "$@"; do
	export ARCH
	for packager in deb rpm; do
		"$nfpm" package --config deploy/packages/nfpm.yaml --packager "$packager" --target "$out" >/dev/null
	done
done
cd "$out"
LC_ALL=C find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
cat SHA256SUMS
