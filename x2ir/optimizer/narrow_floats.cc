#include "x2ir/optimizer/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

const FloatRule& FloatRuleOf(const Node& node) {
  static constexpr FloatRule kNone;
  const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
  return op ? op->floats() : kNone;
}

bool IsFloat32(const Value* value) {
  return value && value->type().is_tensor() && value->dtype() == DType::kFloat32;
}

// The type with float32 of tensors, also in sequences, optionals and maps, as that.
Type Narrow(const Type& type, DType to) {
  switch (type.kind()) {
    case Type::kTensor:
    case Type::kSparseTensor: {
      Type narrow = type;
      if (type.dtype() == DType::kFloat32) narrow.set_dtype(to);
      return narrow;
    }
    case Type::kSequence: return Type::Sequence(Narrow(type.element(), to));
    case Type::kOptional: return Type::Optional(Narrow(type.element(), to));
    default: return type;
  }
}

// Whether `name` means the op: "LayerNormalization" is layer_normalization.
bool MeansOp(std::string_view name, std::string_view op) {
  const auto plain = [](std::string_view text) {
    std::string letters;
    for (const char c : text) {
      if (c != '_') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return letters;
  };
  return plain(name) == plain(op);
}

class Narrower {
 public:
  Narrower(Graph& graph, const NarrowOptions& options) : graph_(graph), options_(options) {}

  absl::StatusOr<Narrowed> Run() {
    std::vector<bool> found(options_.keep.size());
    Mark(graph_, found);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) result_.unknown.push_back(options_.keep[i]);
    }
    if (!result_.unknown.empty()) return std::move(result_);
    MarkBack(graph_);
    if (!options_.keep_io) {
      for (Value* input : graph_.inputs()) NarrowInput(input);
    }
    X2IR_RETURN_IF_ERROR(NarrowNodes(graph_));
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      X2IR_RETURN_IF_ERROR(NarrowOutput(graph_, i, options_.keep_io));
    }
    Finish();
    return std::move(result_);
  }

 private:
  // --- What stays -----------------------------------------------------------------------------

  void Mark(Graph& graph, std::vector<bool>& found) {
    for (const Node* node : graph.nodes()) {
      bool stays = !node->is_ir();
      for (size_t i = 0; i < options_.keep.size(); ++i) {
        const std::string& name = options_.keep[i];
        if (name != node->name() && !MeansOp(name, node->op().view())) continue;
        found[i] = true;
        stays = stays || node->is_ir();
      }
      const FloatRule& rule = FloatRuleOf(*node);
      stays = stays || rule.operands == kAllOfType;
      // A unit of dequantize_linear, an op and quantize_linear is one quantized op to runtimes.
      for (size_t i = 0; i < node->num_inputs() && !stays; ++i) {
        const Node* producer = node->input(i) ? node->input(i)->producer() : nullptr;
        stays = producer && producer->Is("dequantize_linear");
      }
      if (stays) stays_.insert(node);
      if (rule.back) back_.insert(node);
    }
    for (Graph* inner : graph.NestedGraphs()) Mark(*inner, found);
  }

  // Whether a use keeps what it uses in float32, and what that is computed from.
  bool KeepsBack(const Use& use) const {
    const Node& node = *use.node;
    if (node.Is("cast")) {
      const auto to = ParseDType(node.attrs().String("to", ""));
      if (to && (IsInteger(*to))) return true;
    }
    if (!back_.contains(&node)) return false;
    const uint32_t operands = FloatRuleOf(node).operands;
    return operands == kNoneOfType || ((operands >> std::min<uint32_t>(use.index, 31)) & 1);
  }

  static bool IsCheap(const Node& node) {
    const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
    if (!op || node.has_subgraphs()) return false;
    if (op->rows() == RowUse::kElementwise || op->moves() != MoveUse::kNone) return true;
    if (node.Is("matmul")) {
      // An outer product: positions by frequencies.
      const Shape* a = node.input(0)->shape();
      return a && a->rank() > 0 && (*a)[a->rank() - 1] == Dim(1);
    }
    // What else positions are computed with; that such an op is cheap is true here alone.
    return node.Is("cast") || node.Is("concat") || node.Is("expand") ||
           node.Is("constant_of_shape");
  }

  void MarkBack(Graph& graph) {
    for (Node* node = graph.last(); node; node = node->prev()) {
      for (Graph* inner : node->subgraphs()) MarkBack(*inner);
      if (stays_.contains(node) || !IsCheap(*node)) continue;
      bool all = true, any = false;
      for (const Value* output : node->outputs()) {
        if (!IsFloat32(output)) continue;
        any = true;
        all = all && !output->is_graph_output() && !output->uses().empty();
        for (const Use& use : output->uses()) all = all && KeepsBack(use);
      }
      if (any && all) {
        stays_.insert(node);
        back_.insert(node);
      }
    }
  }

  // --- What becomes narrow --------------------------------------------------------------------

  void NarrowInput(Value* input) {
    if (input->constant()) {
      if (input->constant()->dtype() != DType::kFloat32) return;
      graph_.SetDefault(input, NarrowTensor(*input->constant(), input->name()));
    }
    SetNarrow(input);
  }

  void SetNarrow(Value* value) {
    if (IsFloat32(value)) narrow_.insert(value);
    value->set_type(Narrow(value->type(), options_.to));
  }

  absl::Status NarrowNodes(Graph& graph) {
    for (Node* node : graph.nodes()) {
      if (made_.contains(node)) continue;
      const bool stays = stays_.contains(node);
      const uint32_t wide_operands = FloatRuleOf(*node).operands;
      bool floats = false;
      for (size_t i = 0; i < node->num_inputs(); ++i) {
        Value* operand = node->input(i);
        if (!operand) continue;
        // A cast takes whatever there is.
        if (node->Is("cast") && !stays) continue;
        const bool wide = stays || ((wide_operands >> std::min<size_t>(i, 31)) & 1);
        floats = floats || IsFloat32(operand) || narrow_.contains(operand);
        X2IR_ASSIGN_OR_RETURN(Value * wanted, wide ? Wide(operand) : NarrowOf(operand));
        if (wanted != operand) node->SetInput(i, wanted);
      }
      if (!stays) {
        NarrowAttributes(*node);
        for (Graph* inner : node->subgraphs()) {
          for (Value* input : inner->inputs()) SetNarrow(input);
          X2IR_RETURN_IF_ERROR(NarrowNodes(*inner));
          for (size_t i = 0; i < inner->outputs().size(); ++i) {
            X2IR_RETURN_IF_ERROR(NarrowOutput(*inner, i, /*wide=*/false));
          }
        }
        for (Value* output : node->outputs()) {
          if (output) SetNarrow(output);
        }
        if (absl::Status s = InferNode(*node); !s.ok()) {
          return Annotate(s, StrCat("as ", Name(options_.to)));
        }
      }
      for (const Value* output : node->outputs()) {
        // Inference says what is float32 all the same: what was computed in more digits.
        if (IsFloat32(output)) narrow_.erase(output);
        floats = floats || IsFloat32(output);
      }
      if (stays && floats) ++result_.stays[QualifiedOp(*node)];
    }
    return absl::OkStatus();
  }

  void NarrowAttributes(Node& node) {
    for (const char* name : {"to", "dtype", "output_dtype"}) {
      const Attribute* attr = node.attrs().Find(name);
      const std::string* text = attr ? attr->get<std::string>() : nullptr;
      if (text && ParseDType(*text) == DType::kFloat32) {
        node.SetAttr(name, std::string(Name(options_.to)));
      }
    }
    std::vector<std::pair<Symbol, Attribute>> changed;
    for (const auto& [name, attr] : node.attrs()) {
      if (const Tensor* tensor = attr.get<Tensor>(); tensor && tensor->dtype() == DType::kFloat32) {
        changed.emplace_back(name, NarrowTensor(*tensor, node.name()));
      } else if (const Type* type = attr.get<Type>()) {
        changed.emplace_back(name, Narrow(*type, options_.to));
      }
    }
    for (auto& [name, attr] : changed) node.SetAttr(name, std::move(attr));
  }

  absl::Status NarrowOutput(Graph& graph, size_t i, bool wide) {
    Value* value = graph.outputs()[i];
    X2IR_ASSIGN_OR_RETURN(Value * wanted, wide ? Wide(value) : NarrowOf(value));
    if (wanted == value) return absl::OkStatus();
    // The output keeps its name.
    graph.SetOutput(i, wanted);
    if (!value->is_input() && value->graph() == &graph && wanted->graph() == &graph &&
        !value->is_graph_output()) {
      graph.SwapNames(value, wanted);
    }
    return absl::OkStatus();
  }

  // The value as it goes into what computes in float32.
  absl::StatusOr<Value*> Wide(Value* value) {
    if (!narrow_.contains(value)) return value;
    return Cast(value, DType::kFloat32);
  }

  absl::StatusOr<Value*> NarrowOf(Value* value) {
    if (!IsFloat32(value)) return value;
    if (const Tensor* tensor = value->fixed_constant()) {
      Value*& copy = cast_[value];
      if (!copy) {
        Graph& graph = *value->graph();
        X2IR_ASSIGN_OR_RETURN(const Tensor dense, tensor->ToDense());
        copy =
            graph.AddConstant(graph.UniqueName(value->name()), NarrowTensor(dense, value->name()));
        ++result_.weights;
      }
      return copy;
    }
    return Cast(value, options_.to);
  }

  absl::StatusOr<Value*> Cast(Value* value, DType to) {
    Value*& copy = cast_[value];
    if (copy) return copy;
    Graph& graph = *value->graph();
    Node* before = value->producer() ? value->producer()->next() : graph.first();
    Node* cast = graph.InsertNode(before, kIrDialect, "cast", {value});
    cast->SetAttr("to", std::string(Name(to)));
    cast->SetAttr("saturate", int64_t{1});
    cast->SetAttr("round_mode", std::string("up"));
    copy = graph.AddNodeOutput(cast,
                               graph.UniqueName(StrCat(value->name(), "_", std::string(Name(to)))));
    X2IR_RETURN_IF_ERROR(InferNode(*cast));
    made_.insert(cast);
    ++result_.casts;
    return copy;
  }

  // Numbers beyond the range become the largest ones, as masks require. A scalar does not become 0:
  // it may prevent a division by zero.
  Tensor NarrowTensor(const Tensor& tensor, const std::string& name) {
    const Numbers<float> numbers(tensor);
    const bool half = options_.to == DType::kFloat16;
    constexpr float kLimit = 65504, kRoundsToInfinity = 65520, kLeast = 1.0F / (1 << 24);
    const auto overflows = [&](float v) {
      return half && std::isfinite(v) && std::fabs(v) >= kRoundsToInfinity;
    };
    int64_t count = 0;
    float largest = 0;
    for (const float v : numbers.span()) {
      if (!overflows(v)) continue;
      ++count;
      largest = std::max(largest, std::fabs(v));
    }
    const bool vanishes =
        half && numbers.size() == 1 && numbers[0] != 0 && std::fabs(numbers[0]) < kLeast;
    if (count == 0 && !vanishes) {
      return FromNumbers<float>(options_.to, tensor.dims(), numbers.span());
    }
    if (count > 0) {
      if (numbers.size() == 1) {
        result_.notes.push_back(StrCat("'", name, "' is ", numbers[0],
                                       ", beyond the range of float16; it becomes ",
                                       std::copysign(kLimit, numbers[0])));
      } else {
        result_.warnings.push_back(StrCat(count, " of ", numbers.size(), " elements of '", name,
                                          "' are beyond the range of float16 (up to ", largest,
                                          "); they become 65504 of the same sign"));
      }
    }
    std::vector<float> fixed(numbers.span().begin(), numbers.span().end());
    for (float& v : fixed) {
      if (overflows(v)) v = std::copysign(kLimit, v);
      if (vanishes) v = std::copysign(kLeast, v);
    }
    return FromNumbers<float>(options_.to, tensor.dims(), fixed);
  }

  // Unused constants are removed, and their replacements get their names.
  void Finish() {
    for (const auto& [value, copy] : cast_) {
      if (!value->fixed_constant() || !value->is_unused()) continue;
      Graph& graph = *value->graph();
      graph.SwapNames(value, copy);
      unused_.push_back(value);
    }
    for (Value* value : unused_) value->graph()->RemoveConstant(value);
  }

  Graph& graph_;
  const NarrowOptions& options_;
  Narrowed result_;
  absl::flat_hash_set<const Node*> stays_, back_, made_;
  absl::flat_hash_set<const Value*> narrow_;
  absl::flat_hash_map<Value*, Value*> cast_;
  std::vector<Value*> unused_;
};

}  // namespace

absl::StatusOr<Narrowed> NarrowFloats(Graph& graph, const NarrowOptions& options) {
  X2IR_ASSIGN_OR_RETURN(Narrowed result, Narrower(graph, options).Run());
  return result;
}

}  // namespace x2ir
