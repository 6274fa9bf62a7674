#!/bin/sh
# Before removing: "remove" from dpkg, 0 from rpm. Before upgrading there is nothing
# to do.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl --quiet disable --now ssdprobe.socket ssdprobe.service
	elif command -v systemctl >/dev/null; then # an image, in which nothing runs
		systemctl --quiet disable ssdprobe.socket ssdprobe.service
	fi
	;;
esac
