// See random_graphs_util.h. Ops are picked from the registry, operands and attributes by their
// names and kinds; what inference or evaluation refuses is taken back.
#include "tests/random/random_graphs_util.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tests/random/random_recipes_util.h"
#include "tests/random/random_units_util.h"
#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/random.h"
#include "x2ir/ops/rewrite.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxElements = 2048;
constexpr int64_t kN = 2, kM = 3;  // what the dims n and m are in the run

class Generator {
 public:
  // Neighbouring states would give the same numbers, one place apart.
  Generator(uint64_t seed, RandomKind kind)
      : random_(Random(seed).Next()), tame_(kind == RandomKind::kForRuntimes) {}

  RandomGraph Make() {
    made_.graph = std::make_shared<Graph>("random");
    if (tame_) {
      AddInputsOfAnyType();
    } else {
      for (const DType t : {DType::kFloat32, DType::kFloat32, DType::kInt64, DType::kBool}) {
        AddInput(t, Below(4));
      }
      if (Chance(20)) AddInput(DType::kFloat16, Below(3));
    }
    const size_t wanted =
        tame_ ? 1 + static_cast<size_t>(Below(12)) : 4 + static_cast<size_t>(Below(28));
    for (int attempt = 0; attempt < 600 && graph().num_nodes() < wanted; ++attempt) {
      const int64_t what = Below(100);
      if (what < 3) {
        AddIf();
      } else if (what < 6) {
        AddLoop();
      } else if (what < 21) {
        AddUnit();
      } else if (tame_ && what < 61) {
        AddRecipe();
      } else {
        AddNode(graph(), true);
      }
    }
    if (tame_ && Chance(35)) GiveOddNames(graph());
    for (const Value* input : graph().inputs()) made_.values[input->name()] = data_[input];
    for (const Node* node : graph().nodes()) {
      for (const Value* output : node->outputs()) {
        if (output) made_.values[output->name()] = data_[output];
      }
    }
    for (Node* node : graph().nodes()) {
      for (Value* output : node->outputs()) {
        if (!output || !data_[output].tensor()) continue;
        if (output->uses().empty() || Chance(10)) graph().AddOutput(output);
      }
    }
    if (graph().outputs().empty() || Chance(5)) graph().AddOutput(pool_[0]);
    if (tame_ && Chance(4)) {
      Value* constant = AddConstant(graph(), RandomTensor(DType::kFloat32, {2, 3}, -2, 2));
      data_[constant] = *constant->constant();
      graph().AddOutput(constant);
    }
    return std::move(made_);
  }

 private:
  Graph& graph() { return *made_.graph; }
  int64_t Below(int64_t n) {
    return std::min(n - 1, static_cast<int64_t>(random_.Uniform() * static_cast<double>(n)));
  }
  RandomBelow Drawing() {
    return [this](int64_t n) { return Below(n); };
  }

  // Names, those of nodes too, as other frameworks give them.
  void GiveOddNames(Graph& of) {
    const auto rename = [&](Value* value) {
      if (!value || value->name().empty() || !Chance(60)) return;
      std::string name = OddName(Drawing());
      if (Chance(40)) StrAppend(&name, "/", OddName(Drawing()));
      if (!odd_names_.insert(name).second || of.UniqueName(name) != name) return;
      of.Rename(value, name);
    };
    for (Value* input : of.inputs()) rename(input);
    for (Value* constant : of.constants()) rename(constant);
    for (Node* node : of.nodes()) {
      for (Value* output : node->outputs()) rename(output);
      if (Chance(50)) {
        std::string name = Chance(10) ? "" : OddName(Drawing());
        while (Chance(50)) StrAppend(&name, Chance(50) ? "/" : ".", OddName(Drawing()));
        node->set_name(name);
      }
      for (Graph* inner : node->subgraphs()) GiveOddNames(*inner);
    }
  }

