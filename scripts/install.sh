#!/usr/bin/env bash
# Installs the named Debian or Ubuntu packages that are missing. A command that is
# already there counts as its package.
set -euo pipefail

missing=()
for package in "$@"; do
	case "$package" in
	qemu-system-x86) command=qemu-system-x86_64 ;;
	nvme-cli) command=nvme ;;
	util-linux) command=losetup ;;
	e2fsprogs) command=mkfs.ext4 ;;
	dosfstools) command=mkfs.vfat ;;
	btrfs-progs) command=mkfs.btrfs ;;
	autofs) command=automount ;;
	busybox-static) command=busybox ;;
	qemu-user-static) command=qemu-aarch64-static ;;
	etcd-server) command=etcd ;;
	prometheus) command=promtool ;;
	containernetworking-plugins) command=/usr/lib/cni/bridge ;;
	nodejs) command=node ;;
	systemd) command=systemd-analyze ;;
	llvm-14) command=llvm-strip-14 ;;
	*) command=$package ;;
	esac
	command -v "$command" >/dev/null || PATH=$PATH:/sbin:/usr/sbin command -v "$command" >/dev/null ||
		{ command -v dpkg-query >/dev/null && dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; } ||
		missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "Please install these packages as root, then try again: apt-get install ${missing[*]}" >&2
		exit 1
	fi
	sudo=sudo
fi
if ! command -v apt-get >/dev/null; then
	echo "Please install these, then try again: ${missing[*]}" >&2
	exit 1
fi
echo "Installing ${missing[*]} …" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq >&2

# What is installed here are tools. A package that brings a service, as prometheus
# does, must not start it: neither now nor at the next boot.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap '$sudo rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' | $sudo install -m 755 /dev/stdin "$policy"
fi
$sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
for package in "${missing[@]}"; do
	command -v systemctl >/dev/null || break
	dpkg -L "$package" | sed -n 's|^\(/usr\)\?/lib/systemd/system/\([^/@]*\.service\)$|\2|p' | while read -r unit; do
		$sudo systemctl --quiet disable "$unit" >&2
	done
done
