// See fuse_lists.h.
#include "x2ir/handlers/tf/fuse_lists.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/node_marks.h"
#include "x2ir/core/dialect.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/handlers/tf/written_lists.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/lowerings/sequences.h"

namespace x2ir {
namespace {

// What a loop carries from round to round: its first value and its next one; null for others.
struct CarriedValue {
  const Value* first = nullptr;
  const Value* next = nullptr;
};
CarriedValue CarriedOf(const Value& v) {
  constexpr size_t kOwn = 2;  // the number of the round and the condition
  const Graph* body = v.is_input() ? v.graph() : nullptr;
  const Node* loop = body ? body->parent_node() : nullptr;
  if (!loop || !loop->Is("loop")) return {};
  const auto inputs = body->inputs();
  const auto i = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), &v) - inputs.begin());
  if (i < kOwn || i >= inputs.size()) return {};
  return {loop->input(i), body->outputs()[i - 1]};
}
bool IsRoundOfLoop(const Value& v) {
  const Graph* body = v.is_input() ? v.graph() : nullptr;
  const Node* loop = body ? body->parent_node() : nullptr;
  return loop && loop->Is("loop") && body->inputs()[0] == &v;
}

// Whether integers are never negative: numbers, sizes, numbers of rounds, and what is computed of
// them by what keeps that. What a loop carries is if its first value is, and if each next one is
// where the one before is.
class FromTheFront {
 public:
  bool Is(const Value* v) {
    if (!v || --looks_ < 0) return false;
    if (const auto known = KnownTensor(*v)) {
      for (int64_t i = 0; i < known->num_elements(); ++i) {
        if (known->AsInt(i) < 0) return false;
      }
      return true;
    }
    if (IsRoundOfLoop(*v) || std::find(assumed_.begin(), assumed_.end(), v) != assumed_.end()) {
      return true;
    }
    if (const CarriedValue carried = CarriedOf(*v); carried.first) {
      if (!Is(carried.first)) return false;
      assumed_.push_back(v);
      return Is(carried.next);
    }
    const Node* made = v->producer();
    if (!made) return false;
    for (const char* op : {"sequence_length", "shape", "size"}) {
      if (made->Is(op)) return true;
    }
    for (const char* op :
         {"cast", "gather", "identity", "reshape", "slice", "squeeze", "unsqueeze"}) {
      if (made->Is(op)) return IsInteger(made->input(0)->dtype()) && Is(made->input(0));
    }
    for (const char* op : {"add", "max", "min", "mul"}) {
      if (!made->Is(op)) continue;
      const std::vector<Value*> all = made->inputs();
      return std::all_of(all.begin(), all.end(), [&](const Value* of) { return Is(of); });
    }
    return false;
  }

 private:
  int looks_ = 256;  // at so many values
  std::vector<const Value*> assumed_;
};
// Also where the operator that the node was made of says so.
bool IsFromTheFrontIn(const Node& node, const Value* place) {
  return IsMarked(node, NodeMark::kFromTheFront) || FromTheFront().Is(place);
}

bool IsTfList(const Value* v) {
  return v && v->type().kind() == Type::kSequence && v->type().element().is_tensor() &&
         v->type().element().dtype() != DType::kUndefined;
}

struct ListWrite {
  Value* list;
  Value* place;
  Value* item;
  bool same(const Node& insert) const {
    return insert.Is("sequence_insert") && insert.input(0) == list && insert.input(1) == item &&
           insert.input(2) == place;
  }
};

// sequence_erase of the element behind the one that was inserted.
std::optional<ListWrite> ReplacedBy(const Node& erase) {
  const Node* insert = erase.Is("sequence_erase") ? erase.input(0)->producer() : nullptr;
  if (!insert || !insert->Is("sequence_insert") || !insert->input(2) || !erase.input(1)) return {};
  if (insert->output(0)->uses().size() != 1 || insert->output(0)->is_graph_output()) return {};
  const Value* behind = erase.input(1);
  Value* place = insert->input(2);
  const auto from = KnownInts(place), to = KnownInts(behind);
  if (from && to) {
    if (from->size() != 1 || to->size() != 1 || (*to)[0] != (*from)[0] + 1) return {};
  } else {
    const Node* sum = behind->producer();
    if (!sum || !sum->Is("add")) return {};
    const auto one = KnownInts(sum->input(1));
    if (sum->input(0) != place || one != std::vector<int64_t>{1}) return {};
  }
  return ListWrite{insert->input(0), place, insert->input(1)};
}

