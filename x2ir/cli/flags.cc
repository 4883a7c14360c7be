// Strict readers of flag values.
#include "x2ir/cli/flags.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/type.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir::cli {
namespace {

// Splits NAME<mark>VALUE; neither may be empty.
struct Parts {
  std::string name, value;
};
absl::StatusOr<Parts> Split(std::string_view flag, const std::string& text, size_t at,
                            std::string_view form) {
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return Invalid(flag, " '", text, "': expected ", form);
  }
  return Parts{text.substr(0, at), text.substr(at + 1)};
}

template <typename Pairs>
absl::Status RefuseTwice(std::string_view flag, const Pairs& pairs, const std::string& name) {
  for (const auto& entry : pairs) {
    if (entry.first == name) return Invalid(flag, " '", name, "' is given twice");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, Shape>>> ParseShapes(const Strings& flags) {
  constexpr std::string_view kForm =
      "NAME:DIMS, where DIMS are numbers, names or ?, as in x:1,3,seq ([] for rank 0)";
  std::vector<std::pair<std::string, Shape>> shapes;
  for (const std::string& text : flags) {
    X2IR_ASSIGN_OR_RETURN(Parts parts, Split("--shape", text, text.rfind(':'), kForm));
    X2IR_RETURN_IF_ERROR(RefuseTwice("--shape", shapes, parts.name));
    std::string& dims = parts.value;
    if (dims.front() == '[' && dims.back() == ']') dims = dims.substr(1, dims.size() - 2);
    const auto type = Type::Parse(StrCat("float32[", dims, "]"));
    if (!type.ok() || !type->is_tensor() || !type->shape()) {
      const bool negative = dims.find('-') != std::string::npos;
      return Invalid("--shape '", text, "': expected ", kForm,
                     negative ? "; a dim that is not known is ?" : "");
    }
    for (const Dim& dim : *type->shape()) {
      if (dim.is_static() && dim.value() < 0) {
        return Invalid("--shape '", text,
                       "': a dim may not be negative; one that is not known "
                       "is ?");
      }
    }
    shapes.emplace_back(std::move(parts.name), *type->shape());
  }
  return shapes;
}

absl::StatusOr<std::vector<DynamicAxis>> ParseDynamic(const Strings& flags) {
  constexpr std::string_view kForm = "NAME:AXIS=SIZE, as in x:0=batch or x:0=batch,1=seq";
  std::vector<DynamicAxis> axes;
  for (const std::string& text : flags) {
    X2IR_ASSIGN_OR_RETURN(const Parts parts, Split("--dynamic", text, text.rfind(':'), kForm));
    X2IR_ASSIGN_OR_RETURN(const Strings list, ParseList("--dynamic", parts.value));
    for (const std::string& item : list) {
      const size_t equals = item.find('=');
      const auto axis = ParseNumber<int64_t>(std::string_view(item).substr(0, equals));
      const std::string name = equals == item.npos ? "" : item.substr(equals + 1);
      if (!axis || !Dim::Symbol(name).is_symbolic()) {
        return Invalid("--dynamic '", text, "': expected ", kForm);
      }
      axes.push_back({parts.name, *axis, name});
    }
  }
  return axes;
}

absl::StatusOr<std::vector<std::pair<std::string, DType>>> ParseDTypes(const Strings& flags) {
  std::vector<std::pair<std::string, DType>> dtypes;
  for (const std::string& text : flags) {
    X2IR_ASSIGN_OR_RETURN(Parts parts,
                          Split("--dtype", text, text.rfind(':'), "NAME:TYPE, as in x:float16"));
    X2IR_RETURN_IF_ERROR(RefuseTwice("--dtype", dtypes, parts.name));
    const std::optional<DType> dtype = ParseDType(parts.value);
    if (!dtype || *dtype == DType::kUndefined) {
      return Invalid("--dtype '", text, "': there is no element type '", parts.value,
                     "'; expected float32, float16, bfloat16, int64, ...");
    }
    dtypes.emplace_back(std::move(parts.name), *dtype);
  }
  return dtypes;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseInputFiles(
    const Strings& flags) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& text : flags) {
    X2IR_ASSIGN_OR_RETURN(Parts parts, Split("--input", text, text.find('='), "NAME=FILE.npy"));
    X2IR_RETURN_IF_ERROR(RefuseTwice("--input", files, parts.name));
    files.emplace_back(std::move(parts.name), std::move(parts.value));
  }
  return files;
}

absl::StatusOr<Strings> ParseList(std::string_view flag, std::string_view text) {
  Strings parts;
  if (text.empty()) return parts;
  for (size_t start = 0;;) {
    const size_t comma = std::min(text.find(',', start), text.size());
    parts.emplace_back(text.substr(start, comma - start));
    if (parts.back().empty()) {
      return Invalid(flag, " '", text, "': a name is missing; expected A,B,...");
    }
    if (comma == text.size()) return parts;
    start = comma + 1;
  }
}

absl::StatusOr<Strings> ParsePasses(std::string_view flag, std::string_view text) {
  X2IR_ASSIGN_OR_RETURN(Strings passes, ParseList(flag, text));
  for (const std::string& pass : passes) {
    if (FindPass(pass)) continue;
    std::vector<std::string> known;
    for (const Pass* each : AllPasses()) known.emplace_back(each->name);
    std::string names;
    for (const std::string& name : known) StrAppend(&names, names.empty() ? "" : ", ", name);
    const std::string meant = DidYouMean(pass, known);
    return Invalid(flag, ": there is no pass '", pass, "'",
                   meant.empty() ? StrCat("; expected some of: ", names) : meant);
  }
  return passes;
}

absl::StatusOr<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min,
                                 int64_t max) {
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value || *value < min || *value > max) {
    return Invalid(flag, " '", text, "': expected a number from ", min, " to ", max);
  }
  return *value;
}

absl::StatusOr<double> ParseTolerance(std::string_view flag, std::string_view text) {
  const std::optional<double> value = ParseNumber<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    return Invalid(flag, " '", text, "': expected a number that is not negative, as in 1e-3");
  }
  return *value;
}

}  // namespace x2ir::cli
