#!/usr/bin/env bash
# Writes what ssdprobe reads of this machine's /sys, /proc and /dev as a txtar archive
# (see internal/sysfs/sysfstest) to the named file, or to standard output.
#
#   scripts/capture-fixture.sh [FILE]
#
# What tells whose machine it is, is replaced: serial numbers, world-wide names, UUIDs,
# host name, labels and mount points. Each is replaced by the same text everywhere, of
# the same length and alphabet, so that what belongs together still does. Read the file
# before you give it away all the same.
set -euo pipefail
export LC_ALL=C
out=${1:-/dev/stdout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=$work/files links=$work/links values=$work/values script=$work/script
: >"$files" >"$links" >"$values" >"$script"

# file PATH…: those that are there and have text. Reading an attribute may fail where
# a device has none.
file() {
	local path
	for path in "$@"; do
		[ -f "$path" ] && [ -r "$path" ] || continue
		cat "$path" >"$work/text" 2>/dev/null || continue
		[ -z "$(tr -d '[:print:][:space:]' <"$work/text")" ] || continue # binary
		{
			echo "-- ${path#/} --"
			sed -e '$a\' "$work/text"
		} >>"$files"
	done
}
# link PATH: if it is a link; a device may leave meanwhile, and its links with it.
link() {
	local to
	to=$(readlink "$1") && echo "${1#/} -> $to" >>"$links" || true
}
# device PATH: a disk or a partition, what it is made of and what it is attached to.
device() {
	local dir=$1 entry name
	file "$dir"/{dev,size,ro,removable,hidden,serial,wwid,metadata_bytes,partition,diskseq}
	file "$dir"/queue/{logical_block_size,physical_block_size,rotational,zoned,scheduler,nr_requests,write_cache,io_poll,max_sectors_kb}
	file "$dir"/dm/{name,uuid} "$dir"/md/{level,uuid,raid_disks} "$dir"/loop/backing_file "$dir"/integrity/format
	link "$dir/device"
	link "$dir/subsystem"
	for entry in "$dir"/{holders,slaves}/*; do link "$entry"; done
	name=$(basename "$dir")
	for entry in "$dir/$name"*; do
		[ -f "$entry/partition" ] && device "$entry"
	done
	[ -e "$dir/device/" ] || return 0
	parent "$(readlink -f "$dir/device")"
}
# parent PATH: what a disk is attached to, and all PCI functions above.
parent() {
	local dir=$1 entry
	grep -qxF "$dir" "$work/seen" 2>/dev/null && return 0
	echo "$dir" >>"$work/seen"
	file "$dir"/{model,vendor,rev,serial,firmware_rev,fwrev,name,type,state,transport,cntlid,subsysnqn,wwid}
	link "$dir/subsystem"
	for entry in "$dir"/nvme[0-9]*; do
		[ -L "$entry" ] && link "$entry" && parent "$(readlink -f "$entry")"
	done
	while [ "$dir" != /sys/devices ] && [ "$dir" != / ]; do
		case $(basename "$dir") in
		*:*:*.*)
			file "$dir"/{current_link_speed,current_link_width,max_link_speed,max_link_width,numa_node,class,vendor,device,local_cpulist}
			file "$dir"/link/*
			link "/sys/bus/pci/devices/$(basename "$dir")"
			;;
		esac
		dir=$(dirname "$dir")
	done
}

# unused PATH: a loop or RAM device that holds nothing, of which there may be many.
unused() { case $(readlink -f "$1") in */loop* | */ram*) [ "$(cat "$1/size")" = 0 ] ;; *) false ;; esac }

for block in /sys/block/*; do
	unused "$block" && continue
	link "$block"
	device "$(readlink -f "$block")"
done
for entry in /sys/class/block/* /sys/dev/block/*; do unused "$entry" || link "$entry"; done
for entry in /sys/class/nvme/* /dev/disk/by-id/*; do link "$entry"; done
file /sys/devices/system/cpu/{online,possible} /sys/devices/system/node/node*/cpulist
file /sys/devices/system/cpu/cpu[0-9]*/topology/{thread_siblings_list,physical_package_id,core_id}
file /sys/devices/system/cpu/cpufreq/policy*/{affected_cpus,scaling_governor,scaling_driver,energy_performance_preference}
file /sys/module/pcie_aspm/parameters/policy /sys/module/nvme/parameters/{poll_queues,write_queues} /sys/module/nvme_core/parameters/multipath
file /proc/sys/kernel/osrelease

