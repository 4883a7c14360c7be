// Values whose sizes must be those of others: what gave them the size of the trace is changed.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/tracing/traced_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

// Its one row, as often as is wanted: what the program does at any size.
absl::StatusOr<Value*> Repeated(Trace& trace, Node& user, Value* value, int64_t axis,
                                const Dim& want) {
  if (IsSymbolic(value) || ComesFromInput(value)) {
    return CannotExpress("'", value->name(), "' has one row for each of '", want.ToString(),
                         "', and depends on an input");
  }
  std::vector<Dim> dims(static_cast<size_t>(value->shape()->rank()), Dim(1));
  dims[static_cast<size_t>(axis)] = want;
  Builder b(trace.graph(), &user);
  X2IR_ASSIGN_OR_RETURN(Value * sizes, trace.VectorOf(b, dims));
  Value* made = b.Op("expand", {value, sizes});
  X2IR_RETURN_IF_ERROR(b.status());
  trace.graph().NameValues(made->producer(), value->name());
  return made;
}

absl::StatusOr<Value*> VaryingConstant(Trace& trace, Node& user, Value* value,
                                       const Tensor& constant, int64_t axis, const Dim& want) {
  const int64_t count = constant.dims()[static_cast<size_t>(axis)];
  if (count == 1) return Repeated(trace, user, value, axis, want);
  Builder b(trace.graph(), &user);
  if (constant.is_sparse() || constant.is_string() || BitWidth(constant.dtype()) < 8) {
    return CannotExpress("constant '", value->name(), "' has ", count, " rows for '",
                         want.ToString(), "'");
  }
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= constant.dims()[static_cast<size_t>(i)];
  const absl::Span<const std::byte> bytes = constant.bytes();
  const size_t row = bytes.size() / static_cast<size_t>(outer * count);
  for (int64_t o = 0; o < outer; ++o) {
    const std::byte* first = bytes.data() + static_cast<size_t>(o * count) * row;
    for (int64_t i = 1; i < count; ++i) {
      if (!std::equal(first, first + row, first + static_cast<size_t>(i) * row)) {
        return CannotExpress("constant '", value->name(), "' has ", count, " rows along axis ",
                             axis, " for '", want.ToString(), "', which are not all the same");
      }
    }
  }
  Value* one = b.Op("slice", {value, b.Ints({0}), b.Ints({1}), b.Ints({axis})});
  X2IR_RETURN_IF_ERROR(NameMade(b, value->name()));
  return Repeated(trace, user, one, axis, want);
}

// The first rows of a table, as many as the trace had: so many as are wanted. False where the
// slice leaves the axis as it is.
absl::StatusOr<bool> VaryingBound(Trace& trace, Node& node, int64_t axis, const Dim& want) {
  const Shape* in = node.input(0)->shape();
  const auto starts = KnownInts(node.input(1));
  const auto ends = SizesIn(node.input(2));  // some of which may vary by now
  const auto axes = node.input(3) ? KnownInts(node.input(3)) : std::nullopt;
  const auto steps = node.input(4) ? KnownInts(node.input(4)) : std::nullopt;
  if (!in || !starts || !ends || (node.input(3) && !axes) || (node.input(4) && !steps)) {
    return CannotExpress("a slice with computed bounds has the fixed size of '", want.ToString(),
                         "'");
  }
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t own = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (own < 0) own += in->rank();
    if (own != axis) continue;
    if ((*starts)[i] != 0 || (steps && (*steps)[i] != 1)) break;
    const bool all = (*in)[axis] == trace.Traced(want);
    const Dim& end = (*ends)[i];
    if (all && end.is_static() && end.value() > (*in)[axis].value()) return false;
    if (!(end == trace.Traced(want))) break;
    std::vector<Dim> dims = *ends;
    dims[i] = all ? Dim(kToEnd) : want;
    X2IR_RETURN_IF_ERROR(trace.SetSizes(node, 2, dims));
    return !all;
  }
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t own = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (own < 0) own += in->rank();
    if (own == axis)
      return CannotExpress("a slice that does not start at 0 has the fixed size of '",
                           want.ToString(), "'");
  }
  return false;
}

// The axes of operands whose size an axis of a result has, also where the op computes along it.
std::vector<AxisPlace> SizeOrigins(const Node& node, int64_t axis) {
  std::vector<AxisPlace> places = AxisOrigins(node, axis);
  if (!places.empty()) return places;
  if (node.Is("cum_sum")) return {{0, axis}};
  if (node.Is("gather_nd")) {
    const Shape* index = node.input(1)->shape();
    const int64_t batch = node.attrs().Int("batch_dims");
    if (axis < batch) return {{0, axis}, {1, axis}};
    if (index && axis + 1 < index->rank()) return {{1, axis}};
  }
  return {};
}

