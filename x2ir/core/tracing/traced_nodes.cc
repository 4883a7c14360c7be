// How nodes are prepared for operands of sizes that vary: what the trace left in them is changed,
// or refused where it cannot be told from what the program means.
#include <algorithm>

#include "x2ir/builder/shapes.h"
#include "x2ir/core/tracing/traced_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// The factors of a size, c * n being n of c each, or c of n each. False where they are not known.
bool AddFactors(Trace& trace, const Value& value, int64_t axis, std::vector<SizeFactor>& factors) {
  const Dim& d = (*value.shape())[axis];
  const Dim traced = trace.Traced(d);
  if (!traced.is_static()) return false;
  const std::vector<std::string> names =
      d.is_static() ? std::vector<std::string>() : d.SymbolNames();
  const int64_t* number = names.size() == 1 ? trace.Number(names[0]) : nullptr;
  if (!number || *number < 1) {
    factors.push_back({d, traced.value()});
    return true;
  }
  const SizeFactor name = {Dim::Symbol(names[0]), *number};
  const int64_t rest = traced.value() / name.number;
  if (!ProvablyEqual(name.dim * Dim(rest), d)) {
    factors.push_back({d, traced.value()});
    return true;
  }
  const auto order = trace.orders().find({&value, axis});
  if (rest != 1 && order == trace.orders().end()) return false;
  if (rest == 1 || order->second == SizeOrder::kNameFirst) factors.push_back(name);
  if (rest != 1) factors.push_back({Dim(rest), rest});
  if (rest != 1 && order->second == SizeOrder::kNameLast) factors.push_back(name);
  return true;
}

// Bounds along an axis whose size varies must not be bounds of the trace.
absl::Status PrepareSlice(Trace& trace, Node& node) {
  const Shape* from = node.input(0)->shape();
  const auto starts = KnownInts(node.input(1)), ends = KnownInts(node.input(2));
  if (!from || !starts || !ends) return absl::OkStatus();
  std::optional<std::vector<int64_t>> axes;
  if (node.input(3)) {
    axes = KnownInts(node.input(3));
    if (!axes) return absl::OkStatus();
  }
  std::vector<int64_t> open = *ends;
  for (size_t i = 0; i < ends->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += from->rank();
    if (!HasAxis(from, axis) || (*from)[axis].is_static()) continue;
    const Dim traced = trace.Traced((*from)[axis]);
    const int64_t size = traced.is_static() ? traced.value() : -1;
    // To the end, as it was; but the first one of one may be meant as such.
    if ((*ends)[i] == size && size > 1 && (*starts)[i] < size) {
      open[i] = kToEnd;
      continue;
    }
    if ((*ends)[i] == size || (*starts)[i] == size || (*starts)[i] == size - 1 ||
        ((*starts)[i] != 0 && (*ends)[i] == size - 1)) {
      return CannotExpress("a slice from ", (*starts)[i], " to ", (*ends)[i], " of axis ", axis,
                           ", which was ", size,
                           " in the trace; it is unclear whether it depends on the size");
    }
  }
  if (open != *ends) {
    Builder b(trace.graph(), &node);
    trace.Set(node, 2, b.Ints(open, StrCat(node.output(0)->name(), "_ends")));
  }
  return absl::OkStatus();
}

