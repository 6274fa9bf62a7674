#!/bin/sh
# Captures raw NVMe pages from QEMU's emulated controller, and what nvme-cli
# makes of the same pages, into the folder this script is in.
#
# It boots the laboratory's kernel with an initial RAM disk of busybox and nvme-cli,
# lets the guest write each answer as base64 to the serial console and unpacks the
# console's output here. All work is done in a temporary folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/../../../../scripts/lab-setup.sh"
vmlinuz="${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/lab/kernel/current/vmlinuz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The guest's files.
mkdir -p root/bin root/dev root/proc root/sys root/tmp
cp /bin/busybox root/bin/
nvme=$(PATH="$PATH:/usr/sbin" command -v nvme)
cp "$nvme" root/bin/nvme
ldd "$nvme" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "root$(dirname "$library")"
	cp -L "$library" "root$library"
done

cat >root/init <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
until [ -b /dev/nvme0n1 ]; do sleep 0.2; done

# Counters that are not zero.
dd if=/dev/urandom of=/dev/nvme0n1 bs=64k count=96 2>/dev/null
dd if=/dev/nvme0n1 of=/dev/null bs=64k count=64 iflag=direct 2>/dev/null
sync

keep() { # keep NAME COMMAND...: its output, base64, between two marks
	name=$1
	shift
	"$@" >/tmp/out 2>/tmp/err || echo "== failed $name: $(cat /tmp/err)"
	echo "== begin $name"
	base64 /tmp/out
	echo "== end $name"
}

echo
keep identify-controller.bin nvme id-ctrl /dev/nvme0 --raw-binary
keep identify-controller.json nvme id-ctrl /dev/nvme0 --output-format=json
keep identify-namespace.bin nvme id-ns /dev/nvme0n1 --raw-binary
keep identify-namespace.json nvme id-ns /dev/nvme0n1 --output-format=json
keep namespace-identifiers.bin nvme admin-passthru /dev/nvme0 --opcode=0x06 --namespace-id=1 --cdw10=0x03 --data-len=4096 --read --raw-binary
keep namespace-identifiers.json nvme ns-descs /dev/nvme0 --namespace-id=1 --output-format=json
keep active-namespaces.bin nvme admin-passthru /dev/nvme0 --opcode=0x06 --cdw10=0x02 --data-len=4096 --read --raw-binary
keep active-namespaces.json nvme list-ns /dev/nvme0 --output-format=json
keep smart.bin nvme smart-log /dev/nvme0 --raw-binary
keep smart.json nvme smart-log /dev/nvme0 --output-format=json
keep error-information.bin nvme error-log /dev/nvme0 --log-entries=4 --raw-binary
keep error-information.json nvme error-log /dev/nvme0 --log-entries=4 --output-format=json
keep firmware-slot.bin nvme fw-log /dev/nvme0 --raw-binary
keep firmware-slot.json nvme fw-log /dev/nvme0 --output-format=json
for feature in 02 04 06 07 08; do
	keep "feature-$feature.txt" nvme get-feature /dev/nvme0 --feature-id="0x$feature" --human-readable
done
keep versions.txt sh -c 'uname -r; nvme version; date -u +%Y-%m-%d'
poweroff -f
INIT
chmod +x root/init
(cd root && find . | cpio --quiet -o -H newc | gzip -1) >initrd.gz

truncate -s 64M drive1.img drive2.img drive7.img
# Three namespaces of two formats; a critical warning, so that the bit set is not empty.
timeout 180 qemu-system-x86_64 -M q35 -accel tcg -m 512 -smp 2 -nographic -no-reboot \
	-kernel "$vmlinuz" -initrd initrd.gz -append "console=ttyS0 quiet panic=-1" \
	-drive file=drive1.img,if=none,id=d1,format=raw \
	-drive file=drive2.img,if=none,id=d2,format=raw \
	-drive file=drive7.img,if=none,id=d7,format=raw \
	-device nvme,id=nv0,serial=SSDPROBE-0001,smart_critical_warning=18 \
	-device nvme-ns,bus=nv0,drive=d1,nsid=1,eui64=0x0123456789abcdef \
	-device nvme-ns,bus=nv0,drive=d2,nsid=2,logical_block_size=4096,physical_block_size=4096 \
	-device nvme-ns,bus=nv0,drive=d7,nsid=7 \
	</dev/null >console.log 2>&1 || { tail -n 40 console.log >&2; exit 1; }

tr -d '\r' <console.log | awk -v out="$work/" '
	/^== begin / { file = out $3; next }
	/^== end /   { close(file); file = ""; next }
	/^== failed/ { print > "/dev/stderr" }
	file != ""   { print > (file ".b64") }
'
for encoded in ./*.b64; do
	base64 -d "$encoded" >"$here/$(basename "$encoded" .b64)"
done
qemu-system-x86_64 --version | head -n 1 >>"$here/versions.txt"
