#!/bin/sh
# Captures what smartctl says of QEMU's emulated ATA disk, and
# of the kernel's scsi_debug disk, into the folder this script is in.
#
# It boots the laboratory's kernel with an initial RAM disk of busybox and smartctl,
# lets the guest write each answer as base64 to the serial console and unpacks the
# console's output here. All work is done in a temporary folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/../../../../scripts/lab-setup.sh"
kernel="${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/lab/kernel/current"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The guest's files.
mkdir -p root/bin root/dev root/proc root/sys root/tmp root/modules
cp /bin/busybox root/bin/
smartctl=$(PATH="$PATH:/usr/sbin" command -v smartctl)
cp "$smartctl" root/bin/smartctl
ldd "$smartctl" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "root$(dirname "$library")"
	cp -L "$library" "root$library"
done
for module in scsi_common scsi_mod libata ata_piix crc-t10dif crct10dif_common crct10dif_generic crc64-rocksoft crc64-rocksoft_generic crc64 t10-pi sd_mod scsi_debug; do
	find -L "$kernel/" -name "$module.ko" -exec cp {} root/modules/ \;
done

cat >root/init <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in scsi_common scsi_mod libata ata_piix crct10dif_common crct10dif_generic crc-t10dif crc64 crc64-rocksoft_generic crc64-rocksoft t10-pi sd_mod; do
	[ ! -f "/modules/$module.ko" ] || insmod "/modules/$module.ko" 2>/dev/null || true
done
until [ -b /dev/sda ]; do sleep 0.2; done
insmod /modules/scsi_debug.ko
until [ -b /dev/sdb ]; do sleep 0.2; done

keep() { # keep NAME COMMAND...: its output, base64, between two marks
	name=$1
	shift
	"$@" >/tmp/out 2>/tmp/err || echo "== exit $? of $name: $(cat /tmp/err)"
	echo "== begin $name"
	base64 /tmp/out
	echo "== end $name"
}

ask() { smartctl --json --nocheck standby,3 --device "$1" --info --health --attributes "$2"; }

echo
keep ata.json ask sat /dev/sda
keep ata-refused.json ask scsi /dev/null
keep scsi.json ask scsi /dev/sdb
keep versions.txt sh -c 'uname -r; smartctl --version | head -n 1; date -u +%Y-%m-%d'
poweroff -f
INIT
chmod +x root/init
(cd root && find . | cpio --quiet -o -H newc | gzip -1) >initrd.gz

truncate -s 64M disk.img
timeout 180 qemu-system-x86_64 -M pc -accel tcg -m 512 -nographic -no-reboot \
	-kernel "$kernel/vmlinuz" -initrd initrd.gz -append "console=ttyS0 quiet panic=-1" \
	-drive file=disk.img,if=none,id=d1,format=raw -device ide-hd,drive=d1,bus=ide.0,serial=SSDPROBE-0001,rotation_rate=1 \
	>console.txt </dev/null

tr -d '\r' <console.txt | awk -v here="$here" '
	/^== begin / { name = $3; next }
	/^== end / { close("base64 -d >" here "/" name); name = ""; next }
	name { print | ("base64 -d >" here "/" name) }'
grep '^== exit' console.txt || true
qemu-system-x86_64 --version | head -n 1 >>"$here/versions.txt"
