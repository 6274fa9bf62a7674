#!/usr/bin/env bash
# Prints the number that .deb and .rpm have for a version of git: package-version.sh VERSION SECONDS.
# A later build has to sort after an earlier one, else apt and dnf take an upgrade for a downgrade. So a commit without
# a tag has its time in front, and sorts before every version. A release candidate sorts before its release.
# Neither format allows a hyphen in the number.
set -euo pipefail
version=$1 seconds=$2
case "$version" in
v[0-9]* | [0-9]*.*) number=${version#v} ;;
*) number=0.0.0~$(date --utc -d "@$seconds" +%Y%m%d%H%M%S).$version ;;
esac
sed -E 's/-(alpha|beta|rc)/~\1/; s/-/./g' <<<"$number"
