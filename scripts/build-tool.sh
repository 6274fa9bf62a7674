#!/usr/bin/env bash
# Builds the named tools from the Go module proxy into the user's cache folder, each
# version once, and prints their paths. A tool's version is pinned here and nowhere else.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/bin
mkdir -p "$cache"
for tool in "$@"; do
	case "$tool" in
	govulncheck) module=golang.org/x/vuln/cmd/govulncheck version=v1.8.0 ;;
	helm) module=helm.sh/helm/v3/cmd/helm version=v3.22.0 ;;
	kustomize) module=sigs.k8s.io/kustomize/kustomize/v5 version=v5.8.2 ;;
	nfpm) module=github.com/goreleaser/nfpm/v2/cmd/nfpm version=v2.45.0 ;;
	*)
		echo "$0: $tool is unknown; want govulncheck, helm, kustomize or nfpm" >&2
		exit 2
		;;
	esac
	path=$cache/$tool-$version
	if [ ! -x "$path" ]; then
		# Two test runs may want the same tool at once: the second waits for the first.
		exec {lock}>"$cache/.$tool.lock"
		flock "$lock"
		if [ ! -x "$path" ]; then
			echo "Building $tool $version, once; it takes some minutes …" >&2
			built=$(mktemp -d "$cache/.$tool.XXXXXX")
			trap 'rm -rf "$built"' EXIT
			# From outside of any module: the tool's own requirements count, not ours.
			(cd / && GOBIN=$built GOFLAGS= CGO_ENABLED=0 go install -trimpath "$module@$version" >&2)
			mv "$built/$tool" "$path"
			rm -rf "$built"
		fi
		exec {lock}>&-
	fi
	echo "$path"
done
