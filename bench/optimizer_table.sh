#!/bin/sh
# Nodes/Transposes of the models of ../shared after export, beside what ONNX Runtime's basic level
# leaves of them. Usage: optimizer_table.sh BUILD [--markdown] [--passes A,B,...]
# With --markdown it is a table of docs/results/node_counts.md.
# Columns: the file, its own nodes, ONNX Runtime's, ours at its own opset and at opset 20 or later,
# and there the single-node normalizations and activations. "more" marks a count above the other's.
# The last row: the nodes of all that both have a count of, and by how much ours are fewer.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
shift
if [ "${1:-}" = --markdown ]; then
  shift
  sh "$0" "$build" "$@" | awk '
    NR == 1 {
      print "| model | before | ONNX Runtime | ours | ours, opset 20+ | fused |\n|---|---|---|---|---|---|"
      next
    }
    $1 == "total" {
      print "| total of those with a figure | | " $2 " | " $3 " (" $4 " " $5 " " $6 ") | | |"
      next
    }
    { mark = ""; if ($5 == "more") { mark = " more"; $5 = $6; $6 = $7 }
      print "| " $1 " | " $2 " | " $3 " | " $4 mark " | " $5 " | " $6 " |" }'
  exit
fi
models=$root/../shared/models
[ -d "$models" ] || { echo "no models: $models"; exit 77; }
work=$build/bench/optimizer_table
mkdir -p "$work"

# ONNX Runtime 1.23, basic level; "-" where it was not measured.
theirs='bert_tiny/model.11 116/8
bert_tiny/model.17 76/8
bert_tiny/model.20 68/8
bert_tiny_dyn/model.17 119/8
convnext_dyn/model.17 72/12
convnext_tiny_2stage/model.11 134/10
convnext_tiny_2stage/model.17 80/12
convnext_tiny_2stage/model.20 64/12
distilbert_tiny/model.11 115/8
distilbert_tiny/model.17 75/8
distilbert_tiny/model.20 67/8
efficientnet_b0/model.17 239/0
gru/model.17 7/2
gru/model.20 -
lstm/model.17 8/2
lstm/model.20 9/2
mnasnet0_5/model.20 99/0
mobilenet_v2/model.17 100/0
mobilenet_v3_small/model.11 141/0
nhwc_elu_split/model.13 -
nhwc_mbv2/model.13 -
nhwc_ssd/model.13 -
shufflenet_v2_x0_5/model.17 186/16
squeezenet1_1/model.11 65/0
unet_dyn/model.17 21/0
unet_tiny/model.11 20/0
unet_tiny/model.17 20/0
unet_tiny/model.20 16/0
vit_tiny/model.17 96/17
vit_tiny/model.20 92/17'

# count FILE PATTERN: how many nodes there are of ops that match.
count() {
  "$build/bin/x2ir" info --json "$1" | tr ',{}' '\n\n\n' |
    awk -F'"' -v ops="$2" '$2 ~ "^onnx\\.(" ops ")$" { sub(/.*: */, ""); n += $0 } END { print n + 0 }'
}
nodes() { echo "$(count "$1" '.*')/$(count "$1" Transpose)"; }
# The mark for ours above theirs, in nodes or Transposes.
mark() {
  [ "$2" != - ] || return 0
  [ "${1%/*}" -le "${2%/*}" ] && [ "${1#*/}" -le "${2#*/}" ] || printf ' more'
}

printf '%-32s %9s %9s %15s %9s  %s\n' model before theirs ours 'ours 20+' fused
echo "$theirs" | while read -r name them; do
  file=$models/$name.onnx
  if [ ! -f "$file" ]; then
    echo "$name: no such model"
    continue
  fi
  "$build/bin/x2ir" convert "$file" -o "$work/m.json" -q
  own=${name##*.}
  later=$own
  [ "$own" -ge 20 ] || later=20
  "$build/bin/ir2onnx" export "$work/m.json" -o "$work/own.onnx" --opset "$own" -q "$@"
  "$build/bin/ir2onnx" export "$work/m.json" -o "$work/later.onnx" --opset "$later" -q "$@"
  ours=$(nodes "$work/own.onnx")
  fused=$(count "$work/later.onnx" '(Layer|Group|RMS)Normalization|Gelu|Hard.*|Swish|Mish')
  printf '%-32s %9s %9s %15s %9s  %s\n' "$name" "$(nodes "$file")" "$them" \
    "$ours$(mark "$ours" "$them")" "$(nodes "$work/later.onnx")" "$fused"
done | awk '
  { print }
  $3 ~ "/" { theirs += $3; ours += $4 }
  END {
    if (!theirs) exit
    printf "%-32s %9s %9d %15d  ", "total", "", theirs, ours
    printf "%.1f %% fewer\n", 100 * (1 - ours / theirs)
  }'
