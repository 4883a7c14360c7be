#!/bin/sh
# Whole-program figures of convert and export beside cp. Usage: whole_program.sh BUILD [MODEL...]
# Without models: the large ones of ../shared where they are, and the demo's.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
shift
work=$build/bench
mkdir -p "$work"
if [ $# -eq 0 ]; then
  set -- "$root/tests/data/demo/model.onnx"
  for name in mobilenet_v2/model.17 efficientnet_b0/model.17 nhwc_mbv2/model.13; do
    file=$root/../shared/models/$name.onnx
    [ ! -f "$file" ] || set -- "$@" "$file"
  done
fi
exec "$build/bin/x2ir_whole_program" "$build/bin" "$work" 15 "$@"
