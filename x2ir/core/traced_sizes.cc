#include "x2ir/core/traced_sizes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/axis_origins.h"
#include "x2ir/core/ports.h"
#include "x2ir/core/reshape_sizes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr int kMaxWalks = 100;

bool IsSymbolic(const Value* value) {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape &&
         std::any_of(shape->begin(), shape->end(), [](const Dim& d) { return !d.is_static(); });
}

// A list of sizes, as far as these are known.
std::optional<std::vector<Dim>> SizesIn(const Value* value) {
  if (const auto known = KnownInts(value)) return std::vector<Dim>(known->begin(), known->end());
  if (value && value->elements()) return *value->elements();
  return std::nullopt;
}

class TracedSizes {
 public:
  TracedSizes(Graph& graph, const std::vector<TracedSize>& sizes) : graph_(graph), sizes_(sizes) {}

  absl::Status Run() {
    X2IR_RETURN_IF_ERROR(ReadTrace());
    for (int walk = 0; walk < kMaxWalks; ++walk) {
      changed_ = false;
      X2IR_RETURN_IF_ERROR(Walk());
      if (!changed_) return absl::OkStatus();
    }
    return CannotExpress("the sizes of the trace come back without end");
  }

 private:
  // --- The trace ----------------------------------------------------------------------------

  absl::Status ReadTrace() {
    for (Node* node : graph_.nodes()) {
      for (const Value* output : node->outputs()) {
        if (output && output->shape()) traced_.emplace(output, *output->shape());
      }
    }
    std::map<Value*, Shape> shapes;
    for (const TracedSize& size : sizes_) {
      const Dim number = (*size.input->shape())[size.axis];
      const auto [it, fresh] = numbers_.try_emplace(size.name, number.value());
      if (!fresh && it->second != number.value()) {
        return CannotExpress("'", size.name, "' is ", it->second, " in one place and ",
                             number.value(), " in another of what the program was traced with");
      }
      if (fresh) places_[size.name] = {size.input, size.axis};
      const auto shape = shapes.try_emplace(size.input, *size.input->shape()).first;
      std::vector<Dim> dims(shape->second.begin(), shape->second.end());
      dims[static_cast<size_t>(size.axis)] = Dim::Symbol(size.name);
      shape->second = Shape(std::move(dims));
    }
    for (auto& [input, shape] : shapes) {
      traced_.emplace(input, *input->shape());
      input->set_type(Type::Tensor(input->dtype(), shape));
    }
    ForgetTypes(graph_, /*dtypes=*/false);
    return absl::OkStatus();
  }

  // What a size was in the trace.
  Dim Traced(const Dim& d) const {
    return d.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it = numbers_.find(std::string(name));
      return it == numbers_.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
  }
  // That of a value that was there; null where it is not known.
  const Shape* TraceOf(const Value* value) const {
    const auto it = traced_.find(value);
    if (it != traced_.end()) return &it->second;
    return IsSymbolic(value) ? nullptr : value->shape();
  }

  // --- The walk -----------------------------------------------------------------------------

