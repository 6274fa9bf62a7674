#!/bin/sh
# After removing. What was learned stays until dpkg purges; rpm knows no such thing,
# there /var/lib/ssdprobe is left to a person.
set -e
if [ "$1" = purge ] && [ -d /var/lib/ssdprobe ]; then
	# What is mounted there is not only ssdprobe's, and rm would empty it.
	state=$(cd /var/lib/ssdprobe && pwd -P)
	mounted=
	if [ -r /proc/self/mountinfo ]; then
		while read -r _ _ _ _ at _; do
			case $at in
			"$state" | "$state"/*) mounted=$at ;;
			esac
		done </proc/self/mountinfo
	fi
	if [ "$mounted" ]; then
		echo "/var/lib/ssdprobe is left there, as $mounted is mounted. Remove what nobody needs." >&2
	else
		rm -rf /var/lib/ssdprobe
	fi
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
