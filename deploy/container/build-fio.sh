#!/bin/sh
# Builds Debian's fio as one static program, with the engines that need nothing but
# the kernel, into the file named by the argument. Debian's own package brings 80 MB of
# libraries for storage clusters along. Runs in Debian with deb-src enabled.
set -eu
target=$1
apt-get update -qq
apt-get install -y -qq --no-install-recommends dpkg-dev gcc libc6-dev libaio-dev make zlib1g-dev >/dev/null
work=$(mktemp -d)
cd "$work"
apt-get source -qq fio >/dev/null
cd fio-*/
./configure --build-static --disable-native --disable-shm --disable-http --disable-rados --disable-rbd \
	--disable-rdma --disable-gfapi --disable-pmem --disable-libnfs --disable-tcmalloc >/dev/null
make -j "$(nproc)" fio >/dev/null
install -D -s -m 755 fio "$target"
cd /
rm -rf "$work"
