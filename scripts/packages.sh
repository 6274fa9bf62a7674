#!/usr/bin/env bash
# Builds static binaries and their .deb and .rpm into dist, with checksums.
# Usage: scripts/packages.sh [-o DIR] [ARCH…]; by default for amd64 and arm64.
set -euo pipefail
cd "$(dirname "$0")/.."

out=dist
if [ "${1:-}" = -o ]; then
	out=$2
	shift 2
fi
[ $# -gt 0 ] || set -- amd64 arm64
mkdir -p "$out"
nfpm=$(scripts/build-tool.sh nfpm)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A commit without a tag sorts before every version, a release candidate before its
# release, and neither format allows a hyphen in the number.
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
case "$version" in
v[0-9]* | [0-9]*.*) number=${version#v} ;;
*) number=0.0.0~$version ;;
esac
VERSION=$(sed -E 's/-(alpha|beta|rc)/~\1/; s/-/./g' <<<"$number")
export VERSION

build() { # ARCH FILE
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 go build -trimpath \
		-ldflags "-s -w -X github.com/ssdprobe/ssdprobe/internal/cli.version=$version" -o "$2" ./cmd/ssdprobe
}

for arch in "$@"; do
	build "$arch" "$out/ssdprobe-linux-$arch"
done
native=$out/ssdprobe-linux-$(go env GOHOSTARCH)
if [ ! -x "$native" ]; then
	native=$work/ssdprobe
	build "$(go env GOHOSTARCH)" "$native"
fi
export COMPLETIONS=$work
for shell in bash fish zsh; do
	"$native" completion "$shell" >"$work/$shell"
done

for ARCH in "$@"; do
	export ARCH BINARY=$out/ssdprobe-linux-$ARCH
	for packager in deb rpm; do
		"$nfpm" package --config deploy/packages/nfpm.yaml --packager "$packager" --target "$out" >/dev/null
	done
done
cd "$out"
sha256sum ssdprobe* >SHA256SUMS
cat SHA256SUMS
