#include <algorithm>
#include <iterator>

#include "x2ir/formats/stablehlo/attr_forms.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;

// Attributes that say how a compiler lays out or shares memory.
bool IsMeaningless(std::string_view name) {
  // Dictionaries that calls of targets have.
  if (name == "mhlo.attributes" || name == "mhlo.backend_config") return false;
  return name.find('.') != name.npos ||  // of another dialect: "mhlo.sharding", "jax.buffer_donor"
         name == "operand_layouts" || name == "result_layouts" ||
         name == "output_operand_aliases" || name == "result_tilings" ||
         name == "called_computations" || name == "operandSegmentSizes" ||
         name == "operand_segment_sizes" || name == "resultSegmentSizes" ||
         name == "result_segment_sizes";
}

bool AllAre(const std::vector<int64_t>& ints, int64_t value) {
  return std::all_of(ints.begin(), ints.end(), [&](int64_t i) { return i == value; });
}

// What an attribute is where a file does not have it.
bool IsDefault(std::string_view op, std::string_view name, const Attribute& value) {
  if (const auto* ints = value.get<std::vector<int64_t>>()) {
    if (name == "padding" || name == "window_reversal") return AllAre(*ints, 0);
    if (name == "window_strides" || name.find("dilation") != name.npos) return AllAre(*ints, 1);
    // Fields of dimension numbers, lists of precisions.
    return ints->empty() && (name.ends_with("_dims") || name.ends_with("ing_dimensions") ||
                             name == "start_index_map" || name == "precision_config");
  }
  if (const auto* texts = value.get<std::vector<std::string>>()) {
    return name == "precision_config" &&
           std::all_of(texts->begin(), texts->end(), [](const auto& t) { return t == "DEFAULT"; });
  }
  if (const auto* i = value.get<int64_t>()) {
    static constexpr std::string_view kFalse[] = {"channel_id",
                                                  "channel_type",
                                                  "is_host_transfer",
                                                  "has_side_effect",
                                                  "indices_are_sorted",
                                                  "is_stable",
                                                  "ulps",
                                                  "unique_indices",
                                                  "use_global_device_ids"};
    if (name == "lower") return *i == 0 && op == "stablehlo.cholesky";
    if (name == "dimension") return *i == -1;
    if (name == "api_version") return *i == 1;
    return *i == 0 && std::find(std::begin(kFalse), std::end(kFalse), name) != std::end(kFalse);
  }
  if (const auto* text = value.get<std::string>()) {
    return (name == "compare_type" && *text == "NOTYPE") ||
           (name == "mode" && *text == "DEFAULT") || (name == "backend_config" && text->empty());
  }
  const auto* number = value.get<double>();
  return number != nullptr && *number == 0 && (name == "atol" || name == "rtol");
}

// A field of a struct as VHLO calls it.
Symbol FieldName(std::string_view struct_name, Symbol field) {
  if (struct_name == "stablehlo.channel_handle")
    return field == "handle" ? "channel_id" : "channel_type";
  return field;
}

// An entry of a dictionary: its name has a point, and it counts.
absl::Status SetEntry(GraphAttrs* attrs, const std::string& name, const Attr& value) {
  if (value.kind == Attr::kString || value.kind == Attr::kEnum) {
    attrs->emplace_back(name, value.s);
  } else if (value.kind == Attr::kInt || value.kind == Attr::kBool) {
    attrs->emplace_back(name, value.i);
  } else if (value.kind == Attr::kFloat) {
    attrs->emplace_back(name, value.f);
  } else if (auto ints = mlir::IntsOf(value)) {
    attrs->emplace_back(name, *std::move(ints));
  }
  return absl::OkStatus();
}

absl::Status SetAttr(GraphAttrs* attrs, Symbol name, const Attr& attr) {
  if (IsMeaningless(name)) return absl::OkStatus();
  switch (attr.kind) {
    case Attr::kUnit: attrs->emplace_back(name, int64_t{1}); break;
    case Attr::kBool:
    case Attr::kInt: attrs->emplace_back(name, attr.i); break;
    case Attr::kFloat: {
      const bool single = attr.type != nullptr && attr.type->type.dtype() == DType::kFloat32;
      attrs->emplace_back(name, single ? double{static_cast<float>(attr.f)} : attr.f);
      break;
    }
    case Attr::kString:
    case Attr::kSymbol:
    case Attr::kEnum:
    case Attr::kOther: attrs->emplace_back(name, attr.s); break;
    case Attr::kType: {
      if (attr.type->kind == mlir::MlirType::kTensor ||
          attr.type->kind == mlir::MlirType::kScalar) {
        attrs->emplace_back(name, attr.type->type);
      }
      break;
    }
    case Attr::kFloats:
      attrs->emplace_back(name, Attribute::Floats(attr.floats.begin(), attr.floats.end()));
      break;
    case Attr::kInts: attrs->emplace_back(name, attr.ints); break;
    case Attr::kTensor: {
      if (name == "value") {
        attrs->emplace_back(name, attr.tensor);
      } else if (auto ints = mlir::IntsOf(attr)) {
        attrs->emplace_back(name, *std::move(ints));
      } else {
        attrs->emplace_back(name, attr.tensor);
      }
      break;
    }
    case Attr::kArray: {
      if (auto ints = mlir::IntsOf(attr)) {
        attrs->emplace_back(name, *std::move(ints));
        break;
      }
      std::vector<std::string> texts;
      for (const Attr& item : attr.items) {
        texts.push_back(item.s);  // of other kinds nothing: no row reads them
      }
      attrs->emplace_back(name, std::move(texts));
      break;
    }
    case Attr::kDict:
      for (const auto& [key, value] : attr.fields) {
        X2IR_RETURN_IF_ERROR(SetEntry(attrs, StrCat(name.view(), ".", key.view()), value));
      }
      break;
    case Attr::kStruct:
      for (const auto& [field, value] : attr.fields) {
        // The same as VHLO says it.
        X2IR_RETURN_IF_ERROR(SetAttr(attrs, FieldName(attr.name, field), value));
      }
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GraphAttrs> GraphAttrsOf(const mlir::Op& op) {
  GraphAttrs attrs;
  for (const auto& [key, value] : op.attrs) X2IR_RETURN_IF_ERROR(SetAttr(&attrs, key, value));
  // The forms that files have differ in what they leave out, and in the order.
  std::erase_if(attrs,
                [&](const auto& attr) { return IsDefault(op.name, attr.first, attr.second); });
  std::sort(attrs.begin(), attrs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return attrs;
}

}  // namespace stablehlo
}  // namespace x2ir
