#include "x2ir/handlers/torch/vmap.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

constexpr std::string_view kDomain = "torch._functorch.predispatch::";

// Operators, without overload, that give for each element of their operands, broadcast, one
// element.
constexpr std::string_view kByElement[] = {
    "abs",         "add",          "alias",       "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "ceil",         "clamp",       "clamp_max",   "clamp_min",   "clone",
    "contiguous",  "cos",          "detach",      "div",         "eq",          "exp",
    "floor",       "floor_divide", "ge",          "gt",          "le",          "lift_fresh_copy",
    "log",         "logical_and",  "logical_not", "logical_or",  "logical_xor", "lt",
    "masked_fill", "maximum",      "minimum",     "mul",         "ne",          "neg",
    "pow",         "reciprocal",   "relu",        "remainder",   "round",       "rsqrt",
    "rsub",        "sigmoid",      "sign",        "silu",        "sin",         "sqrt",
    "sub",         "tanh",         "to",          "_to_copy",    "where",       "__and__",
    "__or__",      "__xor__"};
// Whose elements do not depend on `self`: the result has no hidden axis.
constexpr std::string_view kOfSelfsTypeAlone[] = {"new_ones", "new_zeros", "new_full"};

template <typename List>
bool IsAmong(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// "aten::add.Tensor" -> "add"; of other domains nothing.
std::string_view PlainName(std::string_view op) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return {};
  op.remove_prefix(kAten.size());
  return op.substr(0, op.find('.'));
}

