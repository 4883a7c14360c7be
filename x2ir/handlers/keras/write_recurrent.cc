// Keras, written: recurrent layers with the batch first, as Keras has them, and two directions of
// which the results are merged, as Bidirectional. They are made after the passes, which make
// constants of the weights and move transposes together; what has another form is written by the
// rows of write_rnn.cc.
#include "x2ir/handlers/keras/write_recurrent.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/settings_internal.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_internal.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

const std::vector<int64_t> kBatchAside = {1, 0, 2};
constexpr int kKerasOpset = 3;

bool IsUsed(const Value* value) { return value && !value->is_unused(); }

// The only user of a value, if it is that op; null: it is not.
Node* UserThatIs(const Value* value, std::string_view op) {
  if (!value || value->is_graph_output() || value->uses().size() != 1) return nullptr;
  Node* node = value->uses()[0].node;
  return node->Is(op) && node->graph() == value->graph() && node->input(0) == value ? node
                                                                                    : nullptr;
}

// Results of one direction without the axis of directions; null: they are not used.
struct OneDirection {
  Node* node = nullptr;
  const WrittenCell* cell = nullptr;
  bool backwards = false;
  Value* steps = nullptr;  // [length, batch, units]
  Values states;           // [batch, units]
};

// nullopt where a result is used with that axis.
std::optional<OneDirection> OneDirectionOf(Node* node) {
  OneDirection one;
  one.node = node;
  one.cell = WrittenCellOf(node->op());
  if (!node->is_ir() || !one.cell) return std::nullopt;
  const std::string& direction = node->attrs().String("direction");
  if (direction != "forward" && direction != "reverse") return std::nullopt;
  one.backwards = direction == "reverse";
  for (size_t i = 0; i < node->num_outputs(); ++i) {
    Value* result = node->output(i);
    Value* own = nullptr;
    if (IsUsed(result)) {
      const Node* squeeze = UserThatIs(result, "squeeze");
      if (!squeeze || squeeze->output(0)->shape() == nullptr) return std::nullopt;
      const auto axes = squeeze->num_inputs() > 1 ? KnownInts(squeeze->input(1)) : std::nullopt;
      if (!axes || *axes != std::vector<int64_t>{i == 0 ? 1 : 0}) return std::nullopt;
      own = squeeze->output(0);
    }
    if (i == 0) {
      one.steps = own;
    } else {
      one.states.push_back(own);
    }
  }
  one.states.resize(one.cell->states);
  return one;
}

// Whether all elements of axis 1 are put in reverse.
bool IsReversal(const Node& node) {
  if (!node.Is("slice") || node.num_inputs() != 5) return false;
  const auto known = [&](size_t i) {
    const auto numbers = node.input(i) ? KnownInts(node.input(i)) : std::nullopt;
    return numbers && numbers->size() == 1 ? numbers->at(0) : 0;
  };
  return known(1) == -1 && known(2) == std::numeric_limits<int64_t>::min() && known(3) == 1 &&
         known(4) == -1;
}

// --- Making layers -------------------------------------------------------------------------------

