#include "x2ir/inspect/op_families.h"

#include <algorithm>

#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// "conv" of "x2ir/ops/conv.cc"; empty for an op that is not x2ir's.
std::string_view FileOf(const OpDef& def) {
  constexpr std::string_view kFolder = "x2ir/ops/";
  std::string_view file = def.place().file;
  const size_t at = file.rfind(kFolder);
  if (at == file.npos || !file.ends_with(".cc")) return "";
  file.remove_prefix(at + kFolder.size());
  return file.substr(0, file.size() - 3);
}

bool Holds(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::Span<const OpFamily> OpFamilies() {
  static const auto* families = new std::vector<OpFamily>{
      {"Convolution and pooling",
       "#cfe2f7",
       {"conv", "deform_conv", "max_roi_pool", "pool", "roi_align"},
       {"causal_conv_with_state", "conv_integer", "qlinear_conv"}},
      {"Matrices, attention and recurrence",
       "#d5d9f5",
       {"attention", "attention_parts", "einsum", "linalg", "linear_attention", "matmul",
        "quantized_linear", "rnn"},
       {}},
      {"Activations", "#fde3c4", {"activation", "dropout", "softmax"}, {}},
      {"Normalization", "#f9d7e3", {"normalization"}, {}},
      {"Arithmetic", "#d9efd5", {"binary", "cast", "complex", "unary"}, {}},
      {"Comparison and logic", "#e6f0c2", {"compare"}, {"is_inf", "is_nan", "not"}},
      {"Reduction and search",
       "#cdeee8",
       {"along_axis", "non_max_suppression", "reduce", "select"},
       {}},
      {"Shape and data movement",
       "#e4e4e4",
       {"concat_split", "crop_columns", "gather", "generate", "movement", "pad", "scatter",
        "shape_ops", "slice", "space"},
       {"reverse_sequence"}},
      {"Images and signals", "#d3ecf7", {"grid_sample", "image_decoder", "resize", "signal"}, {}},
      {"Quantization", "#efe0f8", {"quantize"}, {}},
      {"Control flow", "#fbf2b8", {"if", "loop", "scan", "sequence_map"}, {}},
      {"Sequences and optionals", "#f3ead2", {"optional", "sequence"}, {}},
      {"Random numbers", "#f7dcd0", {"random"}, {}},
      {"Text", "#dfe8ee", {"regex", "string_hash", "strings", "text"}, {}},
      {"Classical machine learning",
       "#e9dccb",
       {"ml_features", "ml_labels", "ml_linear", "ml_maps", "ml_svm", "tree_ensemble"},
       {}},
      {"Training", "#f5d0d0", {"losses", "optimizers"}, {}},
  };
  return *families;
}

const OpFamily* FamilyOf(Symbol ir_op) {
  const OpDef* def = FindOp(ir_op);
  if (!def) return nullptr;
  const OpFamily* of_file = nullptr;
  for (const OpFamily& family : OpFamilies()) {
    if (Holds(family.ops, ir_op.view())) return &family;
    if (Holds(family.files, FileOf(*def))) of_file = &family;
  }
  return of_file;
}

}  // namespace x2ir
