#!/bin/sh
# The demo: a real network goes ONNX -> IR -> ONNX, and the result is run and compared with what
# PyTorch computed for the same inputs.
#
#   examples/demo.sh [BUILD]        (./dev demo builds first)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
model=$root/tests/data/demo/model.onnx
io=$root/tests/data/demo/io.safetensors
out=$build/demo

for program in x2ir ir2onnx; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "demo: $build/bin/$program is missing; run ./dev build first" >&2
    exit 1
  fi
done

step() {
  echo
  echo "\$ $*"
  program=$1
  shift
  "$build/bin/$program" "$@" || {
    code=$?
    echo "demo: '$program $1' failed with exit code $code" >&2
    exit "$code"
  }
}

rm -rf "$out"
mkdir -p "$out"

echo "A BERT (2 layers, exported by PyTorch at opset 17), tests/data/demo/model.onnx:"
step x2ir info "$model"
step x2ir convert "$model" -o "$out/model.json"
step ir2onnx export "$out/model.json" -o "$out/model.onnx"
step x2ir verify "$out/model.onnx" --io "$io"

[ -s "$out/model.onnx" ] || { echo "demo: no $out/model.onnx was written" >&2; exit 1; }

cat <<EOF

What you saw: the network was read from ONNX and rewritten into x2ir's own IR
($out/model.json, weights beside it), then written back as ONNX
($out/model.onnx). That new file was run on inputs which PyTorch had run the
original network on, and its outputs agree with PyTorch's.
EOF
