// Names that Python and PyTorch allow.
#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "x2ir/formats/torch/writer_internal.h"

namespace x2ir::torch_format {
namespace {

// Python's keywords.
constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// What the code that torch.fx makes of a graph refers to.
constexpr std::string_view kOfCode[] = {"NoneType", "device", "fx_pytree", "getattr",
                                        "inf",      "math",   "nan",       "operator",
                                        "output",   "pytree", "self",      "torch"};

// Members of every torch.nn.Module and torch.fx.GraphModule; those that begin with an underscore
// are kept off otherwise.
constexpr std::string_view kMembers[] = {"T_destination",
                                         "add_module",
                                         "add_submodule",
                                         "apply",
                                         "bfloat16",
                                         "buffers",
                                         "call_super_init",
                                         "children",
                                         "code",
                                         "compile",
                                         "cpu",
                                         "cuda",
                                         "delete_all_unused_submodules",
                                         "delete_submodule",
                                         "double",
                                         "dump_patches",
                                         "eval",
                                         "extra_repr",
                                         "float",
                                         "forward",
                                         "get_buffer",
                                         "get_extra_state",
                                         "get_parameter",
                                         "get_submodule",
                                         "graph",
                                         "half",
                                         "ipu",
                                         "load_state_dict",
                                         "meta",
                                         "modules",
                                         "mtia",
                                         "named_buffers",
                                         "named_children",
                                         "named_modules",
                                         "named_parameters",
                                         "parameters",
                                         "print_readable",
                                         "recompile",
                                         "register_backward_hook",
                                         "register_buffer",
                                         "register_forward_hook",
                                         "register_forward_pre_hook",
                                         "register_full_backward_hook",
                                         "register_full_backward_pre_hook",
                                         "register_load_state_dict_post_hook",
                                         "register_load_state_dict_pre_hook",
                                         "register_module",
                                         "register_parameter",
                                         "register_state_dict_post_hook",
                                         "register_state_dict_pre_hook",
                                         "requires_grad_",
                                         "set_extra_state",
                                         "set_submodule",
                                         "shape_env",
                                         "share_memory",
                                         "state_dict",
                                         "to",
                                         "to_empty",
                                         "to_folder",
                                         "train",
                                         "training",
                                         "type",
                                         "xpu",
                                         "zero_grad"};

template <size_t n>
bool Has(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Letters, digits and underscores, of which there may be none.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool keep =
        std::isalnum(static_cast<unsigned char>(c)) && static_cast<signed char>(c) > 0;
    if (keep || (!plain.empty() && plain.back() != '_')) plain += keep ? c : '_';
  }
  return plain;
}

}  // namespace

bool PythonNames::IsName(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         !Has(kKeywords, text) && std::all_of(text.begin(), text.end(), [](char c) {
           return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
         });
}

std::string PythonNames::Unique(std::string_view base) {
  std::string name;
  for (const char c : base) {
    const bool keep =
        std::isalnum(static_cast<unsigned char>(c)) && static_cast<signed char>(c) > 0;
    name += keep ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "v" + name;
  if (name.find_first_not_of('_') == name.npos) name = "v" + name;
  std::string unique = name;
  int n = 0;
  if (Has(kKeywords, unique) || Has(kOfCode, unique)) unique = StrCat(name, "_", ++n);
  while (taken_.contains(unique)) {
    int& last = taken_[name];
    last = std::max(last, n) + 1;
    n = last;
    unique = StrCat(name, "_", n);
  }
  taken_.emplace(unique, 0);
  return unique;
}

bool WeightNames::IsFree(std::string_view path) const {
  if (weights_.contains(path) || modules_.contains(path)) return false;
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    if (weights_.contains(path.substr(0, dot))) return false;
  }
  return true;
}

std::string WeightNames::Unique(std::string_view name) {
  std::string path;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of("./", at), name.size());
    std::string part = Plain(name.substr(at, end - at));
    at = end + 1;
    if (part.empty()) continue;
    if (Has(kMembers, part) || Has(kKeywords, part)) part += '_';
    StrAppend(&path, path.empty() ? "" : ".", part);
  }
  if (path.empty()) path = "weight";
  if (!IsFree(path)) {
    std::string flat = path;
    std::replace(flat.begin(), flat.end(), '.', '_');
    path = flat;
    for (int n = 1; !IsFree(path); ++n) path = StrCat(flat, "_", n);
  }
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    modules_.insert(path.substr(0, dot));
  }
  weights_.insert(path);
  return path;
}

}  // namespace x2ir::torch_format
