#!/usr/bin/env bash
# Builds the programs of a Kubernetes cluster from their Go module into the user's cache
# folder, each once, and prints the folder: all that scripts/kubernetes-node.sh runs, or
# the named ones. Their version is pinned here and nowhere else. All six take some
# fifteen minutes on two cores and 500 MB.
set -euo pipefail

version=v1.34.4
programs=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl)
[ $# -eq 0 ] || programs=("$@")
bin=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/kubernetes-$version
mkdir -p "$bin"
# Two test runs may want them at once: the second waits for the first.
exec {lock}>"$bin/.lock"
flock "$lock"
for program in "${programs[@]}"; do
	[ ! -x "$bin/$program" ] || continue
	if [ -z "${module:-}" ]; then
		module=$(mktemp -d "$bin/.module.XXXXXX")
		trap 'rm -rf "$module"' EXIT
		cd "$module"
		export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
		go mod init ssdprobe.invalid/kubernetes >&2
		# The module names its own parts by folders of its repository, which it does not
		# contain; they are modules of their own, of the same version but for the major.
		gomod=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')
		mapfile -t parts < <(sed -n 's|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|\1|p' "$gomod")
		[ ${#parts[@]} -gt 0 ] || { echo "$0: no parts in $gomod" >&2; exit 1; }
		for part in "${parts[@]}"; do
			go mod edit -replace "$part=$part@v0${version#v1}"
		done
		go mod edit -require "k8s.io/kubernetes@$version"
	fi
	echo "Building $program $version, once; it takes some minutes …" >&2
	# Else it says that it is v0.0.0, and helm refuses the chart's kubeVersion.
	minor=${version#v1.}
	go build -trimpath -o "$program" -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version \
		-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}" "k8s.io/kubernetes/cmd/$program" >&2
	mv "$program" "$bin/$program"
done
echo "$bin"