class RecurrentFusion {
 public:
  RecurrentFusion(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  void Run() {
    std::vector<Node*> nodes;
    for (Node* node : graph_.nodes()) {
      if (node->is_ir() && WrittenCellOf(node->op())) nodes.push_back(node);
    }
    std::vector<OneDirection> pending;
    for (Node* node : nodes) {
      if (gone_.contains(node)) continue;
      if (FuseBothAtOnce(node)) continue;
      const auto one = OneDirectionOf(node);
      if (!one || !std::ranges::any_of(node->outputs(), IsUsed)) continue;
      if (!one->backwards && FuseTwo(*one)) continue;
      // The other direction of a pair comes here first where it stands first.
      pending.push_back(*one);
    }
    for (const OneDirection& one : pending) {
      if (!gone_.contains(one.node)) FuseOne(one);
    }
  }

 private:
  // Makes a layer with the builder of a writer; false: no layer of Keras says it, and nothing is
  // changed.
  template <typename Fn>
  bool Make(Node* at, const Node& node, Fn&& fn) {
    Builder b(graph_, at);
    b.set_name_hint(node);
    b.set_stops(true);
    Rewrite r{node, b, keras::kDialect, kKerasOpset, target_};
    bool made = false;
    try {
      KerasWriter w(r);
      made = fn(w).ok() && b.status().ok();
    } catch (const Builder::Stopped&) {
    }
    if (!made) b.Rollback();
    return made;
  }

  // The name of a layer whose reader's op of the IR had the op's name behind it.
  static std::string NameOf(const Node& node, std::string_view op) {
    std::string name = node.name().empty() ? HintOf(node) : node.name();
    for (const char* mark : {"/", "_"}) {
      const std::string end = StrCat(mark, op);
      if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
    }
    return name;
  }
  static void Mark(const Values& made, std::string name) {
    made[0]->producer()->annotations().GetOrMake().extra[kMadeForTarget] = "1";
    made[0]->producer()->set_name(std::move(name));
  }

  void FuseOne(const OneDirection& one) {
    const bool sequences = one.steps != nullptr;
    // The last step is the first state.
    const bool states = (one.states.size() > 1 && one.states[1]) || (sequences && one.states[0]);
    Make(one.node, *one.node, [&](KerasWriter& w) -> absl::Status {
      RecurrentWriter writer(w, *one.cell);
      X2IR_RETURN_IF_ERROR(writer.Check());
      X2IR_ASSIGN_OR_RETURN(RecurrentWriter::Layer layer,
                            writer.Direction(0, one.backwards, sequences, states));
      const std::vector<Type> types = writer.ResultTypes(sequences, states);
      Values made = w.LayerAll(one.cell->layer, {BatchFirst(w.b(), w.in(0))}, "initial_state",
                               layer.states, std::move(layer.config), layer.weights, types);
      Mark(made, NameOf(*one.node, one.cell->op));
      Value* steps = made[0];
      if (sequences && one.backwards) {
        steps = w.Function("Flip", {steps}, KerasArguments({{"axis", Json(int64_t{1})}}), types[0]);
        Mark({steps}, StrCat(made[0]->producer()->name(), "_flip"));
      }
      if (sequences) {
        ReplaceSteps(w.b(), one.steps, steps);
        if (one.backwards) ReplaceReversals(steps, made[0]);
      }
      for (size_t i = 0; i < one.states.size(); ++i) {
        if (one.states[i]) Replace(one.states[i], states ? made[1 + i] : made[0]);
      }
      DropDirection(one);
      return absl::OkStatus();
    });
  }

  // Two directions of the same steps, whose results are merged.
  bool FuseTwo(const OneDirection& forward) {
    const bool sequences = forward.steps != nullptr;
    const Value* own = sequences ? forward.steps : forward.states[0];
    if (!own || own->is_graph_output() || own->uses().size() != 1) return false;
    Node* at = own->uses()[0].node;
    if (at->graph() != &graph_ || at->num_inputs() != 2) return false;
    const size_t place = at->input(0) == own ? 1 : 0;
    const Value* other = at->input(place);
    const Node* squeeze = other ? other->producer() : nullptr;
    Node* partner = squeeze && squeeze->Is("squeeze") ? squeeze->input(0)->producer() : nullptr;
    const auto backward = partner ? OneDirectionOf(partner) : std::nullopt;
    if (!backward || !backward->backwards || backward->cell != forward.cell ||
        partner->input(0) != forward.node->input(0) || (backward->steps != nullptr) != sequences ||
        other != (sequences ? backward->steps : backward->states[0]) || other->uses().size() != 1 ||
        other->is_graph_output()) {
      return false;
    }
    const Merge merge = MergeOf(at, place == 1);
    if (merge.mode.empty()) return false;
    // Last steps that are merged are states, too, and have no other use.
    const size_t from = sequences ? 0 : 1;
    std::vector<Value*> states;
    bool any = false;
    for (const OneDirection* one : {&forward, &*backward}) {
      for (size_t i = 0; i < one->states.size(); ++i) {
        states.push_back(i < from ? nullptr : one->states[i]);
        any = any || states.back();
      }
    }
    return Make(at, *forward.node, [&](KerasWriter& w) -> absl::Status {
      Rewrite r{*partner, w.b(), keras::kDialect, kKerasOpset, target_};
      KerasWriter of_partner(r);
      X2IR_ASSIGN_OR_RETURN(const Values made, Bidirectional(w, of_partner, 0, merge.mode,
                                                             sequences, any, merge.result->name()));
      if (sequences && !merge.turned) {
        ReplaceSteps(w.b(), merge.result, made[0]);
      } else {
        Replace(merge.result, made[0]);
      }
      for (size_t i = 0; i < states.size(); ++i) {
        if (states[i]) Replace(states[i], made[1 + i]);
      }
      Drop(merge.nodes);
      DropDirection(forward);
      DropDirection(*backward);
      return absl::OkStatus();
    });
  }

  // An op of two directions, of whose steps both are put side by side.
  bool FuseBothAtOnce(Node* node) {
    if (node->attrs().String("direction") != "bidirectional") return false;
    Node* transpose = UserThatIs(node->output(0), "transpose");
    const std::vector<int64_t> perm =
        transpose ? transpose->attrs().Ints("perm", {}) : std::vector<int64_t>();
    const bool batch_first = perm == std::vector<int64_t>{2, 0, 1, 3};
    if (!batch_first && perm != std::vector<int64_t>{0, 2, 1, 3}) return false;
    Node* reshape = UserThatIs(transpose->output(0), "reshape");
    const Shape *from = transpose->output(0)->shape(),
                *to = reshape ? reshape->output(0)->shape() : nullptr;
    if (!from || !to || to->rank() != 3 || !ProvablyEqual((*to)[0], (*from)[0]) ||
        !ProvablyEqual((*to)[1], (*from)[1])) {
      return false;
    }
    const WrittenCell& cell = *WrittenCellOf(node->op());
    bool any = false;
    for (size_t i = 1; i < node->num_outputs(); ++i) any = any || IsUsed(node->output(i));
    return Make(node, *node, [&](KerasWriter& w) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const Values made,
                            Bidirectional(w, w, 1, "concat", true, any, NameOf(*node, cell.op)));
      Value* result = reshape->output(0);
      if (batch_first) {
        Replace(result, made[0]);
      } else {
        ReplaceSteps(w.b(), result, made[0]);
      }
      for (size_t i = 0; i < cell.states; ++i) {
        if (i + 1 >= node->num_outputs() || !IsUsed(node->output(i + 1))) continue;
        std::vector<Value*> both;
        for (const size_t at : {1 + i, 1 + cell.states + i}) {
          both.push_back(w.Op("unsqueeze", {made[at], w.Ints({0})}));
        }
        Replace(node->output(i + 1), w.Op("concat", both, {{"axis", 0}}));
      }
      Drop({reshape, transpose, node});
      return absl::OkStatus();
    });
  }

  // The layer of direction 0 of one node and direction `d` of another, and its results.
  static absl::StatusOr<Values> Bidirectional(KerasWriter& forward, KerasWriter& backward,
                                              int64_t d, const std::string& mode, bool sequences,
                                              bool states, std::string_view name) {
    const WrittenCell& cell = *WrittenCellOf(forward.node().op());
    RecurrentWriter writers[] = {{forward, cell}, {backward, cell}};
    RecurrentWriter::Layer layers[2];
    for (size_t i = 0; i < 2; ++i) {
      X2IR_RETURN_IF_ERROR(writers[i].Check());
      X2IR_ASSIGN_OR_RETURN(layers[i],
                            writers[i].Direction(i == 0 ? 0 : d, i == 1, sequences, states));
    }
    if (layers[0].states.size() != layers[1].states.size()) {
      return CannotExpress("initial states of one direction");
    }
    std::vector<Type> types = writers[0].ResultTypes(sequences, states);
    const std::vector<Type> others = writers[1].ResultTypes(sequences, states);
    if (mode == "concat") {
      Shape shape = *types[0].shape();
      shape[shape.rank() - 1] = shape[shape.rank() - 1] + (*others[0].shape())[shape.rank() - 1];
      types[0] = Type::Tensor(types[0].dtype(), std::move(shape));
    } else if (!(types[0] == others[0])) {
      return CannotExpress("directions of different sizes");
    }
    types.insert(types.end(), others.begin() + 1, others.end());
    const std::string_view dtype = Name(forward.dtype());
    const auto inner = [&](std::string_view side, size_t i) {
      return keras::NestedLayer(cell.layer, StrCat(side, cell.op), dtype, layers[i].config)
          .ToString();
    };
    AttributeMap config = {{"merge_mode", mode},
                           {"layer", inner("forward_", 0)},
                           {"backward_layer", inner("backward_", 1)}};
    for (auto list : {&RecurrentWriter::Layer::weights, &RecurrentWriter::Layer::states}) {
      const std::vector<Value*>& more = layers[1].*list;
      (layers[0].*list).insert((layers[0].*list).end(), more.begin(), more.end());
    }
    const Values made =
        forward.LayerAll("Bidirectional", {BatchFirst(forward.b(), forward.in(0))}, "initial_state",
                         layers[0].states, std::move(config), layers[0].weights, types);
    Mark(made, std::string(name));
    return made;
  }

  // How two directions are merged; no mode: in none of Keras's ways.
  struct Merge {
    std::string mode;
    Value* result = nullptr;   // in the end
    bool turned = false;       // its first axis is the batch
    std::vector<Node*> nodes;  // the last one first
  };
  static Merge MergeOf(Node* node, bool forward_first) {
    Merge merge = {"", node->output(0), false, {node}};
    const int64_t rank = merge.result->shape() ? merge.result->shape()->rank() : 0;
    if (node->Is("concat")) {
      const int64_t axis = node->attrs().Int("axis");
      if (forward_first && (axis == -1 || axis == rank - 1)) merge.mode = "concat";
      return merge;
    }
    if (node->Is("mul")) merge.mode = "mul";
    if (!node->Is("add")) return merge;
    merge.mode = "sum";
    // Half of a sum, perhaps with a transpose between.
    Node* transpose = UserThatIs(merge.result, "transpose");
    if (transpose && transpose->attrs().Ints("perm", {}) != kBatchAside) transpose = nullptr;
    const Value* sum = transpose ? transpose->output(0) : merge.result;
    for (const char* op : {"mul", "div"}) {
      Node* half = UserThatIs(sum, op);
      const Tensor* number = half ? half->input(1)->fixed_constant() : nullptr;
      if (!number || number->is_sparse() || number->rank() != 0) continue;
      if (number->AsDouble(0) != (op[0] == 'm' ? 0.5 : 2.0)) continue;
      merge = {"ave", half->output(0), transpose != nullptr, {half}};
      if (transpose) merge.nodes.push_back(transpose);
      merge.nodes.push_back(node);
      break;
    }
    return merge;
  }

  // `old`, [length, batch, units], is from now on a transpose of `steps`, which has the place of
  // those that were transposes of it.
  void ReplaceSteps(Builder& b, Value* old, Value* steps) {
    std::vector<Node*> turned;
    for (const Use& use : old->uses()) {
      if (use.node->Is("transpose") && use.node->graph() == &graph_ &&
          use.node->attrs().Ints("perm", {}) == kBatchAside) {
        turned.push_back(use.node);
      }
    }
    for (Node* node : turned) {
      Replace(node->output(0), steps);
      Drop({node});
    }
    if (IsUsed(old)) Replace(old, b.Op("transpose", {steps}, {{"perm", kBatchAside}}));
  }
  // `reversed` is `steps` in reverse: a reversal of it is `steps` again.
  void ReplaceReversals(Value* reversed, Value* steps) {
    Node* flip = reversed->producer();
    std::vector<Node*> back;
    for (const Use& use : reversed->uses()) {
      if (use.node->graph() == &graph_ && IsReversal(*use.node)) back.push_back(use.node);
    }
    for (Node* node : back) {
      Replace(node->output(0), steps);
      Drop({node});
    }
    Drop({flip});
  }
  void Replace(Value* old, Value* fresh) { graph_.ReplaceAllUsesKeepingOutputNames(old, fresh); }

  // Erases those of the nodes that nothing uses, each before those that make its operands.
  void Drop(const std::vector<Node*>& nodes) {
    std::set<const Node*> dropped;  // not gone_: a node that was made since may have an old address
    for (Node* node : nodes) {
      if (dropped.contains(node) || std::ranges::any_of(node->outputs(), IsUsed)) continue;
      dropped.insert(node);
      EraseWithConstants(node);
    }
    gone_.insert(dropped.begin(), dropped.end());
  }
  void DropDirection(const OneDirection& one) {
    std::vector<Node*> nodes;
    for (const Value* result : one.node->outputs()) {
      if (result && !result->uses().empty()) nodes.push_back(result->uses()[0].node);
    }
    nodes.push_back(one.node);
    // A transpose of its steps has no use any more either.
    if (Node* before = one.node->input(0)->producer()) nodes.push_back(before);
    Drop(nodes);
  }

  Graph& graph_;
  const Target& target_;
  std::set<const Node*> gone_;
};

}  // namespace

void FuseKerasRecurrent(Graph& graph, const Target& target) {
  RecurrentFusion(graph, target).Run();
}

}  // namespace x2ir
