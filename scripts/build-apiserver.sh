#!/usr/bin/env bash
# Builds Kubernetes' own API server from its Go module into the user's cache folder,
# once, and prints its path. Its version is pinned here and nowhere else. It takes
# some ten minutes on two cores, so `make test` does not ask for it; `make
# test-kubernetes` does.
set -euo pipefail

version=v1.34.4
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/bin
path=$cache/kube-apiserver-$version
mkdir -p "$cache"
# Two test runs may want it at once: the second waits for the first.
exec {lock}>"$cache/.kube-apiserver.lock"
flock "$lock"
if [ ! -x "$path" ]; then
	echo "Building kube-apiserver $version, once; it takes some ten minutes …" >&2
	module=$(mktemp -d "$cache/.kube-apiserver.XXXXXX")
	trap 'rm -rf "$module"' EXIT
	cd "$module"
	export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
	go mod init ssdprobe.invalid/apiserver >&2
	# The module names its own parts by folders of its repository, which it does not
	# contain; they are modules of their own, of the same version but for the major.
	gomod=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')
	mapfile -t parts < <(sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|\1|p' "$gomod")
	[ ${#parts[@]} -gt 0 ] || { echo "$0: no parts in $gomod" >&2; exit 1; }
	for part in "${parts[@]}"; do
		go mod edit -replace "$part=$part@v0${version#v1}"
	done
	go mod edit -require "k8s.io/kubernetes@$version"
	go build -trimpath -ldflags='-s -w' -o kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver >&2
	mv kube-apiserver "$path"
fi
echo "$path"
