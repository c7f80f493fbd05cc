#!/bin/sh
# Runs a program as the user "nobody". Exit status 77: not root, no setpriv, or nobody may not read the build folder.
set -eu
[ "$(id -u)" = 0 ] || { echo "not root: the tests already run as an ordinary user"; exit 77; }
command -v setpriv > /dev/null || { echo "setpriv (util-linux) is missing"; exit 77; }
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
$as_nobody test -x "$1" || { echo "nobody may not read $1"; exit 77; }
cd /
exec $as_nobody env HOME=/nonexistent "$@"
