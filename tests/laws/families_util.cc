#include "tests/laws/families_util.h"

#include <algorithm>

namespace x2ir {
namespace {

// "conv" of a path that ends in `folder` + "conv.cc"; "" of another.
std::string StemBelow(std::string_view file, std::string_view folder) {
  const size_t at = file.rfind(folder);
  if (at == file.npos || !file.ends_with(".cc")) return "";
  file.remove_prefix(at + folder.size());
  file.remove_suffix(3);
  return std::string(file);
}

}  // namespace

const std::vector<RowFamily>& RowFamilies() {
  static const auto& families = *new std::vector<RowFamily>{
      {"activation", {"activation", "dropout", "softmax"}},
      {"attention", {"attention", "attention_parts", "linear_attention"}},
      {"control_flow", {"if", "loop", "scan", "sequence_map"}},
      {"conv", {"conv", "deform_conv"}},
      {"detection", {"max_roi_pool", "non_max_suppression", "roi_align"}},
      {"elementwise", {"binary", "cast", "compare", "complex", "unary"}},
      {"images", {"image_decoder"}},
      {"indexing", {"gather", "scatter", "select"}},
      {"losses", {"losses"}},
      {"matmul", {"einsum", "linalg", "matmul"}},
      {"ml", {"ml_features", "ml_labels", "ml_linear", "ml_maps", "ml_svm", "tree_ensemble"}},
      {"normalization", {"normalization"}},
      {"optimizers", {"optimizers"}},
      {"pool", {"pool"}},
      {"quantize", {"quantize", "quantized_linear"}},
      {"random", {"random"}},
      {"reduce", {"along_axis", "reduce"}},
      {"resize", {"grid_sample", "resize"}},
      {"rnn", {"rnn"}},
      {"sequence", {"optional", "sequence"}},
      {"shape",
       {"concat_split", "crop_columns", "generate", "movement", "pad", "shape_ops", "slice",
        "space"}},
      {"signal", {"signal"}},
      {"strings", {"regex", "string_hash", "strings", "text"}},
  };
  return families;
}

std::string FamilyFileOf(const OpDef& op) {
  const std::string stem = StemBelow(op.place().file, "x2ir/ops/");
  for (const RowFamily& family : RowFamilies()) {
    if (std::find(family.files.begin(), family.files.end(), stem) != family.files.end()) {
      return std::string(family.name);
    }
  }
  return "";
}

std::optional<RowFile> RowFileOf(const Form& form) {
  const std::string path = StemBelow(form.place.file, "x2ir/handlers/");
  const size_t slash = path.find('/');
  if (slash == path.npos) return std::nullopt;
  return RowFile{path.substr(0, slash), path.substr(slash + 1)};
}

bool IsInFamily(const RowFile& file, std::string_view family) {
  std::string_view stem = file.stem;
  for (std::string_view set : {"nn_", "contrib_", "function_", "write_"}) {
    if (stem.starts_with(set)) stem.remove_prefix(set.size());
  }
  if (stem == family) return true;
  return std::any_of(RowFamilies().begin(), RowFamilies().end(), [&](const RowFamily& f) {
    return f.name == family && std::find(f.files.begin(), f.files.end(), stem) != f.files.end();
  });
}

}  // namespace x2ir
