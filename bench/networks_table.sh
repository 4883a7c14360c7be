#!/bin/sh
# Nodes of networks of ../shared/zoo, converted from .pt2 at the default opset, beside what ONNX
# Runtime's basic level leaves of them. Usage: networks_table.sh BUILD [--markdown]
# With --markdown it is a table of docs/results/node_counts.md.
# Columns: the network, its nodes without optimization, ONNX Runtime's, ours, and what a second
# round leaves of ours, read back from ONNX.
# ONNX Runtime's counts are of what it writes to `optimized_model_filepath` at ORT_ENABLE_BASIC from
# the file that `x2ir convert MODEL.pt2 -o m.onnx --no-optimize` makes, without its Constants.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
zoo=$root/../shared/zoo
[ -d "$zoo" ] || { echo "no networks: $zoo"; exit 77; }
work=$build/bench/networks_table
mkdir -p "$work"

# ONNX Runtime 1.23, basic level.
theirs='bloom 94
deit 83
bert_cls 88
gpt_neox 107
llama_fp16 198
granite 130
mixtral_gmm 287
qwen3_moe_gmm 311
phi 137
olmo 101
stablelm 113
wav2vec2_ctc 121
hubert_dyn 126
sew 123
audio_spectrogram 86
data2vec_vision 80
dinov2_reg 84
vivit 92
yolos_dyn 100
bit 103
poolformer 96
diffusion_unet_decomp 95
swin_hf_decomp 195
mamba2 245
patchtst_dyn 120
xglm 97
yoso 139
siglip2 243
gemma3_mm 371
paligemma_dyn 343'

# nodes FILE: how many nodes there are, in nested graphs too.
nodes() {
  "$build/bin/x2ir" info --json "$1" | tr ',{}' '\n\n\n' |
    awk -F'"' '$2 ~ "^onnx\\." { sub(/.*: */, ""); n += $0 } END { print n + 0 }'
}

if [ "${2:-}" = --markdown ]; then
  echo '| network | not optimized | ONNX Runtime | ours | a second round |'
  echo '|---|---|---|---|---|'
  format='| %s | %s | %s | %s | %s |\n'
else
  format='%-24s %14s %14s %8s %8s\n'
  # shellcheck disable=SC2059
  printf "$format" network 'not optimized' 'ONNX Runtime' ours again
fi
echo "$theirs" | while read -r name them; do
  "$build/bin/x2ir" convert "$zoo/$name/model.pt2" -o "$work/n.onnx" --no-optimize --force -q
  "$build/bin/x2ir" convert "$zoo/$name/model.pt2" -o "$work/o.onnx" --force -q
  "$build/bin/x2ir" convert "$work/o.onnx" -o "$work/a.onnx" --optimize --force -q
  # shellcheck disable=SC2059
  printf "$format" "$name" "$(nodes "$work/n.onnx")" "$them" "$(nodes "$work/o.onnx")" \
    "$(nodes "$work/a.onnx")"
done
