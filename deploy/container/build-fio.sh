#!/bin/sh
# Builds Debian's fio as one static program, with the engines that need nothing but
# the kernel: build-fio.sh ARCHITECTURE FILE. Debian's own package brings 80 MB of
# libraries for storage clusters along. The architecture (amd64, arm64) need not be this
# machine's: it is built by a cross compiler then, not in an emulator. Runs in Debian
# with deb-src enabled.
set -eu
arch=$1 target=$2
case $arch in
amd64 | arm64) ;;
*) echo "build-fio.sh: architecture \"$arch\" is neither amd64 nor arm64" >&2 && exit 2 ;;
esac
dpkg --add-architecture "$arch"
apt-get update -qq
apt-get install -y -qq --no-install-recommends dpkg-dev make >/dev/null
cpu=$(dpkg-architecture -a "$arch" -q DEB_HOST_GNU_CPU)
tools=$(dpkg-architecture -a "$arch" -q DEB_HOST_GNU_TYPE)
apt-get install -y -qq --no-install-recommends \
	"gcc-$(echo "$tools" | tr _ -)" "libc6-dev:$arch" "libaio-dev:$arch" "zlib1g-dev:$arch" >/dev/null
work=$(mktemp -d)
cd "$work"
apt-get source -qq fio >/dev/null
cd fio-*/
./configure --cpu="$cpu" --cc="$tools-gcc" --build-static --disable-native --disable-shm --disable-http --disable-rados \
	--disable-rbd --disable-rdma --disable-gfapi --disable-pmem --disable-libnfs --disable-tcmalloc >/dev/null
make -j "$(nproc)" CC="$tools-gcc" fio >/dev/null
install -D -s --strip-program="$tools-strip" -m 755 fio "$target"
cd /
rm -rf "$work"
