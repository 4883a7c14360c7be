#!/bin/sh
# Installs what the page is built of (the layout library dagre, and esbuild, which puts the page's modules into
# one script) into BUILD/view_page, never into the source tree.
#
#   x2ir/view/page/setup.sh BUILD
#
# Quick when it is there already. No install script runs, and npm checks the hashes of package-lock.json. Where it
# cannot be installed, this says why in one line, leaves nothing and exits with 1; the build then goes on without
# the page.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$1" || exit 2
build=$(cd "$1" && pwd) || exit 2
dir=$build/view_page
new=$build/view_page.new.$$

fail() {
  rm -rf "$new" "$dir"
  echo "$1"
  exit 1
}

command -v node >/dev/null 2>&1 || fail "node is not installed"
# The mark is written last: it is a copy of the lock file that the installation was made from.
if [ -f "$dir/installed" ] && cmp -s "$here/package-lock.json" "$dir/installed"; then
  exit 0
fi
command -v npm >/dev/null 2>&1 || fail "npm is not installed"
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM
rm -rf "$new"
mkdir "$new" || fail "cannot write to $build"
cp "$here/package.json" "$here/package-lock.json" "$new/" || fail "cannot write to $new"
(cd "$new" && npm ci --include=dev --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error \
  --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=3000) >"$new/npm.log" 2>&1 ||
  fail "npm ci failed: $(grep -m 1 -v '^npm warn' "$new/npm.log")"
(cd "$new" && node -e 'require("esbuild").version') >"$new/load.log" 2>&1 ||
  fail "esbuild does not run on this machine"
rm -rf "$dir"
mv "$new" "$dir" || fail "cannot move the installation to $dir"
cp "$here/package-lock.json" "$dir/installed" || fail "cannot write to $dir"
