#include "x2ir/handlers/tflite/fuse.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/written_ops.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

bool IsLinear(const Node& node) {
  return node.attrs().String("fused_activation_function", "NONE") == "NONE";
}

bool OnlyComputes(const Node& node) {
  static constexpr std::string_view kOthers[] = {"CALL_ONCE", "ASSIGN_VARIABLE",
                                                 "HASHTABLE_IMPORT"};
  const std::string_view op = node.op().view();
  return node.dialect() == Symbol(tflite::kDialect) && !op.starts_with("custom::") &&
         std::find(std::begin(kOthers), std::end(kOthers), op) == std::end(kOthers);
}

constexpr WrittenOps kLite(tflite::kDialect, OnlyComputes);

// --- One operator for two or three --------------------------------------------------------------

bool IsNumber(const Value* v, double number) {
  const Tensor* t = v ? v->fixed_constant() : nullptr;
  return t && t->dtype() == DType::kFloat32 && t->num_elements() == 1 && t->rank() <= 1 &&
         static_cast<float>(t->AsDouble(0)) == static_cast<float>(number);
}

// 1 / sqrt(x).
bool FuseRsqrt(Graph& graph, Node* node) {
  if (!kLite.Is(node, "DIV") || !IsLinear(*node) || !IsNumber(node->input(0), 1)) return false;
  Node* root = kLite.MakerFor(graph, node->input(1), "SQRT");
  const Shape* shape = root ? root->output(0)->shape() : nullptr;
  // A constant of rank 1 makes a vector of a scalar.
  if (!shape || shape->rank() == 0 || node->output(0)->dtype() != DType::kFloat32) return false;
  kLite.Replace(graph, node, "RSQRT", {root->input(0)}, {});
  kLite.EraseWithOperands(graph, node);
  return true;
}

// x over its length along the last axis, which is at least 1e-6.
bool FuseL2Normalization(Graph& graph, Node* node) {
  if (!kLite.Is(node, "DIV") || !IsLinear(*node)) return false;
  Value* x = node->input(0);
  const Shape* shape = x->shape();
  Node* most = kLite.MakerFor(graph, node->input(1), "MAXIMUM");
  Node* root = most && IsNumber(most->input(1), 1e-6f)
                   ? kLite.MakerFor(graph, most->input(0), "SQRT")
                   : nullptr;
  Node* sum = root ? kLite.MakerFor(graph, root->input(0), "SUM") : nullptr;
  Node* square = sum ? kLite.MakerFor(graph, sum->input(0), "MUL") : nullptr;
  if (!square || square->input(0) != x || square->input(1) != x || !IsLinear(*square)) return false;
  const Tensor* axes = sum->input(1)->fixed_constant();
  if (!shape || shape->rank() > 4 || !axes || axes->num_elements() != 1 ||
      axes->AsInt(0) != shape->rank() - 1 || sum->attrs().Int("keep_dims", 0) == 0) {
    return false;
  }
  kLite.Replace(graph, node, "L2_NORMALIZATION", {x}, {});
  kLite.EraseWithOperands(graph, node);
  return true;
}

// (a - b) * (a - b).
bool FuseSquaredDifference(Graph& graph, Node* node) {
  if (!kLite.Is(node, "MUL") || !IsLinear(*node) || node->input(0) != node->input(1)) {
    return false;
  }
  Node* difference = kLite.MakerFor(graph, node->input(0), "SUB", 2);
  const Node* probe = difference;
  if (!probe || !IsLinear(*probe)) return false;
  const DType type = probe->input(0)->dtype();
  if (type != DType::kFloat32 && type != DType::kInt32) return false;
  for (const Value* v : probe->inputs()) {
    if (!v->shape() || v->shape()->rank() > 4) return false;
  }
  kLite.Replace(graph, node, "SQUARED_DIFFERENCE", {difference->input(0), difference->input(1)},
                {});
  kLite.EraseWithOperands(graph, node);
  return true;
}

// The least of 1 and the largest of -1 and x.
bool FuseReluN1(Graph& graph, Node* node) {
  if (!kLite.Is(node, "MINIMUM") || !IsNumber(node->input(1), 1)) return false;
  Node* larger = kLite.MakerFor(graph, node->input(0), "MAXIMUM");
  if (!larger || !IsNumber(larger->input(1), -1)) return false;
  const Shape* shape = larger->input(0)->shape();
  if (!shape || shape->rank() == 0) return false;
  kLite.Replace(graph, node, "RELU_N1_TO_1", {larger->input(0)}, {});
  kLite.EraseWithOperands(graph, node);
  return true;
}

