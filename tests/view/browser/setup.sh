#!/bin/sh
# Installs playwright-core, which drives the browser, into BUILD/view_test, never into the source tree.
#
#   tests/view/browser/setup.sh BUILD
#
# Quick when it is there already. No install script runs, no browser is fetched: the test takes the one of the system.
# Where it cannot be installed, this says so loudly, leaves nothing and exits 0; the test then reports itself as skipped.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$1" || exit 2
build=$(cd "$1" && pwd) || exit 2
dir=$build/view_test
new=$build/view_test.new.$$

not_run() {
  rm -rf "$new" "$dir"
  echo "" >&2
  echo "*** THE PAGE OF x2ir view IS NOT TESTED: $1" >&2
  echo "" >&2
  exit 0
}

command -v npm >/dev/null 2>&1 || not_run "npm is not installed"
if [ -f "$dir/installed" ] && cmp -s "$here/package-lock.json" "$dir/installed"; then
  exit 0
fi
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM
rm -rf "$new"
mkdir "$new" || not_run "cannot write to $build"
cp "$here/package.json" "$here/package-lock.json" "$new/" || not_run "cannot write to $new"
if ! (cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error \
      --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000) >"$new/npm.log" 2>&1; then
  head -n 5 "$new/npm.log" >&2
  not_run "npm ci failed (no network?); its first lines stand above"
fi
rm -rf "$dir"
mv "$new" "$dir" || not_run "cannot move the installation to $dir"
cp "$here/package-lock.json" "$dir/installed" || not_run "cannot write to $dir"
