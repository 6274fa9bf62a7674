#!/usr/bin/env bash
# A real Kubernetes cluster of two nodes on this machine, for the tests of
# internal/test/clustertest: etcd, API server, controller manager, scheduler and kube-proxy
# once, containerd and kubelet for each node. Neither systemd nor a registry is needed.
#
#   kubernetes-node.sh up                     starts what does not run
#   kubernetes-node.sh down                   ends and undoes all of it; so does what is left of a crash
#   kubernetes-node.sh stop NAME              kills one program: apiserver, kubelet-1, …
#   kubernetes-node.sh image NAME ROOT ENTRYPOINT…   gives all nodes an image of one layer
#   kubernetes-node.sh on NODE COMMAND…       runs a command where that node's mounts are
#   kubernetes-node.sh start                  starts again what was stopped
#   kubernetes-node.sh tmp                    prints a directory of which `down` leaves nothing, loop devices included
#   kubernetes-node.sh env                    variables for kubectl and helm, as env(1) takes them
#
# The nodes are storage-1 and storage-2. Each has a mount namespace with a /srv, /run and
# /var/lib of its own; /dev and all else is this machine's.
set -euo pipefail
cd "$(dirname "$0")/.."
nodes="1 2"
work=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/kubernetes-node
bin=$work/path pki=$work/pki log=$work/log run=$work/run
ip=$(ip -4 -o addr show scope global | awk '{print $4; exit}' | cut -d/ -f1)
api=$ip:6443
# What a kubelet and kube-proxy change for the sake of a node, which is somebody else's machine as well.
settings="vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops net.ipv4.ip_forward net.ipv4.conf.all.route_localnet net.netfilter.nf_conntrack_max"
export KUBECONFIG=$work/admin.conf PATH=$bin:$PATH