// Whether a node cuts the axis off at that number.
bool EndsAt(const Node* node, int64_t axis, const Dim& number) {
  if (!node || !node->Is("slice") || !node->input(0)->shape()) return false;
  const auto ends = SizesIn(node->input(2));
  const auto axes = node->input(3) ? KnownInts(node->input(3)) : std::nullopt;
  if (!ends || (node->input(3) && !axes)) return false;
  for (size_t i = 0; i < ends->size(); ++i) {
    int64_t own = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (own < 0) own += node->input(0)->shape()->rank();
    if (own == axis) return (*ends)[i].is_static() && (*ends)[i] == number;
  }
  return false;
}

}  // namespace

bool IsRangeAlong(const Value* value, int64_t axis) {
  for (int depth = 0; depth < 100; ++depth) {
    const Node* node = value->producer();
    if (!node || !node->is_ir() || !value->shape()) return false;
    if (node->Is("range")) return true;
    const std::vector<AxisPlace> places = AxisOrigins(*node, axis);
    // Sums up to each row number the rows, too.
    if (places.empty()) return node->Is("cum_sum");
    for (size_t i = 1; i < places.size(); ++i) {
      if (IsRangeAlong(node->input(places[i].operand), places[i].axis)) return true;
    }
    value = node->input(places[0].operand);
    axis = places[0].axis;
  }
  return false;
}

bool ComesFromInput(const Value* value) {
  std::vector<const Value*> open = {value};
  absl::flat_hash_set<const Value*> seen;
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v || !seen.insert(v).second) continue;
    if (v->is_input()) return true;
    const Node* node = v->producer();
    const OpDef* op = OpOf(node);
    if (!node || (op && op->only_shapes())) continue;
    for (const Value* operand : node->inputs()) open.push_back(operand);
  }
  return false;
}

absl::StatusOr<Value*> Varying(Trace& trace, Node& user, Value* value, int64_t axis,
                               const Dim& want) {
  const auto refuse = [&](std::string_view why) {
    return CannotExpress("'", value->name(), "' has the fixed size ", trace.Traced(want).ToString(),
                         " of '", want.ToString(), "': ", why);
  };
  if (value->graph() != &trace.graph()) return refuse("it comes from an outer graph");
  if (const Tensor* constant = value->fixed_constant()) {
    return VaryingConstant(trace, user, value, *constant, axis, want);
  }
  Node* node = value->producer();
  if (!node) return refuse("it is an input of that size; make this axis dynamic too");
  const std::string_view op = node->op();
  const auto sizes = [&](size_t i) { return SizesIn(node->input(i)); };
  const auto done = [&]() -> absl::StatusOr<Value*> {
    trace.Change();
    X2IR_RETURN_IF_ERROR(InferNode(*node));
    return value;
  };
  const Shape* in = node->input(0) ? node->input(0)->shape() : nullptr;
  const auto dims_with = [&](std::vector<Dim> dims) {
    dims[static_cast<size_t>(axis)] = want;
    return dims;
  };

  if (op == "constant_of_shape") {
    const auto to = sizes(0);
    if (!to) return refuse("its sizes are computed");
    X2IR_RETURN_IF_ERROR(trace.SetSizes(*node, 0, dims_with(*to)));
    return done();
  }
  if (op == "tile") {
    const auto repeats = sizes(1);
    if (!repeats || !in || !(*in)[axis].is_static()) return refuse("it is repeated");
    std::vector<Dim> dims = *repeats;
    dims[static_cast<size_t>(axis)] = FloorDiv(want, (*in)[axis]);
    if (!ProvablyEqual(dims[static_cast<size_t>(axis)] * (*in)[axis], want)) {
      return refuse("it is repeated");
    }
    X2IR_RETURN_IF_ERROR(trace.SetSizes(*node, 1, dims));
    return done();
  }
  if (op == "range") {
    const auto start = sizes(0), delta = sizes(2);
    if (!start || !delta || start->size() != 1 || delta->size() != 1 || !((*delta)[0] == Dim(1)) ||
        !KnownInts(node->input(1)))
      return refuse("it is not a range with step 1");
    Builder b(trace.graph(), node);
    X2IR_ASSIGN_OR_RETURN(const Size count, trace.SizeOf(b, want));
    X2IR_ASSIGN_OR_RETURN(const Size first, trace.SizeOf(b, (*start)[0]));
    const Expr limit = Scalar(b, Plus(b, count, first)).To(node->input(1)->dtype());
    X2IR_RETURN_IF_ERROR(NameMade(b, "size"));
    trace.Set(*node, 1, limit);
    return done();
  }
  if (op == "slice") {
    X2IR_ASSIGN_OR_RETURN(const bool is_bound, VaryingBound(trace, *node, axis, want));
    if (is_bound) return done();
  }
  if (op == "reshape" && in && want.SymbolNames().size() == 1) {
    // A size that several of the operand's make: the outermost of these varies.
    const Dim name = Dim::Symbol(want.SymbolNames()[0]);
    int64_t before = 1, ahead = 1;
    for (int64_t i = 0; i < axis; ++i) before *= (*value->shape())[i].value();
    for (int64_t i = 0; i < in->rank() && (*in)[i].is_static() && !(want == name); ++i) {
      if (ahead == before && (*in)[i] == trace.Traced(name)) {
        X2IR_ASSIGN_OR_RETURN(Value * made, Varying(trace, *node, node->input(0), i, name));
        if (made != node->input(0)) trace.Set(*node, 0, made);
        X2IR_RETURN_IF_ERROR(PrepareReshape(trace, *node));
        return done();
      }
      ahead *= (*in)[i].value();
    }
  }
  // A value of size 1 in the trace is repeated, except ranges along the axis.
  const bool one = trace.Traced(want) == Dim(1);
  if (one && op != "expand" && !IsRangeAlong(value, axis)) {
    return Repeated(trace, user, value, axis, want);
  }
  bool any = false;
  for (const AxisPlace& p : SizeOrigins(*node, axis)) {
    Value* operand = node->input(p.operand);
    if (ProvablyEqual((*operand->shape())[p.axis], want)) any = true;  // changed before
    if (!((*operand->shape())[p.axis] == trace.Traced(want))) continue;
    if (one && !IsRangeAlong(operand, p.axis)) continue;
    X2IR_ASSIGN_OR_RETURN(Value * made, Varying(trace, *node, operand, p.axis, want));
    if (made != operand) trace.Set(*node, p.operand, made);
    any = true;
  }
  if (op == "expand" && !any) {
    const auto to = sizes(1);
    if (!to || static_cast<int64_t>(to->size()) != value->shape()->rank()) {
      return refuse("its sizes are computed");
    }
    X2IR_RETURN_IF_ERROR(trace.SetSizes(*node, 1, dims_with(*to)));
    return done();
  }
  if (!any) return refuse(StrCat("it is the result of ", op));
  if (op == "expand") X2IR_RETURN_IF_ERROR(PrepareExpand(trace, *node));
  if (op == "reshape") X2IR_RETURN_IF_ERROR(PrepareReshape(trace, *node));
  return done();
}

