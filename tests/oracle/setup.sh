#!/bin/sh
# Installs the oracles, ONNX Runtime (onnxruntime-node) and LiteRT (@litertjs/core), into BUILD/oracle, never into the
# source tree.
#
#   tests/oracle/setup.sh BUILD
#
# Quick when it is there already. No install script runs: the native library is inside the package, and npm checks the
# hashes of package-lock.json. Where it cannot be installed, this says so loudly, leaves nothing and exits 0; the tests
# that need it then report themselves as skipped. X2IR_NO_ORACLE=1 asks for that.
set -u

if [ $# -ne 1 ]; then
  echo "usage: $0 BUILD" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$1" || exit 2
build=$(cd "$1" && pwd) || exit 2
dir=$build/oracle
new=$build/oracle.new.$$

not_run() {
  rm -rf "$new" "$dir"
  echo "" >&2
  echo "*** ORACLE NOT RUN: $1" >&2
  echo "*** Tests that compare with ONNX Runtime or LiteRT will be skipped, not passed." >&2
  echo "" >&2
  exit 0
}

[ -z "${X2IR_NO_ORACLE:-}" ] || not_run "X2IR_NO_ORACLE is set"
command -v node >/dev/null 2>&1 || not_run "node is not installed"

# The mark is written last: it is a copy of the lock file that the installation was made from.
if [ -f "$dir/installed" ] && cmp -s "$here/package-lock.json" "$dir/installed"; then
  exit 0
fi

command -v npm >/dev/null 2>&1 || not_run "npm is not installed"
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT TERM
rm -rf "$new"
mkdir "$new" || not_run "cannot write to $build"
cp "$here/package.json" "$here/package-lock.json" "$new/" || not_run "cannot write to $new"

echo "installing ONNX Runtime and LiteRT, for tests, into $dir"
if ! (cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error \
      --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000) >"$new/npm.log" 2>&1; then
  head -n 5 "$new/npm.log" >&2
  not_run "npm ci failed (no network?); its first lines stand above"
fi

# The package carries every platform's libraries; keep this one's.
platform=$(node -p 'process.platform + "/" + process.arch')
for lib in "$new"/node_modules/onnxruntime-node/bin/*/*/*; do
  case "$lib" in
    */"$platform") ;;
    *) rm -rf "$lib" ;;
  esac
done
# Of LiteRT's builds, keep the one that litert.mjs loads.
find "$new/node_modules/@litertjs/core/wasm" -type f ! -name 'litert_wasm_compat_internal.*' -delete
if ! (cd "$new" && node -e 'require("onnxruntime-node")') >"$new/load.log" 2>&1; then
  grep -m 1 Error "$new/load.log" >&2
  not_run "onnxruntime-node does not load on this machine ($platform)"
fi

rm -rf "$dir"
mv "$new" "$dir" || not_run "cannot move the installation to $dir"
cp "$here/package-lock.json" "$dir/installed" || not_run "cannot write to $dir"
