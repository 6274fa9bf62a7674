#!/usr/bin/env bash
# Checks the TypeScript files in a folder, in which dashboards are values of
# Grafana's own types. Types and compiler are kept in the user's cache.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ssdprobe/npm
packages=("@grafana/schema@12.4.11" "typescript@5.9.3")

command -v npm >/dev/null || { echo "this needs node and npm: scripts/install.sh nodejs npm" >&2; exit 1; }
mkdir -p "$cache"
(
	# Two at once would install into one folder.
	flock 9
	if [ "$(cat "$cache/packages" 2>/dev/null)" != "${packages[*]}" ]; then
		npm install --prefix "$cache" --no-save --no-audit --no-fund --loglevel=error "${packages[@]}" >&2
		echo "${packages[*]}" >"$cache/packages"
	fi
) 9>"$cache/lock"
ln -sfn "$cache/node_modules" "$folder/node_modules"
cd "$folder"
exec node node_modules/typescript/lib/tsc.js --noEmit --strict --skipLibCheck --target es2022 --module nodenext --moduleResolution nodenext ./*.ts
