// Writes become values. PyTorch's tensors share memory: a write to a base is visible in its views,
// and a write to a view in its base. Here every tensor of one piece of memory belongs
// to a family. A write makes new values; a member that is read afterwards is first computed again
// from its base.
#include <algorithm>
#include <deque>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/memory_ops.h"
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

class Functionalizer {
 public:
  Functionalizer(Graph& graph, std::vector<std::string>& warnings)
      : graph_(graph), warnings_(warnings), node_names_(graph) {}

  absl::Status Run() {
    // Most programs write nothing.
    bool writes = false;
    int64_t position = 0;
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) {
        X2IR_RETURN_IF_ERROR(Functionalize(*inner, warnings_));
      }
      position_[node] = position++;
      const auto [name, overload] = AtenParts(node->op().view());
      writes = writes || WritesInPlace(name) || WritesToOut(overload) || KeepsRecords(name);
    }
    if (!writes) return absl::OkStatus();
    for (Node* node : graph_.nodes()) {
      auto at = position_.find(node);
      if (at == position_.end()) continue;  // made here
      now_ = at->second;
      const Symbol op = node->op();  // as the program has it
      if (absl::Status status = Visit(node); !status.ok()) Note(status, *node, op);
    }
    if (!failed_.ok()) return failed_;
    now_ = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      Value* output = graph_.outputs()[i];
      X2IR_ASSIGN_OR_RETURN(Value * current, Current(output, nullptr));
      if (current == output) continue;
      const bool swap = !current->is_input() && !current->constant() &&
                        !current->is_graph_output() && output->graph_output_count() == 1;
      graph_.SetOutput(i, current);
      if (swap && !output->is_input()) graph_.SwapNames(output, current);
    }
    return absl::OkStatus();
  }

 private:
  // Errors are collected into one, a line each. A problem of a tensor is reported once:
  // where it is read again and again, the reason is the same.
  void Note(const absl::Status& status, const Node& node, Symbol op) {
    if (!reasons_.insert(std::string(status.message())).second) return;
    const absl::Status here =
        Annotate(status, StrCat("'", node.name(), "' (torch.", op.str(), ")"));
    failed_ = failed_.ok()
                  ? here
                  : absl::Status(failed_.code(), StrCat(failed_.message(), "\n  ", here.message()));
  }

  struct Family;
  // A tensor as the program knows it, whatever value it is by now.
  struct Member {
    Value* value;            // what it holds
    int64_t written;         // as of which write of the family
    Member* base = nullptr;  // the tensor of which it is a view
    Node* view = nullptr;    // the op that made it one, of the base's first value
    size_t output = 0;       // of that op
    ViewKind kind = ViewKind::kSame;
    Family* family = nullptr;
  };
  struct Family {
    int64_t writes = 0;
    std::vector<Member*> members;
    std::vector<Value*> names;  // values of the program that are members
    bool failed = false;        // a write is not supported, which was reported
  };

  Member* MemberOf(Value* value) {
    auto it = member_of_.find(value);
    if (it != member_of_.end()) return it->second;
    families_.emplace_back();
    return Add(value, {value, 0, nullptr, nullptr, 0, ViewKind::kSame, &families_.back()});
  }
  Member* Add(Value* name, Member member) {
    members_.push_back(member);
    Member* added = &members_.back();
    added->family->members.push_back(added);
    added->family->names.push_back(name);
    member_of_[name] = added;
    return added;
  }

  // --- Reading ---

  absl::StatusOr<Value*> Current(Value* name, Node* before) {
    auto it = member_of_.find(name);
    return it == member_of_.end() ? name : Sync(*it->second, before);
  }

  absl::StatusOr<Value*> Sync(Member& member, Node* before) {
    if (member.family->failed) return member.value;
    if (member.written == member.family->writes) return member.value;
    if (!member.base) return Internal("a tensor's memory was lost");
    if (member.kind == ViewKind::kSometimes) {
      return Unimplemented("'", member.value->name(), "' may or may not share the memory of '",
                           member.base->value->name(), "', which was written since");
    }
    X2IR_ASSIGN_OR_RETURN(Value * base, Sync(*member.base, before));
    if (member.kind == ViewKind::kSame) {
      member.value = base;
    } else {
      Node* copy = CopyOf(*member.view, base, before);
      for (size_t i = 0; i < member.view->num_outputs(); ++i) {
        const Value* old = member.view->output(i);
        if (i == member.output) {
          member.value = NewOutput(copy, member.value->name(), member.value->type());
        } else {
          (void)old;
          graph_.AddMissingOutput(copy);
        }
      }
    }
    member.written = member.family->writes;
    return member.value;
  }

  Value* NewOutput(Node* node, std::string_view like, Type type) {
    return graph_.AddNodeOutput(node, graph_.UniqueName(like), std::move(type));
  }

  Node* CopyOf(const Node& node, Value* self, Node* before) {
    std::vector<Value*> operands = node.inputs();
    operands[0] = self;
    Node* copy = graph_.InsertNode(before, node.dialect(), node.op(), operands);
    for (const auto& [name, attr] : node.attrs()) copy->SetAttr(name, attr);
    copy->set_name(node_names_.Unique(node.name()));
    return copy;
  }

  // --- Nodes ---

  absl::Status Visit(Node* node) {
    const std::vector<Value*> names = node->inputs();
    for (size_t i = 0; i < names.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(Value * current, Current(names[i], node));
      if (current != names[i]) node->SetInput(i, current);
    }
    const auto [name, overload] = AtenParts(node->op().view());
    if (KeepsRecords(name)) return Record(node, names);
    if (name == "detach_" && !names.empty()) {
      node->set_op(node->dialect(), "aten::detach.default");
      View(node, names, ViewKind::kSame);
    } else if (WritesInPlace(name)) {
      return InPlace(node, names, std::string(name), std::string(overload));
    } else if (WritesToOut(overload)) {
      return Out(node, names, std::string(name), std::string(overload));
    } else if (const ViewKind kind = ViewKindOf(name); kind != ViewKind::kNone && !names.empty()) {
      View(node, names, kind);
    }
    return absl::OkStatus();
  }

  void View(Node* node, const std::vector<Value*>& names, ViewKind kind) {
    if (kind == ViewKind::kSometimes) {
      const Value* result = node->num_outputs() == 1 ? node->output(0) : nullptr;
      kind = DecidedViewKind(AtenParts(node->op().view()).first, node->attrs(), node->input(0),
                             result, SelfStrides(*node));
      if (kind == ViewKind::kNone) return;
    }
    // Of a list of tensors each is seen by an output of its own.
    const Attribute::Strings* operands = OperandNames(*node);
    const bool list = operands && !operands->empty() && (*operands)[0].ends_with("[0]");
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      Value* output = node->output(i);
      if (!output || (list && i >= names.size())) continue;
      Member* base = MemberOf(names[list ? i : 0]);
      Add(output, {output, base->family->writes, base, node, i, kind, base->family});
    }
  }

  absl::Status InPlace(Node* node, const std::vector<Value*>& names, const std::string& name,
                       const std::string& overload) {
    const Attribute::Strings* operands = OperandNames(*node);
    if (names.empty() || !operands || (*operands)[0] != "self" || node->num_outputs() != 1) {
      return Unimplemented("writes to something other than its first operand");
    }
    const std::string stem = NameWithoutWrite(name);
    const bool reshapes = ChangesShapeInPlace(name);
    if (reshapes && ViewKindOf(stem) != ViewKind::kView) {
      return Unimplemented("changes the shape of a tensor in place");
    }
    node->set_op(node->dialect(), OpWithoutWrite(stem, overload));
    Value* result = node->output(0);
    if (reshapes) {
      // The tensor becomes a view of its old value, under every name that it has.
      if (!result) return Unimplemented("changes the shape of a tensor in place");
      Member* before = MemberOf(names[0]);
      View(node, names, ViewKind::kView);
      for (const Value* alias : before->family->names) {
        if (Member*& member = member_of_[alias]; member == before) member = member_of_[result];
      }
      return absl::OkStatus();
    }
    if (!result) return absl::OkStatus();
    Member* written = MemberOf(names[0]);
    member_of_[result] = written;
    written->family->names.push_back(result);
    return Written(*written, result, node);
  }

  // "add.out": the functional overload is the one that there is a form for; that arguments are
  // known by name keeps a wrong guess from going unnoticed.
  absl::Status Out(Node* node, const std::vector<Value*>& names, const std::string& name,
                   const std::string& overload) {
    const Attribute::Strings* operands = OperandNames(*node);
    const size_t count = operands ? operands->size() : 0;
    size_t out = count;
    for (size_t i = 0; i < count; ++i) {
      if ((*operands)[i] != "out") continue;
      out = i;
    }
    if (out == count || node->num_outputs() != 1 || !node->output(0)) {
      return Unimplemented("writes to several outputs");
    }
    const std::string_view stem = std::string_view(overload).substr(
        0, overload.size() - std::min<size_t>(overload.size(), 4));
    Symbol functional;
    for (const std::string_view guess :
         {stem, std::string_view("default"), std::string_view("Tensor")}) {
      const std::string op = StrCat("aten::", name, ".", guess);
      if (guess.empty() || !FindImportForm("torch", op, 1)) continue;
      functional = op;
      break;
    }
    if (functional.empty()) return Unimplemented("no mapping to IR without `out`");
    // The result is computed in its own type and only then cast to that of `out`.
    std::vector<DType> types;
    DType with_dims = DType::kUndefined, rank0 = with_dims;
    for (size_t i = 0; i < count; ++i) {
      if (i == out) continue;
      const Value* value = node->input(i);
      DType& to = value->shape() && value->shape()->rank() == 0 ? rank0 : with_dims;
      to = to == DType::kUndefined ? value->dtype() : TorchPromote(to, value->dtype());
    }
    if (TorchResultType(with_dims, rank0, DType::kUndefined) != names[out]->dtype()) {
      return Unimplemented("`out` has another element type than the result");
    }
    Attribute::Strings kept = *operands;
    kept.erase(kept.begin() + static_cast<ptrdiff_t>(out));
    std::vector<Value*> inputs = node->inputs();
    inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(out));
    node->SetInputs(inputs);
    node->SetAttr("operands", std::move(kept));
    node->set_op(node->dialect(), functional);
    Value* result = node->output(0);
    Member* written = MemberOf(names[out]);
    member_of_[result] = written;
    written->family->names.push_back(result);
    return Written(*written, result, node);
  }

  // --- Writing ---

  // The range that an observer keeps is written; so are the scale and the zero point, which the op
  // itself never reads. Where the program reads the range again it becomes a result.
  absl::Status Record(Node* node, const std::vector<Value*>& names) {
    const Attribute::Strings* operands = OperandNames(*node);
    if (!operands || operands->size() != names.size()) return Invalid("operands without names");
    bool observes = true;
    for (size_t i = 0; i < names.size(); ++i) {
      const Tensor* on = (*operands)[i] == "observer_on" ? names[i]->fixed_constant() : nullptr;
      if (on && on->num_elements() == 1 && on->AsInt(0) == 0) observes = false;
    }
    std::vector<std::pair<size_t, Value*>> ranges;  // output, and the operand that it updates
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string& operand = (*operands)[i];
      if (operand == "running_min") ranges.emplace_back(2, names[i]);
      if (operand == "running_max") ranges.emplace_back(3, names[i]);
      if ((operand == "scale" || operand == "zero_point") && IsReadAgain(names[i])) {
        return Unimplemented("'", names[i]->name(), "' (", operand,
                             "), which the op writes, is read later");
      }
    }
    if (!observes) return absl::OkStatus();
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    node->set_op(node->dialect(), "aten::_fused_moving_avg_obs_fq_helper_functional.default");
    for (const auto& [output, name] : ranges) {
      while (node->num_outputs() < output) graph_.AddMissingOutput(node);
      Value* result = NewOutput(node, name->name(), name->type());
      Member* written = MemberOf(name);
      member_of_[result] = written;
      written->family->names.push_back(result);
      X2IR_RETURN_IF_ERROR(Written(*written, result, node));
    }
    return absl::OkStatus();
  }

  // As IsReadLater, of all names of the memory, but for ops that only write to it.
  bool IsReadAgain(Value* name) const {
    const auto member = member_of_.find(name);
    std::vector<Value*> all = {name};
    if (member != member_of_.end()) all = member->second->family->names;
    const auto reads = [&](const Use& use) {
      const auto at = position_.find(use.node);
      if (at == position_.end() || at->second <= now_) return false;
      const Attribute::Strings* operands = OperandNames(*use.node);
      const std::string operand =
          operands && use.index < operands->size() ? (*operands)[use.index] : "";
      return !KeepsRecords(AtenParts(use.node->op().view()).first) ||
             (operand != "scale" && operand != "zero_point");
    };
    return std::any_of(all.begin(), all.end(), [&](const Value* v) {
      return v->is_graph_output() || std::any_of(v->uses().begin(), v->uses().end(), reads);
    });
  }

  absl::Status Written(Member& member, Value* value, Node* node) {
    if (member.family->failed) return absl::OkStatus();
    absl::Status status = Write(member, value, node);
    member.family->failed = !status.ok();
    return status;
  }

  // Whether the program reads the value after the node at hand.
  bool IsReadLater(const Value* name) const {
    if (name->is_graph_output()) return true;
    return std::any_of(name->uses().begin(), name->uses().end(), [&](const Use& use) {
      auto it = position_.find(use.node);
      return it != position_.end() && it->second > now_;
    });
  }

  static bool IsWithin(const Member* member, const Member* whole) {
    for (; member; member = member->base) {
      if (member == whole) return true;
    }
    return false;
  }

  absl::Status Write(Member& member, Value* value, Node* node) {
    Family& family = *member.family;
    for (const Member* m = &member; m; m = m->base) {
      const Value* whole = m->value;
      if (m->base || (!whole->is_input() && !whole->constant())) continue;
      if (graph_.parent_node()) return Unimplemented("writes to an input of a nested graph");
      warnings_.push_back(
          StrCat(whole->is_input() ? "input" : "buffer", " '", whole->name(),
                 "' is updated by the program; the update is not part of the model"));
    }
    // If the rest of the family is not read later, the written tensor is no view from now on.
    bool others = false;
    for (const Value* name : family.names) {
      auto it = member_of_.find(name);
      if (it == member_of_.end() || it->second->family != &family) continue;
      others = others || (!IsWithin(it->second, &member) && IsReadLater(name));
    }
    ++family.writes;
    member.value = value;
    member.written = family.writes;
    if (!others) {
      member.base = nullptr;
      return absl::OkStatus();
    }
    Node* after = node->next();
    for (Member* m = &member; m->base; m = m->base) {
      X2IR_ASSIGN_OR_RETURN(Value * base, WriteBack(*m, after));
      m->base->value = base;
      m->base->written = family.writes;
    }
    return absl::OkStatus();
  }

  // The value of the base once its view holds what it holds.
  absl::StatusOr<Value*> WriteBack(const Member& member, Node* before) {
    Value* base = member.base->value;
    if (member.base->written != member.family->writes - 1) {
      // The base was read before this write for the last time some writes ago.
      Member& stale = *member.base;
      const int64_t writes = member.family->writes;
      member.family->writes = writes - 1;
      absl::StatusOr<Value*> synced = Sync(stale, before);
      member.family->writes = writes;
      if (!synced.ok()) return synced;
      base = *synced;
    }
    if (member.kind == ViewKind::kSame) return member.value;
    if (member.kind == ViewKind::kSometimes) {
      return Unimplemented("writes to what may or may not share the memory of '", base->name(),
                           "', which is read later");
    }
    X2IR_ASSIGN_OR_RETURN(const TorchCallRecord call,
                          WriteBackOf(RecordOf(*member.view), member.output, base, member.value));
    Node* node = graph_.InsertNode(before, "torch", call.op, call.operands);
    if (!call.names.empty()) node->SetAttr("operands", call.names);
    for (const auto& [key, attr] : call.attrs) node->SetAttr(key, attr);
    node->set_name(node_names_.Unique(member.view->name()));
    return NewOutput(node, base->name(), base->type());
  }

  Graph& graph_;
  std::vector<std::string>& warnings_;
  NodeNames node_names_;
  absl::flat_hash_map<const Node*, int64_t> position_;  // of the program's own nodes
  int64_t now_ = 0;
  absl::Status failed_;
  absl::flat_hash_set<std::string> reasons_;
  std::deque<Family> families_;
  std::deque<Member> members_;
  absl::flat_hash_map<const Value*, Member*> member_of_;
};

}  // namespace

bool WritesToMemory(std::string_view op) {
  const auto [name, overload] = AtenParts(op);
  return WritesInPlace(name) || WritesToOut(overload);
}

absl::Status Functionalize(Graph& graph, std::vector<std::string>& warnings) {
  return Functionalizer(graph, warnings).Run();
}

}  // namespace x2ir
