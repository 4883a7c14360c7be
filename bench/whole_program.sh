#!/bin/sh
# Whole-program figures of convert and export beside cp, with the bounds that they must keep.
# Usage: whole_program.sh BUILD [MODEL...]
# Without models: the demo's, and generated ones of 100 and 350 MB of weights (windows: of
# convolutions), of 200,000 and a million nodes, TensorFlow's of 100 MB, and where there is Python those
# of Caffe, Caffe2, Darknet, Core ML and (with h5py) Keras. X2IR_BENCH_LARGE=1: one of 12 GB of weights
# too, which takes 25 GB of disk for some minutes. X2IR_BENCH_OTHERS: other converters, "NAME: COMMAND
# {in} {out}" a line.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
shift
work=$build/bench
mkdir -p "$work"
if [ $# -eq 0 ]; then
  models=$work/models
  mkdir -p "$models"
  trap 'rm -rf "$models"' EXIT
  set -- "$root/tests/data/demo/model.onnx"
  for kind in 'weights 100' 'windows 100' 'weights 350' 'folding 350' 'nodes 200000' 'nodes 1000000' \
    'frozen 100' 'kernels 100' \
    ${X2IR_BENCH_LARGE:+'shards 12288'}; do
    case $kind in frozen* | kernels*) ending=pb ;; *) ending=onnx ;; esac
    file=$models/$(echo "$kind" | tr ' ' _).$ending
    # shellcheck disable=SC2086
    "$build/bin/x2ir_make_model" $kind "$file"
    set -- "$@" "$file"
  done
  for kind in caffe:net.caffemodel caffe2:init_net.pb darknet:net.weights mlmodel:net.mlmodel \
    contiguous:contiguous.h5 chunks:chunks.h5; do
    file=$models/${kind#*:}
    if python3 "$root/bench/weights_model.py" "${kind%:*}" "$file" 2>/dev/null; then
      set -- "$@" "$file"
    fi
  done
  for name in mobilenet_v2/model.pt2; do
    file=$root/../shared/models/$name
    [ ! -f "$file" ] || set -- "$@" "$file"
  done
fi
# Not exec: the models are removed afterwards.
"$build/bin/x2ir_whole_program" "$build/bin" "$work" "${X2IR_BENCH_RUNS:-7}" "$@"
