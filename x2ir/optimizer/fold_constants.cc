// fold_constants: computes now what is the same in every run.
//  1. A node whose operands are all known is evaluated, with the numbers that evaluation gives.
//     Known is a constant, the result of such a node, and what inference found (the sizes of a
//     static shape). Ops that are no function of their operands stay, and those with graphs.
//  2. An output that inference knows becomes a constant, whatever the operands are.
//  3. A result becomes a constant where something else uses it, and only if the file does not
//     grow by it to more than 1.2 times what it was when the pipeline began (constants that go
//     then count against it; a kilobyte is free). Intermediate results are never in the graph.
//  4. Large or long computations are left to run time, each by itself and all together.
// fold_numbers: the same, but what is computed of weights (floats, more than one) stays.
//
// One sweep in the order of the graph does it; nested graphs are swept when their node comes. What
// was computed is told to inference on the way, so that sizes that hang on it are known further
// down.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/knowledge.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/optimizer/room.h"
#include "x2ir/optimizer/rule_util.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

// Elements of operands and results together that are computed with.
constexpr int64_t kMaxElements = int64_t{1} << 24;
// The same for ops that do more than a little for each element.
constexpr int64_t kMaxHeavyElements = int64_t{1} << 17;
// Bytes of what is put into the graph for inference to see.
constexpr int64_t kShown = int64_t{1} << 12;

int64_t BytesOf(const Tensor& tensor) {
  if (!tensor.is_string()) return static_cast<int64_t>(tensor.nbytes());
  int64_t bytes = 0;
  for (const std::string& text : tensor.strings()) bytes += static_cast<int64_t>(text.size()) + 2;
  return bytes;
}

// The result of arithmetic with the same NaN everywhere: processors make NaNs of different signs.
Tensor WithOneNaN(Tensor tensor) {
  if (!IsFloating(tensor.dtype())) return tensor;
  DispatchFloat(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(tensor);
    const auto is_nan = [](T x) { return std::isnan(x); };
    if (absl::c_none_of(numbers.span(), is_nan)) return absl::OkStatus();
    std::vector<T> values(numbers.span().begin(), numbers.span().end());
    absl::c_replace_if(values, is_nan, std::numeric_limits<T>::quiet_NaN());
    tensor = FromNumbers<T>(tensor.dtype(), tensor.dims(), values);
    return absl::OkStatus();
  }).IgnoreError();  // a complex type has no such NaN
  return tensor;
}

class Folder {
 public:
  Folder(const PassContext& context, int64_t room, int64_t work, bool weights)
      : context_(context), room_(room), work_(work), weights_(weights) {}

  int64_t Fold(Graph& graph) {
    int64_t changes = 0;
    std::vector<Node*> evaluated;
    Lookahead ahead(graph);
    for (Node* node : graph.nodes()) {
      ahead.Step();
      const size_t news = news_.size();
      for (Graph* inner : node->subgraphs()) changes += Fold(*inner);
      if (!node->is_ir()) continue;
      if (news_.size() != news || UsesNews(*node)) Learn(*node);
      if (Evaluate(*node)) {
        evaluated.push_back(node);
      } else if (MayKnowMore(*node) && ShowOperands(*node, &changes)) {
        Learn(*node);
        if (Evaluate(*node)) evaluated.push_back(node);
      }
    }
    // From the end, so that what only folded nodes used has no uses any more.
    for (; !evaluated.empty(); evaluated.pop_back()) changes += Settle(graph, evaluated.back());
    return changes;
  }

  // Whether there was no room for something.
  bool refused() const { return refused_; }

 private:
  // --- What becomes known on the way ---------------------------------------------------------