# Mounts of block devices and of the kernel only; the names of the others are nobody's business.
if [ -r /proc/self/mountinfo ]; then
	echo "-- proc/self/mountinfo --" >>"$files"
	awk '$3 !~ /^0:/ || $5 == "/" || $5 == "/proc" || $5 == "/sys" || $5 == "/dev"' /proc/self/mountinfo >>"$files"
	awk '$3 !~ /^0:/ {
		n = split($5, part, "/")
		for (i = 2; i <= n; i++) if (part[i] !~ /^(|boot|efi|home|var|lib|srv|mnt|media|data|opt|usr|tmp|log|root)$/) print "name", part[i]
	}' /proc/self/mountinfo >>"$values"
fi

# The values that identify: every one in a file of that name, and all UUIDs.
awk '/^-- .* --$/ { name = $2; sub(".*/", "", name); next }
	name ~ /^(serial|wwid|uuid|subsysnqn|backing_file)$/ || (name == "name" && file ~ /dm/) { print name, $0 }' "$files" >>"$values"
grep -ohE '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}' "$files" "$links" | sed 's/^/uuid /' >>"$values" || true
awk '$1 ~ /^dev\/disk\/by-id\// { sub(".*/", "", $1); sub("-part[0-9]+$", "", $1); print "by-id", $1 }' "$links" >>"$values"
echo "name $(uname -n)" >>"$values"

quote() { printf '%s' "$1" | sed -e 's/[][\.*^$/&]/\\&/g'; }
# replacement VALUE: as long as it, letters for letters and digits for digits, after its hash.
replacement() {
	printf '%s' "$1" | sha256sum | cut -c1-64 | awk -v value="$1" '{
		hash = $1 $1 $1 $1
		for (i = 1; i <= length(value); i++) {
			c = substr(value, i, 1)
			h = index("0123456789abcdef", substr(hash, i, 1)) - 1
			if (c ~ /[0-9]/) out = out (h % 10)
			else if (c ~ /[a-f]/) out = out substr("abcdef", h % 6 + 1, 1)
			else if (c ~ /[A-F]/) out = out substr("ABCDEF", h % 6 + 1, 1)
			else if (c ~ /[a-z]/) out = out substr("ghijklmnopqrstuv", h + 1, 1)
			else if (c ~ /[A-Z]/) out = out substr("GHIJKLMNOPQRSTUV", h + 1, 1)
			else out = out c
		}
		print out
	}'
}
# Longest first, so that a part is not replaced before the whole. Of a wwid, a by-id name
# and a dm UUID, what stands before the first dot or dash is their kind and stays.
sort -u "$values" | while read -r kind value; do
	case $kind in
	by-id) value=${value##*_} ;; # the model before it stays
	esac
	value=$(printf '%s' "$value" | sed -e 's/[[:space:]]*$//')
	kept=0
	case $kind:$value in
	by-id:wwn-0x* | by-id:scsi-3*) kept=6 ;;
	wwid:*.* | by-id:*.*) kept=$((${#value} - $(printf '%s' "${value#*.}" | wc -c))) ;;
	uuid:CRYPT-* | uuid:LVM-* | uuid:mpath-*) kept=$((${#value} - $(printf '%s' "${value#*-}" | wc -c))) ;;
	by-id:*-*) kept=$((${#value} - $(printf '%s' "${value#*-}" | wc -c))) ;;
	esac
	[ $((${#value} - kept)) -ge 3 ] || continue # too short to name anything
	where=
	[ "$kind" = name ] && where='/^\(-- \|sys\/\)/!' # such a name may be a word of sysfs too
	printf '%06d\t%s\t%s\t%s\n' ${#value} "${value:kept}" "$(replacement "${value:kept}")" "$where"
done | sort -ru | cut -f2- | while IFS=$'\t' read -r from to where; do
	printf '%ss/%s/%s/g\n' "$where" "$(quote "$from")" "$(quote "$to")"
done >"$script"

{
	echo "Captured on $(date -u +%F) by scripts/capture-fixture.sh: Linux $(uname -r) $(uname -m), $(grep -c ^processor /proc/cpuinfo) CPUs."
	echo "Serial numbers, identifiers and names are replaced."
	echo
	sed -f "$script" "$files"
	echo "-- SYMLINKS --"
	sort -u "$links" | sed -f "$script"
} >"$out"