// --- Places and sizes as int32 ------------------------------------------------------------------

bool FuseCast(Graph& graph, Node* node) {
  if (!kLite.Is(node, "CAST") || node->output(0)->dtype() != DType::kInt32) return false;
  Value* wide = node->input(0);
  if (wide->dtype() != DType::kInt64) return false;
  Node* before = wide->producer();
  if (kLite.Is(before, "CAST") && before->graph() == &graph &&
      before->input(0)->dtype() == DType::kInt32) {
    return kLite.PassOn(graph, node, before->input(0));
  }
  static constexpr std::pair<std::string_view, const char*> kOwnType[] = {
      {"ARG_MAX", "output_type"}, {"ARG_MIN", "output_type"}, {"SHAPE", "out_type"}};
  for (const auto& [op, attr] : kOwnType) {
    Node* made_by = kLite.MakerFor(graph, wide, op);
    if (!made_by) continue;
    AttributeMap attrs = made_by->attrs();
    attrs.Set(attr, "INT32");
    kLite.Replace(graph, node, op, made_by->inputs(), std::move(attrs));
    kLite.EraseWithOperands(graph, node);
    return true;
  }
  return false;
}

// Operators take indices of int32 as they are.
bool TakeNarrowIndices(Graph& graph, Node* node) {
  static constexpr std::string_view kOps[] = {"GATHER", "GATHER_ND", "REVERSE_SEQUENCE"};
  if (node->dialect() != Symbol(tflite::kDialect) ||
      std::find(std::begin(kOps), std::end(kOps), node->op().view()) == std::end(kOps)) {
    return false;
  }
  Node* cast = node->input(1)->producer();
  if (!kLite.Is(cast, "CAST") || cast->graph() != &graph ||
      cast->output(0)->dtype() != DType::kInt64 || cast->input(0)->dtype() != DType::kInt32) {
    return false;
  }
  node->SetInput(1, cast->input(0));
  if (cast->output(0)->is_unused()) graph.EraseUnused(cast);
  return true;
}

// Bools have no maximum: it was taken of bytes.
bool FuseAnyAll(Graph& graph, Node* node) {
  if (!kLite.Is(node, "CAST") || node->output(0)->dtype() != DType::kBool) return false;
  static constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"REDUCE_MAX", "REDUCE_ANY"}, {"REDUCE_MIN", "REDUCE_ALL"}};
  for (const auto& [of_bytes, of_bools] : kPairs) {
    Node* reduction = kLite.MakerFor(graph, node->input(0), of_bytes);
    Node* cast = reduction ? kLite.MakerFor(graph, reduction->input(0), "CAST") : nullptr;
    if (!cast || cast->input(0)->dtype() != DType::kBool) continue;
    kLite.Replace(graph, node, of_bools, {cast->input(0), reduction->input(1)}, reduction->attrs());
    kLite.EraseWithOperands(graph, node);
    return true;
  }
  return false;
}

// --- Constants ----------------------------------------------------------------------------------

// Sizes that are known, and constants in another shape. LiteRT makes these before the run, and its
// kernels do not always find them.
bool FuseConstant(Graph& graph, Node* node) {
  if (node->dialect() != Symbol(tflite::kDialect) || node->num_outputs() != 1) return false;
  const std::string_view op = node->op().view();
  const Value *x = node->num_inputs() > 0 ? node->input(0) : nullptr, *y = node->output(0);
  if (!x || y->is_graph_output()) return false;
  Tensor made;
  if (op == "SHAPE") {
    const auto dims = x->shape() ? x->shape()->Static() : std::nullopt;
    if (!dims) return false;
    const auto rank = static_cast<int64_t>(dims->size());
    made = y->dtype() == DType::kInt32
               ? Tensor::Of<int32_t>({rank}, std::vector<int32_t>(dims->begin(), dims->end()))
               : Tensor::Of<int64_t>({rank}, *dims);
  } else if (op == "RESHAPE" || op == "EXPAND_DIMS" || op == "SQUEEZE") {
    const Tensor* constant = x->fixed_constant();
    const auto dims = y->shape() ? y->shape()->Static() : std::nullopt;
    if (!constant || constant->is_sparse() || !dims || tflite::IsQuantized(*x) ||
        CheckedProduct(*dims) != constant->num_elements()) {
      return false;
    }
    made = constant->Reshaped(*dims);
  } else if (op == "CAST" && x->dtype() == DType::kInt64 && y->dtype() == DType::kInt32) {
    const Tensor* constant = x->fixed_constant();
    if (!constant || constant->is_sparse()) return false;
    std::vector<int32_t> narrow;
    for (int64_t i = 0; i < constant->num_elements(); ++i) {
      const int64_t n = constant->AsInt(i);
      if (n != static_cast<int32_t>(n)) return false;
      narrow.push_back(static_cast<int32_t>(n));
    }
    made = Tensor::Of<int32_t>(constant->dims(), narrow);
  } else {
    return false;
  }
  return kLite.PassOn(graph, node, graph.AddConstant(graph.UniqueName(y->name()), std::move(made)));
}