// Indices that are the numbers of the rows of the trace.
absl::Status PrepareRows(Trace& trace, Node& node, const Dim& size) {
  Value* index = node.input(1);
  const Shape* shape = index->shape();
  for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
    if (!((*shape)[axis] == trace.Traced(size)) || !IsRangeAlong(index, axis)) continue;
    X2IR_ASSIGN_OR_RETURN(Value * made, Varying(trace, node, index, axis, size));
    if (made != index) trace.Set(node, 1, made);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

bool CountsRows(const Value* value) {
  for (int64_t axis = 0; value->shape() && axis < value->shape()->rank(); ++axis) {
    if (IsRangeAlong(value, axis)) return true;
  }
  return false;
}

// An element of an axis whose size varies, by a number that the trace may have left.
absl::Status PrepareGather(Trace& trace, Node& node) {
  const Shape* data = node.input(0)->shape();
  const auto index = KnownTensor(*node.input(1));
  if (!data) return absl::OkStatus();
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += data->rank();
  if (!HasAxis(data, axis) || (*data)[axis].is_static()) return absl::OkStatus();
  const Dim traced = trace.Traced((*data)[axis]);
  if (!index) return PrepareRows(trace, node, (*data)[axis]);
  const int64_t size = traced.is_static() ? traced.value() : 0;
  for (int64_t i = 0; i < index->num_elements(); ++i) {
    if (index->AsInt(i) == size - 1) {
      return CannotExpress("it takes element ", index->AsInt(i), " of axis ", axis, ", which was ",
                           size, " in the trace; it is unclear whether it depends on the size");
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareTuples(Trace& trace, Node& node) {
  const Shape *data = node.input(0)->shape(), *index = node.input(1)->shape();
  if (!data || !index || index->rank() == 0) return absl::OkStatus();
  const int64_t batch = node.attrs().Int("batch_dims");
  for (int64_t i = 0; i < batch; ++i) {
    X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{0, i}, {1, i}}));
  }
  const Dim& count = (*index)[index->rank() - 1];
  if (!count.is_static()) return absl::OkStatus();
  for (int64_t i = 0; i < count.value() && batch + i < data->rank(); ++i) {
    const Dim& d = (*data)[batch + i];
    if (d.is_static()) continue;
    // The numbers of its rows, put together with those of other axes.
    if (IsSymbolic(node.input(1))) continue;
    Value* tuples = node.input(1);
    const Node* concat = tuples->producer();
    const Value* part =
        concat && concat->Is("concat") && concat->num_inputs() == static_cast<size_t>(count.value())
            ? concat->input(static_cast<size_t>(i))
            : tuples;
    bool found = false;
    for (int64_t axis = 0; axis + 1 < index->rank() && !found; ++axis) {
      if (!((*index)[axis] == trace.Traced(d)) || !IsRangeAlong(part, axis)) continue;
      X2IR_ASSIGN_OR_RETURN(Value * made, Varying(trace, node, tuples, axis, d));
      if (made != tuples) trace.Set(node, 1, made);
      found = true;
    }
    // Which elements it takes is for the input to say.
    found = found || (ComesFromInput(part) && !CountsRows(part));
    if (!found) {
      return CannotExpress("it takes elements of axis ", batch + i, ", which had size ",
                           trace.Traced(d).ToString(),
                           " in the trace, with the same number of indices");
    }
    index = node.input(1)->shape();
  }
  return absl::OkStatus();
}

absl::Status PrepareElements(Trace& trace, Node& node) {
  const Shape *data = node.input(0)->shape(), *index = node.input(1)->shape();
  if (!data || !index || data->rank() != index->rank()) return absl::OkStatus();
  int64_t axis = node.attrs().Int("axis");
  if (axis < 0) axis += data->rank();
  for (int64_t i = 0; i < data->rank(); ++i) {
    if (i != axis) X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{0, i}, {1, i}}));
    if (node.input(2)) X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{1, i}, {2, i}}));
  }
  return absl::OkStatus();
}

absl::Status PrepareRnn(Trace& trace, Node& node) {
  const Shape* x = node.input(0)->shape();
  if (!x || node.attrs().Int("layout", 0) != 0) return absl::OkStatus();
  std::vector<AxisPlace> places = {{0, 1}};
  if (node.input(4)) places.push_back({4, 0});
  for (const size_t i : {size_t{5}, size_t{6}}) {
    if (node.input(i)) places.push_back({i, 1});
  }
  return AgreeAlong(trace, node, places);
}

absl::Status PrepareConcat(Trace& trace, Node& node) {
  const Shape* first = node.input(0)->shape();
  if (!first) return absl::OkStatus();
  int64_t along = node.attrs().Int("axis");
  if (along < 0) along += first->rank();
  for (int64_t axis = 0; axis < first->rank(); ++axis) {
    if (axis == along) continue;
    std::vector<AxisPlace> places;
    for (size_t i = 0; i < node.num_inputs(); ++i) places.push_back({i, axis});
    X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, places));
  }
  return absl::OkStatus();
}

absl::Status PrepareMatMul(Trace& trace, Node& node) {
  X2IR_RETURN_IF_ERROR(Agree(trace, node, node.inputs(), 2));
  const Shape *a = node.input(0)->shape(), *b = node.input(1)->shape();
  if (!a || !b || a->rank() < 1 || b->rank() < 1) return absl::OkStatus();
  return AgreeAlong(trace, node, {{0, a->rank() - 1}, {1, std::max<int64_t>(b->rank() - 2, 0)}});
}