  bool UsesNews(const Node& node) const {
    if (news_.empty()) return false;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (news_.contains(node.input(i))) return true;
    }
    return false;
  }
  // Infers the node again, since more is known of its operands.
  void Learn(Node& node) {
    std::vector<const Value*> changed;
    InferAgain(node, &changed);
    news_.insert(changed.begin(), changed.end());
  }
  // Inference reads small integers from their values: those that were just computed.
  void Tell(Value& value, const Tensor& tensor) {
    const Knowledge before = KnowledgeOf(&value);
    SetInferredType(
        value, Type::Tensor(tensor.dtype(),
                            Shape(std::vector<Dim>(tensor.dims().begin(), tensor.dims().end()))));
    const bool numbers = IsInteger(tensor.dtype()) || tensor.dtype() == DType::kBool;
    if (numbers && tensor.rank() <= 1 &&
        tensor.num_elements() <= int64_t{InferContext::kMaxElements}) {
      if (const auto ints = tensor.ToInts(); ints.ok()) {
        value.set_elements(std::vector<Dim>(ints->begin(), ints->end()));
      }
    }
    if (!(KnowledgeOf(&value) == before)) news_.insert(&value);
  }
  // Others (the factors of a resize) only as constants of the graph. The node that needs them
  // probably stays, so they would become constants of the graph anyway.
  bool ShowOperands(const Node& node, int64_t* changes) {
    bool any = false;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      Value* value = node.input(i);
      const Tensor* tensor = value && !value->elements() ? Find(value) : nullptr;
      if (!tensor || tensor->is_string()) continue;
      const int64_t bytes = BytesOf(*tensor);
      if (bytes > kShown) continue;
      if (bytes > room_) {
        refused_ = true;
        continue;
      }
      room_ -= bytes;
      Replace(*value->graph(), value, *tensor);
      ++*changes;
      any = true;
    }
    return any;
  }

  struct Known {
    Tensor tensor;
    int64_t freed = 0;  // bytes of constants that are removed with the node
  };

  const Tensor* Find(const Value* value) const {
    const auto it = known_.find(value);
    return it == known_.end() ? nullptr : &it->second.tensor;
  }

  std::optional<Tensor> Operand(const Value& value) const {
    if (const Tensor* tensor = Find(&value)) return *tensor;
    return KnownTensor(value);
  }

  // Finds the node's results; whether it has any that are known.
  bool Evaluate(const Node& node) {
    bool all = true, any = false;
    for (Value* output : node.outputs()) {
      if (!output) continue;
      if (auto tensor = KnownTensor(*output)) {
        known_[output] = {*std::move(tensor), Freed(node)};
        any = true;
      } else {
        all = false;
      }
    }
    return (!all && EvaluateUnknown(node)) || any;
  }
  // A weight that keeps its type, with a cast.
  bool KeepsType(const Node& node) const {
    constexpr int64_t kSmall = 1 << 16;
    const Tensor* tensor =
        context_.keeps_weight_types && node.Is("cast") ? node.input(0)->fixed_constant() : nullptr;
    return tensor && tensor->num_elements() > kSmall && ByteSize(tensor->dtype(), 1) == 2 &&
           IsFloating(tensor->dtype());
  }

  bool EvaluateUnknown(const Node& node) {
    if (node.num_inputs() == 0 || node.has_subgraphs() || KeepsType(node)) return false;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* value = node.input(i);
      if (value && !MayBeKnown(*value) && !Find(value)) return false;
    }
    const OpDef* def = FindOp(node.op());
    // A weight that is kept as integers stays so: with its dequantize_linear it is a quantized
    // op's.
    if (!def || def->impure() || def->quantized_unit() || !def->eval()) return false;
    std::vector<Datum> operands;
    int64_t elements = 0;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* value = node.input(i);
      if (!value) {
        operands.emplace_back();
        continue;
      }
      if (!weights_ && IsWeight(*value)) return false;
      std::optional<Tensor> tensor = Operand(*value);
      if (!tensor || StaysInFile(*tensor, context_)) return false;
      elements += tensor->num_elements();
      operands.emplace_back(*std::move(tensor));
    }
    if (!IsSmall(node, *def, elements) || elements > work_) return false;
    work_ -= elements;
    auto results = EvalNode(node, std::move(operands), nullptr);
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (const Value* value = node.input(i); value && value->constant()) {
        DropPages(*value->constant());
      }
    }
    if (!results.ok()) return false;  // the evaluation of the node reports the error
    bool any = false;
    const int64_t freed = Freed(node);
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Tensor* tensor = node.output(i) ? (*results)[i].tensor() : nullptr;
      if (tensor) work_ -= tensor->num_elements();
      if (!tensor || tensor->is_sparse()) continue;
      const bool moved = def->numbers().use == NumberUse::kMoves;
      known_[node.output(i)] = {Spilled(moved ? *tensor : WithOneNaN(*tensor)), freed};
      Tell(*node.output(i), *tensor);
      any = true;
    }
    return any;
  }

  static bool IsWeight(const Value& value) {
    const Tensor* tensor = value.fixed_constant();
    return tensor && IsFloating(tensor->dtype()) && tensor->num_elements() > 1;
  }

  static bool IsSmall(const Node& node, const OpDef& def, int64_t elements) {
    const int64_t most = def.heavy() ? kMaxHeavyElements : kMaxElements;
    if (elements > most) return false;
    for (const Value* output : node.outputs()) {
      if (!output) continue;
      const auto dims = output->shape() ? output->shape()->Static() : std::nullopt;
      if (!dims) {
        if (!def.bounded_results()) return false;
        continue;
      }
      const auto count = CheckedProduct(*dims);
      if (!count || *count > most) return false;
      elements += *count;
    }
    return elements <= most;
  }

  // Bytes of constants that are unused after the node is removed.
  int64_t Freed(const Node& node) const {
    int64_t freed = 0;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* value = node.input(i);
      if (!value || value->uses().size() != 1 || value->is_graph_output()) continue;
      if (const Tensor* constant = value->fixed_constant()) {
        freed += BytesOf(*constant);
      } else if (const auto it = known_.find(value); it != known_.end()) {
        freed += it->second.freed;
      }
    }
    return freed;
  }

  // Puts constants in the place of what is known, where it is used and there is room.
  int64_t Settle(Graph& graph, Node* node) {
    std::vector<std::pair<Value*, Tensor>> found;
    int64_t growth = 0, freed = 0;
    bool known = false, whole = node->num_outputs() != 0;
    for (Value* output : node->outputs()) {
      const auto it = output ? known_.find(output) : known_.end();
      if (it != known_.end()) {
        known = true;
        freed = it->second.freed;
        if (!output->is_unused()) {
          growth += BytesOf(it->second.tensor);
          found.emplace_back(output, std::move(it->second.tensor));
        }
        known_.erase(it);
      } else if (output && !output->is_unused()) {
        whole = false;
      }
    }
    if (!known) return 0;
    if (whole) growth -= freed;
    if (growth > room_) {
      refused_ = true;
      return 0;
    }
    if (!found.empty()) room_ -= growth;
    for (auto& [output, tensor] : found) Replace(graph, output, std::move(tensor));
    if (whole) EraseWithConstants(node);
    return static_cast<int64_t>(found.size()) + (whole && found.empty());
  }

  void Replace(Graph& graph, Value* output, Tensor tensor) {
    const std::string name = output->name();
    Value* constant = graph.AddConstant(graph.UniqueName(name), std::move(tensor));
    graph.SwapNames(output, constant);
    constant->annotations().MergeFrom(output->annotations());
    // If weights are kept, other constants must be known.
    if (!weights_) constant->annotations().GetOrMake().extra.try_emplace("python.folded");
    graph.ReplaceAllUses(output, constant);
  }

  const PassContext& context_;
  int64_t room_;  // by how many bytes the file may still grow
  int64_t work_;  // with how many elements may still be computed
  bool refused_ = false;
  bool weights_;  // whether floats of more than one element are computed with
  absl::flat_hash_map<const Value*, Known> known_;
  absl::flat_hash_set<const Value*> news_;  // of which more is known than before
};

