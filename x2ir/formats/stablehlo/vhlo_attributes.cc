// Attributes of VHLO: their forms and defaults.
#include <algorithm>
#include <iterator>
#include <utility>

#include "x2ir/formats/stablehlo/vhlo_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::stablehlo {
namespace {

using mlir::Attr;
using mlir::AttrFact;
using mlir::Form;

constexpr std::pair<std::string_view, std::string_view> kEnums[] = {
    {"comparison_direction", "stablehlo.comparison_direction"},
    {"compare_type", "stablehlo.comparison_type"},
    {"fft_type", "stablehlo.fft_type"},
    {"precision_config", "stablehlo.precision"},
    {"rng_algorithm", "stablehlo.rng_algorithm"},
    {"rng_distribution", "stablehlo.rng_distribution"},
    {"transpose_a", "stablehlo.transpose"},
    {"api_version", "stablehlo.api_version"},
    {"mode", "stablehlo.result_accuracy_mode"},
};

Attr EnumAttr(std::string_view attribute, std::string_view text) {
  Attr attr = StringAttr(Attr::kEnum, std::string(text));
  attr.name = EnumOf(attribute);
  return attr;
}

Attr EmptyAttr(Attr::Kind kind) {
  Attr attr;
  attr.kind = kind;
  return attr;
}

Attr DefaultAccuracy() {
  Attr number = EmptyAttr(Attr::kFloat);
  Attr attr = EmptyAttr(Attr::kStruct);
  attr.name = "stablehlo.result_accuracy";
  attr.fields = {{"atol", number},
                 {"rtol", number},
                 {"ulps", IntAttr(0, "i64")},
                 {"mode", EnumAttr("mode", "DEFAULT")}};
  return attr;
}

// How many dimensions a window has.
int64_t WindowRank(const mlir::Module& module, const mlir::Op& op) {
  for (const char* name : {"window_dimensions", "input_spatial_dimensions"}) {
    if (const Attr* attr = op.Find(name)) {
      if (const auto ints = mlir::IntsOf(*attr)) return static_cast<int64_t>(ints->size());
    }
  }
  if (op.operands.empty()) return 0;
  const Shape* shape = module.type(op.operands[0])->type.shape();
  return shape != nullptr ? shape->rank() : 0;
}

}  // namespace

std::vector<const mlir::OpFact*> FormsOf(std::string_view base) {
  std::vector<const mlir::OpFact*> forms;
  while (const mlir::OpFact* form = mlir::FindOp(StrCat("vhlo.", base, "_v", forms.size() + 1))) {
    forms.push_back(form);
  }
  return forms;
}

const AttrFact* FindAttr(const mlir::OpFact& op, std::string_view name) {
  for (const AttrFact& fact : op.attributes) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

Attr IntAttr(int64_t value, std::string_view type) {
  Attr attr = EmptyAttr(Attr::kInt);
  attr.i = value;
  auto scalar = std::make_shared<mlir::MlirType>();
  scalar->kind = mlir::MlirType::kScalar;
  scalar->type = Type::Tensor(mlir::ElementOf(type), Shape());
  attr.type = std::move(scalar);
  return attr;
}

Attr BoolAttr(bool value) {
  Attr attr = EmptyAttr(Attr::kBool);
  attr.i = value;
  return attr;
}

Attr IntsAttr(std::vector<int64_t> values, std::string_view element) {
  Attr attr = StringAttr(Attr::kInts, std::string(element));
  attr.ints = std::move(values);
  return attr;
}

Attr StringAttr(Attr::Kind kind, std::string text) {
  Attr attr = EmptyAttr(kind);
  attr.s = std::move(text);
  return attr;
}

Attr NoneAttr() {
  Attr attr = EmptyAttr(Attr::kType);
  attr.type = mlir::PlainType(mlir::MlirType::kNone);
  return attr;
}

bool IsNone(const Attr& attr) {
  return attr.kind == Attr::kType && attr.type->kind == mlir::MlirType::kNone;
}

std::string_view EnumOf(std::string_view attribute) {
  for (const auto& [name, of] : kEnums) {
    if (name == attribute) return of;
  }
  return {};
}

std::optional<Attr> DefaultOf(const mlir::Module& module, const mlir::Op& op, std::string_view base,
                              const AttrFact& fact) {
  const std::string_view name = fact.name;
  const auto window = [&](int64_t value) {
    return std::vector<int64_t>(static_cast<size_t>(WindowRank(module, op)), value);
  };
  if (name.ends_with("_batching_dims")) return IntsAttr({}, "i64");
  if (!fact.optional) return std::nullopt;
  if (base == "dot_general" && fact.form != Form::kEnums) return NoneAttr();
  if (name.ends_with("_strides") || name.find("dilation") != name.npos ||
      name == "window_dimensions") {
    return IntsAttr(window(1), "i64");
  }
  if (name == "window_reversal") return IntsAttr(window(0), "i1");
  if (name == "result_accuracy") return DefaultAccuracy();
  if (name == "compare_type") return EnumAttr(name, "NOTYPE");
  if (name == "api_version") return EnumAttr(name, "API_VERSION_ORIGINAL");
  if (name == "backend_config") {
    const Attr* version = op.Find("api_version");
    const bool typed = version != nullptr && (version->i == 4 || version->s.ends_with("TYPED_FFI"));
    return typed ? EmptyAttr(Attr::kDict) : StringAttr(Attr::kString, "");
  }
  switch (fact.form) {
    case Form::kBool:
    case Form::kUnit: return BoolAttr(false);
    case Form::kInt32:
    case Form::kInt64: return IntAttr(base == "sort" ? -1 : 0, "i64");
    case Form::kInts: return IntsAttr({}, "i64");
    case Form::kString: return StringAttr(Attr::kString, "");
    case Form::kDict: return EmptyAttr(Attr::kDict);
    case Form::kSymbols:
    case Form::kArray: return EmptyAttr(Attr::kArray);
    case Form::kEnums: {
      Attr attr = EmptyAttr(Attr::kArray);
      attr.items = {EnumAttr(name, "DEFAULT"), EnumAttr(name, "DEFAULT")};
      return attr;
    }
    case Form::kTensor: {
      Attr attr = EmptyAttr(Attr::kTensor);
      std::vector<int64_t> dims = {0};  // no pairs
      if (name == "padding") dims = {WindowRank(module, op), 2};
      attr.tensor = Tensor::Zeros(DType::kInt64, dims);
      attr.type = mlir::TensorType(attr.tensor.type());
      return attr;
    }
    default: return std::nullopt;
  }
}

}  // namespace x2ir::stablehlo