std::optional<int64_t> NumberAt(const Node& node, std::string_view name) {
  const Attribute* attr = node.attrs().Find(name);
  const int64_t* value = attr ? attr->get<int64_t>() : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

bool IsWithoutUse(const Node& node) {
  return std::all_of(node.outputs().begin(), node.outputs().end(),
                     [](const Value* output) { return !output || output->is_unused(); });
}

class Vmap {
 public:
  explicit Vmap(Graph& graph) : graph_(graph), node_names_(graph) {}

  absl::Status Run() {
    bool any = false;
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(InlineVmap(*inner));
      any = any || node->op().view().starts_with(kDomain);
    }
    if (!any) return absl::OkStatus();
    DropUnused();
    for (Node* node : graph_.nodes()) {
      if (absl::Status status = Visit(node); !status.ok()) {
        return Annotate(status, StrCat("'", node->name(), "' (torch.", node->op().str(), ")"));
      }
    }
    for (const Value* output : graph_.outputs()) {
      if (hidden_.contains(output)) return Refused("an output of the model with a hidden axis");
    }
    return absl::OkStatus();
  }

 private:
  // Levels of nesting, each with the size of its axis. In memory their axes come first, in this
  // order.
  using Levels = std::map<int64_t, Dim>;

  static absl::Status Refused(std::string_view what) {
    return Unimplemented("torch.vmap: ", what,
                         "; call run_decompositions() on the exported program before it is saved");
  }

  // Tracing leaves nodes without uses, of tensors with hidden axes too.
  void DropUnused() {
    for (Node* node = graph_.last(); node;) {
      Node* previous = node->prev();
      const std::string_view op = node->op().view();
      if (op.starts_with("aten::") && !WritesToMemory(op) && node->num_outputs() > 0 &&
          IsWithoutUse(*node)) {
        graph_.EraseUnused(node);
      }
      node = previous;
    }
  }

  const Levels& LevelsOf(const Value* value) const {
    static const auto* const kNone = new Levels();
    auto it = hidden_.find(value);
    return it == hidden_.end() ? *kNone : it->second;
  }
  static Type TypeWith(const Levels& levels, const Type& type) {
    if (!type.shape()) return type;
    std::vector<Dim> dims;
    for (const auto& [level, size] : levels) dims.push_back(size);
    for (const Dim& dim : *type.shape()) dims.push_back(dim);
    return Type::Tensor(type.dtype(), Shape(std::move(dims)));
  }
  // How many axes the program sees.
  static int64_t RankOf(const Value* value, const Levels& levels) {
    return value->shape()->rank() - static_cast<int64_t>(levels.size());
  }

  absl::Status Visit(Node* node) {
    const std::string_view op = node->op().view();
    if (op.starts_with(kDomain)) return Vmapped(node, op.substr(kDomain.size()));
    Levels levels;
    for (const Value* operand : node->inputs()) {
      if (!operand) continue;
      for (const auto& level : LevelsOf(operand)) levels.insert(level);
    }
    if (levels.empty()) return absl::OkStatus();
    const std::string_view name = PlainName(op);
    if (IsAmong(kOfSelfsTypeAlone, name) && node->num_inputs() == 1) return absl::OkStatus();
    if (IsAmong(kByElement, name)) return ByElement(node, levels, 0);
    if (op == "aten::index.Tensor" && LevelsOf(node->input(0)).empty()) {
      return Indexed(node, levels);
    }
    return Refused("not known of this operator");
  }

  absl::Status Vmapped(Node* node, std::string_view name) {
    if (name == "_add_batch_dim" || name == "_remove_batch_dim") {
      const bool add = name == "_add_batch_dim";
      const std::optional<int64_t> axis = NumberAt(*node, add ? "arg1" : "arg3"),
                                   level = NumberAt(*node, add ? "arg2" : "arg1");
      // The size that the axis had may be computed.
      const bool has_size = !add && node->num_inputs() == 2 && !node->attrs().Find("arg2");
      if (node->num_inputs() != (has_size ? 2 : 1) || node->num_outputs() != 1 || !axis || !level ||
          !node->input(0) || !node->input(0)->shape()) {
        return Refused("arguments that are not known");
      }
      return add ? Hide(node, *axis, *level) : Show(node, *axis, *level);
    }
    if (name == "lazy_load_decompositions" || name == "_vmap_increment_nesting" ||
        name == "_vmap_decrement_nesting") {
      if (IsWithoutUse(*node)) {
        graph_.EraseUnused(node);
        return absl::OkStatus();
      }
    }
    return Refused("not known of this operator");
  }

  absl::Status Hide(Node* node, int64_t axis, int64_t level) {
    Value *x = node->input(0), *result = node->output(0);
    Levels levels = LevelsOf(x);
    const auto first = static_cast<int64_t>(levels.size());
    if (axis < 0) axis += RankOf(x, levels);
    if (axis < 0 || axis >= RankOf(x, levels) ||
        (!levels.empty() && levels.rbegin()->first >= level)) {
      return Invalid("hides an axis that is not there");
    }
    levels[level] = (*x->shape())[first + axis];
    return Become(node, Moved(x, first + axis, first, node, result), levels);
  }

  absl::Status Show(Node* node, int64_t axis, int64_t level) {
    Value *x = node->input(0), *result = node->output(0);
    Levels levels = LevelsOf(x);
    const bool has = levels.erase(level) > 0;
    const auto first = static_cast<int64_t>(levels.size());
    const int64_t rank = x->shape()->rank() - first + (has ? 0 : 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return Invalid("shows an axis that is out of range");
    if (has) {
      // It must be the last level: the axes of the others come before it in memory.
      if (!levels.empty() && levels.rbegin()->first > level) {
        return Invalid("shows an axis that is not the last hidden one");
      }
      return Become(node, Moved(x, first, first + axis, node, result), levels);
    }
    // The same for all.
    const std::optional<int64_t> size = NumberAt(*node, "arg2");
    Value* computed = !size && node->num_inputs() == 2 ? node->input(1) : nullptr;
    if (!size && !computed) return Refused("arguments that are not known");
    Value* one = Unsqueezed(x, first + axis, node);
    if (size && *size == 1) return Become(node, one, levels);
    std::vector<int64_t> sizes(static_cast<size_t>(one->shape()->rank()), -1);
    sizes[static_cast<size_t>(first + axis)] = size.value_or(0);
    Shape shape = *one->shape();
    shape[first + axis] = size ? Dim(*size) : Dim();
    Node* wide = Make("aten::expand.default", one, node);
    wide->SetAttr("size", std::move(sizes));
    if (computed) {
      wide->AddInput(computed);
      wide->SetAttr("operands", Attribute::Strings{"self", StrCat("size[", first + axis, "]:int")});
    }
    return Become(node, Named(wide, result, Type::Tensor(one->dtype(), std::move(shape))), levels);
  }

  absl::Status Become(Node* node, Value* value, const Levels& levels) {
    graph_.ReplaceAllUsesKeepingOutputNames(node->output(0), value);
    graph_.EraseUnused(node);
    if (!levels.empty()) hidden_[value] = levels;
    return absl::OkStatus();
  }

  // The operands from `from` on in shapes that broadcast as they do without hidden axes.
  absl::Status Align(Node* node, const Levels& levels, size_t from) {
    int64_t rank = 0;
    for (size_t i = from; i < node->num_inputs(); ++i) {
      const Value* x = node->input(i);
      if (!x || !x->shape()) return Refused("a tensor of unknown rank");
      rank = std::max(rank, RankOf(x, LevelsOf(x)));
    }
    for (size_t i = from; i < node->num_inputs(); ++i) {
      Value* x = node->input(i);
      const Levels own = LevelsOf(x);
      if (own.empty()) continue;  // broadcasting puts axes of size 1 before it
      const int64_t lacking = rank - RankOf(x, own);
      int64_t axis = 0;
      for (const auto& [level, size] : levels) {
        if (!own.contains(level)) x = Unsqueezed(x, axis, node);
        ++axis;
      }
      for (int64_t k = 0; k < lacking; ++k) x = Unsqueezed(x, axis, node);
      if (x != node->input(i)) node->SetInput(i, x);
    }
    return absl::OkStatus();
  }

  absl::Status ByElement(Node* node, const Levels& levels, size_t from) {
    if (node->num_outputs() != 1 || !node->output(0)) return Refused("several results");
    // Which element type wins depends on which tensors have axes, hidden ones not counted.
    const Attribute* names = node->attrs().Find("operands");
    const auto* strings = names ? names->get<Attribute::Strings>() : nullptr;
    DType type = DType::kUndefined;
    for (size_t i = from; i < node->num_inputs(); ++i) {
      if (strings && ((*strings)[i] == "condition" || (*strings)[i] == "mask")) continue;
      const DType t = node->input(i)->dtype();
      if (type != DType::kUndefined && t != type) return Refused("of several element types");
      type = t;
    }
    X2IR_RETURN_IF_ERROR(Align(node, levels, from));
    Value* result = node->output(0);
    result->set_type(TypeWith(levels, result->type()));
    hidden_[result] = levels;
    return absl::OkStatus();
  }

  // Indices of the first axes, whose results come first: so do hidden axes.
  absl::Status Indexed(Node* node, const Levels& levels) {
    if (node->attrs().Has("indices") || !node->output(0)) return Refused("indices with gaps");
    for (size_t i = 1; i < node->num_inputs(); ++i) {
      if (!IsInteger(node->input(i)->dtype())) return Refused("indices by a mask");
    }
    X2IR_RETURN_IF_ERROR(Align(node, levels, 1));
    Value* result = node->output(0);
    result->set_type(TypeWith(levels, result->type()));
    hidden_[result] = levels;
    return absl::OkStatus();
  }

  // --- Nodes ---

  Node* Make(std::string_view op, Value* self, Node* before) {
    Node* node = graph_.InsertNode(before, "torch", op, {self});
    node->SetAttr("operands", Attribute::Strings{"self"});
    node->set_name(node_names_.Unique(before->name()));
    return node;
  }
  Value* Named(Node* node, const Value* like, Type type) {
    return graph_.AddNodeOutput(node, graph_.UniqueName(like->name()), std::move(type));
  }
  Value* Unsqueezed(Value* x, int64_t axis, Node* before) {
    Node* node = Make("aten::unsqueeze.default", x, before);
    node->SetAttr("dim", axis);
    std::vector<Dim> dims = x->shape()->dims();
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), Dim(1));
    return Named(node, x, Type::Tensor(x->dtype(), Shape(std::move(dims))));
  }
  Value* Moved(Value* x, int64_t from, int64_t to, Node* before, const Value* like) {
    // `x` does not change; the result is another tensor, with the axis at another index.
    Node* node = Make("aten::movedim.int", x, before);
    node->SetAttr("source", from);
    node->SetAttr("destination", to);
    std::vector<Dim> dims = x->shape()->dims();
    const Dim moved = dims[static_cast<size_t>(from)];
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(from));
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(to), moved);
    return Named(node, like, Type::Tensor(x->dtype(), Shape(std::move(dims))));
  }

  Graph& graph_;
  NodeNames node_names_;
  absl::flat_hash_map<const Value*, Levels> hidden_;
};

}  // namespace

absl::Status InlineVmap(Graph& graph) { return Vmap(graph).Run(); }

}  // namespace x2ir
