#!/bin/sh
# Builds the module and the npm package of a native build: BUILD/wasm/package with x2ir.wasm, and
# BUILD/wasm/x2ir-VERSION.tgz. The same bytes for the same sources.
#
#   wasm/build.sh BUILD
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=$(cd "$1" && pwd)
wasm=$build/wasm
mkdir -p "$wasm/module"

"$root/tools/debian_sources.sh" "$wasm/sources" unicode abseil=libabsl-dev re2=libre2-dev zlib=zlib1g-dev \
  libjpeg-turbo=libjpeg62-turbo-dev libpng1.6=libpng-dev \
  >"$wasm/sources.log" 2>&1 || { tail -n 5 "$wasm/sources.log" >&2; exit 1; }
make -s -C "$wasm/sources/re2" REBUILD_TABLES=1 \
  re2/perl_groups.cc re2/unicode_groups.cc re2/unicode_casefold.cc
version=$(sed -n 's/^project(x2ir VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
cmake -S "$here" -B "$wasm/module" -G Ninja "-DX2IR_GENERATED_DIR=$build/generated" \
  "-DX2IR_SOURCES_DIR=$wasm/sources" >"$wasm/configure.log" 2>&1 ||
  { cat "$wasm/configure.log" >&2; exit 1; }
cmake --build "$wasm/module" --parallel "$(nproc)" --target module

rm -rf "$wasm/package"
mkdir "$wasm/package"
cp "$here"/js/*.mjs "$here/js/x2ir.d.ts" "$here/js/README.md" "$root/LICENSE" "$root/THIRD_PARTY_NOTICES" \
  "$wasm/module/x2ir.wasm" "$wasm/package"
sed "s/\"version\": \".*\"/\"version\": \"$version\"/" "$here/js/package.json" >"$wasm/package/package.json"
rm -f "$wasm"/x2ir-*.tgz
(cd "$wasm" && npm pack --silent ./package)