absl::Status Agree(Trace& trace, Node& node, const std::vector<Value*>& operands, int64_t but) {
  int64_t rank = 0;
  for (const Value* v : operands) {
    if (v && !v->shape()) return absl::OkStatus();
    if (v) rank = std::max(rank, v->shape()->rank());
  }
  for (int64_t back = 1 + but; back <= rank; ++back) {
    std::vector<AxisPlace> places;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t axis = operands[i] ? operands[i]->shape()->rank() - back : -1;
      // A size of 1 is broadcast anyway, but for the numbers of one row, which are those of more.
      if (axis < 0) continue;
      const bool one = (*operands[i]->shape())[axis] == Dim(1);
      if (!one || IsRangeAlong(operands[i], axis)) places.push_back({i, axis});
    }
    X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, places, /*may_broadcast=*/true));
  }
  return absl::OkStatus();
}

absl::Status AgreeAlong(Trace& trace, Node& node, const std::vector<AxisPlace>& places,
                        bool may_broadcast) {
  // Of several, a size that is not a bound: min(n, 12) comes from a slice.
  const auto is_bound = [](const Dim& d) { return d.ToString().find('(') != std::string::npos; };
  const Dim* varies = nullptr;
  for (const AxisPlace& p : places) {
    const Shape* shape = node.input(p.operand)->shape();
    if (!HasAxis(shape, p.axis) || !(*shape)[p.axis].is_symbolic()) continue;
    if (!varies || is_bound(*varies) || !is_bound((*shape)[p.axis])) varies = &(*shape)[p.axis];
  }
  if (!varies) return absl::OkStatus();
  const Dim want = *varies;
  for (const AxisPlace& p : places) {
    Value* value = node.input(p.operand);
    const Shape* shape = value->shape();
    if (!HasAxis(shape, p.axis)) continue;
    const Dim size = (*shape)[p.axis];
    if (size.is_static()) {
      if (may_broadcast && size == Dim(1) && !(size == trace.Traced(want))) continue;
      if (!(size == trace.Traced(want))) {
        return CannotExpress("'", value->name(), "' has ", size.ToString(), " where ",
                             want.ToString(), " is needed");
      }
    } else {
      if (!trace.Varies(size) || ProvablyEqual(size, want)) continue;
      if (!EndsAt(value->producer(), p.axis, trace.Traced(want))) continue;
    }
    X2IR_ASSIGN_OR_RETURN(Value * made, Varying(trace, node, value, p.axis, want));
    if (made != value) trace.Set(node, p.operand, made);
  }
  return absl::OkStatus();
}

}  // namespace x2ir
