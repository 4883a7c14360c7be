#!/bin/sh
# Tests the npm package of a build from its tarball, in an empty folder, and the module against the program.
#
#   tests/wasm/run.sh BUILD
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

cd "$folder"
npm install --silent --offline --no-audit --no-fund "$build"/wasm/x2ir-*.tgz
model=$root/tests/data/demo/model.onnx
[ "$(npx x2ir --version)" = "$("$build/bin/x2ir" --version)" ]
npx x2ir convert "$model" -o model.tflite
npx x2ir verify "$model" model.tflite --io "$root/tests/data/demo/io.safetensors"
{ sleep 1; cat "$model"; } | npx x2ir convert - --from onnx -o piped.tflite  # the program waits for its input
cmp model.tflite piped.tflite
cp "$root/tests/wasm/package_test.mjs" .
node package_test.mjs "$model" model.tflite

node "$root/tests/wasm/hostile.mjs" node_modules/x2ir "${X2IR_WASM_SECONDS:-60}" "$root"/tests/data/cases/*.tar.xz

node "$root/tests/wasm/images.mjs" node_modules/x2ir "$build/bin/x2ir" "$build/wasm/sources/libpng1.6/contrib/pngsuite" \
  "$build/wasm/sources/libjpeg-turbo/testimages"

set -- "$root"/tests/data/cases/*.tar.xz "$root/tests/data/hostile" "$root/tests/data/demo"
shared=${X2IR_SHARED-$root/../shared}
[ -z "$shared" ] || [ ! -d "$shared" ] || set -- "$@" "$shared/formats" "$shared/models"
# Each 18th model of a folder takes minutes, all of them more than an hour.
X2IR_WASM_EVERY=${X2IR_WASM_EVERY:-18} node "$root/tests/wasm/same.mjs" node_modules/x2ir "$build/bin/x2ir" "$@"