  void AddInputsOfAnyType() {
    const int64_t n = 1 + Below(4);
    for (int64_t i = 0; i < n; ++i) {
      const DType t = Chance(50)
                          ? DType::kFloat32
                          : Pick({DType::kFloat16, DType::kFloat64, DType::kBFloat16, DType::kInt64,
                                  DType::kInt64, DType::kInt32, DType::kInt32, DType::kInt16,
                                  DType::kInt8, DType::kUInt8, DType::kUInt16, DType::kUInt32,
                                  DType::kUInt64, DType::kBool, DType::kBool});
      AddInput(t, Chance(85) ? Below(5) : Below(7));
    }
  }

  // Unique over all graphs, also those that have no parent yet.
  std::string UniqueName(std::string_view base) { return StrCat(base, "_", names_++); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T, size_t n>
  T Pick(const T (&from)[n]) {
    return from[Below(n)];
  }

  // --- Values ---------------------------------------------------------------------------------

  Tensor RandomTensor(DType t, std::vector<int64_t> dims, int64_t low, int64_t high) {
    std::vector<double> numbers(static_cast<size_t>(CheckedProduct(dims).value_or(0)));
    const bool halves = IsFloating(t) && low < high && Chance(50);
    for (double& v : numbers) {
      v = static_cast<double>(low + Below(high - low + 1));
      if (halves) v += 0.25 * static_cast<double>(Below(4));
      if (tame_) continue;
      if (IsFloating(t) && v == 0 && Chance(40)) v = -v;
      if (IsFloating(t) && low < high && Chance(2)) {
        v = Pick({-0.0, std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::quiet_NaN()});
      }
    }
    const Tensor doubles = Tensor::Of<double>(std::move(dims), numbers);
    return CastTensor(doubles, t, true).value();
  }

  // Without zeros: what is rounded otherwise may have another sign.
  Tensor RandomWeight(DType t, std::vector<int64_t> dims) {
    std::vector<double> numbers(static_cast<size_t>(CheckedProduct(dims).value_or(0)));
    for (double& v : numbers) v = static_cast<double>(1 + Below(3));
    return CastTensor(Tensor::Of<double>(std::move(dims), numbers), t, true).value();
  }

  void AddInput(DType t, int64_t rank) {
    std::vector<int64_t> dims;
    Shape shape;
    for (int64_t i = 0; i < rank; ++i) {
      dims.push_back(Chance(tame_ ? 1 : 3) ? 0 : 1 + Below(tame_ && rank > 4 ? 2 : 4));
      const bool named = Chance(50);
      shape.Append(named && dims.back() == kN   ? Dim::Symbol("n")
                   : named && dims.back() == kM ? Dim::Symbol("m")
                   : Chance(3)                  ? Dim()
                                                : Dim(dims.back()));
    }
    Value* input = graph().AddInput(UniqueName("in"), Type::Tensor(t, shape));
    data_[input] = RandomTensor(t, dims, -3, 3);
    pool_.push_back(input);
  }

  Value* AddConstant(Graph& graph, Tensor tensor) {
    return graph.AddConstant(UniqueName("c"), std::move(tensor));
  }

  std::optional<Tensor> TensorOf(const Value* value) const {
    if (value->constant()) return *value->constant();
    const auto it = data_.find(value);
    const Tensor* tensor = it == data_.end() ? nullptr : it->second.tensor();
    return tensor ? std::optional(*tensor) : std::nullopt;
  }

  Value* Recent() {
    const auto n = static_cast<int64_t>(pool_.size());
    if (Chance(30)) return pool_.back();
    return pool_[Chance(60) ? n - 1 - Below(std::min<int64_t>(n, 5)) : Below(n)];
  }

  // A value of that type, if one of a few tries is.
  Value* RecentOf(DType t) {
    for (int i = 0; i < 12; ++i) {
      if (Value* value = Recent(); value->dtype() == t) return value;
    }
    return nullptr;
  }

  // --- Operands -------------------------------------------------------------------------------

  std::vector<int64_t> Axes(int64_t rank, bool all) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < rank; ++i) {
      if (all || Chance(40)) axes.push_back(Chance(30) ? i - rank : i);
    }
    return axes;
  }

  std::vector<int64_t> SizesFor(std::string_view op, const std::vector<int64_t>& dims) {
    std::vector<int64_t> sizes = dims;
    if (op == "reshape") {
      while (sizes.size() > 1 && Chance(40)) {  // two become one
        const int64_t i = Below(static_cast<int64_t>(sizes.size()) - 1);
        sizes[i] *= sizes[i + 1];
        sizes.erase(sizes.begin() + i + 1);
      }
      if (Chance(40)) sizes.insert(sizes.begin() + Below(sizes.size() + 1), 1);
      if (!sizes.empty() && Chance(50)) sizes[Below(sizes.size())] = Chance(70) ? -1 : 0;
    } else if (op == "expand") {
      for (int64_t& size : sizes) size = size == 1 && Chance(50) ? 3 : Chance(30) ? 1 : size;
      if (Chance(30)) sizes.insert(sizes.begin(), 1 + Below(2));
    } else {
      for (int64_t& size : sizes) size = 1 + Below(3);
    }
    return sizes;
  }

  // A constant that may do for that operand, whose first operand is of those dims.
  Value* ConstantFor(Graph& graph, std::string_view op, std::string_view name,
                     const std::vector<int64_t>& dims, DType t) {
    const auto rank = static_cast<int64_t>(dims.size());
    const auto ints = [&](const std::vector<int64_t>& v) {
      return AddConstant(graph, Tensor::Vector(v));
    };
    const auto some = [&](size_t n, int64_t low, int64_t high) {
      std::vector<int64_t> v(n);
      for (int64_t& x : v) x = low + Below(high - low + 1);
      return ints(v);
    };
    if (name == "shape") return ints(SizesFor(op, dims));
    if (name == "axes") return ints(Axes(rank, op == "slice" || op == "pad"));
    if (name == "starts") return Chance(60) ? some(rank, 0, 1) : some(rank, -3, 2);
    if (name == "ends") {
      return Chance(30)   ? ints(std::vector<int64_t>(rank, std::numeric_limits<int64_t>::max()))
             : Chance(60) ? some(rank, 1, 4)
                          : some(rank, -2, 5);
    }
    if (name == "steps")
      return Chance(60) ? ints(std::vector<int64_t>(rank, 1)) : some(rank, -2, 2);
    if (name == "pads") return Chance(40) ? some(2 * rank, 0, 0) : some(2 * rank, -1, 2);
    if (name == "repeats") return Chance(40) ? some(rank, 1, 1) : some(rank, 0, 2);
    if (name == "indices") return AddConstant(graph, RandomTensor(DType::kInt64, {2}, 0, 1));
    if (name == "k") return some(1, 1, 2);
    if (name == "axis" || name == "trip_count" || name == "depth") {
      return AddConstant(graph, Tensor::Scalar<int64_t>(Below(3)));
    }
    if (name == "training_mode" || name == "cond" || name == "condition") {
      return AddConstant(graph, Tensor::Scalar<bool>(Chance(50)));
    }
    std::vector<int64_t> own = dims;
    if (Chance(60)) own.clear();
    for (int64_t& d : own) d = Chance(50) ? 1 : d;
    const int64_t low = Pick<int64_t>({0, 1, -2});
    return AddConstant(graph, RandomTensor(t, own, low, Chance(40) ? low : low + 3));
  }

  Value* OperandFor(Graph& graph, const OpDef& def, const OperandDef& operand, const Value* first) {
    static const auto* kInts = new absl::flat_hash_set<std::string_view>{
        "shape", "axes",    "starts", "ends",          "steps", "pads",      "repeats",
        "k",     "indices", "axis",   "training_mode", "cond",  "trip_count"};
    std::vector<int64_t> dims;
    DType t = DType::kFloat32;
    if (first) {
      if (const auto tensor = TensorOf(first)) dims = tensor->dims();
      if (first->dtype() != DType::kUndefined) t = first->dtype();
    }
    const bool constant = kInts->contains(operand.name) ? Chance(80) : first && Chance(35);
    if (constant) return ConstantFor(graph, def.name(), operand.name, dims, t);
    if (kInts->contains(operand.name)) {
      if (Value* value = RecentOf(DType::kInt64)) return value;
    }
    if (first && Chance(80)) {
      if (Value* value = RecentOf(t)) return value;
    }
    return Recent();
  }

  // --- Attributes -----------------------------------------------------------------------------

  std::optional<Attribute> AttributeFor(const AttrDef& def, const Value* first) {
    const int64_t rank = first && first->shape() ? first->shape()->rank() : 2;
    if (const AttributeRange* range = tame_ ? RangeOfAttribute(def.name.view()) : nullptr) {
      if (def.kind == AttrKind::kInt && range->axis) {
        return Attribute(Below(std::max<int64_t>(rank, 1)) - (Chance(30) ? rank : 0));
      }
      if (def.kind == AttrKind::kInt) {
        return Attribute(range->low + Below(range->high - range->low + 1));
      }
      if (def.kind == AttrKind::kString && !range->texts.empty()) {
        return Attribute(
            std::string(range->texts[Below(static_cast<int64_t>(range->texts.size()))]));
      }
    }
    switch (def.kind) {
      case AttrKind::kInt: return Attribute(Below(rank + 2) - (Chance(30) ? rank : 0));
      case AttrKind::kFloat: return Attribute(static_cast<float>(Below(9) - 4) / 4);
      case AttrKind::kString:
        if (def.name == "to" || def.name == "dtype") {
          return Attribute(Pick({"float32", "float64", "float16", "int64", "int32", "int8", "uint8",
                                 "bool", "bfloat16"}));
        }
        return Attribute(Pick({"constant", "edge", "reflect", "LEFT", "RIGHT", "none", "add", "sum",
                               "mean", "linear", "nearest"}));
      case AttrKind::kInts: {
        std::vector<int64_t> ints;
        for (int64_t i = 0; i < rank; ++i) ints.push_back(i);
        for (int64_t i = rank; i-- > 1;) std::swap(ints[i], ints[Below(i + 1)]);
        return Attribute(std::move(ints));
      }
      default: return std::nullopt;
    }
  }

  // --- Nodes ----------------------------------------------------------------------------------

  const OpDef& PickOp() {
    // Chains of one op, on the last value.
    if (last_op_ && Chance(20)) return *last_op_;
    static const auto* all = new std::vector<const OpDef*>(AllOps());
    if (Chance(35)) return *(*all)[Below(static_cast<int64_t>(all->size()))];
    return *FindOp(
        Pick({"add",     "mul",      "sub",       "div",       "neg",       "relu",       "reshape",
              "reshape", "flatten",  "squeeze",   "unsqueeze", "transpose", "transpose",  "slice",
              "slice",   "concat",   "concat",    "pad",       "expand",    "tile",       "cast",
              "cast",    "identity", "shape",     "shape",     "gather",    "size",       "where",
              "clip",    "dropout",  "max",       "split",     "matmul",    "reduce_sum", "softmax",
              "abs",     "not",      "cast_like", "floor",     "equal",     "pow"}));
  }

  static bool IsModerate(const Tensor& tensor) {
    if (!IsFloating(tensor.dtype())) return true;
    const double most = BitWidth(tensor.dtype()) < 32 ? 500 : 20000;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      if (!(std::abs(tensor.AsDouble(i)) <= most)) return false;
    }
    return true;
  }

  // Whether ONNX says what the node computes of these.
  static bool IsDefined(const Node& node, const std::vector<Datum>& operands) {
    const Tensor* x = operands.empty() ? nullptr : operands[0].tensor();
    const Tensor* y = operands.size() > 1 ? operands[1].tensor() : nullptr;
    // Lists are of rank 1.
    static const auto* kLists = new absl::flat_hash_set<std::string_view>{
        "shape", "axes", "starts", "ends", "steps", "pads", "repeats"};
    const absl::Span<const OperandDef> inputs = FindOp(node.op())->inputs();
    for (size_t i = 0; i < inputs.size() && i < operands.size(); ++i) {
      if (kLists->contains(inputs[i].name) && operands[i].tensor() &&
          operands[i].tensor()->rank() != 1) {
        return false;
      }
    }
    if ((node.Is("bit_shift") || node.Is("pow")) && y && y->is_string()) return false;
    if ((node.Is("cast") || node.Is("cast_like")) && x && IsFloating(x->dtype()) &&
        node.output(0) && IsInteger(node.output(0)->dtype())) {
      const DType to = node.output(0)->dtype();
      const int bits = std::min(BitWidth(to), 62);
      const double low = IsSignedInt(to) ? -std::ldexp(1, bits - 1) : 0;
      const double high = std::ldexp(1, IsSignedInt(to) ? bits - 1 : bits);
      for (int64_t i = 0; i < x->num_elements(); ++i) {
        const double v = x->AsDouble(i);
        if (!(v >= low && v < high)) return false;
      }
    }
    if (node.Is("bit_shift") && x && y) {
      for (int64_t i = 0; i < y->num_elements(); ++i) {
        if (y->AsInt(i) < 0 || y->AsInt(i) >= BitWidth(x->dtype())) return false;
      }
    }
    if (node.Is("pow") && x && y && IsInteger(x->dtype()) && !y->is_string()) {
      for (int64_t i = 0; i < y->num_elements(); ++i) {
        if (y->AsDouble(i) < 0 || y->AsDouble(i) > 8) return false;
      }
      for (int64_t i = 0; i < x->num_elements(); ++i) {
        if (std::abs(x->AsDouble(i)) > 4) return false;
      }
    }
    // An integer is cut out of a number that each runtime rounds in its own way.
    if (node.Is("erf") && x && IsInteger(x->dtype())) return false;
    // The scale of a range of nothing.
    if (node.Is("dynamic_quantize_linear") && x) {
      bool all_zero = true;
      for (int64_t i = 0; i < x->num_elements(); ++i) all_zero = all_zero && x->AsDouble(i) == 0;
      if (all_zero) return false;
    }
    if (node.Is("celu") && node.attrs().Float("alpha") == 0) return false;  // divides by it
    // What is no number, or infinite, becomes no integer.
    if ((node.Is("reduce_log_sum") || node.Is("reduce_log_sum_exp")) && x &&
        x->dtype() == DType::kBool) {
      return false;
    }
    // An integer is cut out of a number that each runtime rounds in its own way.
    if (node.Is("resize") && x && IsInteger(x->dtype()) &&
        node.attrs().String("mode") != "nearest") {
      return false;
    }
    if (node.Is("reduce_log_sum") && x && IsInteger(x->dtype())) {
      for (int64_t i = 0; i < x->num_elements(); ++i) {
        if (!(x->AsDouble(i) > 0)) return false;
      }
    }
    if (node.Is("reduce_log_sum_exp") && x && IsInteger(x->dtype()) && x->num_elements() == 0) {
      return false;
    }
    // Which of two updates wins is not said.
    if ((node.Is("scatter_elements") || node.Is("scatter_nd") || node.Is("max_unpool")) && y &&
        node.attrs().Has("reduction") && node.attrs().String("reduction") == "none") {
      return !HasTwice(*y);
    }
    return true;
  }

  static bool HasTwice(const Tensor& indices) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < indices.num_elements(); ++i) all.push_back(indices.AsInt(i));
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
  }

  // Evaluates what the builder made; false if it is not to be kept.
  bool Evaluate(const Node& node, bool again = false) {
    std::vector<Datum> operands;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const auto tensor = node.input(i) ? TensorOf(node.input(i)) : std::nullopt;
      const auto it = data_.find(node.input(i));
      if (node.input(i) && !tensor && it == data_.end()) return false;
      operands.push_back(tensor ? Datum(*tensor) : node.input(i) ? it->second : Datum());
    }
    for (const Value* output : node.outputs()) {
      const Dim count = output && output->shape() ? output->shape()->NumElements() : Dim(0);
      if (count.is_static() && count.value() > kMaxElements) return false;
    }
    // What integers by zero are is not said, and inference takes it that they do not come.
    if ((node.op() == "div" || node.op() == "mod") && IsInteger(operands[1].tensor()->dtype())) {
      const Tensor& divisor = *operands[1].tensor();
      for (int64_t i = 0; i < divisor.num_elements(); ++i) {
        if (divisor.AsInt(i) == 0) return false;
      }
    }
    // Sizes that a draw gave may be those of a tensor that fills the memory.
    if (node.op() == "constant_of_shape") {
      const auto sizes = operands[0].tensor()->ToInts();
      double count = 1;
      for (const int64_t size : sizes.ok() ? *sizes : std::vector<int64_t>()) {
        count *= static_cast<double>(size);
      }
      if (count > static_cast<double>(kMaxElements)) return false;
    }
    if (tame_ && !IsDefined(node, operands)) return false;
    // Those of units use no outer values.
    const auto nested = [](const Graph& graph, std::vector<Datum> inputs) {
      return RunGraph(graph, std::move(inputs));
    };
    const auto results = EvalNode(node, std::move(operands), nested);
    if (!results.ok()) return false;
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Value* output = node.output(i);
      if (!output) continue;
      const Tensor* tensor = (*results)[i].tensor();
      if (tensor ? tensor->num_elements() > kMaxElements : output->type().is_tensor()) return false;
      if (!again && data_.contains(output)) return false;
      if (tame_ && tensor && !IsModerate(*tensor)) return false;
      data_[output] = (*results)[i];
    }
    return true;
  }

  // One more node in that graph; null if the first try fails.
  Node* AddNode(Graph& graph, bool keep) {
    const OpDef& def = PickOp();
    if (def.impure() && def.name() != "dropout") return nullptr;
    if (!def.eval() || def.any_kind()) {
      if (def.name() != "identity") return nullptr;
    }
    for (const AttrDef& attr : def.attrs()) {
      if (attr.kind == AttrKind::kGraph || attr.kind == AttrKind::kGraphs) return nullptr;
    }
    Builder b(graph, nullptr);
    std::vector<Value*> operands, constants;
    for (const OperandDef& operand : def.inputs()) {
      if (operand.arity == Arity::kOptional && Chance(50)) {
        operands.push_back(nullptr);
        continue;
      }
      const int64_t n = operand.arity == Arity::kVariadic ? 1 + Below(3) : 1;
      for (int64_t i = 0; i < n; ++i) {
        const Value* first = operands.empty() ? nullptr : operands[0];
        operands.push_back(OperandFor(graph, def, operand, first));
        if (operands.back()->constant()) constants.push_back(operands.back());
      }
    }
    if (def.impure()) operands.resize(1);  // a dropout that drops nothing
    AttributeMap attrs;
    const Value* first = operands.empty() ? nullptr : operands[0];
    for (const AttrDef& attr : def.attrs()) {
      if ((attr.default_value || attr.optional) && !Chance(40)) continue;
      if (auto value = AttributeFor(attr, first)) attrs.Set(attr.name, *std::move(value));
    }
    std::vector<bool> wanted;
    for (const OperandDef& output : def.outputs()) {
      const int64_t n = output.arity == Arity::kVariadic ? 1 + Below(3) : 1;
      const bool left_out = output.arity == Arity::kOptional && Chance(60);
      for (int64_t i = 0; i < n; ++i) wanted.push_back(!left_out);
    }
    if (wanted.empty()) return nullptr;
    const Values outputs = b.Ops(def.name(), operands, std::move(attrs), wanted);
    if (b.status().ok() && Evaluate(*b.made()[0])) {
      // Names are unique over all graphs.
      for (Value* output : outputs) {
        if (output) graph.Rename(output, UniqueName(StrCat(def.name().view())));
        // Nothing but its own ops goes with complex numbers: those stand in a unit.
        const bool complex = output && IsComplex(output->dtype());
        if (output && keep && !complex) pool_.push_back(output);
      }
      last_op_ = &def;
      return b.made()[0];
    }
    for (const Value* output : outputs) data_.erase(output);
    b.Rollback();
    std::sort(constants.begin(), constants.end());
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (Value* constant : constants) {
      if (constant->graph() == &graph && constant->is_unused()) graph.RemoveConstant(constant);
    }
    return nullptr;
  }

  // A value of that type and these sizes: one that is there, or a new input.
  Value* ValueLike(const Type& type) {
    const std::vector<int64_t> dims = *type.shape()->Static();
    for (int i = 0; i < 20; ++i) {
      Value* value = Recent();
      if (value->dtype() == type.dtype() && TensorOf(value)->dims() == dims) return value;
    }
    Type stated = type;
    if (tame_ && Chance(40)) {
      Shape shape;
      for (const int64_t d : dims) {
        const bool named = Chance(30);
        shape.Append(named && d == kN   ? Dim::Symbol("n")
                     : named && d == kM ? Dim::Symbol("m")
                                        : Dim(d));
      }
      stated.set_shape(std::move(shape));
    }
    Value* input = graph().AddInput(UniqueName("in"), stated);
    data_[input] =
        RandomTensor(type.dtype(), dims,
                     IsSignedInt(type.dtype()) || (tame_ && IsFloating(type.dtype())) ? -2 : 0, 2);
    pool_.push_back(input);
    return input;
  }

  void AddUnit() {
    const absl::Span<const RandomUnit> units = RandomUnits();
    const RandomUnit& unit = units[Below(static_cast<int64_t>(units.size()))];
    AddText(unit.inputs, unit.nodes, /*fits=*/true);
  }

  void AddRecipe() {
    const RandomText text = MakeRecipe(Drawing());
    AddText(text.inputs, text.nodes, /*fits=*/false);
  }

  // `fits`: the nodes stand as they are; else inference may refuse them.
  void AddText(std::string_view inputs, std::string_view nodes, bool fits) {
    const auto parsed = ParseGraph(StrCat("graph u(", inputs, ") -> () {\n", nodes, "\n}"));
    X2IR_CHECK(parsed.ok(), StrCat(parsed.status().ToString(), inputs, nodes));
    for (const Node* node : (*parsed)->nodes()) {
      if (tame_ && FindOp(node->op())->impure()) return;
    }
    const bool tame = tame_;
    Builder b(graph(), nullptr);
    const auto take_back = [&] {
      for (const Node* made : b.made()) {
        for (const Value* output : made->outputs()) data_.erase(output);
      }
      b.Rollback();
    };
    absl::flat_hash_map<const Value*, Value*> values;
    for (const Value* input : (*parsed)->inputs()) {
      const Type& type = input->type();
      values[input] = input->name()[0] == 'w'
                          ? b.Constant(RandomWeight(type.dtype(), *type.shape()->Static()))
                          : ValueLike(type);
    }
    for (const Value* constant : (*parsed)->constants()) {
      values[constant] = b.Constant(*constant->constant());
    }
    for (const Node* node : (*parsed)->nodes()) {
      Values operands;
      for (const Value* input : node->inputs()) {
        operands.push_back(input ? values.at(input) : nullptr);
      }
      const Values outputs = b.Ops(node->op(), operands, CopyOfAttrs(*node), node->num_outputs());
      X2IR_CHECK(b.status().ok() || !fits || tame, StrCat(b.status().ToString(), nodes));
      if (!b.status().ok() || !Evaluate(*b.made().back())) return take_back();
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i]) continue;
        graph().Rename(outputs[i], UniqueName(node->op().view()));
        values[node->output(i)] = outputs[i];
      }
    }
    for (const Node* made : b.made()) {
      for (Value* output : made->outputs()) {
        if (!output) continue;
        const Tensor* tensor = data_.at(output).tensor();
        if (tensor && !IsComplex(tensor->dtype())) pool_.push_back(output);
      }
    }
  }

  // Names in nested graphs are new, and attributes have defaults.
  AttributeMap CopyOfAttrs(const Node& node) {
    AttributeMap attrs;
    for (const auto& [name, attr] : node.attrs()) {
      const auto* graph = attr.get<Attribute::GraphPtr>();
      if (!graph) {
        attrs.Set(name, attr);
        continue;
      }
      const std::shared_ptr<Graph> copy = (*graph)->Clone();
      for (Value* input : copy->inputs()) copy->Rename(input, UniqueName("u"));
      for (Node* inner : copy->nodes()) {
        for (Value* output : inner->outputs()) copy->Rename(output, UniqueName("u"));
        for (const AttrDef& def : FindOp(inner->op())->attrs()) {
          if (def.default_value && !inner->attrs().Has(def.name)) {
            inner->SetAttr(def.name, *def.default_value);
          }
        }
      }
      attrs.Set(name, copy);
    }
    return attrs;
  }

  // A branch of a few nodes over outer values; its output is its last value.
  std::shared_ptr<Graph> Branch() {
    auto branch = std::make_shared<Graph>("branch");
    nested_.push_back(branch);
    const size_t outer = pool_.size();
    for (int i = 0; i < 12 && branch->num_nodes() < 3; ++i) AddNode(*branch, true);
    if (branch->num_nodes() != 0) branch->AddOutput(branch->last()->output(0));
    pool_.resize(outer);
    if (branch->num_nodes() == 0 || !branch->outputs()[0]) return nullptr;
    return branch;
  }

  void AddIf() {
    const std::shared_ptr<Graph> then_branch = Branch(), else_branch = Branch();
    if (!then_branch || !else_branch) return;
    const bool cond = Chance(50);
    Value* condition = nullptr;
    if (Chance(40)) {
      condition = RecentOf(DType::kBool);
      if (condition && TensorOf(condition)->num_elements() != 1) condition = nullptr;
    }
    if (!condition) condition = AddConstant(graph(), Tensor::Scalar<bool>(cond));
    const bool taken = TensorOf(condition)->AsInt(0) != 0;
    const Value* result = (taken ? then_branch : else_branch)->outputs()[0];
    Builder b(graph(), nullptr);
    Value* y =
        b.Op("if", {condition}, {{"then_branch", then_branch}, {"else_branch", else_branch}});
    Keep(b, y, data_[result]);
  }

  void Keep(Builder& b, Value* y, Datum datum) {
    if (!b.status().ok() || !datum.tensor()) return b.Rollback();
    graph().Rename(y, UniqueName("y"));
    data_[y] = std::move(datum);
    pool_.push_back(y);
  }

  // A few rounds of elementwise ops on one value.
  void AddLoop() {
    auto body = std::make_shared<Graph>("body");
    nested_.push_back(body);
    Value* from = RecentOf(DType::kFloat32);
    if (!from) return;
    Value* round = body->AddInput(UniqueName("i"), Type::Tensor(DType::kInt64, Shape()));
    Value* cond = body->AddInput(UniqueName("k"), Type::Tensor(DType::kBool, Shape()));
    Value* state = body->AddInput(UniqueName("s"), from->type());
    Builder b(*body, nullptr);
    Value* step = b.Op("cast", {round}, {{"to", "float32"}});
    Value* next = b.Op(Pick({"add", "mul", "max"}), {state, step});
    if (Chance(50)) next = b.Op(Pick({"neg", "relu", "identity"}), {next});
    if (!b.status().ok()) return;
    for (Node* node : body->nodes()) {
      body->Rename(node->output(0), UniqueName("b"));
    }
    body->AddOutput(cond);
    body->AddOutput(next);
    const int64_t rounds = Below(12);
    data_[state] = *TensorOf(from);
    for (int64_t i = 0; i < rounds; ++i) {
      data_[round] = Tensor::Scalar<int64_t>(i);
      for (const Node* node : body->nodes()) {
        if (Evaluate(*node, true)) continue;
        X2IR_CHECK(tame_, "it is evaluated");
        return;
      }
      data_[state] = data_[next];
    }
    Builder outer(graph(), nullptr);
    Value* y =
        outer.Op("loop", {AddConstant(graph(), Tensor::Scalar<int64_t>(rounds)), nullptr, from},
                 {{"body", body}});
    Keep(outer, y, data_[state]);
  }

  Random random_;
  const bool tame_;
  absl::flat_hash_set<std::string> odd_names_;
  int64_t names_ = 0;
  const OpDef* last_op_ = nullptr;
  RandomGraph made_;
  std::vector<Value*> pool_;
  std::vector<std::shared_ptr<Graph>> nested_;  // data_ knows their values
  absl::flat_hash_map<const Value*, Datum> data_;
};

}  // namespace

std::vector<Datum> RandomGraph::Inputs() const {
  std::vector<Datum> inputs;
  for (const Value* input : graph->inputs()) inputs.push_back(values.at(input->name()));
  return inputs;
}

RandomGraph MakeRandomGraph(uint64_t seed, RandomKind kind) { return Generator(seed, kind).Make(); }

}  // namespace x2ir
