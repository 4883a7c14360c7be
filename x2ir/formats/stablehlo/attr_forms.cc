#include "x2ir/formats/stablehlo/attr_forms.h"

#include <algorithm>

#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/formats/stablehlo/vhlo_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;

constexpr std::string_view kBody[] = {"body"};
constexpr std::string_view kWhile[] = {"cond", "body"};
constexpr std::string_view kIf[] = {"true_branch", "false_branch"};
constexpr std::string_view kCase[] = {"branches*"};
constexpr std::string_view kComputation[] = {"computation"};
constexpr std::string_view kComparator[] = {"comparator"};
constexpr std::string_view kUpdate[] = {"update_computation"};
constexpr std::string_view kSelectAndScatter[] = {"select", "scatter"};

constexpr std::pair<std::string_view, absl::Span<const std::string_view>> kRegions[] = {
    {"stablehlo.reduce", kBody},
    {"stablehlo.reduce_window", kBody},
    {"stablehlo.while", kWhile},
    {"stablehlo.if", kIf},
    {"stablehlo.case", kCase},
    {"stablehlo.map", kComputation},
    {"stablehlo.sort", kComparator},
    {"stablehlo.scatter", kUpdate},
    {"stablehlo.select_and_scatter", kSelectAndScatter},
    {"stablehlo.all_reduce", kComputation},
    {"stablehlo.reduce_scatter", kComputation},
    {"stablehlo.collective_reduce", kComputation},
    {"chlo.scan", kBody},
};

constexpr std::string_view kBools[] = {
    "has_side_effect", "indices_are_sorted", "is_associative",
    "is_reverse",      "is_stable",          "left_side",
    "lower",           "unique_indices",     "unit_diagonal",
};
constexpr std::string_view kInt32s[] = {"exponent_bits", "mantissa_bits", "version", "api_version"};
// Rows of pairs.
constexpr std::string_view kPairs[] = {"padding", "source_target_pairs"};

constexpr std::string_view kConvFields[] = {
    "input_batch_dimension",           "input_feature_dimension",
    "input_spatial_dimensions",        "kernel_input_feature_dimension",
    "kernel_output_feature_dimension", "kernel_spatial_dimensions",
    "output_batch_dimension",          "output_feature_dimension",
    "output_spatial_dimensions",
};
constexpr std::string_view kDotFields[] = {
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
};
constexpr std::string_view kGatherFields[] = {
    "offset_dims",           "collapsed_slice_dims",
    "operand_batching_dims", "start_indices_batching_dims",
    "start_index_map",       "index_vector_dim",
};
constexpr std::string_view kScatterFields[] = {
    "update_window_dims",           "inserted_window_dims",
    "input_batching_dims",          "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims", "index_vector_dim",
};
constexpr StructForm kStructs[] = {
    {"stablehlo.convolution", "dimension_numbers", "stablehlo.conv", kConvFields},
    {"stablehlo.dynamic_conv", "dimension_numbers", "stablehlo.conv", kConvFields},
    {"stablehlo.dot_general", "dot_dimension_numbers", "stablehlo.dot", kDotFields},
    {"stablehlo.gather", "dimension_numbers", "stablehlo.gather", kGatherFields},
    {"stablehlo.dynamic_gather", "dimension_numbers", "stablehlo.gather", kGatherFields},
    {"stablehlo.scatter", "scatter_dimension_numbers", "stablehlo.scatter", kScatterFields},
};

template <typename List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

Attr EnumCase(std::string_view form, const std::string& text) {
  Attr attr = StringAttr(Attr::kEnum, text);
  attr.name = form;
  return attr;
}

mlir::TypeRef NumberType(DType dtype) {
  auto type = std::make_shared<mlir::MlirType>();
  type->kind = mlir::MlirType::kScalar;
  type->type = Type::Tensor(dtype, Shape());
  return type;
}

}  // namespace

absl::Span<const std::string_view> RegionNames(std::string_view op) {
  for (const auto& [name, regions] : kRegions) {
    if (name == op) return regions;
  }
  return {};
}

absl::Span<const StructForm> StructForms() { return kStructs; }

absl::StatusOr<Attr> FlatAttr(Symbol name, const Attribute& value) {
  Attr attr;
  const std::string_view form = EnumOf(name);
  if (const auto* i = value.get<int64_t>()) {
    attr.kind = Contains(kBools, name) ? Attr::kBool : Attr::kInt;
    attr.i = *i;
    if (attr.kind == Attr::kInt) {
      attr.type = NumberType(Contains(kInt32s, name) ? DType::kInt32 : DType::kInt64);
    }
    return attr;
  }
  if (const auto* d = value.get<double>()) {
    attr.kind = Attr::kFloat;
    attr.f = *d;
    attr.type = NumberType(DType::kFloat32);
    return attr;
  }
  if (const auto* f = value.get<float>()) {
    attr.kind = Attr::kFloat;
    attr.f = *f;
    attr.type = NumberType(DType::kFloat32);
    return attr;
  }
  if (const auto* s = value.get<std::string>()) {
    if (!form.empty()) return EnumCase(form, *s);
    attr.kind = Attr::kString;
    attr.s = *s;
    return attr;
  }
  if (const auto* list = value.get<std::vector<std::string>>()) {
    attr.kind = Attr::kArray;
    for (const std::string& text : *list) {
      if (!form.empty()) {
        attr.items.push_back(EnumCase(form, text));
        continue;
      }
      Attr& item = attr.items.emplace_back();
      item.kind = Attr::kString;
      item.s = text;
    }
    return attr;
  }
  if (const auto* ints = value.get<std::vector<int64_t>>()) {
    if (!form.empty() && ints->empty()) {
      attr.kind = Attr::kArray;
    } else if (Contains(kPairs, name)) {
      attr.kind = Attr::kTensor;
      attr.tensor = Tensor::Of<int64_t>({static_cast<int64_t>(ints->size()) / 2, 2},
                                        absl::Span<const int64_t>(*ints));
      attr.type = mlir::TensorType(attr.tensor.type());
    } else {
      attr.kind = Attr::kInts;
      attr.s = name == "window_reversal" ? "i1" : "i64";
      attr.ints = *ints;
    }
    return attr;
  }
  if (const auto* tensor = value.get<Tensor>()) {
    attr.kind = Attr::kTensor;
    attr.tensor = *tensor;
    attr.type = mlir::TensorType(tensor->type());
    return attr;
  }
  return Unimplemented("attribute '", name.view(), "' is of a kind that MLIR does not have");
}

absl::Status WithStructs(mlir::Module& module) {
  std::vector<mlir::Op*> ops = {&module.top};
  while (!ops.empty()) {
    mlir::Op* op = ops.back();
    ops.pop_back();
    for (const StructForm& form : kStructs) {
      if (op->name != form.op || op->Find(form.attribute) != nullptr) continue;
      Attr made;
      made.kind = Attr::kStruct;
      made.name = form.name;
      mlir::AttrList rest;
      for (auto& [name, value] : op->attrs) {
        (Contains(form.fields, name) ? made.fields : rest).emplace_back(name, std::move(value));
      }
      rest.emplace_back(form.attribute, std::move(made));
      op->attrs = std::move(rest);
    }
    for (mlir::Region& region : op->regions) {
      for (mlir::Block& block : region.blocks) {
        for (mlir::Op& inner : block.ops) ops.push_back(&inner);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace stablehlo
}  // namespace x2ir
