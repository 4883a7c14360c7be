// See fuse.h.
#include "x2ir/handlers/tf/fuse.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/core/written_ops.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr WrittenOps kTfOps("tf");

class TfFuser {
 public:
  TfFuser(Graph& graph, std::vector<std::string> (*check)(const Node&))
      : graph_(graph), check_(check) {}

  void Run() {
    static constexpr bool (TfFuser::*kRules[])(Node*) = {
        &TfFuser::Casts,     &TfFuser::Transposes, &TfFuser::Product,           &TfFuser::Pack,
        &TfFuser::Squeeze,   &TfFuser::Rsqrt,      &TfFuser::SquaredDifference, &TfFuser::NotEqual,
        &TfFuser::NotFinite, &TfFuser::Indices,    &TfFuser::Differences};
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) TfFuser(*inner, check_).Run();
      if (node->dialect().view() != "tf" || Unpack(node)) continue;
      if (node->num_outputs() != 1) continue;
      for (const auto rule : kRules) {
        if ((this->*rule)(node)) break;
      }
    }
  }

 private:
  Node* MakerFor(const Value* v, std::string_view op, size_t uses = 1) const {
    return kTfOps.MakerFor(graph_, v, op, uses);
  }

  // A new node before another one; null where the target does not allow it.
  Node* Make(Node* node, std::string_view op, const std::vector<Value*>& operands,
             AttributeMap attrs) {
    Node* made =
        kTfOps.Make(graph_, node, op, operands, WithTfTypeAttrs(op, operands, std::move(attrs)));
    if (check_(*made).empty()) return made;
    graph_.EraseUnused(made);
    return nullptr;
  }

  // Replaces a node with one result.
  bool Replace(Node* node, std::string_view op, const std::vector<Value*>& operands,
               AttributeMap attrs = {}) {
    Node* made = Make(node, op, operands, std::move(attrs));
    if (!made) return false;
    WrittenOps::TakeResult(graph_, made, node->output(0));
    kTfOps.EraseWithOperands(graph_, node);
    return true;
  }

  // A transpose of a transpose is one, or none.
  bool Transposes(Node* node) {
    if (!kTfOps.Is(node, "Transpose")) return false;
    if (TransposeOfConstants(node)) return true;
    Node* before = node->input(0)->producer();
    if (!kTfOps.Is(before, "Transpose") || before->graph() != &graph_) return false;
    const std::optional<Perm> first = PermOperand(*before), second = PermOperand(*node);
    if (!first || !second || first->size() != second->size()) return false;
    const Perm both = Compose(*first, *second);
    Value* x = before->input(0);
    if (both.empty()) return kTfOps.PassOn(graph_, node, x);
    if (before->output(0)->uses().size() != 1 || before->output(0)->is_graph_output()) return false;
    return Replace(node, "Transpose", {x, AddPermOperand(graph_, node->output(0)->name(), both)});
  }

  // Whether the value is computed element by element of constants, all for one user: a quantized
  // kernel that becomes floats. A constant that others use too is not copied.
  bool IsOfConstants(const Value* v, int64_t rank, int depth = 0) const {
    constexpr int kDeepest = 8;
    if (const Tensor* constant = v->fixed_constant()) {
      const bool dense = !constant->is_sparse() && BitWidth(constant->dtype()) >= 8;
      return dense && constant->rank() <= rank && (constant->rank() == 0 || v->uses().size() == 1);
    }
    static constexpr std::string_view kElementwise[] = {"AddV2", "Cast", "Mul", "Sub"};
    const Node* maker = v->producer();
    if (!maker || depth == kDeepest ||
        std::none_of(std::begin(kElementwise), std::end(kElementwise),
                     [&](std::string_view op) { return MakerFor(v, op); })) {
      return false;
    }
    const std::vector<Value*> operands = maker->inputs();
    return std::all_of(operands.begin(), operands.end(), [&](const Value* operand) {
      return IsOfConstants(operand, rank, depth + 1);
    });
  }

  // The same of transposed constants, before `node`.
  Value* OfTransposed(const Value* v, const Perm& perm, Node* node) {
    if (const Tensor* constant = v->fixed_constant()) {
      std::vector<int64_t> dims(perm.size() - static_cast<size_t>(constant->rank()), 1);
      dims.insert(dims.end(), constant->dims().begin(), constant->dims().end());
      return graph_.AddConstant(graph_.UniqueName(v->name()),
                                constant->rank() == 0
                                    ? *constant
                                    : TransposeWeight(constant->Reshaped(dims), AsInts(perm)));
    }
    std::vector<Value*> operands;
    for (const Value* operand : v->producer()->inputs()) {
      operands.push_back(OfTransposed(operand, perm, node));
    }
    Node* made =
        kTfOps.Make(graph_, node, v->producer()->op().view(), operands, v->producer()->attrs());
    Value* y = graph_.AddNodeOutput(made, graph_.UniqueName(v->name()));
    y->set_type(Type::Tensor(v->dtype()));
    return y;
  }

  // A transpose of what is computed of constants.
  bool TransposeOfConstants(Node* node) {
    Value* x = node->input(0);
    const std::optional<Perm> perm = PermOperand(*node);
    const Shape* shape = x->shape();
    if (!perm || x->fixed_constant() || !shape ||
        shape->rank() != static_cast<int64_t>(perm->size()) || !IsOfConstants(x, shape->rank())) {
      return false;
    }
    return kTfOps.PassOn(graph_, node, OfTransposed(x, *perm, node));
  }

  // Places and sizes as int32. They became int64 between, which changes no number.
  bool Casts(Node* node) {
    if (!kTfOps.Is(node, "Cast") || node->input(0)->dtype() != DType::kInt64) return false;
    Value* wide = node->input(0);
    const DType to = node->output(0)->dtype();
    const Node* before = wide->producer();
    if (kTfOps.Is(before, "Cast") && before->graph() == &graph_ &&
        before->input(0)->dtype() == DType::kInt32) {
      Value* narrow = before->input(0);
      if (to == DType::kInt32) return kTfOps.PassOn(graph_, node, narrow);
      return Replace(node, "Cast", {narrow}, {{"DstT", Type::Tensor(to)}});
    }
    static constexpr std::pair<std::string_view, const char*> kOwnType[] = {
        {"ArgMax", "output_type"},
        {"ArgMin", "output_type"},
        {"Shape", "out_type"},
        {"Size", "out_type"}};
    for (const auto& [op, attr] : kOwnType) {
      const Node* maker = to == DType::kInt32 ? MakerFor(wide, op) : nullptr;
      if (!maker) continue;
      AttributeMap attrs = maker->attrs();
      attrs.Set(attr, Type::Tensor(to));
      return Replace(node, op, maker->inputs(), std::move(attrs));
    }
    return false;
  }

  // Operands whose last two axes change places: the product does that itself.
  bool Product(Node* node) {
    const bool flat = kTfOps.Is(node, "MatMul");
    if (!flat && !kTfOps.Is(node, "BatchMatMulV2")) return false;
    if (!flat && IsComplex(node->input(0)->dtype())) return false;  // adj_x conjugates as well
    for (size_t i = 0; i < 2; ++i) {
      Node* turn = node->input(i)->producer();
      if (!kTfOps.Is(turn, "Transpose") || turn->graph() != &graph_) continue;
      std::optional<Perm> perm = PermOperand(*turn);
      if (!perm || perm->size() < 2) continue;
      std::swap((*perm)[perm->size() - 1], (*perm)[perm->size() - 2]);
      if (!IsIdentity(*perm)) continue;
      const Symbol attr(flat ? (i == 0 ? "transpose_a" : "transpose_b")
                             : (i == 0 ? "adj_x" : "adj_y"));
      node->SetAttr(attr, node->attrs().Int(attr, 0) == 0 ? int64_t{1} : int64_t{0});
      node->SetInput(i, turn->input(0));
      if (turn->output(0)->is_unused()) kTfOps.EraseWithOperands(graph_, turn);
    }
    return false;  // it is still there
  }

  // The operand of ExpandDims, where `v` is made by one that adds that axis.
  Value* WithoutAxis(const Value* v, int64_t axis) const {
    const Node* before = MakerFor(v, "ExpandDims");
    const Tensor* at = before ? before->input(1)->fixed_constant() : nullptr;
    const Shape* shape = before ? before->input(0)->shape() : nullptr;
    if (!at || !shape) return nullptr;
    const int64_t added = at->AsInt(0) < 0 ? at->AsInt(0) + shape->rank() + 1 : at->AsInt(0);
    return added == axis ? before->input(0) : nullptr;
  }

  // The same of a small constant.
  static std::optional<Tensor> ConstantWithoutAxis(const Value& v, int64_t axis) {
    constexpr int64_t kSmall = 64;
    const Tensor* constant = v.fixed_constant();
    if (!constant || constant->is_sparse() || constant->num_elements() > kSmall) return {};
    std::vector<int64_t> dims = constant->dims();
    if (axis >= constant->rank() || dims[static_cast<size_t>(axis)] != 1) return {};
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    return constant->Reshaped(std::move(dims));
  }

  // Tensors along a new axis.
  bool Pack(Node* node) {
    if (!kTfOps.Is(node, "ConcatV2") || node->num_inputs() < 3) return false;
    const size_t count = node->num_inputs() - 1;
    const Tensor* at = node->input(count)->fixed_constant();
    const int64_t axis = at ? at->AsInt(0) : -1;
    if (axis < 0) return false;  // rows count axes from the front
    std::vector<Value*> parts(count);
    std::vector<std::pair<size_t, Tensor>> constants;
    for (size_t i = 0; i < count; ++i) {
      parts[i] = WithoutAxis(node->input(i), axis);
      if (parts[i]) continue;
      std::optional<Tensor> constant = ConstantWithoutAxis(*node->input(i), axis);
      if (!constant) return false;
      constants.emplace_back(i, *std::move(constant));
    }
    if (constants.size() == count) return false;
    for (auto& [i, constant] : constants) {
      const std::string name = graph_.UniqueName(node->input(i)->name());
      parts[i] = graph_.AddConstant(name, std::move(constant));
    }
    if (Replace(node, "Pack", parts, {{"axis", axis}})) return true;
    for (const auto& [i, constant] : constants) graph_.RemoveConstant(parts[i]);
    return false;
  }

  // The slices of an axis, each without it.
  bool Unpack(Node* node) {
    if (!kTfOps.Is(node, "SplitV")) return false;
    const Tensor *sizes = node->input(1)->fixed_constant(), *at = node->input(2)->fixed_constant();
    Value* x = node->input(0);
    if (!sizes || !at || !x->shape()) return false;
    for (int64_t i = 0; i < sizes->num_elements(); ++i) {
      if (sizes->AsInt(i) != 1) return false;
    }
    const int64_t axis = at->AsInt(0) < 0 ? at->AsInt(0) + x->shape()->rank() : at->AsInt(0);
    std::vector<Node*> behind;
    for (const Value* part : node->outputs()) {
      const bool own = part && part->uses().size() == 1 && !part->is_graph_output();
      Node* user = own ? part->uses()[0].node : nullptr;
      if (!kTfOps.Is(user, "Squeeze") || user->graph() != &graph_) return false;
      const std::vector<int64_t> dims = user->attrs().Ints("squeeze_dims", {});
      if (dims != std::vector<int64_t>{axis}) return false;
      behind.push_back(user);
    }
    const auto count = static_cast<int64_t>(behind.size());
    Node* made = Make(node, "Unpack", {x}, {{"num", count}, {"axis", axis}});
    if (!made) return false;
    for (Node* user : behind) {
      WrittenOps::TakeResult(graph_, made, user->output(0));
      graph_.EraseUnused(user);
    }
    kTfOps.EraseWithOperands(graph_, node);
    return true;
  }

  // One element of an axis, without the axis.
  bool Squeeze(Node* node) {
    if (!kTfOps.Is(node, "Squeeze")) return false;
    const std::vector<int64_t> dims = node->attrs().Ints("squeeze_dims", {});
    Node* slice = MakerFor(node->input(0), "StridedSlice");
    if (!slice || dims.size() != 1 || dims[0] < 0 || dims[0] > 30) return false;
    for (const char* mask : {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
      if (slice->attrs().Int(mask, 0) != 0) return false;
    }
    const int64_t axis = dims[0], bit = int64_t{1} << axis;
    int64_t place[3] = {};  // begin, end, stride
    for (size_t i = 0; i < 3; ++i) {
      const Tensor* all = slice->input(i + 1)->fixed_constant();
      if (!all || axis >= all->num_elements()) return false;
      place[i] = all->AsInt(axis);
    }
    const int64_t begins = slice->attrs().Int("begin_mask", 0);
    const bool to_end = (slice->attrs().Int("end_mask", 0) & bit) != 0;
    // The last element, or one from the front. A masked begin is 0, which the operand says, too.
    const bool one = place[0] == -1 ? to_end : place[0] >= 0 && place[1] == place[0] + 1 && !to_end;
    if (!one || place[2] != 1 || ((begins & bit) != 0 && place[0] != 0)) return false;
    AttributeMap attrs = slice->attrs();
    attrs.Set("begin_mask", begins & ~bit);
    attrs.Set("shrink_axis_mask", bit);
    return Replace(node, "StridedSlice", slice->inputs(), std::move(attrs));
  }

  // 1 / sqrt(x).
  bool Rsqrt(Node* node) {
    const bool divides = kTfOps.Is(node, "RealDiv");
    if (!divides && !kTfOps.Is(node, "Reciprocal")) return false;
    const Tensor* one = divides ? node->input(0)->fixed_constant() : nullptr;
    if (divides && (!one || one->rank() != 0 || IsComplex(one->dtype()) || one->AsDouble(0) != 1))
      return false;
    Node* root = MakerFor(node->input(divides ? 1 : 0), "Sqrt");
    return root && Replace(node, "Rsqrt", {root->input(0)});
  }

  // (a - b) * (a - b).
  bool SquaredDifference(Node* node) {
    if (!kTfOps.Is(node, "Mul") || node->input(0) != node->input(1)) return false;
    Node* difference = MakerFor(node->input(0), "Sub", 2);
    return difference && Replace(node, "SquaredDifference", difference->inputs());
  }

  // Not equal.
  bool NotEqual(Node* node) {
    if (!kTfOps.Is(node, "LogicalNot")) return false;
    Node* equal = MakerFor(node->input(0), "Equal");
    return equal && Replace(node, "NotEqual", equal->inputs(), equal->attrs());
  }

  // Whether a number is NaN or infinite, for its opposite and for choices.
  bool NotFinite(Node* node) {
    if (!kTfOps.Is(node, "LogicalOr") || node->output(0)->is_graph_output()) return false;
    const size_t first = MakerFor(node->input(0), "IsNan") ? 0 : 1;
    const Node *nan = MakerFor(node->input(first), "IsNan"),
               *inf = MakerFor(node->input(1 - first), "IsInf");
    if (!nan || !inf || nan->input(0) != inf->input(0)) return false;
    Node* opposite = nullptr;
    std::vector<Node*> choices;
    for (const Use& use : node->output(0)->uses()) {
      if (use.node->graph() != &graph_) return false;
      if (kTfOps.Is(use.node, "SelectV2") && use.index == 0) {
        choices.push_back(use.node);
      } else if (kTfOps.Is(use.node, "LogicalNot") && !opposite) {
        opposite = use.node;
      } else {
        return false;
      }
    }
    if (!opposite && choices.empty()) return false;
    Node* finite = Make(node, "IsFinite", {nan->input(0)}, {});
    if (!finite) return false;
    if (opposite) {
      WrittenOps::TakeResult(graph_, finite, opposite->output(0));
    } else {
      const Type type = node->output(0)->type();
      graph_.AddNodeOutput(finite, graph_.UniqueName(node->output(0)->name()))->set_type(type);
    }
    for (Node* choice : choices) {
      Value *yes = choice->input(1), *no = choice->input(2);
      choice->SetInput(0, finite->output(0));
      choice->SetInput(1, no);
      choice->SetInput(2, yes);
    }
    kTfOps.EraseWithOperands(graph_, opposite ? opposite : node);
    return true;
  }

  // Indices and sizes of int32, which need not be int64.
  bool Indices(Node* node) {
    struct Row {
      std::string_view op;
      size_t operand;
      const char* type;  // the attribute
    };
    static constexpr Row kRows[] = {{"BroadcastTo", 1, "Tidx"},
                                    {"Fill", 0, "index_type"},
                                    {"GatherNd", 1, "Tindices"},
                                    {"GatherV2", 1, "Tindices"},
                                    {"Reshape", 1, "Tshape"},
                                    {"TensorScatterAdd", 1, "Tindices"},
                                    {"TensorScatterMax", 1, "Tindices"},
                                    {"TensorScatterMin", 1, "Tindices"},
                                    {"TensorScatterUpdate", 1, "Tindices"},
                                    {"Tile", 1, "Tmultiples"}};
    const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& candidate) {
      return candidate.op == node->op().view();
    });
    const Value* wide = row == std::end(kRows) ? nullptr : node->input(row->operand);
    Node* cast = wide ? wide->producer() : nullptr;
    if (!kTfOps.Is(cast, "Cast") || cast->input(0)->dtype() != DType::kInt32 ||
        wide->dtype() != DType::kInt64) {
      return false;
    }
    node->SetInput(row->operand, cast->input(0));
    node->SetAttr(row->type, Type::Tensor(DType::kInt32));
    if (wide->is_unused() && cast->graph() == &graph_) kTfOps.EraseWithOperands(graph_, cast);
    return false;  // it is still there
  }

  // The operand of what is negative, for floats -x and for integers 0 - x.
  Value* Opposite(const Value* v) const {
    if (const Node* negative = MakerFor(v, "Neg")) return negative->input(0);
    const Node* difference = IsInteger(v->dtype()) ? MakerFor(v, "Sub") : nullptr;
    const Tensor* zero = difference ? difference->input(0)->fixed_constant() : nullptr;
    const bool is_zero = zero && zero->rank() == 0 && zero->AsInt(0) == 0;
    return is_zero ? difference->input(1) : nullptr;
  }

  // Negative numbers that are added.
  bool Differences(Node* node) {
    if (!kTfOps.Is(node, "TensorScatterAdd")) return false;
    Value* updates = Opposite(node->input(2));
    return updates && Replace(node, "TensorScatterSub", {node->input(0), node->input(1), updates});
  }

  Graph& graph_;
  std::vector<std::string> (*check_)(const Node&);
};

}  // namespace

void FuseTfOps(Graph& graph, std::vector<std::string> (*check)(const Node&)) {
  TfFuser(graph, check).Run();
}

}  // namespace x2ir