// An `if` that replaces the element at a place within the list, and appends it behind the last.
std::optional<ListWrite> ReplacedOrAdded(const Node& node) {
  if (!node.Is("if") || node.num_outputs() != 1) return {};
  const Node* last = node.attrs().SubGraph("then_branch").outputs()[0]->producer();
  const Node* added = node.attrs().SubGraph("else_branch").outputs()[0]->producer();
  const Node* less = node.input(0)->producer();
  if (!last || !added || !less || !less->Is("less")) return {};
  const std::optional<ListWrite> write = ReplacedBy(*last);
  if (!write || !write->same(*added) || less->input(0) != write->place) return {};
  const Node* length = less->input(1)->producer();
  if (!length || !length->Is("sequence_length") || length->input(0) != write->list) return {};
  for (const Value* v : {write->list, write->place, write->item}) {
    if (v->graph() == &node.attrs().SubGraph("then_branch")) return {};
  }
  return write;
}

std::vector<Node*> MakersOf(const Node& node) {
  std::vector<Node*> makers;
  for (const Value* operand : node.inputs()) {
    if (operand && operand->producer()) makers.push_back(operand->producer());
  }
  return makers;
}

// The node's result by another node, before it; false where it cannot be made.
template <typename F>
bool ReplaceBy(Graph& graph, Node* node, NodeNames& names, const F& make) {
  Builder b(graph, node);
  b.set_name_hint(*node);
  Value* made = make(b);
  if (!b.status().ok()) {
    b.Rollback();
    return false;
  }
  made->producer()->annotations().GetOrMake().extra[kMadeForTarget] = "1";
  std::vector<Node*> makers = MakersOf(*node);
  Splice(node, {made}, b, names);
  EraseUnusedMakers(std::move(makers),
                    [&](const Node& maker) { return maker.graph() == &graph && maker.is_ir(); });
  return true;
}

Value* WrittenItem(Builder& b, const ListWrite& write, bool grows, const Type& type) {
  Value* at = b.Op("cast", {write.place}, {{"to", Name(DType::kInt32)}});
  const std::vector<Value*> operands = {write.list, at, write.item};
  AttributeMap given;
  if (grows) given.Set("resize_if_index_out_of_bounds", int64_t{1});  // TensorFlow 2.12 and later
  AttributeMap attrs = WithTfTypeAttrs("TensorListSetItem", operands, std::move(given));
  Value* list = b.Node("tf", "TensorListSetItem", operands, std::move(attrs), {true})[0];
  list->set_type(type);
  return list;
}

bool FuseElement(Graph& graph, Node* node, NodeNames& names) {
  if (!node->Is("sequence_at") || !IsTfList(node->input(0))) return false;
  Value *list = node->input(0), *place = node->input(1);
  if (!place->shape() || place->shape()->rank() != 0) return false;
  if (KnownInts(place) || !IsFromTheFrontIn(*node, place)) return false;
  return ReplaceBy(graph, node, names, [&](Builder& b) { return TfListElement(b, list, place); });
}

bool FuseWrite(Graph& graph, Node* node, NodeNames& names) {
  std::optional<ListWrite> write = ReplacedBy(*node);
  const bool grows = !write;
  if (grows) write = ReplacedOrAdded(*node);
  if (!write || !IsTfList(write->list) || !IsTfList(node->output(0))) return false;
  if (!IsFromTheFrontIn(*node, write->place) || IsSpelledOut(*write->list)) return false;
  const Type type = node->output(0)->type();
  return ReplaceBy(graph, node, names,
                   [&](Builder& b) { return WrittenItem(b, *write, grows, type); });
}

void Fuse(Graph& graph, NodeNames& names) {
  for (Node* node : graph.nodes()) {
    if (FuseElement(graph, node, names) || FuseWrite(graph, node, names)) continue;
    for (Graph* inner : node->subgraphs()) Fuse(*inner, names);
  }
}

}  // namespace

void FuseTfLists(Graph& graph) {
  NodeNames names(graph);
  Fuse(graph, names);
}

}  // namespace x2ir