// Queries, keys and values of one batch; a mask with a row for each query and a column for each
// key.
absl::Status PrepareAttention(Trace& trace, Node& node) {
  enum { kQ, kK, kV, kMask, kPastKey, kPastValue };
  const auto rank = [&](size_t i) {
    return node.input(i) && node.input(i)->shape() ? node.input(i)->shape()->rank() : 0;
  };
  // The last axis but one has the rows, with an axis of heads before or without.
  const auto rows = [&](size_t i) { return rank(i) - 2; };
  for (const size_t i : {size_t{kQ}, size_t{kK}, size_t{kV}}) {
    if (rank(i) < 3) return absl::OkStatus();
  }
  X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{kQ, 0}, {kK, 0}, {kV, 0}}));
  X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{kK, rows(kK)}, {kV, rows(kV)}}));
  if (rank(kMask) < 2) return absl::OkStatus();
  X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{kQ, rows(kQ)}, {kMask, rank(kMask) - 2}},
                                  /*may_broadcast=*/true));
  if (!node.input(kPastKey)) {
    X2IR_RETURN_IF_ERROR(AgreeAlong(trace, node, {{kK, rows(kK)}, {kMask, rank(kMask) - 1}},
                                    /*may_broadcast=*/true));
  }
  if (rank(kMask) < 4) return absl::OkStatus();
  return AgreeAlong(trace, node, {{kQ, 0}, {kMask, 0}}, /*may_broadcast=*/true);
}

}  // namespace

absl::Status PrepareReshape(Trace& trace, Node& node) {
  if (!SizesIn(node.input(1))) return absl::OkStatus();
  const Shape* from = node.input(0)->shape();
  const Shape* to = trace.TraceOf(node.output(0));
  const auto refuse = [&](std::string_view why) {
    return CannotExpress("'", node.input(1)->name(), "' still has the sizes of the trace, ",
                         to ? to->ToString() : "not known", ", for an operand of ",
                         from ? from->ToString() : "unknown shape", ": ", why);
  };
  if (!from || !to) return refuse("a shape is not known");
  std::vector<SizeFactor> factors;
  for (int64_t axis = 0; axis < from->rank(); ++axis) {
    if (!AddFactors(trace, *node.input(0), axis, factors)) return refuse("a product of sizes");
  }
  const std::optional<std::vector<int64_t>> traced = to->Static();
  if (!traced) return refuse("the result's size was not known");
  const auto solved = SolveReshape(std::move(factors), *traced);
  if (!solved.ok()) return refuse(std::string(solved.status().message()));
  std::vector<Dim> dims;
  for (const SolvedSize& size : *solved) {
    if (size.order)
      trace.orders()[{node.output(0), static_cast<int64_t>(dims.size())}] = *size.order;
    dims.push_back(size.dim);
  }
  // Sizes of the operand itself, and one that follows from the others.
  std::vector<int64_t> target;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool own =
        HasAxis(from, static_cast<int64_t>(i)) && dims[i] == (*from)[static_cast<int64_t>(i)];
    target.push_back(dims[i].is_static() ? dims[i].value() : own ? 0 : -1);
  }
  const auto of = [&](int64_t size) { return std::count(target.begin(), target.end(), size); };
  if (of(0) + of(-1) == 0) return absl::OkStatus();
  if (of(-1) <= 1 && (of(0) == 0 || node.attrs().Int("allowzero") == 0)) {
    Builder b(trace.graph(), &node);
    if (KnownInts(node.input(1)) != target) {
      trace.Set(node, 1, b.Ints(target, StrCat(node.output(0)->name(), "_shape")));
    }
    return absl::OkStatus();
  }
  return trace.SetSizes(node, 1, dims);
}

// Sizes of the trace where the operand has one that varies say nothing.
absl::Status PrepareExpand(Trace& trace, Node& node) {
  const auto known = SizesIn(node.input(1));
  const Shape* from = node.input(0)->shape();
  if (!known || !from) return absl::OkStatus();
  std::vector<Dim> sizes = *known;
  const int64_t ahead = static_cast<int64_t>(sizes.size()) - from->rank();
  for (int64_t i = 0; i < from->rank(); ++i) {
    if ((*from)[i].is_static() || i + ahead < 0) continue;
    Dim& size = sizes[static_cast<size_t>(i + ahead)];
    if (size == trace.Traced((*from)[i])) size = 1;
  }
  return trace.SetSizes(node, 1, sizes);
}

absl::Status PrepareNode(Trace& trace, Node& node) {
  const std::string_view op = node.op();
  if (op == "reshape") return PrepareReshape(trace, node);
  if (op == "expand") return PrepareExpand(trace, node);
  if (op == "slice") return PrepareSlice(trace, node);
  if (op == "gather") return PrepareGather(trace, node);
  if (op == "gather_nd") return PrepareTuples(trace, node);
  if (op == "concat") return PrepareConcat(trace, node);
  if (op == "matmul") return PrepareMatMul(trace, node);
  const OpDef* def = FindOp(node.op());
  if (def && IsElementwise(*def)) return Agree(trace, node, node.inputs(), 0);
  if (op == "attention") return PrepareAttention(trace, node);
  if (op == "lstm" || op == "gru" || op == "rnn") return PrepareRnn(trace, node);
  if (op == "gather_elements" || op == "scatter_elements") return PrepareElements(trace, node);
  return absl::OkStatus();
}

}  // namespace x2ir