constexpr double kGrowth = 0.2;
constexpr int64_t kFree = 1 << 10;              // bytes
constexpr int64_t kMinWork = int64_t{1} << 26;  // elements; more where the file is larger

absl::StatusOr<int64_t> Fold(Graph& graph, const PassContext& context, bool weights) {
  const int64_t now = FileBytes(graph);
  const int64_t before = context.file_bytes != 0 ? context.file_bytes : now;
  const auto most = static_cast<int64_t>(static_cast<double>(before) * (1 + kGrowth)) + kFree;
  Folder folder(context, std::max<int64_t>(0, most - now), std::max(kMinWork, now), weights);
  const int64_t changes = folder.Fold(graph);
  if (folder.refused()) RememberFileBytes(graph, before);
  return changes;
}

absl::StatusOr<int64_t> FoldConstants(Graph& graph, const PassContext& context) {
  return Fold(graph, context, /*weights=*/true);
}

absl::StatusOr<int64_t> FoldNumbers(Graph& graph, const PassContext& context) {
  return Fold(graph, context, /*weights=*/false);
}

X2IR_PASS(fold_constants, "Computes what is the same in every run, if the file does not grow.",
          FoldConstants);
X2IR_PASS(fold_numbers, "The same but for weights, which stay what they are under their names.",
          FoldNumbers);

}  // namespace
}  // namespace x2ir
