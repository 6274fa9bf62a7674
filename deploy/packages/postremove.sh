#!/bin/sh
# After removing. What was learned stays until dpkg purges; rpm knows no such thing,
# there /var/lib/ssdprobe is left to a person.
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/ssdprobe
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
