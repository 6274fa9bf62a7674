#!/bin/sh
# After installing and upgrading. Nothing is started the first time: that begins to
# read every drive, so it is left to a person.
set -e
if [ -d /run/systemd/system ] && ! { systemctl daemon-reload && systemctl try-restart ssdprobe.service; }; then
	# The package is installed all the same. An error would make dpkg refuse to install others.
	echo "ssdprobe is installed, but its daemon could not be restarted, so drives are not watched.
The first command says why, the second what is wrong with the configuration:
  journalctl -u ssdprobe
  ssdprobe config check /etc/ssdprobe/ssdprobe.yaml
Then start it:
  systemctl restart ssdprobe" >&2
fi
