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
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// Ops whose result is the memory of operand `self`, always or sometimes.
enum class ViewKind : uint8_t {
  kNone,
  kSame,      // the same tensor
  kView,      // written through by `ViewWriteBack`, or never written
  kSometimes  // a copy or not, as strides and types have it
};
struct ViewRow {
  std::string_view op;  // without overload
  ViewKind kind;
};
constexpr ViewRow kViews[] = {
    {"alias", ViewKind::kSame},
    {"detach", ViewKind::kSame},
    {"lift", ViewKind::kSame},
    {"lift_fresh", ViewKind::kSame},
    {"view", ViewKind::kView},
    {"_unsafe_view", ViewKind::kView},
    {"_reshape_alias", ViewKind::kView},
    {"view_as", ViewKind::kView},
    {"unflatten", ViewKind::kView},
    {"expand", ViewKind::kView},
    {"expand_as", ViewKind::kView},
    {"broadcast_to", ViewKind::kView},
    {"permute", ViewKind::kView},
    {"transpose", ViewKind::kView},
    {"swapaxes", ViewKind::kView},
    {"swapdims", ViewKind::kView},
    {"movedim", ViewKind::kView},
    {"moveaxis", ViewKind::kView},
    {"t", ViewKind::kView},
    {"numpy_T", ViewKind::kView},
    {"mT", ViewKind::kView},
    {"mH", ViewKind::kView},
    {"matrix_H", ViewKind::kView},
    {"adjoint", ViewKind::kView},
    {"select", ViewKind::kView},
    {"slice", ViewKind::kView},
    {"narrow", ViewKind::kView},
    {"diagonal", ViewKind::kView},
    {"linalg_diagonal", ViewKind::kView},
    {"squeeze", ViewKind::kView},
    {"unsqueeze", ViewKind::kView},
    {"split", ViewKind::kView},
    {"split_with_sizes", ViewKind::kView},
    {"tensor_split", ViewKind::kView},
    {"hsplit", ViewKind::kView},
    {"vsplit", ViewKind::kView},
    {"dsplit", ViewKind::kView},
    {"chunk", ViewKind::kView},
    {"unbind", ViewKind::kView},
    {"unfold", ViewKind::kView},
    {"as_strided", ViewKind::kView},
    {"real", ViewKind::kView},
    {"imag", ViewKind::kView},
    {"view_as_real", ViewKind::kView},
    {"view_as_complex", ViewKind::kView},
    {"_conj", ViewKind::kView},
    {"_neg_view", ViewKind::kView},
    {"reshape", ViewKind::kSometimes},
    {"reshape_as", ViewKind::kSometimes},
    {"flatten", ViewKind::kSometimes},
    {"ravel", ViewKind::kSometimes},
    {"contiguous", ViewKind::kSometimes},
    {"to", ViewKind::kSometimes},
    {"type_as", ViewKind::kSometimes},
    {"dropout", ViewKind::kSometimes},
    {"feature_dropout", ViewKind::kSometimes},
    {"alpha_dropout", ViewKind::kSometimes},
    {"feature_alpha_dropout", ViewKind::kSometimes},
    {"positive", ViewKind::kSometimes},
    {"conj", ViewKind::kSometimes},
    {"resolve_conj", ViewKind::kSometimes},
    {"resolve_neg", ViewKind::kSometimes},
    {"atleast_1d", ViewKind::kSometimes},
    {"atleast_2d", ViewKind::kSometimes},
    {"atleast_3d", ViewKind::kSometimes},
    {"broadcast_tensors", ViewKind::kSometimes},
    {"meshgrid", ViewKind::kSometimes},
    {"pin_memory", ViewKind::kSometimes},
    {"einsum", ViewKind::kSometimes},
    {"sum_to_size", ViewKind::kSometimes},
    {"cartesian_prod", ViewKind::kSometimes},
    {"_autocast_to_full_precision", ViewKind::kSometimes},
    {"_autocast_to_reduced_precision", ViewKind::kSometimes},
    {"_cast_Byte", ViewKind::kSometimes},
    {"_cast_Char", ViewKind::kSometimes},
    {"_cast_Double", ViewKind::kSometimes},
    {"_cast_Float", ViewKind::kSometimes},
    {"_cast_Half", ViewKind::kSometimes},
    {"_cast_Int", ViewKind::kSometimes},
    {"_cast_Long", ViewKind::kSometimes},
    {"_cast_Short", ViewKind::kSometimes},
};

