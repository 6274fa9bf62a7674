#!/bin/sh
# Gets what the laboratory (internal/test/lab) needs: Debian's QEMU, busybox, fio, nvme-cli, kmod, dmsetup, mdadm, lvm2,
# cryptsetup-bin, e2fsprogs and gcc, installed when missing, and Debian's cloud kernel, which is only unpacked into the
# user's cache and never installed.
# Does nothing, and needs no network, when all of it is there. Ends with 0 when the laboratory can start, else
# with 1 and a line for each thing that is missing.
set -eu

cache="${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/lab"
kernel="$cache/kernel"
meta=linux-image-cloud-amd64

say() { echo "lab-setup: $*" >&2; }

fail() {
	say "$@"
	exit 1
}

# program PACKAGE pairs. busybox must be the static one, so it is asked for by package below.
missing_packages() {
	for pair in qemu-system-x86_64:qemu-system-x86 fio:fio nvme:nvme-cli depmod:kmod flock:util-linux \
		dmsetup:dmsetup mdadm:mdadm lvm:lvm2 cryptsetup:cryptsetup-bin mkfs.ext4:e2fsprogs gcc:gcc; do
		PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
	done
	dpkg-query -W -f '${db:Status-Status}\n' busybox-static 2>/dev/null | grep -qx installed || echo busybox-static
}

# as_root runs a command as root: directly, or with sudo when that works (it may ask for a password on a terminal).
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		sudo "$@"
	else
		return 1
	fi
}

update_lists() {
	as_root apt-get update -qq || say "apt-get update did not succeed; going on with the package lists that are here"
}

install_packages() {
	missing=$(missing_packages)
	[ -n "$missing" ] || return 0
	say "installing" $missing
	update_lists
	# shellcheck disable=SC2086 # one word per package
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2 || true
	missing=$(missing_packages)
	[ -z "$missing" ] || fail "missing:" $missing "— as root: apt-get install --no-install-recommends" $missing
}

# kernel_package names the package that the meta package depends on today, such as linux-image-6.1.0-56-cloud-amd64.
kernel_package() {
	apt-cache depends --important "$meta" 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)$/\1/p' | head -n 1
}

unpack_kernel() {
	[ ! -e "$kernel/current/vmlinuz" ] || return 0
	package=$(kernel_package)
	if [ -z "$package" ]; then
		update_lists
		package=$(kernel_package)
	fi
	[ -n "$package" ] || fail "missing: the package $meta is not in the package lists of this machine (Debian amd64 has it)"

	work=$(mktemp -d "$kernel/unpack.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	say "fetching $package"
	(cd "$work" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$package") >&2 ||
		fail "missing: $package could not be downloaded (apt-get download $package)"
	deb=$(basename "$work"/*.deb .deb)
	mkdir "$work/root"
	dpkg -x "$work/$deb.deb" "$work/root"
	[ -d "$work/root/lib/modules" ] || ln -s usr/lib "$work/root/lib" # releases with a merged /usr
	mv "$work"/root/boot/vmlinuz-* "$work/root/vmlinuz"
	PATH="$PATH:/usr/sbin:/sbin" depmod -b "$work/root" "$(basename "$work"/root/lib/modules/*)"
	rm -rf "$work/root/boot" "$work/root/usr/share"

	rm -rf "${kernel:?}/$deb"
	mv "$work/root" "$kernel/$deb"
	ln -sfn "$deb" "$kernel/current"
}

[ "$(uname -m)" = x86_64 ] || fail "the laboratory needs an x86_64 machine: the programs in the guest are this machine's own"
command -v apt-get >/dev/null || fail "the laboratory needs Debian's packages: no apt-get here"
install_packages
mkdir -p "$kernel"
exec 9>"$cache/setup.lock"
flock 9
unpack_kernel