// A reshape of a reshape is one of what that took, and one to the shape that is there already none.
// (LiteRT lets a chain of them share memory, and with other users of it on the way does not always
// keep what it holds.)
bool FuseReshapes(Graph& graph, Node* node) {
  if (!kLite.Is(node, "RESHAPE")) return false;
  Node* before = node->input(0)->producer();
  Value* x = kLite.Is(before, "RESHAPE") && before->graph() == &graph ? before->input(0) : nullptr;
  if (!x || tflite::IsQuantized(*node->input(0)) || tflite::IsQuantized(*x)) return false;
  const auto from = x->shape() ? x->shape()->Static() : std::nullopt;
  const Shape* to = node->output(0)->shape();
  if (from && to && to->Static() == from && kLite.PassOn(graph, node, x)) return true;
  node->SetInput(0, x);
  if (before->output(0)->is_unused()) kLite.EraseWithOperands(graph, before);
  return false;  // it is still there
}

// A product takes its operand in any shape: it knows the rows by the weights.
bool FuseFlatten(Graph& graph, Node* node) {
  if (!kLite.Is(node, "FULLY_CONNECTED") || node->attrs().Int("keep_num_dims", 0) != 0) {
    return false;
  }
  const Value *x = node->input(0), *y = node->output(0);
  Node* before = kLite.Is(x->producer(), "RESHAPE") ? x->producer() : nullptr;
  const Shape *flat = x->shape(), *weights = node->input(1)->shape(), *out = y->shape();
  if (!before || before->graph() != &graph || tflite::IsQuantized(*x) || !flat || !weights ||
      !out || flat->rank() != 2 || weights->rank() != 2 || out->rank() != 2 ||
      !(*flat)[1].is_static() || !((*flat)[1] == (*weights)[1])) {
    return false;
  }
  Value* whole = before->input(0);
  if (!whole->shape() || whole->shape()->rank() < 2 || !whole->shape()->Static()) return false;
  node->SetInput(0, whole);
  if (before->output(0)->is_unused()) kLite.EraseWithOperands(graph, before);
  return false;  // it is still there
}

// --- Transposes ---------------------------------------------------------------------------------

bool FuseTransposes(Graph& graph, Node* node) {
  if (!kLite.Is(node, "TRANSPOSE")) return false;
  Node* before = node->input(0)->producer();
  if (!kLite.Is(before, "TRANSPOSE") || before->graph() != &graph) return false;
  const std::optional<Perm> first = PermOperand(*before), second = PermOperand(*node);
  if (!first || !second || first->size() != second->size()) return false;
  const Perm both = Compose(*first, *second);
  Value *x = before->input(0), *result = node->output(0);
  if (both.empty()) return kLite.PassOn(graph, node, x);
  if (before->output(0)->uses().size() != 1 || before->output(0)->is_graph_output()) return false;
  Value* perm = AddPermOperand(graph, result->name(), both);
  kLite.Replace(graph, node, "TRANSPOSE", {x, perm}, {});
  kLite.EraseWithOperands(graph, node);
  return true;
}

// --- Slices of an axis --------------------------------------------------------------------------

bool HasAny(DType t, std::initializer_list<DType> types) {
  return std::find(types.begin(), types.end(), t) != types.end();
}

// What `v` is a RESHAPE of that only adds an axis of size 1 there; null: it is none.
Value* WithoutAxis(const Graph& graph, const Value* v, int64_t axis) {
  Node* before = kLite.MakerFor(graph, v, "RESHAPE");
  if (!before) before = kLite.MakerFor(graph, v, "EXPAND_DIMS");
  Value* x = before ? before->input(0) : nullptr;
  const Shape *in = x ? x->shape() : nullptr, *out = v->shape();
  if (!in || !out || !in->is_static() || in->rank() + 1 != out->rank()) return nullptr;
  if (!((*out)[axis] == Dim(1))) return nullptr;
  for (int64_t i = 0; i < in->rank(); ++i) {
    if (!((*in)[i] == (*out)[i < axis ? i : i + 1])) return nullptr;
  }
  return x;
}

