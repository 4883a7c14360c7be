// What PyTorch's operators do with the memory of their operands.
#include "x2ir/handlers/torch/memory_ops.h"

#include <algorithm>
#include <optional>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/strides.h"

namespace x2ir {
namespace {

struct ViewRow {
  std::string_view op;  // without overload
  ViewKind kind;
};
constexpr ViewRow kViews[] = {
    {"alias", ViewKind::kSame},
    {"detach", ViewKind::kSame},
    {"lift", ViewKind::kSame},
    {"lift_fresh", ViewKind::kSame},
    {"view", ViewKind::kView},
    {"_unsafe_view", ViewKind::kView},
    {"_reshape_alias", ViewKind::kView},
    {"view_as", ViewKind::kView},
    {"unflatten", ViewKind::kView},
    {"expand", ViewKind::kView},
    {"expand_as", ViewKind::kView},
    {"broadcast_to", ViewKind::kView},
    {"permute", ViewKind::kView},
    {"transpose", ViewKind::kView},
    {"swapaxes", ViewKind::kView},
    {"swapdims", ViewKind::kView},
    {"movedim", ViewKind::kView},
    {"moveaxis", ViewKind::kView},
    {"t", ViewKind::kView},
    {"numpy_T", ViewKind::kView},
    {"mT", ViewKind::kView},
    {"mH", ViewKind::kView},
    {"matrix_H", ViewKind::kView},
    {"adjoint", ViewKind::kView},
    {"select", ViewKind::kView},
    {"slice", ViewKind::kView},
    {"narrow", ViewKind::kView},
    {"diagonal", ViewKind::kView},
    {"linalg_diagonal", ViewKind::kView},
    {"squeeze", ViewKind::kView},
    {"unsqueeze", ViewKind::kView},
    {"split", ViewKind::kView},
    {"split_with_sizes", ViewKind::kView},
    {"tensor_split", ViewKind::kView},
    {"hsplit", ViewKind::kView},
    {"vsplit", ViewKind::kView},
    {"dsplit", ViewKind::kView},
    {"chunk", ViewKind::kView},
    {"unbind", ViewKind::kView},
    {"unfold", ViewKind::kView},
    {"as_strided", ViewKind::kView},
    {"real", ViewKind::kView},
    {"imag", ViewKind::kView},
    {"view_as_real", ViewKind::kView},
    {"view_as_complex", ViewKind::kView},
    {"_conj", ViewKind::kView},
    {"_neg_view", ViewKind::kView},
    {"reshape", ViewKind::kSometimes},
    {"reshape_as", ViewKind::kSometimes},
    {"flatten", ViewKind::kSometimes},
    {"ravel", ViewKind::kSometimes},
    {"contiguous", ViewKind::kSometimes},
    {"to", ViewKind::kSometimes},
    {"type_as", ViewKind::kSometimes},
    {"dropout", ViewKind::kSometimes},
    {"feature_dropout", ViewKind::kSometimes},
    {"alpha_dropout", ViewKind::kSometimes},
    {"feature_alpha_dropout", ViewKind::kSometimes},
    {"positive", ViewKind::kSometimes},
    {"conj", ViewKind::kSometimes},
    {"resolve_conj", ViewKind::kSometimes},
    {"resolve_neg", ViewKind::kSometimes},
    {"atleast_1d", ViewKind::kSometimes},
    {"atleast_2d", ViewKind::kSometimes},
    {"atleast_3d", ViewKind::kSometimes},
    {"broadcast_tensors", ViewKind::kSometimes},
    {"meshgrid", ViewKind::kSometimes},
    {"pin_memory", ViewKind::kSometimes},
    {"einsum", ViewKind::kSometimes},
    {"sum_to_size", ViewKind::kSometimes},
    {"cartesian_prod", ViewKind::kSometimes},
    {"_autocast_to_full_precision", ViewKind::kSometimes},
    {"_autocast_to_reduced_precision", ViewKind::kSometimes},
    {"_cast_Byte", ViewKind::kSometimes},
    {"_cast_Char", ViewKind::kSometimes},
    {"_cast_Double", ViewKind::kSometimes},
    {"_cast_Float", ViewKind::kSometimes},
    {"_cast_Half", ViewKind::kSometimes},
    {"_cast_Int", ViewKind::kSometimes},
    {"_cast_Long", ViewKind::kSometimes},
    {"_cast_Short", ViewKind::kSometimes},
};

// An argument that is a bool: of calls a tensor of rank 0.
std::optional<bool> BoolArgument(const AttributeMap& attrs, Symbol name, bool fallback) {
  const Attribute* attr = attrs.Find(name);
  if (!attr) return fallback;
  const Tensor* tensor = attr->get<Tensor>();
  if (!tensor || tensor->num_elements() != 1) return std::nullopt;
  return tensor->AsInt(0) != 0;
}
bool IsGiven(const AttributeMap& attrs, Symbol name) {
  const Attribute* attr = attrs.Find(name);
  const Type* type = attr ? attr->get<Type>() : nullptr;
  return attr && !(type && type->kind() == Type::kUnknown);
}

// What is no view, or the same tensor, or a view, or not known to be which.
ViewKind KindWhere(Proof shared, ViewKind kind) {
  if (!shared) return ViewKind::kSometimes;
  return *shared ? kind : ViewKind::kNone;
}

// What Python's operators in place are called ("a |= b"): "__ior__" is "__or__" in place.
bool IsOperatorInPlace(std::string_view name) {
  constexpr std::string_view kNames[] = {"__iand__", "__ior__", "__ixor__", "__ilshift__",
                                         "__irshift__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}
}  // namespace

// What an operator that gives a view or a copy gives here, by types, strides and arguments.
ViewKind DecidedViewKind(std::string_view name, const AttributeMap& attrs, const Value* self,
                         const Value* result, const Shape* strides) {
  if (!result || !self) return ViewKind::kSometimes;
  if (name == "dropout" || name == "feature_dropout" || name == "alpha_dropout" ||
      name == "feature_alpha_dropout") {
    const std::optional<bool> train = BoolArgument(attrs, "train", true);
    return train && !*train ? ViewKind::kSame : ViewKind::kSometimes;
  }
  if (name == "positive") return ViewKind::kSame;
  if (name == "conj" || name == "resolve_conj" || name == "resolve_neg") {
    const bool real = self->dtype() != DType::kUndefined && !IsComplex(self->dtype());
    return real ? ViewKind::kSame : ViewKind::kSometimes;
  }
  if (name == "to" || name == "type_as" || name.starts_with("_cast_")) {
    // Of another element type a copy; else a copy where it is asked for, or in another order.
    if (self->dtype() == DType::kUndefined || result->dtype() == DType::kUndefined) {
      return ViewKind::kSometimes;
    }
    if (self->dtype() != result->dtype()) return ViewKind::kNone;
    if (attrs.Has(kSelfDevice)) return ViewKind::kSometimes;
    const std::optional<bool> copy = BoolArgument(attrs, "copy", false);
    if (copy && *copy) return ViewKind::kNone;
    const Attribute* format = attrs.Find("memory_format");
    const std::string* order = format ? format->get<std::string>() : nullptr;
    const bool keeps = !IsGiven(attrs, "memory_format") || (order && *order == "preserve_format");
    return copy && keeps ? ViewKind::kSame : ViewKind::kSometimes;
  }
  const Shape *sizes = self->shape(), *as = result->shape();
  if (!sizes || !strides || !as) return ViewKind::kSometimes;
  if (name == "contiguous") {
    const Attribute* format = attrs.Find("memory_format");
    const std::string* order = format ? format->get<std::string>() : nullptr;
    const bool plain = !IsGiven(attrs, "memory_format") || (order && *order == "contiguous_format");
    if (!plain) return ViewKind::kSometimes;
    return KindWhere(IsContiguous(*sizes, *strides), ViewKind::kSame);
  }
  if (name == "ravel") return KindWhere(IsContiguous(*sizes, *strides), ViewKind::kView);
  if (name == "reshape" || name == "reshape_as" || name == "flatten") {
    return KindWhere(CanBeViewed(*sizes, *strides, *as), ViewKind::kView);
  }
  return ViewKind::kSometimes;
}

// "aten::add_.Tensor" -> {"add_", "Tensor"}; other domains have no names here.
std::pair<std::string_view, std::string_view> AtenParts(std::string_view op) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return {};
  op.remove_prefix(kAten.size());
  const size_t dot = op.find('.');
  if (dot == op.npos) return {op, {}};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

ViewKind ViewKindOf(std::string_view name) {
  for (const ViewRow& row : kViews) {
    if (row.op == name) return row.kind;
  }
  return ViewKind::kNone;
}

bool WritesInPlace(std::string_view name) {
  return (name.size() > 1 && name.ends_with('_') && !name.ends_with("__")) ||
         IsOperatorInPlace(name);
}
// "add_" -> "add", "__ior__" -> "__or__".
std::string NameWithoutWrite(std::string_view name) {
  if (IsOperatorInPlace(name)) return StrCat("__", name.substr(3));
  return std::string(name.substr(0, name.size() - 1));
}
// In place these change what the tensor is, not what it holds.
bool ChangesShapeInPlace(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "unsqueeze_", "squeeze_", "transpose_", "t_",          "swapaxes_",      "swapdims_",
      "resize_",    "set_",     "resize_as_", "as_strided_", "requires_grad_", "rename_"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}
// Ops that write to operands in addition to their results: an observer's numbers. As a rule only
// the next run reads those.
bool KeepsRecords(std::string_view name) {
  return name == "fused_moving_avg_obs_fake_quant" || name == "_fused_moving_avg_obs_fq_helper";
}
bool WritesToOut(std::string_view overload) {
  return overload == "out" || overload.ends_with("_out");
}

const Attribute::Strings* OperandNames(const Node& node) {
  const Attribute* names = node.attrs().Find("operands");
  return names ? names->get<Attribute::Strings>() : nullptr;
}

// The operator that gives what the one in place writes: mostly of the same overload
// ("floor_divide_.Tensor" is "floor_divide.default").
Symbol OpWithoutWrite(std::string_view stem, std::string_view overload) {
  const Symbol same = StrCat("aten::", stem, ".", overload);
  if (FindImportForm("torch", same, 1)) return same;
  for (const std::string_view other : {"default", "Tensor"}) {
    const std::string op = StrCat("aten::", stem, ".", other);
    if (FindImportForm("torch", op, 1)) return op;
  }
  return same;
}

TorchCallRecord RecordOf(const Node& node) {
  TorchCallRecord record{node.op(), node.inputs(), {}, node.attrs()};
  record.attrs.Erase("operands");
  if (const auto* names = OperandNames(node)) record.names = *names;
  return record;
}

absl::StatusOr<TorchCallRecord> WriteBackOf(const TorchCallRecord& view, size_t output, Value* base,
                                            Value* part) {
  const auto [name, overload] = AtenParts(view.op.view());
  if ((name == "select" && overload == "int") || (name == "slice" && overload == "Tensor") ||
      name == "diagonal") {
    // The same arguments, and what is to be there.
    TorchCallRecord call = view;
    call.op = StrCat("aten::", name, "_scatter.default");
    call.operands[0] = base;
    call.operands.insert(call.operands.begin() + 1, part);
    call.names.insert(call.names.begin() + 1, "src");
    return call;
  }
  TorchCallRecord again = view;
  again.operands[0] = part;
  if ((name == "transpose" && overload == "int") || name == "swapaxes" || name == "swapdims" ||
      name == "t" || name == "mT" || name == "numpy_T") {
    return again;
  }
  if (name == "movedim" || name == "moveaxis") {
    const std::optional<Attribute> from = again.attrs.Take("source"),
                                   to = again.attrs.Take("destination");
    if (from) again.attrs.Set("destination", *from);
    if (to) again.attrs.Set("source", *to);
    return again;
  }
  // Parts along an axis, where the program says which.
  const auto number = [&view](Symbol key, int64_t fallback) -> std::optional<int64_t> {
    const Attribute* attr = view.attrs.Find(key);
    if (!attr) return fallback;
    const int64_t* value = attr->get<int64_t>();
    return value ? std::optional(*value) : std::nullopt;
  };
  const bool known = view.operands.size() == 1;
  const std::optional<int64_t> dim = known ? number("dim", 0) : std::nullopt;
  const auto index = static_cast<int64_t>(output);
  if (name == "unbind" && dim) {
    return TorchCallRecord{"aten::select_scatter.default",
                           {base, part},
                           {"self", "src"},
                           {{"dim", *dim}, {"index", index}}};
  }
  std::optional<int64_t> start, length;
  if (name == "narrow") {
    start = number("start", -1);
    length = number("length", -1);
  } else if (name == "split" && overload == "Tensor") {
    length = number("split_size", -1);
    int64_t at = 0;
    if (length && !__builtin_mul_overflow(*length, index, &at)) start = at;
  }
  int64_t end = 0;
  if (dim && start && length && *start >= 0 && *length >= 0 &&
      !__builtin_add_overflow(*start, *length, &end)) {
    return TorchCallRecord{"aten::slice_scatter.default",
                           {base, part},
                           {"self", "src"},
                           {{"dim", *dim}, {"start", *start}, {"end", end}}};
  }
  if (name == "permute") {
    const Attribute* dims = view.attrs.Find("dims");
    if (const auto* perm = dims ? dims->get<Attribute::Ints>() : nullptr) {
      const int64_t rank = static_cast<int64_t>(perm->size());
      Attribute::Ints inverse(perm->size());
      for (int64_t i = 0; i < rank; ++i) {
        const int64_t to = (*perm)[static_cast<size_t>(i)];
        if (to < -rank || to >= rank) return Invalid("a permutation of other axes");
        inverse[static_cast<size_t>(to < 0 ? to + rank : to)] = i;
      }
      return TorchCallRecord{
          "aten::permute.default", {part}, {"self"}, {{"dims", std::move(inverse)}}};
    }
  }
  const bool same_order = (name == "view" && overload == "default") || name == "unsqueeze" ||
                          name == "squeeze" || name == "view_as" || name == "unflatten" ||
                          name == "reshape" || name == "reshape_as" || name == "flatten" ||
                          name == "ravel";
  if (same_order) {
    return TorchCallRecord{"aten::view_as.default", {part, base}, {"self", "other"}, {}};
  }
  return Unimplemented("writes through ", view.op.str(), " to '", base->name(),
                       "', which is read later");
}

}  // namespace x2ir
