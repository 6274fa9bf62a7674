#!/bin/sh
# After installing and upgrading. Nothing is started the first time: that begins to
# read every drive, so it is left to a person.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart ssdprobe.service
fi