bool FusePack(Graph& graph, Node* node) {
  if (!kLite.Is(node, "CONCATENATION") || !IsLinear(*node) || node->num_inputs() < 2) {
    return false;
  }
  const Value* result = node->output(0);
  const Shape* shape = result->shape();
  const int64_t axis = node->attrs().Int("axis", 0);
  if (!shape || axis < 0 || axis >= shape->rank() ||
      !HasAny(result->dtype(), {DType::kFloat32, DType::kUInt8, DType::kInt8, DType::kInt16,
                                DType::kInt32, DType::kInt64})) {
    return false;
  }
  std::vector<Value*> slices;
  for (const Value* v : node->inputs()) {
    slices.push_back(WithoutAxis(graph, v, axis));
    if (!slices.back()) return false;
  }
  const auto count = static_cast<int64_t>(slices.size());
  kLite.Replace(graph, node, "PACK", std::move(slices), {{"values_count", count}, {"axis", axis}});
  kLite.EraseWithOperands(graph, node);
  return true;
}

bool FuseUnpack(Graph& graph, Node* node) {
  if (!kLite.Is(node, "SPLIT")) return false;
  const Tensor* at = node->input(0)->fixed_constant();
  Value* x = node->input(1);
  const Shape* shape = x->shape();
  if (!at || at->num_elements() != 1 || !shape || !shape->is_static() ||
      !HasAny(x->dtype(), {DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt8})) {
    return false;
  }
  const int64_t axis = at->AsInt(0);
  const auto count = static_cast<int64_t>(node->num_outputs());
  if (axis < 0 || axis >= shape->rank() || !((*shape)[axis] == Dim(count))) return false;
  std::vector<Node*> behind;
  for (const Value* part : node->outputs()) {
    if (!part || part->uses().size() != 1 || part->is_graph_output()) return false;
    Node* user = part->uses()[0].node;
    if (user->graph() != &graph || part->uses()[0].index != 0) return false;
    if (!kLite.Is(user, "RESHAPE") && !kLite.Is(user, "SQUEEZE")) return false;
    const Shape* out = user->output(0) ? user->output(0)->shape() : nullptr;
    if (!out || out->rank() + 1 != shape->rank()) return false;
    for (int64_t i = 0; i < out->rank(); ++i) {
      if (!((*out)[i] == (*shape)[i < axis ? i : i + 1])) return false;
    }
    behind.push_back(user);
  }
  Node* made = graph.InsertNode(node, tflite::kDialect, "UNPACK", {x});
  made->SetAttr("num", count);
  made->SetAttr("axis", axis);
  for (Node* user : behind) {
    Value* result = user->output(0);
    const Type type = result->type();
    graph.AdoptOutput(graph.AddNodeOutput(made, ""), result);
    result->set_type(type);
    graph.EraseUnused(user);
  }
  kLite.EraseWithOperands(graph, node);
  return true;
}

}  // namespace

bool ShareReshape(Graph& graph, Node* node, const absl::flat_hash_set<const Node*>& before) {
  constexpr size_t kMaxUses = 64;
  const Value* x = kLite.Is(node, "RESHAPE") ? node->input(0) : nullptr;
  const Shape* shape = x ? node->output(0)->shape() : nullptr;
  if (!shape || !shape->is_static() || x->uses().size() > kMaxUses) return false;
  for (const Use& use : x->uses()) {
    Node* other = use.node;
    if (use.index != 0 || !before.contains(other) || !kLite.Is(other, "RESHAPE")) continue;
    Value* made = other->output(0);
    if (other->graph() == &graph && made->shape() && *made->shape() == *shape) {
      return kLite.PassOn(graph, node, made);
    }
  }
  return false;
}

bool FuseLite(Graph& graph, Node* node) {
  static constexpr bool (*kRules[])(Graph&, Node*) = {
      FuseConstant,          FuseReshapes, FuseFlatten, FuseRsqrt,  FuseL2Normalization,
      FuseSquaredDifference, FuseReluN1,   FuseCast,    FuseAnyAll, TakeNarrowIndices,
      FuseTransposes,        FusePack,     FuseUnpack};
  return std::any_of(std::begin(kRules), std::end(kRules),
                     [&](auto rule) { return rule(graph, node); });
}

void EraseDeadNodes(Graph& graph) {
  for (Node* node = graph.last(); node;) {
    Node* before = node->prev();
    for (Graph* inner : node->subgraphs()) EraseDeadNodes(*inner);
    const bool unused = std::all_of(node->outputs().begin(), node->outputs().end(),
                                    [](const Value* v) { return !v || v->is_unused(); });
    if (unused && OnlyComputes(*node)) graph.EraseUnused(node);
    node = before;
  }
}

}  // namespace x2ir
