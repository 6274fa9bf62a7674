#!/usr/bin/env bash
# Tests on a real Kubernetes: leases and the status of nodes against an API server of their own, a machine of the
# laboratory whose drive gets slow, then the DaemonSet on the two nodes of scripts/kubernetes-node.sh, which are ended and undone
# however this ends. RUN chooses among the latter: RUN='TestCluster/(image|files)'.
set -euo pipefail
cd "$(dirname "$0")/.."

# The nodes share one directory and the machine's network: one run at a time. What is started holds the lock, too.
lock=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/test-kubernetes.lock
mkdir -p "$(dirname "$lock")"
exec 9>"$lock"
flock --nonblock 9 || { echo "$0: another run is going on, or its nodes are still up (scripts/kubernetes-node.sh down ends them)" >&2; exit 1; }

scripts/install.sh fio util-linux e2fsprogs openssl iptables conntrack socat etcd-server containerd runc containernetworking-plugins umoci \
	debootstrap busybox-static prometheus prometheus-alertmanager
scripts/build-kubernetes.sh >/dev/null
[ -n "${RUN:-}" ] || go test -race -timeout 20m -count 1 -tags kubernetes -run TestCluster ./internal/fleet ./internal/nodestatus
if [ -z "${RUN:-}" ]; then
	scripts/lab-setup.sh
	go test -timeout 90m -count 1 -v -tags kubernetes -run 'TestStoryOf(ANode|AHost)' ./internal/test/storytest
fi
undo() {
	trap '' INT TERM # a second Ctrl-C
	scripts/kubernetes-node.sh down
	rm -rf internal/test/clustertest/.test-*
}
trap undo EXIT
trap 'exit 130' INT TERM
scripts/kubernetes-node.sh up
TMPDIR=$(scripts/kubernetes-node.sh tmp)
export TMPDIR
go test -timeout 60m -count 1 -v -tags kubernetes -run "${RUN:-.}" ./internal/test/clustertest
