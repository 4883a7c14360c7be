#include "x2ir/builder/node_writer.h"

#include <algorithm>

#include "x2ir/builder/node_marks.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

DType NodeWriter::DTypeAttr(Symbol attr) const {
  const Attribute* name = attrs().Find(attr);
  const std::string* text = name ? name->get<std::string>() : nullptr;
  return text ? ParseDType(*text).value_or(DType::kUndefined) : DType::kUndefined;
}

absl::StatusOr<int64_t> NodeWriter::RankOf(const Value* x) const {
  if (x && x->shape()) return static_cast<int64_t>(x->shape()->rank());
  return CannotExpress("an operand of unknown rank");
}

absl::StatusOr<int64_t> NodeWriter::Axis(Symbol attr) const {
  const int64_t axis = Int(attr);
  if (axis >= 0) return axis;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, Rank());
  return axis + rank;
}

absl::StatusOr<std::optional<std::vector<int64_t>>> NodeWriter::KnownInts(
    size_t i, std::string_view what) const {
  if (!has(i)) return std::nullopt;
  std::optional<std::vector<int64_t>> ints = x2ir::KnownInts(in(i));
  if (!ints) return CannotExpress("computed ", what);
  return ints;
}

Value* NodeWriter::Cast(Value* x, DType to) {
  return x->dtype() == to ? x : Op("cast", {x}, {{"to", Name(to)}});
}

Value* NodeWriter::Int32s(const std::vector<int64_t>& numbers) {
  std::vector<int32_t> narrow;
  for (const int64_t number : numbers) narrow.push_back(static_cast<int32_t>(number));
  return b().Constant(Tensor::Of<int32_t>({static_cast<int64_t>(narrow.size())}, narrow));
}

Value* NodeWriter::Reshape(Value* x, absl::Span<const int64_t> dims) {
  const bool zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return Op("reshape", {x, Ints(dims)}, {{"allowzero", zero}});
}

bool NodeWriter::CountsFromTheFront(const Value& index) const {
  const auto known = KnownTensor(index);
  if (!known) return IsMarked(node(), NodeMark::kFromTheFront);
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    if (known->AsInt(i) < 0) return false;
  }
  return true;
}

Value* NodeWriter::FromTheFront(Value* index, Value* size) {
  Value* wide = Cast(index, DType::kInt64);
  Value* negative = Op("less", {wide, b().Int(0)});
  return Op("where", {negative, Op("add", {wide, size}), wide});
}

Value* NodeWriter::FoldedButLast(Symbol op) {
  Value* folded = in(0);
  for (size_t i = 1; i + 1 < num_inputs(); ++i) folded = Op(op, {folded, in(i)});
  return folded;
}

absl::StatusOr<NodeWriter::OneAxisLess> NodeWriter::UnsqueezedButLast() {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, KnownInts(1, "axes"));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (axes.empty()) return OneAxisLess{in(0), std::nullopt};
  for (int64_t& axis : axes) axis += axis < 0 ? rank + static_cast<int64_t>(axes.size()) : 0;
  std::sort(axes.begin(), axes.end());
  Value* x = in(0);
  for (size_t i = 0; i + 1 < axes.size(); ++i) x = Op("unsqueeze", {x, Ints({axes[i]})});
  return OneAxisLess{x, axes.back()};
}

Values NodeWriter::Make(Symbol dialect, std::string_view op, std::vector<Value*> operands,
                        AttributeMap attrs, const std::vector<bool>& wanted,
                        const std::vector<Type>& results) {
  Values values = b().Node(dialect, op, std::move(operands), std::move(attrs), wanted);
  for (size_t i = 0; i < values.size() && i < results.size(); ++i) {
    if (values[i] && results[i].is_known()) values[i]->set_type(results[i]);
  }
  return values;
}

absl::StatusOr<Values> WriteNode(Rewrite& r, const std::function<absl::StatusOr<Values>()>& form) {
  X2IR_ASSIGN_OR_RETURN(Values values, form());
  X2IR_RETURN_IF_ERROR(r.b.status());
  values.resize(std::max(values.size(), r.num_outputs()));
  return values;
}

}  // namespace x2ir
