// Names that Python and PyTorch allow.
#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "x2ir/formats/module_names.h"
#include "x2ir/formats/torch/writer_internal.h"

namespace x2ir::torch_format {
namespace {

// What the code that torch.fx makes of a graph refers to.
constexpr std::string_view kOfCode[] = {"NoneType", "device", "fx_pytree", "getattr",
                                        "inf",      "math",   "nan",       "operator",
                                        "output",   "pytree", "self",      "torch"};

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

// Whether code that torch.fx makes could not say self.NAME, or take it for something else.
bool IsTaken(std::string_view name) {
  return IsModuleMember(name) || IsGraphModuleMember(name) || IsPythonKeyword(name) ||
         Has(kOfCode, name);
}

}  // namespace

bool PythonNames::IsName(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         !IsPythonKeyword(text) && std::all_of(text.begin(), text.end(), [](char c) {
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
  if (IsPythonKeyword(unique) || Has(kOfCode, unique)) unique = StrCat(name, "_", ++n);
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
    if (IsTaken(part)) part += '_';
    StrAppend(&path, path.empty() ? "" : ".", part);
  }
  if (path.empty()) path = "weight";
  if (!IsFree(path)) {
    std::string flat = path;
    std::replace(flat.begin(), flat.end(), '.', '_');
    path = flat;
    // Where the last one of this name left off: many may be alike.
    for (int& n = numbers_[flat]; !IsFree(path);) path = StrCat(flat, "_", ++n);
  }
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    modules_.insert(path.substr(0, dot));
  }
  weights_.insert(path);
  return path;
}

}  // namespace x2ir::torch_format