programs() {
	local built tools
	built=$(scripts/build-kubernetes.sh)
	mapfile -t tools < <(scripts/build-tool.sh helm kustomize)
	mkdir -p "$bin"
	ln -sf "$built"/* "$bin/"
	ln -sf "${tools[0]}" "$bin/helm"
	ln -sf "${tools[1]}" "$bin/kustomize"
}

certificate() { # NAME CN O [SAN]
	openssl req -newkey rsa:2048 -nodes -keyout "$pki/$1.key" -out "$pki/$1.csr" -subj "/O=$3/CN=$2" 2>/dev/null
	printf 'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n%s\n' \
		"${4:+subjectAltName=$4}" >"$pki/$1.ext"
	openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 2 \
		-extfile "$pki/$1.ext" -out "$pki/$1.crt" 2>/dev/null
	cat >"$work/$1.conf" <<-YAML
	apiVersion: v1
	kind: Config
	clusters: [{name: c, cluster: {server: "https://$api", certificate-authority: $pki/ca.crt}}]
	users: [{name: u, user: {client-certificate: $pki/$1.crt, client-key: $pki/$1.key}}]
	contexts: [{name: x, context: {cluster: c, user: u}}]
	current-context: x
	YAML
}

certificates() {
	[ ! -f "$pki/done" ] || return 0
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
	openssl genrsa -out "$pki/accounts.key" 2048 2>/dev/null
	certificate apiserver kube-apiserver k8s "IP:$ip,IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
	certificate admin admin system:masters
	certificate controller-manager system:kube-controller-manager k8s
	certificate scheduler system:kube-scheduler k8s
	certificate proxy system:kube-proxy k8s
	certificate kubelet-client kube-apiserver-kubelet-client system:masters
	local n
	for n in $nodes; do certificate "kubelet-$n" "system:node:storage-$n" system:nodes "IP:$ip,DNS:storage-$n"; done
	touch "$pki/done"
}

start() { # NAME COMMAND…
	local name=$1; shift
	if [ -f "$run/$name.pid" ] && kill -0 "$(cat "$run/$name.pid")" 2>/dev/null; then return; fi
	# Of a session of its own: Ctrl-C is for `down`, which ends them in order.
	setsid nohup "$@" >>"$log/$name.log" 2>&1 </dev/null &
	echo $! >"$run/$name.pid"
}

stop() { # NAME [SIGNAL]
	[ -f "$run/$1.pid" ] || return 0
	local pid i; pid=$(cat "$run/$1.pid")
	kill "${2:--TERM}" "$pid" 2>/dev/null || true
	for ((i = 0; i < 60; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.5; done
	kill -KILL "$pid" 2>/dev/null || true
	rm -f "$run/$1.pid"
}

until_ok() { # SECONDS COMMAND…
	local n=$1 i; shift
	for ((i = 0; i < n; i++)); do "$@" >/dev/null 2>&1 && return; sleep 1; done
	echo "not after $n s: $*; logs are in $log" >&2
	return 1
}

on() { # NODE COMMAND…
	local n=${1#storage-}; shift
	nsenter -t "$(cat "$run/namespace-$n.pid")" -m -- "$@"
}

containers() { ctr --address "$work/node-$1/containerd.sock" -n k8s.io "${@:2}"; }

node_up() { # NUMBER
	local n=$1 own=$work/node-$1 controller
	mkdir -p "$own"/{var-lib,var-lib-work,state,cni,kubelet,podlogs}
	start "namespace-$n" unshare -m --propagation private sh -c "mount --make-rshared / && mount -t tmpfs tmpfs /srv && mount -t tmpfs tmpfs /run &&
		mount -t overlay overlay -o lowerdir=/var/lib,upperdir=$own/var-lib,workdir=$own/var-lib-work /var/lib &&
		touch $run/namespace-$n.ready && exec sleep infinity"
	until_ok 10 test -f "$run/namespace-$n.ready"
	cat >"$own/containerd.toml" <<-TOML
	version = 2
	root = "$own/containerd"
	state = "$own/state"
	[grpc]
	  address = "$work/node-$n/containerd.sock"
	[plugins."io.containerd.grpc.v1.cri"]
	  sandbox_image = "localhost/pause:1"
	  # Root may have no CAP_SYS_RESOURCE here; the -998 of a pod's sandbox is refused then.
	  restrict_oom_score_adj = true
	  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
	    runtime_type = "io.containerd.runc.v2"
	  [plugins."io.containerd.grpc.v1.cri".cni]
	    bin_dir = "/usr/lib/cni"
	    conf_dir = "$own/cni"
	TOML
	cat >"$own/cni/10-bridge.conflist" <<-JSON
	{"cniVersion": "1.0.0", "name": "ssdprobe-$n", "plugins": [
	  {"type": "bridge", "bridge": "ssdprobe$n", "isGateway": true, "ipMasq": true, "hairpinMode": true,
	   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.$n.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "$own/ipam"}},
	  {"type": "portmap", "capabilities": {"portMappings": true}}]}
	JSON
	start "containerd-$n" nsenter -t "$(cat "$run/namespace-$n.pid")" -m containerd --config "$own/containerd.toml"
	until_ok 30 containers "$n" version
	# Two kubelets of one machine: each takes what is not in a cgroup of its own for forgotten pods.
	for controller in $(find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d); do mkdir -p "$controller/ssdprobe-$n" 2>/dev/null || true; done
	cat >"$own/kubelet.yaml" <<-YAML
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	address: $ip
	port: $((10250 + 10 * (n - 1)))
	healthzPort: $((10248 + 10 * (n - 1)))
	authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
	authorization: {mode: Webhook}
	cgroupDriver: cgroupfs
	cgroupRoot: /ssdprobe-$n
	failCgroupV1: false
	failSwapOn: false
	containerRuntimeEndpoint: unix://$work/node-$n/containerd.sock
	tlsCertFile: $pki/kubelet-$n.crt
	tlsPrivateKeyFile: $pki/kubelet-$n.key
	podLogsDir: $own/podlogs
	resolvConf: /etc/resolv.conf
	clusterDNS: [10.96.0.10]
	evictionHard: {memory.available: 100Mi, nodefs.available: 2%, imagefs.available: 2%}
	imageGCHighThresholdPercent: 99
	imageGCLowThresholdPercent: 98
	nodeStatusUpdateFrequency: 5s
	serializeImagePulls: false
	YAML
	start "kubelet-$n" nsenter -t "$(cat "$run/namespace-$n.pid")" -m nice -n 5 "$bin/kubelet" --config="$own/kubelet.yaml" \
		--kubeconfig="$work/kubelet-$n.conf" --root-dir="$own/kubelet" --cert-dir="$own/kubelet/pki" --hostname-override="storage-$n" --node-ip="$ip" --v=2
}

image() { # NAME ROOT ENTRYPOINT…
	local name=$1 root=$2 oci=$work/oci n word args=(); shift 2
	for word in "$@"; do args+=(--config.entrypoint "$word"); done
	rm -rf "$oci" "$oci.tar"
	umoci init --layout "$oci"
	umoci new --image "$oci:i"
	umoci insert --image "$oci:i" "$root" / 2>/dev/null
	umoci config --image "$oci:i" "${args[@]}"
	tar -C "$oci" -cf "$oci.tar" .
	for n in $nodes; do
		containers "$n" images import --base-name "${name%:*}" "$oci.tar" >/dev/null
		containers "$n" images tag --force "${name%:*}:i" "$name" >/dev/null
	done
}

# A pod's first process, which holds its namespaces.
pause() {
	[ "$(containers 1 images ls -q | grep -c ^localhost/pause:1)" = 0 ] || return 0
	mkdir -p "$work/pause/root"
	cat >"$work/pause/main.go" <<-'GO'
	package main

	import (
		"os"
		"os/signal"
		"syscall"
	)

	func main() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
		<-c
	}
	GO
	CGO_ENABLED=0 GOFLAGS= GO111MODULE=off go build -ldflags='-s -w' -o "$work/pause/root/pause" "$work/pause/main.go"
	image localhost/pause:1 "$work/pause/root" /pause
}

up() {
	[ "$(id -u)" = 0 ] || { echo "$0: a node of Kubernetes needs root" >&2; exit 1; }
	programs
	mkdir -p "$pki" "$log" "$run"
	# Some exist once their module is loaded, which the first rule does.
	[ -f "$run/sysctl.before" ] || sysctl $settings >"$run/sysctl.before" 2>/dev/null || true
	certificates
	mkdir -p "$work/etcd" && chmod 700 "$work/etcd"
	start etcd etcd --data-dir "$work/etcd" --listen-client-urls http://127.0.0.1:2399 --advertise-client-urls http://127.0.0.1:2399 \
		--listen-peer-urls http://127.0.0.1:2398 --initial-advertise-peer-urls http://127.0.0.1:2398 --initial-cluster default=http://127.0.0.1:2398 --unsafe-no-fsync
	start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2399 --bind-address="$ip" --advertise-address="$ip" --secure-port=6443 \
		--tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
		--kubelet-client-certificate="$pki/kubelet-client.crt" --kubelet-client-key="$pki/kubelet-client.key" \
		--kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
		--service-account-key-file="$pki/accounts.key" --service-account-signing-key-file="$pki/accounts.key" \
		--service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/16 \
		--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true --v=1 \
		--requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy-client \
		--requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User
	until_ok 120 kubectl get --raw /readyz
	start controller-manager kube-controller-manager --kubeconfig="$work/controller-manager.conf" \
		--authentication-kubeconfig="$work/controller-manager.conf" --authorization-kubeconfig="$work/controller-manager.conf" \
		--service-account-private-key-file="$pki/accounts.key" --root-ca-file="$pki/ca.crt" --use-service-account-credentials --leader-elect=false \
		--cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" --bind-address=127.0.0.1
	start scheduler kube-scheduler --kubeconfig="$work/scheduler.conf" --authentication-kubeconfig="$work/scheduler.conf" \
		--authorization-kubeconfig="$work/scheduler.conf" --leader-elect=false --bind-address=127.0.0.1
	local n
	for n in $nodes; do node_up "$n"; done
	pause
	start proxy kube-proxy --kubeconfig="$work/proxy.conf" --hostname-override=storage-1 --proxy-mode=iptables --cluster-cidr=10.244.0.0/16 \
		--conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0 --bind-address=127.0.0.1
	for n in $nodes; do until_ok 120 bash -c "kubectl get node storage-$n | grep -qw Ready"; done
	restore_settings "ip_forward|route_localnet"
}

restore_settings() { # [ALL BUT]
	[ -f "$run/sysctl.before" ] || return 0
	sed 's/ = /=/' "$run/sysctl.before" | grep -Ev "${1:-^$}" | xargs -r sysctl -w >/dev/null || true
}

down() {
	[ -d "$work" ] || return 0
	local name n c
	for name in proxy scheduler controller-manager; do stop "$name"; done
	for n in $nodes; do
		stop "kubelet-$n"
		[ -S "$work/node-$n/containerd.sock" ] && [ -f "$run/containerd-$n.pid" ] && kill -0 "$(cat "$run/containerd-$n.pid")" 2>/dev/null || continue
		for c in $(containers "$n" tasks ls -q); do containers "$n" tasks rm -f "$c" >/dev/null 2>&1 || true; done
		for c in $(containers "$n" containers ls -q); do containers "$n" containers rm "$c" >/dev/null 2>&1 || true; done
	done
	for name in apiserver etcd; do stop "$name"; done
	for n in $nodes; do
		stop "containerd-$n"
		# The shims of a containerd that was killed.
		pgrep -f "^/usr/bin/containerd-shim-runc-v2 .*-address $work/node-$n/" | xargs -r kill -KILL 2>/dev/null || true
		stop "namespace-$n" # its mounts go with it
		rm -f "$run/namespace-$n.ready"
		ip link del "ssdprobe$n" 2>/dev/null || true
	done
	# What is left of the chains of the kubelets, kube-proxy and the bridge plugin.
	local tool table chain rule
	for tool in iptables ip6tables; do
		for table in filter nat mangle; do
			"$tool-save" -t "$table" 2>/dev/null | grep -E '^-A .*(KUBE|CNI)-' | sed 's/^-A/-D/' | while read -r rule; do
				eval "$tool -t $table $rule" 2>/dev/null || true
			done || true
			for chain in $("$tool-save" -t "$table" 2>/dev/null | sed -nE 's/^:((KUBE|CNI)-[^ ]+).*/\1/p'); do
				"$tool" -t "$table" -F "$chain" 2>/dev/null || true
				"$tool" -t "$table" -X "$chain" 2>/dev/null || true
			done
		done
	done
	# What a test that was interrupted left in the directory that scripts/test-kubernetes.sh gives it.
	losetup --noheadings --list --output NAME,BACK-FILE | grep -F " $work/tmp/" | while read -r name _; do losetup --detach "$name"; done || true
	find /sys/fs/cgroup -depth -type d \( -path '*/ssdprobe-[12]*' -o -path '*/k8s.io*' \) -exec rmdir {} \; 2>/dev/null || true
	restore_settings
	# The next cluster knows nothing of this one; logs stay until then.
	rm -rf "$work/etcd" "$work"/node-* "$pki" "$run" "$work"/*.conf "$work"/oci* "$work/tmp"
}

case "${1:-}" in
up) rm -rf "$log"; up ;;
down) down ;;
stop) stop "$2" -KILL ;;
start) up ;;
image | on) "$@" ;;
env) echo "KUBECONFIG=$KUBECONFIG"; echo "PATH=$PATH" ;;
tmp) mkdir -p "$work/tmp"; echo "$work/tmp" ;;
*) sed -n '2,17p' "$0"; exit 2 ;;
esac