// An argument that is a bool: of calls a tensor of rank 0.
std::optional<bool> BoolOf(const Node& node, Symbol name, bool fallback) {
  const Attribute* attr = node.attrs().Find(name);
  if (!attr) return fallback;
  const Tensor* tensor = attr->get<Tensor>();
  if (!tensor || tensor->num_elements() != 1) return std::nullopt;
  return tensor->AsInt(0) != 0;
}
bool IsGiven(const Node& node, Symbol name) {
  const Attribute* attr = node.attrs().Find(name);
  const Type* type = attr ? attr->get<Type>() : nullptr;
  return attr && !(type && type->kind() == Type::kUnknown);
}

// What is no view, or the same tensor, or a view, or not known to be which.
ViewKind KindWhere(Proof shared, ViewKind kind) {
  if (!shared) return ViewKind::kSometimes;
  return *shared ? kind : ViewKind::kNone;
}

// What an operator that gives a view or a copy gives here, by types, strides and arguments.
ViewKind DecidedKind(const Node& node, std::string_view name) {
  const Value *self = node.input(0), *result = node.num_outputs() == 1 ? node.output(0) : nullptr;
  if (!result || !self) return ViewKind::kSometimes;
  if (name == "dropout" || name == "feature_dropout" || name == "alpha_dropout" ||
      name == "feature_alpha_dropout") {
    const std::optional<bool> train = BoolOf(node, "train", true);
    return train && !*train ? ViewKind::kSame : ViewKind::kSometimes;
  }
  if (name == "positive") return ViewKind::kSame;
  if (name == "conj" || name == "resolve_conj" || name == "resolve_neg") {
    const bool real = self->dtype() != DType::kUndefined && !IsComplex(self->dtype());
    return real ? ViewKind::kSame : ViewKind::kSometimes;
  }
  if (name == "to" || name == "type_as" || name.starts_with("_cast_")) {
    // Of another element type a copy; else a copy where it is asked for, or in another order.
    if (self->dtype() == DType::kUndefined || result->dtype() == DType::kUndefined) {
      return ViewKind::kSometimes;
    }
    if (self->dtype() != result->dtype()) return ViewKind::kNone;
    if (node.attrs().Has(kSelfDevice)) return ViewKind::kSometimes;
    const std::optional<bool> copy = BoolOf(node, "copy", false);
    if (copy && *copy) return ViewKind::kNone;
    const Attribute* format = node.attrs().Find("memory_format");
    const std::string* order = format ? format->get<std::string>() : nullptr;
    const bool keeps = !IsGiven(node, "memory_format") || (order && *order == "preserve_format");
    return copy && keeps ? ViewKind::kSame : ViewKind::kSometimes;
  }
  const Shape *sizes = self->shape(), *strides = SelfStrides(node), *as = result->shape();
  if (!sizes || !strides || !as) return ViewKind::kSometimes;
  if (name == "contiguous") {
    const Attribute* format = node.attrs().Find("memory_format");
    const std::string* order = format ? format->get<std::string>() : nullptr;
    const bool plain = !IsGiven(node, "memory_format") || (order && *order == "contiguous_format");
    if (!plain) return ViewKind::kSometimes;
    return KindWhere(IsContiguous(*sizes, *strides), ViewKind::kSame);
  }
  if (name == "ravel") return KindWhere(IsContiguous(*sizes, *strides), ViewKind::kView);
  if (name == "reshape" || name == "reshape_as" || name == "flatten") {
    return KindWhere(CanBeViewed(*sizes, *strides, *as), ViewKind::kView);
  }
  return ViewKind::kSometimes;
}

// "aten::add_.Tensor" -> {"add_", "Tensor"}; other domains have no names here.
std::pair<std::string_view, std::string_view> Parts(std::string_view op) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return {};
  op.remove_prefix(kAten.size());
  const size_t dot = op.find('.');
  if (dot == op.npos) return {op, {}};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

