#!/usr/bin/env bash
# Checks the licence of every module that the program, its tools or its tests are built
# from, as the module itself states it: all have to be on the list below, which are those
# that let ssdprobe be given away under its own. Prints how many modules have which.
set -euo pipefail
cd "$(dirname "$0")/.."
allowed='^(Apache-2\.0|BSD-2-Clause|BSD-3-Clause|ISC|MIT)$'

# licence FILE: by the sentences that make each what it is. GNU's are told by their titles,
# since others mention them.
licence() {
	local text
	text=$(tr -s '[:space:]' ' ' <"$1")
	case "$(head -c 400 "$1")" in
	*"GNU "*"GENERAL PUBLIC LICENSE"*) echo GNU && return ;;
	esac
	case "$text" in
	*"Mozilla Public License"*) echo MPL-2.0 ;;
	*"Apache License Version 2.0"* | *"Apache License, Version 2.0"*) echo Apache-2.0 ;;
	*"Permission is hereby granted, free of charge, to any person obtaining a copy"*) echo MIT ;;
	*"Redistribution and use in source and binary forms"*"Neither the name"*) echo BSD-3-Clause ;;
	*"Redistribution and use in source and binary forms"*) echo BSD-2-Clause ;;
	*"Permission to use, copy, modify, and"*"distribute this software for any purpose"*) echo ISC ;;
	*) echo unknown ;;
	esac
}

status=0
found=$(go list -deps -test -tags kubernetes -f '{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}' ./... | sort -u |
	while read -r module dir; do
		file=$(find "$dir" -maxdepth 1 -iregex '.*/\(licen[cs]e\|copying\)\([.-].*\)?' | LC_ALL=C sort | head -n 1)
		echo "$([ -n "$file" ] && licence "$file" || echo none) $module"
	done)
while read -r name module; do
	if ! [[ $name =~ $allowed ]]; then
		echo "$0: $module: its licence ($name) is not on the list of those allowed" >&2
		status=1
	fi
done <<<"$found"
echo "licences: $(cut -d' ' -f1 <<<"$found" | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\1 \2/' | paste -sd, | sed 's/,/, /g')"
exit "$status"