  absl::Status Walk() {
    for (Node* node : graph_.nodes()) {
      if (absl::Status s = Visit(*node); !s.ok()) {
        return absl::Status(s.code(), StrCat(Describe(*node), ": ", std::string(s.message())));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Visit(Node& node) {
    if (!node.is_ir()) return AsForeign(node);
    const std::vector<Value*> inputs = node.inputs();
    const bool symbolic = std::any_of(inputs.begin(), inputs.end(), IsSymbolic);
    if (symbolic) {
      if (node.has_subgraphs()) {
        return CannotExpress("it has a nested graph, and an operand of a size that varies");
      }
      X2IR_RETURN_IF_ERROR(Prepare(node));
    }
    X2IR_RETURN_IF_ERROR(InferNode(node));
    if (!symbolic) return absl::OkStatus();
    Simplify(node);
    HandOnOrders(node);
    X2IR_RETURN_IF_ERROR(Check(node));
    return RefuseMixing(node);
  }

  // Rows of which each is one of a batch and of something else stay rows: an op that computes
  // along such an axis would mix what belongs to different elements of the batch. So do the
  // elements of a batch of 1: whether the program means its one element, or all that there are,
  // cannot be told.
  absl::Status RefuseMixing(const Node& node) const {
    // Of these Prepare has seen to it.
    for (const char* op : {"reshape", "gather", "gather_nd", "shape", "size"}) {
      if (node.Is(op)) return absl::OkStatus();
    }
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Shape* shape = node.input(i) ? node.input(i)->shape() : nullptr;
      for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
        const bool counts_blocks = orders_.count({node.input(i), axis}) != 0;
        if ((!counts_blocks && !WasOne((*shape)[axis])) || IsCarried(node, i, axis)) continue;
        return CannotExpress("it computes along axis ", axis, " of '", node.input(i)->name(),
                             "', which is ", (*shape)[axis].ToString(),
                             counts_blocks ? "" : " and was 1 in the trace");
      }
    }
    return absl::OkStatus();
  }
  bool WasOne(const Dim& d) const {
    const std::vector<std::string> names =
        d.is_symbolic() ? d.SymbolNames() : std::vector<std::string>();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto it = numbers_.find(name);
      return it != numbers_.end() && it->second == 1;
    });
  }
  bool IsCarried(const Node& node, size_t operand, int64_t axis) const {
    const Shape* out = ResultOf(node) ? ResultOf(node)->shape() : nullptr;
    for (int64_t to = 0; out && to < out->rank(); ++to) {
      for (const AxisPlace& p : AxisOrigins(node, to)) {
        if (p.operand == operand && p.axis == axis) return true;
      }
    }
    return false;
  }

  // A size that has a name is not 0: min(n, 1) is 1.
  void Simplify(Node& node) const {
    const auto moved = [&](const Dim& d, int64_t by) {
      return d.Substitute([&](std::string_view name) {
        return numbers_.count(std::string(name)) ? std::optional<Dim>(Dim::Symbol(name) + Dim(by))
                                                 : std::nullopt;
      });
    };
    for (Value* output : node.outputs()) {
      if (!output || !IsSymbolic(output)) continue;
      std::vector<Dim> dims(output->shape()->begin(), output->shape()->end());
      for (Dim& d : dims) {
        if (d.is_symbolic()) d = moved(moved(d, 1), -1);
      }
      output->set_type(Type::Tensor(output->dtype(), Shape(std::move(dims))));
    }
  }

  void HandOnOrders(const Node& node) {
    if (node.Is("reshape")) return;
    for (const Value* out : node.outputs()) {
      for (int64_t axis = 0; out && out->shape() && axis < out->shape()->rank(); ++axis) {
        if ((*out->shape())[axis].is_static()) continue;
        for (const AxisPlace& p : AxisOrigins(node, axis)) {
          const auto it = orders_.find({node.input(p.operand), p.axis});
          if (it != orders_.end()) orders_[{out, axis}] = it->second;
        }
      }
    }
  }

  // Nothing is known of what it makes of a size.
  absl::Status AsForeign(Node& node) {
    for (Value* output : node.outputs()) {
      const Shape* traced = output ? TraceOf(output) : nullptr;
      if (traced) output->set_type(Type::Tensor(output->dtype(), *traced));
    }
    const std::vector<Value*> inputs = node.inputs();
    if (std::none_of(inputs.begin(), inputs.end(), IsSymbolic)) return absl::OkStatus();
    return CannotExpress("a foreign op with an operand of a size that varies");
  }

  // Each result has the sizes of the trace where the names stand for its numbers.
  absl::Status Check(const Node& node) const {
    for (const Value* output : node.outputs()) {
      const Shape* now = output ? output->shape() : nullptr;
      const Shape* then = output ? TraceOf(output) : nullptr;
      if (!then) continue;
      if (!now || now->rank() != then->rank()) {
        return CannotExpress("'", output->name(), "' was ", then->ToString(),
                             " in the trace, and its shape is not known now");
      }
      for (int64_t i = 0; i < now->rank(); ++i) {
        const Dim traced = Traced((*now)[i]);
        if (!(*then)[i].is_static() || traced == (*then)[i]) continue;
        return CannotExpress("'", output->name(), "' was ", then->ToString(),
                             " in the trace, and would be ", now->ToString());
      }
    }
    return absl::OkStatus();
  }

  // --- Sizes as values ----------------------------------------------------------------------

  // A number, a name's size, and products and sums of one of them with numbers.
  absl::StatusOr<Size> SizeOf(Builder& b, const Dim& d) {
    if (d.is_static()) return Size(d.value());
    const std::vector<std::string> names = d.SymbolNames();
    const auto at = [&](int64_t n) {
      return d.Substitute([n](std::string_view) { return std::optional<Dim>(n); });
    };
    const Dim zero = at(0), one = at(1);
    if (d.is_symbolic() && zero.is_static() && one.is_static()) {
      Dim product = 1;
      Size value = 1;
      for (const std::string& name : names) {
        product = product * Dim::Symbol(name);
        const auto& [input, axis] = places_.at(name);
        value = Times(b, value, x2ir::SizeAt({b, input}, axis));
      }
      const int64_t factor = one.value() - zero.value();
      if (ProvablyEqual(product * Dim(factor) + zero, d)) {
        return Plus(b, Times(b, value, factor), zero.value());
      }
    }
    return CannotExpress("a size of ", d.ToString(), " is not put together");
  }

  absl::StatusOr<Value*> VectorOf(Builder& b, const std::vector<Dim>& dims) {
    std::vector<Size> sizes;
    for (const Dim& d : dims) {
      X2IR_ASSIGN_OR_RETURN(Size size, SizeOf(b, d));
      sizes.push_back(size);
    }
    Value* vector = Vector(b, sizes);
    X2IR_RETURN_IF_ERROR(b.status());
    for (Node* made : b.made()) graph_.NameValues(made, "size");
    return vector;
  }

  // Puts something in place of an operand.
  void Set(Node& node, size_t i, Value* value) {
    node.SetInput(i, value);
    changed_ = true;
  }
  // The same for an operand that is a list of sizes.
  absl::Status SetSizes(Node& node, size_t i, const std::vector<Dim>& dims) {
    if (SizesIn(node.input(i)) == dims) return absl::OkStatus();
    Builder b(graph_, &node);
    X2IR_ASSIGN_OR_RETURN(Value * sizes, VectorOf(b, dims));
    Set(node, i, sizes);
    return absl::OkStatus();
  }

  // --- Nodes with an operand of a size that varies ---------------------------------------------

  absl::Status Prepare(Node& node) {
    const std::string_view op = node.op();
    if (op == "reshape") return PrepareReshape(node);
    if (op == "expand") return PrepareExpand(node);
    if (op == "slice") return PrepareSlice(node);
    if (op == "gather") return PrepareGather(node);
    if (op == "gather_nd") return PrepareTuples(node);
    if (op == "concat") return PrepareConcat(node);
    if (op == "matmul") return PrepareMatMul(node);
    const OpDef* def = FindOp(node.op());
    if (def && IsElementwise(*def)) return Agree(node, node.inputs(), 0);
    if (op == "lstm" || op == "gru" || op == "rnn") return PrepareRnn(node);
    if (op == "gather_elements" || op == "scatter_elements") return PrepareElements(node);
    return absl::OkStatus();
  }

  // Factors of the operand's sizes, from the outermost in: each goes to a size of the result. A
  // name stays whole; where it stood for 1 it goes to a size of 1, else to the one that it begins.
  absl::Status PrepareReshape(Node& node) {
    if (!SizesIn(node.input(1))) return absl::OkStatus();
    const Shape* from = node.input(0)->shape();
    const Shape* to = TraceOf(node.output(0));
    const auto refuse = [&](std::string_view why) {
      return CannotExpress("'", node.input(1)->name(), "' has the sizes of the trace, ",
                           to ? to->ToString() : "not known", ", for an operand of ",
                           from ? from->ToString() : "unknown shape", ": ", why);
    };
    if (!from || !to) return refuse("a shape is not known");
    std::vector<SizeFactor> factors;
    for (int64_t axis = 0; axis < from->rank(); ++axis) {
      if (!AddFactors(*node.input(0), axis, factors)) return refuse("a product of sizes");
    }
    const std::optional<std::vector<int64_t>> traced = to->Static();
    if (!traced) return refuse("the result's size was not known");
    const auto solved = SolveReshape(std::move(factors), *traced);
    if (!solved.ok()) return refuse(std::string(solved.status().message()));
    std::vector<Dim> dims;
    for (const SolvedSize& size : *solved) {
      if (size.order) orders_[{node.output(0), static_cast<int64_t>(dims.size())}] = *size.order;
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
      Builder b(graph_, &node);
      if (KnownInts(node.input(1)) != target) {
        Set(node, 1, b.Ints(target, StrCat(node.output(0)->name(), "_shape")));
      }
      return absl::OkStatus();
    }
    return SetSizes(node, 1, dims);
  }

  // The factors of a size, c * n being n of c each, or c of n each. False where they are not known.
  bool AddFactors(const Value& value, int64_t axis, std::vector<SizeFactor>& factors) const {
    const Dim& d = (*value.shape())[axis];
    const Dim traced = Traced(d);
    if (!traced.is_static()) return false;
    const std::vector<std::string> names =
        d.is_static() ? std::vector<std::string>() : d.SymbolNames();
    const auto number = names.size() == 1 ? numbers_.find(names[0]) : numbers_.end();
    if (number == numbers_.end() || number->second < 1) {
      factors.push_back({d, traced.value()});
      return true;
    }
    const SizeFactor name = {Dim::Symbol(names[0]), number->second};
    const int64_t rest = traced.value() / name.number;
    if (!ProvablyEqual(name.dim * Dim(rest), d)) {
      factors.push_back({d, traced.value()});
      return true;
    }
    const auto order = orders_.find({&value, axis});
    if (rest != 1 && order == orders_.end()) return false;
    if (rest == 1 || order->second == SizeOrder::kNameFirst) factors.push_back(name);
    if (rest != 1) factors.push_back({Dim(rest), rest});
    if (rest != 1 && order->second == SizeOrder::kNameLast) factors.push_back(name);
    return true;
  }

  // Sizes of the trace where the operand has one that varies say nothing.
  absl::Status PrepareExpand(Node& node) {
    const auto known = SizesIn(node.input(1));
    const Shape* from = node.input(0)->shape();
    if (!known || !from) return absl::OkStatus();
    std::vector<Dim> sizes = *known;
    const int64_t ahead = static_cast<int64_t>(sizes.size()) - from->rank();
    for (int64_t i = 0; i < from->rank(); ++i) {
      if ((*from)[i].is_static() || i + ahead < 0) continue;
      Dim& size = sizes[static_cast<size_t>(i + ahead)];
      if (size == Traced((*from)[i])) size = 1;
    }
    return SetSizes(node, 1, sizes);
  }

  // Bounds along an axis whose size varies must not be bounds of the trace.
  absl::Status PrepareSlice(Node& node) {
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
      const Dim traced = Traced((*from)[axis]);
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
                             " in the trace: it cannot be told whether it follows the size");
      }
    }
    if (open != *ends) {
      Builder b(graph_, &node);
      Set(node, 2, b.Ints(open, StrCat(node.output(0)->name(), "_ends")));
    }
    return absl::OkStatus();
  }

  // An element of an axis whose size varies, by a number that the trace may have left.
  absl::Status PrepareGather(Node& node) {
    const Shape* data = node.input(0)->shape();
    const auto index = KnownTensor(*node.input(1));
    if (!data || !index) return absl::OkStatus();
    int64_t axis = node.attrs().Int("axis");
    if (axis < 0) axis += data->rank();
    if (!HasAxis(data, axis) || (*data)[axis].is_static()) return absl::OkStatus();
    const Dim traced = Traced((*data)[axis]);
    const int64_t size = traced.is_static() ? traced.value() : 0;
    for (int64_t i = 0; i < index->num_elements(); ++i) {
      if (index->AsInt(i) == size - 1) {
        return CannotExpress("it takes element ", index->AsInt(i), " of axis ", axis,
                             ", which was ", size,
                             " in the trace: it cannot be told whether it follows the size");
      }
    }
    return absl::OkStatus();
  }

  absl::Status PrepareTuples(Node& node) {
    const Shape *data = node.input(0)->shape(), *index = node.input(1)->shape();
    if (!data || !index || index->rank() == 0) return absl::OkStatus();
    const int64_t batch = node.attrs().Int("batch_dims");
    for (int64_t i = 0; i < batch; ++i) {
      X2IR_RETURN_IF_ERROR(AgreeAlong(node, {{0, i}, {1, i}}));
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
      const Value* part = concat && concat->Is("concat") &&
                                  concat->num_inputs() == static_cast<size_t>(count.value())
                              ? concat->input(static_cast<size_t>(i))
                              : tuples;
      bool found = false;
      for (int64_t axis = 0; axis + 1 < index->rank() && !found; ++axis) {
        if (!((*index)[axis] == Traced(d)) || !IsRangeAlong(part, axis)) continue;
        X2IR_ASSIGN_OR_RETURN(Value * made, Varying(node, tuples, axis, d));
        if (made != tuples) Set(node, 1, made);
        found = true;
      }
      if (!found) {
        return CannotExpress("it takes elements of axis ", batch + i, ", which was ",
                             Traced(d).ToString(),
                             " in the trace, by as many indices as there were then");
      }
      index = node.input(1)->shape();
    }
    return absl::OkStatus();
  }

  absl::Status PrepareElements(Node& node) {
    const Shape *data = node.input(0)->shape(), *index = node.input(1)->shape();
    if (!data || !index || data->rank() != index->rank()) return absl::OkStatus();
    int64_t axis = node.attrs().Int("axis");
    if (axis < 0) axis += data->rank();
    for (int64_t i = 0; i < data->rank(); ++i) {
      if (i != axis) X2IR_RETURN_IF_ERROR(AgreeAlong(node, {{0, i}, {1, i}}));
      if (node.input(2)) X2IR_RETURN_IF_ERROR(AgreeAlong(node, {{1, i}, {2, i}}));
    }
    return absl::OkStatus();
  }

  absl::Status PrepareRnn(Node& node) {
    const Shape* x = node.input(0)->shape();
    if (!x || node.attrs().Int("layout", 0) != 0) return absl::OkStatus();
    std::vector<AxisPlace> places = {{0, 1}};
    if (node.input(4)) places.push_back({4, 0});
    for (const size_t i : {size_t{5}, size_t{6}}) {
      if (node.input(i)) places.push_back({i, 1});
    }
    return AgreeAlong(node, places);
  }

  absl::Status PrepareConcat(Node& node) {
    const Shape* first = node.input(0)->shape();
    if (!first) return absl::OkStatus();
    int64_t along = node.attrs().Int("axis");
    if (along < 0) along += first->rank();
    for (int64_t axis = 0; axis < first->rank(); ++axis) {
      if (axis == along) continue;
      std::vector<AxisPlace> places;
      for (size_t i = 0; i < node.num_inputs(); ++i) places.push_back({i, axis});
      X2IR_RETURN_IF_ERROR(AgreeAlong(node, places));
    }
    return absl::OkStatus();
  }

  absl::Status PrepareMatMul(Node& node) {
    X2IR_RETURN_IF_ERROR(Agree(node, node.inputs(), 2));
    const Shape *a = node.input(0)->shape(), *b = node.input(1)->shape();
    if (!a || !b || a->rank() < 1 || b->rank() < 1) return absl::OkStatus();
    return AgreeAlong(node, {{0, a->rank() - 1}, {1, std::max<int64_t>(b->rank() - 2, 0)}});
  }

  // --- Sizes that must be the same --------------------------------------------------------------

  // Operands that are broadcast, but for their last `but` axes.
  absl::Status Agree(Node& node, const std::vector<Value*>& operands, int64_t but) {
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
      X2IR_RETURN_IF_ERROR(AgreeAlong(node, places, /*may_broadcast=*/true));
    }
    return absl::OkStatus();
  }

  absl::Status AgreeAlong(Node& node, const std::vector<AxisPlace>& places,
                          bool may_broadcast = false) {
    const Dim* varies = nullptr;
    for (const AxisPlace& p : places) {
      const Shape* shape = node.input(p.operand)->shape();
      if (HasAxis(shape, p.axis) && (*shape)[p.axis].is_symbolic()) varies = &(*shape)[p.axis];
    }
    if (!varies) return absl::OkStatus();
    const Dim want = *varies;
    for (const AxisPlace& p : places) {
      Value* value = node.input(p.operand);
      const Shape* shape = value->shape();
      if (!HasAxis(shape, p.axis) || !(*shape)[p.axis].is_static()) continue;
      if (!((*shape)[p.axis] == Traced(want))) {
        if (may_broadcast && (*shape)[p.axis] == Dim(1)) continue;
        return CannotExpress("'", value->name(), "' has ", (*shape)[p.axis].ToString(), " where ",
                             want.ToString(), " is needed");
      }
      X2IR_ASSIGN_OR_RETURN(Value * made, Varying(node, value, p.axis, want));
      if (made != value) Set(node, p.operand, made);
    }
    return absl::OkStatus();
  }

  // The value with `want` for the size of the trace along an axis: changed where it was made, or
  // another one (of a constant) for this node.
  absl::StatusOr<Value*> Varying(Node& user, Value* value, int64_t axis, const Dim& want) {
    const auto refuse = [&](std::string_view why) {
      return CannotExpress("'", value->name(), "' is made for ", Traced(want).ToString(), " of '",
                           want.ToString(), "': ", why);
    };
    if (value->graph() != &graph_) return refuse("it comes from outside of a nested graph");
    if (const Tensor* constant = value->fixed_constant()) {
      return VaryingConstant(user, value, *constant, axis, want);
    }
    Node* node = value->producer();
    if (!node) return refuse("it is an input of that size; name its size too");
    const std::string_view op = node->op();
    const auto sizes = [&](size_t i) { return SizesIn(node->input(i)); };
    const auto done = [&]() -> absl::StatusOr<Value*> {
      changed_ = true;
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
      X2IR_RETURN_IF_ERROR(SetSizes(*node, 0, dims_with(*to)));
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
      X2IR_RETURN_IF_ERROR(SetSizes(*node, 1, dims));
      return done();
    }
    if (op == "range") {
      const auto start = sizes(0), delta = sizes(2);
      if (!start || !delta || start->size() != 1 || delta->size() != 1 ||
          !((*delta)[0] == Dim(1)) || !KnownInts(node->input(1)))
        return refuse("it is no range by 1");
      Builder b(graph_, node);
      X2IR_ASSIGN_OR_RETURN(const Size count, SizeOf(b, want));
      X2IR_ASSIGN_OR_RETURN(const Size first, SizeOf(b, (*start)[0]));
      const Expr limit = Scalar(b, Plus(b, count, first)).To(node->input(1)->dtype());
      X2IR_RETURN_IF_ERROR(b.status());
      for (Node* made : b.made()) graph_.NameValues(made, "size");
      Set(*node, 1, limit);
      return done();
    }
    if (op == "slice") {
      X2IR_ASSIGN_OR_RETURN(const bool is_bound, VaryingBound(*node, axis, want));
      if (is_bound) return done();
    }
    if (op == "reshape" && in && want.SymbolNames().size() == 1) {
      // A size that several of the operand's make: the outermost of these varies.
      const Dim name = Dim::Symbol(want.SymbolNames()[0]);
      int64_t before = 1, ahead = 1;
      for (int64_t i = 0; i < axis; ++i) before *= (*value->shape())[i].value();
      for (int64_t i = 0; i < in->rank() && (*in)[i].is_static() && !(want == name); ++i) {
        if (ahead == before && (*in)[i] == Traced(name)) {
          X2IR_ASSIGN_OR_RETURN(Value * made, Varying(*node, node->input(0), i, name));
          if (made != node->input(0)) Set(*node, 0, made);
          X2IR_RETURN_IF_ERROR(PrepareReshape(*node));
          return done();
        }
        ahead *= (*in)[i].value();
      }
    }
    // What stood for 1 is repeated, but for the numbers of rows.
    const bool one = Traced(want) == Dim(1);
    if (one && op != "expand" && !IsRangeAlong(value, axis)) {
      return Repeated(user, value, axis, want);
    }
    bool any = false;
    for (const AxisPlace& p : AxisOrigins(*node, axis)) {
      Value* operand = node->input(p.operand);
      if (ProvablyEqual((*operand->shape())[p.axis], want)) any = true;  // changed before
      if (!((*operand->shape())[p.axis] == Traced(want))) continue;
      if (one && !IsRangeAlong(operand, p.axis)) continue;
      X2IR_ASSIGN_OR_RETURN(Value * made, Varying(*node, operand, p.axis, want));
      if (made != operand) Set(*node, p.operand, made);
      any = true;
    }
    if (op == "expand" && !any) {
      const auto to = sizes(1);
      if (!to || static_cast<int64_t>(to->size()) != value->shape()->rank()) {
        return refuse("its sizes are computed");
      }
      X2IR_RETURN_IF_ERROR(SetSizes(*node, 1, dims_with(*to)));
      return done();
    }
    if (!any) return refuse(StrCat("it is the result of ", op));
    if (op == "expand") X2IR_RETURN_IF_ERROR(PrepareExpand(*node));
    if (op == "reshape") X2IR_RETURN_IF_ERROR(PrepareReshape(*node));
    return done();
  }

  // Its one row, as often as is wanted: what the program does at any size.
  absl::StatusOr<Value*> Repeated(Node& user, Value* value, int64_t axis, const Dim& want) {
    if (IsSymbolic(value) || ComesFromInput(value)) {
      return CannotExpress("'", value->name(), "' has one row for all of '", want.ToString(),
                           "', and depends on an input");
    }
    std::vector<Dim> dims(static_cast<size_t>(value->shape()->rank()), Dim(1));
    dims[static_cast<size_t>(axis)] = want;
    Builder b(graph_, &user);
    X2IR_ASSIGN_OR_RETURN(Value * sizes, VectorOf(b, dims));
    Value* made = b.Op("expand", {value, sizes});
    X2IR_RETURN_IF_ERROR(b.status());
    graph_.NameValues(made->producer(), value->name());
    return made;
  }

  absl::StatusOr<Value*> VaryingConstant(Node& user, Value* value, const Tensor& constant,
                                         int64_t axis, const Dim& want) {
    const int64_t count = constant.dims()[static_cast<size_t>(axis)];
    if (count == 1) return Repeated(user, value, axis, want);
    Builder b(graph_, &user);
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
    X2IR_RETURN_IF_ERROR(b.status());
    for (Node* made : b.made()) graph_.NameValues(made, value->name());
    return Repeated(user, one, axis, want);
  }

  // The first rows of a table, as many as the trace had: so many as are wanted. False where the
  // slice leaves the axis as it is.
  absl::StatusOr<bool> VaryingBound(Node& node, int64_t axis, const Dim& want) {
    const Shape* in = node.input(0)->shape();
    const auto starts = KnownInts(node.input(1)), ends = KnownInts(node.input(2));
    const auto axes = node.input(3) ? KnownInts(node.input(3)) : std::nullopt;
    const auto steps = node.input(4) ? KnownInts(node.input(4)) : std::nullopt;
    if (!in || !starts || !ends || (node.input(3) && !axes) || (node.input(4) && !steps)) {
      return CannotExpress("a slice whose bounds are computed is made for '", want.ToString(), "'");
    }
    for (size_t i = 0; i < starts->size(); ++i) {
      int64_t own = axes ? (*axes)[i] : static_cast<int64_t>(i);
      if (own < 0) own += in->rank();
      if (own != axis) continue;
      if ((*starts)[i] != 0 || (steps && (*steps)[i] != 1)) break;
      if ((*in)[axis] == Traced(want) && (*ends)[i] > (*in)[axis].value()) return false;
      if (!(Dim((*ends)[i]) == Traced(want))) break;
      if ((*in)[axis] == Traced(want)) {
        Builder b(graph_, &node);
        std::vector<int64_t> open = *ends;
        open[i] = kToEnd;
        Set(node, 2, b.Ints(open, StrCat(node.output(0)->name(), "_ends")));
        return false;
      }
      std::vector<Dim> dims(ends->begin(), ends->end());
      dims[i] = want;
      X2IR_RETURN_IF_ERROR(SetSizes(node, 2, dims));
      return true;
    }
    for (size_t i = 0; i < starts->size(); ++i) {
      int64_t own = axes ? (*axes)[i] : static_cast<int64_t>(i);
      if (own < 0) own += in->rank();
      if (own == axis)
        return CannotExpress("a slice that is not from the front is made for '", want.ToString(),
                             "'");
    }
    return false;
  }

  // --- Where values come from -------------------------------------------------------------------

  // Whether an axis of a value counts the rows of something: that of a range.
  bool IsRangeAlong(const Value* value, int64_t axis) const {
    for (int depth = 0; depth < 100; ++depth) {
      const Node* node = value->producer();
      if (!node || !node->is_ir() || !value->shape()) return false;
      if (node->Is("range")) return true;
      const std::vector<AxisPlace> places = AxisOrigins(*node, axis);
      if (places.empty()) return false;
      for (size_t i = 1; i < places.size(); ++i) {
        if (IsRangeAlong(node->input(places[i].operand), places[i].axis)) return true;
      }
      value = node->input(places[0].operand);
      axis = places[0].axis;
    }
    return false;
  }

  // Whether the elements of an input take part in it. Its sizes may.
  bool ComesFromInput(const Value* value) const {
    std::vector<const Value*> open = {value};
    absl::flat_hash_set<const Value*> seen;
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      if (!v || !seen.insert(v).second) continue;
      if (v->is_input()) return true;
      const Node* node = v->producer();
      if (!node || node->Is("shape") || node->Is("size")) continue;
      for (const Value* operand : node->inputs()) open.push_back(operand);
    }
    return false;
  }

  Graph& graph_;
  const std::vector<TracedSize>& sizes_;
  absl::flat_hash_map<const Value*, Shape> traced_;  // as the trace had them
  std::map<std::string, int64_t> numbers_;           // of the names, in the trace
  std::map<std::string, std::pair<Value*, int64_t>> places_;
  std::map<std::pair<const Value*, int64_t>, SizeOrder> orders_;  // of axes of values
  bool changed_ = false;
};

}  // namespace

absl::Status MakeSymbolic(Graph& graph, const std::vector<TracedSize>& sizes) {
  if (sizes.empty()) return absl::OkStatus();
  const absl::Status status = TracedSizes(graph, sizes).Run();
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat("the model is made for the sizes that its file has: ",
                                            std::string(status.message())));
}

}  // namespace x2ir