ViewKind KindOf(std::string_view name) {
  for (const ViewRow& row : kViews) {
    if (row.op == name) return row.kind;
  }
  return ViewKind::kNone;
}

// What Python's operators in place are called ("a |= b"): "__ior__" is "__or__" in place.
bool IsOperatorInPlace(std::string_view name) {
  constexpr std::string_view kNames[] = {"__iand__", "__ior__", "__ixor__", "__ilshift__",
                                         "__irshift__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}
bool IsInPlace(std::string_view name) {
  return (name.size() > 1 && name.ends_with('_') && !name.ends_with("__")) ||
         IsOperatorInPlace(name);
}
// "add_" -> "add", "__ior__" -> "__or__".
std::string WithoutWrite(std::string_view name) {
  if (IsOperatorInPlace(name)) return StrCat("__", name.substr(3));
  return std::string(name.substr(0, name.size() - 1));
}
// In place these change what the tensor is, not what it holds.
bool ChangesShape(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "unsqueeze_", "squeeze_", "transpose_", "t_",          "swapaxes_",      "swapdims_",
      "resize_",    "set_",     "resize_as_", "as_strided_", "requires_grad_", "rename_"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}
// Ops that write to operands in addition to their results: an observer's numbers. As a rule only
// the next run reads those.
bool KeepsRecords(std::string_view name) {
  return name == "fused_moving_avg_obs_fake_quant" || name == "_fused_moving_avg_obs_fq_helper";
}
bool WritesOut(std::string_view overload) {
  return overload == "out" || overload.ends_with("_out");
}

const Attribute::Strings* OperandNames(const Node& node) {
  const Attribute* names = node.attrs().Find("operands");
  return names ? names->get<Attribute::Strings>() : nullptr;
}

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
      const auto [name, overload] = Parts(node->op().view());
      writes = writes || IsInPlace(name) || WritesOut(overload) || KeepsRecords(name);
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
    const auto [name, overload] = Parts(node->op().view());
    if (KeepsRecords(name)) return Record(node, names);
    if (name == "detach_" && !names.empty()) {
      node->set_op(node->dialect(), "aten::detach.default");
      View(node, names, ViewKind::kSame);
    } else if (IsInPlace(name)) {
      return InPlace(node, names, std::string(name), std::string(overload));
    } else if (WritesOut(overload)) {
      return Out(node, names, std::string(name), std::string(overload));
    } else if (const ViewKind kind = KindOf(name); kind != ViewKind::kNone && !names.empty()) {
      View(node, names, kind);
    }
    return absl::OkStatus();
  }

  void View(Node* node, const std::vector<Value*>& names, ViewKind kind) {
    if (kind == ViewKind::kSometimes) {
      kind = DecidedKind(*node, Parts(node->op().view()).first);
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
    const std::string stem = WithoutWrite(name);
    const bool reshapes = ChangesShape(name);
    if (reshapes && KindOf(stem) != ViewKind::kView) {
      return Unimplemented("changes the shape of a tensor in place");
    }
    node->set_op(node->dialect(), WithoutWriteOp(stem, overload));
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

  // The operator that gives what the one in place writes: mostly of the same overload
  // ("floor_divide_.Tensor" is "floor_divide.default").
  static Symbol WithoutWriteOp(std::string_view stem, std::string_view overload) {
    const Symbol same = StrCat("aten::", stem, ".", overload);
    if (FindImportForm("torch", same, 1)) return same;
    for (const std::string_view other : {"default", "Tensor"}) {
      const std::string op = StrCat("aten::", stem, ".", other);
      if (FindImportForm("torch", op, 1)) return op;
    }
    return same;
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
      return !KeepsRecords(Parts(use.node->op().view()).first) ||
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
    const Node& view = *member.view;
    const auto [name, overload] = Parts(view.op().view());
    const auto make = [&](std::string_view op, std::vector<Value*> operands,
                          Attribute::Strings operand_names) {
      Node* node = graph_.InsertNode(before, "torch", op, operands);
      node->SetAttr("operands", std::move(operand_names));
      node->set_name(node_names_.Unique(view.name()));
      return node;
    };
    const auto result = [&](Node* node) { return NewOutput(node, base->name(), base->type()); };
    if ((name == "select" && overload == "int") || (name == "slice" && overload == "Tensor") ||
        name == "diagonal") {
      // The same arguments, and what is to be there.
      std::vector<Value*> operands = view.inputs();
      operands[0] = base;
      operands.insert(operands.begin() + 1, member.value);
      Attribute::Strings names = *OperandNames(view);
      names.insert(names.begin() + 1, "src");
      Node* node = make(StrCat("aten::", name, "_scatter.default"), operands, names);
      for (const auto& [key, attr] : view.attrs()) {
        if (key != "operands") node->SetAttr(key, attr);
      }
      return result(node);
    }
    if ((name == "transpose" && overload == "int") || name == "swapaxes" || name == "swapdims" ||
        name == "t" || name == "mT" || name == "numpy_T") {
      return result(CopyOf(view, member.value, before));
    }
    if (name == "movedim" || name == "moveaxis") {
      Node* node = CopyOf(view, member.value, before);
      const std::optional<Attribute> from = node->TakeAttr("source"),
                                     to = node->TakeAttr("destination");
      if (from) node->SetAttr("destination", *from);
      if (to) node->SetAttr("source", *to);
      return result(node);
    }
    // Parts along an axis, where the program says which.
    const auto number = [&view](Symbol key, int64_t fallback) -> std::optional<int64_t> {
      const Attribute* attr = view.attrs().Find(key);
      if (!attr) return fallback;
      const int64_t* value = attr->get<int64_t>();
      return value ? std::optional(*value) : std::nullopt;
    };
    const bool known = view.num_inputs() == 1;
    const std::optional<int64_t> dim = known ? number("dim", 0) : std::nullopt;
    const auto index = static_cast<int64_t>(member.output);
    if (name == "unbind" && dim) {
      Node* node = make("aten::select_scatter.default", {base, member.value}, {"self", "src"});
      node->SetAttr("dim", *dim);
      node->SetAttr("index", index);
      return result(node);
    }
    std::optional<int64_t> start, length;
    if (name == "narrow") {
      start = number("start", -1);
      length = number("length", -1);
    } else if (name == "split" && overload == "Tensor") {
      length = number("split_size", -1);
      int64_t at = 0;
      if (length && !__builtin_mul_overflow(*length, index, &at)) start = at;
    }
    int64_t end = 0;
    if (dim && start && length && *start >= 0 && *length >= 0 &&
        !__builtin_add_overflow(*start, *length, &end)) {
      Node* node = make("aten::slice_scatter.default", {base, member.value}, {"self", "src"});
      node->SetAttr("dim", *dim);
      node->SetAttr("start", *start);
      node->SetAttr("end", end);
      return result(node);
    }
    if (name == "permute") {
      const Attribute* dims = view.attrs().Find("dims");
      const auto* perm = dims ? dims->get<Attribute::Ints>() : nullptr;
      if (perm) {
        const int64_t rank = static_cast<int64_t>(perm->size());
        Attribute::Ints inverse(perm->size());
        for (int64_t i = 0; i < rank; ++i) {
          const int64_t to = (*perm)[static_cast<size_t>(i)];
          if (to < -rank || to >= rank) return Invalid("a permutation of other axes");
          inverse[static_cast<size_t>(to < 0 ? to + rank : to)] = i;
        }
        Node* node = make("aten::permute.default", {member.value}, {"self"});
        node->SetAttr("dims", std::move(inverse));
        return result(node);
      }
    }
    const bool same_order = (name == "view" && overload == "default") || name == "unsqueeze" ||
                            name == "squeeze" || name == "view_as" || name == "unflatten" ||
                            name == "reshape" || name == "reshape_as" || name == "flatten" ||
                            name == "ravel";
    if (same_order) {
      return result(make("aten::view_as.default", {member.value, base}, {"self", "other"}));
    }
    return Unimplemented("writes through ", view.op().str(), " to '", base->name(),
                         "', which is read later");
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
  const auto [name, overload] = Parts(op);
  return IsInPlace(name) || WritesOut(overload);
}

absl::Status Functionalize(Graph& graph, std::vector<std::string>& warnings) {
  return Functionalizer(graph, warnings).Run();
}

}  // namespace x2ir
