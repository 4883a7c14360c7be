// See contrib_fusions.h. The definitions are those of ONNX Runtime's docs/ContribOperators.md.
#include "x2ir/handlers/onnx/contrib_fusions.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

constexpr std::string_view kContribDomain = "com.microsoft";

bool IsNode(const Node* node, std::string_view op) {
  return node && node->dialect() == "onnx" && node->op() == op;
}

// The node that makes the value, if it is that op, of this graph.
Node* MadeBy(const Value* value, std::string_view op, const Graph& graph) {
  Node* node = value ? value->producer() : nullptr;
  return IsNode(node, op) && node->graph() == &graph ? node : nullptr;
}
bool IsUsedOnce(const Value& value) { return value.uses().size() == 1 && !value.is_graph_output(); }

bool HaveOneShape(const Value* a, const Value* b) {
  const Shape *x = a ? a->shape() : nullptr, *y = b ? b->shape() : nullptr;
  if (!x || !y || x->rank() != y->rank() || a->dtype() != b->dtype()) return false;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (!ProvablyEqual((*x)[i], (*y)[i])) return false;
  }
  return true;
}

// A constant with a number for each element of the last axis of `x`.
bool IsChannelVector(const Value* v, const Value& x) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  const Shape* shape = x.shape();
  return tensor && !tensor->is_sparse() && tensor->rank() == 1 && shape && shape->rank() > 0 &&
         tensor->dtype() == x.dtype() && shape->dims().back() == Dim(tensor->dim(0));
}

bool HasKernels(const Value& x) {
  return x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat16;
}

// x + bias, the bias along the last axis.
struct Biased {
  Node* add;
  Value *x, *bias;
};
std::optional<Biased> AsBiased(const Value* sum, const Graph& graph) {
  Node* add = MadeBy(sum, "Add", graph);
  if (!add || !IsUsedOnce(*sum)) return std::nullopt;
  for (size_t i : {0, 1}) {
    Value *x = add->input(1 - i), *bias = add->input(i);
    if (IsChannelVector(bias, *sum) && HaveOneShape(x, sum)) return Biased{add, x, bias};
  }
  return std::nullopt;
}

std::optional<float> ScalarOf(const Value* v) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() != 1) return std::nullopt;
  return static_cast<float>(tensor->AsDouble(0));
}

// --- Weights of four bits ------------------------------------------------------------------------

// [n, k] numbers of four bits in blocks along k, as DequantizeLinear has them: in that order, or
// (`by_column`) as [k, n].
struct WeightBlocks {
  const Tensor *weights, *scales, *zeros;  // zeros: null where they are all 0
  int64_t n, k, block;
  bool by_column;

  int64_t count() const { return k / block; }
  // Where the number of row i and place j is, of `width` of them in a row.
  int64_t At(int64_t i, int64_t j, int64_t width) const {
    return by_column ? j * n + i : i * width + j;
  }
};

std::optional<WeightBlocks> BlocksOf(const Node& dequantize, bool by_column) {
  const auto constant = [&](size_t i) {
    const Tensor* t = dequantize.input(i) ? dequantize.input(i)->fixed_constant() : nullptr;
    return t && !t->is_sparse() && t->rank() == 2 ? t : nullptr;
  };
  WeightBlocks b{constant(0), constant(1), constant(2), 0, 0, 0, by_column};
  if (!b.weights || !b.scales || (dequantize.input(2) && !b.zeros)) return std::nullopt;
  const DType type = b.weights->dtype();
  if (type != DType::kUInt4 && type != DType::kInt4) return std::nullopt;
  b.n = b.weights->dim(by_column ? 1 : 0);
  b.k = b.weights->dim(by_column ? 0 : 1);
  b.block = dequantize.attrs().Int("block_size", 0);
  int64_t axis = dequantize.attrs().Int("axis", 1);
  if (axis < 0) axis += 2;
  const bool known_size = b.block >= 16 && b.block <= 256 && (b.block & (b.block - 1)) == 0;
  if (axis != (by_column ? 0 : 1) || !known_size || b.n < 1 || b.k % b.block != 0) {
    return std::nullopt;
  }
  std::vector<int64_t> dims = {b.n, b.count()};
  if (by_column) std::swap(dims[0], dims[1]);
  if (b.scales->dims() != dims || (b.zeros && b.zeros->dims() != dims)) return std::nullopt;
  return b;
}

// Rows of `width` numbers, two in a byte, each row beginning at one. Signed numbers become unsigned
// ones by 8 more.
Tensor PackedRows(const WeightBlocks& b, const Tensor* numbers, int64_t width) {
  const int64_t row = (width + 1) / 2;
  Tensor packed = Tensor::Zeros(DType::kUInt8, {b.n, row});
  if (!numbers) return packed;
  const int flip = numbers->dtype() == DType::kInt4 ? 8 : 0;
  const auto* from = reinterpret_cast<const uint8_t*>(numbers->bytes().data());
  auto* to = reinterpret_cast<uint8_t*>(packed.mutable_bytes().data());
  for (int64_t i = 0; i < b.n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = b.At(i, j, width);
      const int number = ((from[at / 2] >> (at % 2 * 4)) & 15) ^ flip;
      to[i * row + j / 2] |= static_cast<uint8_t>(number << (j % 2 * 4));
    }
  }
  return packed;
}

Tensor ScalesInRows(const WeightBlocks& b) {
  Tensor scales = Tensor::Zeros(b.scales->dtype(), {b.n * b.count()});
  const size_t size = b.scales->nbytes() / static_cast<size_t>(b.n * b.count());
  std::byte* to = scales.mutable_bytes().data();
  for (int64_t i = 0; i < b.n; ++i) {
    for (int64_t j = 0; j < b.count(); ++j, to += size) {
      std::memcpy(to, b.scales->bytes().data() + static_cast<size_t>(b.At(i, j, b.count())) * size,
                  size);
    }
  }
  return scales;
}

class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph) {}

  // Whether any op of the domain was made.
  bool Run() {
    bool any = false;
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) any = Fusion(*inner).Run() || any;
      if (node->is_erased() || node->dialect() != "onnx") continue;
      any = FuseNorm(*node) || FuseGelu(*node) || FuseSwish(*node) || FuseBlocks(*node) ||
            FuseAttention(*node) || FuseRotary(*node) || any;
    }
    return any;
  }

 private:
  // A node in the place of `before`, whose first output is what `result` was.
  Node* Make(Node* before, std::string_view op, std::vector<Value*> operands, Value* result) {
    while (!operands.empty() && !operands.back()) operands.pop_back();
    Node* node =
        graph_.InsertNode(before, "onnx", StrCat(kContribDomain, "::", op), std::move(operands));
    node->set_name(result->producer()->name());
    Take(node, result);
    return node;
  }
  // The next output of the node is that value from now on.
  void Take(Node* node, Value* value) {
    const Type type = value->type();
    graph_.AdoptOutput(graph_.AddNodeOutput(node, "", type), value);
    value->set_type(type);
  }
  void Drop(Node* node) {
    for (const Value* output : node->outputs()) {
      if (output && !output->is_unused()) return;
    }
    EraseWithConstants(node);
  }

  bool FuseNorm(Node& norm) {
    const bool rms = norm.op() == "RMSNormalization";
    if (!rms && norm.op() != "LayerNormalization") return false;
    Value* x = norm.input(0);
    const int64_t rank = x && x->shape() ? x->shape()->rank() : -1;
    const int64_t axis = norm.attrs().Int("axis", -1);
    if (rank < 1 || (axis != -1 && axis != rank - 1) || !HasKernels(*x)) return false;
    if (norm.attrs().Int("stash_type", 1) != 1) return false;
    for (size_t i = 1; i < norm.num_outputs(); ++i) {
      if (norm.output(i) && !norm.output(i)->is_unused()) return false;
    }
    Value *scale = norm.input(1), *shift = norm.input(2);
    if (!IsChannelVector(scale, *x) || (shift && !IsChannelVector(shift, *x))) return false;
    const auto epsilon = static_cast<float>(norm.attrs().Float("epsilon", 1e-5));
    if (FuseSkip(norm, x, scale, shift, rms, epsilon)) return true;
    // An op that ONNX Runtime has in ONNX's own domain.
    if (rms) norm.set_op("onnx", "SimplifiedLayerNormalization");
    return false;
  }

  bool FuseSkip(Node& norm, Value* sum, Value* scale, Value* shift, bool rms, float epsilon) {
    Node* add = MadeBy(sum, "Add", graph_);
    const int64_t rank = sum->shape()->rank();
    if (!add || (rank != 2 && rank != 3)) return false;
    Value *x = add->input(0), *skip = add->input(1);
    if (!HaveOneShape(x, sum) || !HaveOneShape(skip, sum)) return false;
    // (x + bias) + skip, in the order in which the kernel adds.
    std::optional<Biased> biased;
    if (x != skip) {
      biased = AsBiased(x, graph_);
      if (!biased && (biased = AsBiased(skip, graph_))) std::swap(x, skip);
      if (biased) x = biased->x;
    }
    Value* bias = biased ? biased->bias : nullptr;
    const bool keeps_sum = sum->is_graph_output() || sum->uses().size() > 1;
    std::vector<Value*> operands = {x, skip, scale};
    if (!rms) operands.push_back(shift);
    operands.push_back(bias);
    Node* fused = Make(add, rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
                       std::move(operands), norm.output(0));
    fused->SetAttr("epsilon", epsilon);
    Drop(&norm);
    if (keeps_sum) {
      graph_.AddMissingOutput(fused);  // the mean, and the inverse of the deviation
      graph_.AddMissingOutput(fused);
      Take(fused, sum);
    }
    Drop(add);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseGelu(Node& gelu) {
    if (gelu.op() != "Gelu" || !HasKernels(*gelu.output(0))) return false;
    const bool tanh = gelu.attrs().String("approximate", "none") == "tanh";
    const auto biased = AsBiased(gelu.input(0), graph_);
    if (!tanh && !biased) return false;
    Make(&gelu, tanh ? "FastGelu" : "BiasGelu",
         {biased ? biased->x : gelu.input(0), biased ? biased->bias : nullptr}, gelu.output(0));
    Drop(&gelu);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseSwish(Node& node) {
    if (!node.output(0) || !HasKernels(*node.output(0))) return false;
    if (node.op() == "Swish") {
      const auto alpha = static_cast<float>(node.attrs().Float("alpha", 1));
      Make(&node, "QuickGelu", {node.input(0)}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      return true;
    }
    if (node.op() != "Mul") return false;
    for (size_t i : {0, 1}) {
      Value* x = node.input(1 - i);
      Node* sigmoid = MadeBy(node.input(i), "Sigmoid", graph_);
      if (!sigmoid || !IsUsedOnce(*node.input(i)) || !HaveOneShape(x, node.output(0))) continue;
      Node* scaled = nullptr;
      float alpha = 1;
      if (sigmoid->input(0) != x) {
        scaled = MadeBy(sigmoid->input(0), "Mul", graph_);
        if (!scaled || !IsUsedOnce(*sigmoid->input(0))) continue;
        const size_t at = scaled->input(0) == x ? 1 : 0;
        const std::optional<float> number = ScalarOf(scaled->input(at));
        if (!number || scaled->input(1 - at) != x) continue;
        alpha = *number;
      }
      Make(&node, "QuickGelu", {x}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      Drop(sigmoid);
      if (scaled) Drop(scaled);
      return true;
    }
    return false;
  }

  // A product with weights of four bits.
  bool FuseBlocks(Node& matmul) {
    if (matmul.op() != "MatMul" || !HasKernels(*matmul.output(0))) return false;
    Value* w = matmul.input(1);
    Node* transpose = w ? MadeBy(w, "Transpose", graph_) : nullptr;
    if (transpose) {
      if (transpose->attrs().Ints("perm", {1, 0}) != std::vector<int64_t>{1, 0}) return false;
      if (!IsUsedOnce(*w)) return false;
      w = transpose->input(0);
    }
    Node* dequantize = MadeBy(w, "DequantizeLinear", graph_);
    if (!dequantize || !IsUsedOnce(*w) || w->dtype() != matmul.output(0)->dtype()) return false;
    const auto blocks = BlocksOf(*dequantize, /*by_column=*/!transpose);
    const Value* x = matmul.input(0);
    if (!blocks || !x->shape() || x->shape()->rank() < 2) return false;
    const auto constant = [&](std::string_view name, Tensor tensor) {
      return graph_.AddConstant(graph_.UniqueName(StrCat(w->name(), name)), std::move(tensor));
    };
    Tensor weights = PackedRows(*blocks, blocks->weights, blocks->k)
                         .Reshaped({blocks->n, blocks->count(), blocks->block / 2});
    std::vector<Value*> operands = {matmul.input(0), constant("_blocks", std::move(weights)),
                                    constant("_scales", ScalesInRows(*blocks))};
    // Without zero points they are 8: 0 of signed numbers.
    if (blocks->zeros || blocks->weights->dtype() == DType::kUInt4) {
      Tensor zeros = PackedRows(*blocks, blocks->zeros, blocks->count());
      const int64_t bytes = zeros.num_elements();
      operands.push_back(constant("_zero_points", zeros.Reshaped({bytes})));
    }
    Node* fused = Make(&matmul, "MatMulNBits", std::move(operands), matmul.output(0));
    fused->SetAttr("K", blocks->k);
    fused->SetAttr("N", blocks->n);
    fused->SetAttr("bits", int64_t{4});
    fused->SetAttr("block_size", blocks->block);
    Drop(&matmul);
    if (transpose) Drop(transpose);
    Drop(dequantize);
    return true;
  }

  // Queries, keys and values are [batch, length, width], or made by head of such; without a past.
  bool FuseAttention(Node& node) {
    enum { kQ, kK, kV, kMask };
    if (node.op() != "Attention") return false;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* x = node.input(i);
      if (x && i > kMask) return false;
      if (i <= kV && (!x || !HasKernels(*x) || !x->shape())) return false;
    }
    for (size_t i = 1; i < node.num_outputs(); ++i) {
      if (node.output(i) && !node.output(i)->is_unused()) return false;
    }
    const AttributeMap& attrs = node.attrs();
    int64_t heads = attrs.Int("q_num_heads", 0), kv_heads = attrs.Int("kv_num_heads", 0);
    const bool causal = attrs.Int("is_causal", 0) != 0;
    if (attrs.Float("softcap", 0) != 0 || attrs.Has("softmax_precision")) return false;
    std::vector<Value*> rows = {node.input(kQ), node.input(kK), node.input(kV)};
    Value* result = node.output(0);
    const bool by_head = rows[kQ]->shape()->rank() == 4;
    std::vector<Node*> moves;  // that made heads of rows
    if (by_head) {
      for (Value*& x : rows) {
        Node* transpose = x->producer();
        x = RowsOf(x);
        if (x) moves.insert(moves.end(), {transpose, transpose->input(0)->producer()});
      }
      result = AsideOf(*result);
      if (!rows[kQ] || !rows[kK] || !rows[kV] || !result) return false;
      heads = HeadsOf(*node.input(kQ)), kv_heads = HeadsOf(*node.input(kK));
    }
    if (heads < 1 || kv_heads < 1) return false;
    const Shape &q = *rows[kQ]->shape(), &k = *rows[kK]->shape();
    Value* mask = node.input(kMask);
    const bool yes_no = mask && mask->dtype() == DType::kBool;
    const DType dtype = rows[kQ]->dtype();
    if (mask && !IsBias(*mask, yes_no ? DType::kBool : dtype, {q[0], Dim(heads), q[1], k[1]})) {
      return false;
    }
    if (yes_no && (*mask->shape())[1] != Dim(1)) return false;
    if (causal && (mask || !ProvablyEqual(q[1], k[1]))) return false;
    const bool shared = heads != kv_heads;
    // That one is always causal, and wants to know how long sequences are.
    if (shared && (!causal || !q[0].is_static() || !q[1].is_static() || q[1].value() < 1)) {
      return false;
    }
    const auto scale = attrs.Find("scale");
    const std::string name(result->name());
    const auto constant = [&](std::string_view what, Tensor tensor) {
      return graph_.AddConstant(graph_.UniqueName(StrCat(name, what)), std::move(tensor));
    };
    Value* open = yes_no ? OpenRows(&node, mask) : nullptr;
    if (!shared) {
      rows.insert(rows.end(), {nullptr, nullptr, yes_no ? BiasOf(&node, mask, dtype) : mask});
    } else {
      const auto last = static_cast<int32_t>(q[1].value() - 1);
      const std::vector<int32_t> lasts(static_cast<size_t>(q[0].value()), last);
      rows.insert(rows.end(),
                  {nullptr, nullptr, constant("_last", Tensor::Of<int32_t>({q[0].value()}, lasts)),
                   constant("_length", Tensor::Scalar<int32_t>(last + 1))});
    }
    while (!rows.back()) rows.pop_back();
    Node* fused = graph_.InsertNode(
        &node, "onnx",
        StrCat(kContribDomain, "::", shared ? "GroupQueryAttention" : "MultiHeadAttention"), rows);
    fused->set_name(node.name());
    if (shared) fused->SetAttr("kv_num_heads", kv_heads);
    if (causal && !shared) fused->SetAttr("unidirectional", int64_t{1});
    fused->SetAttr("num_heads", heads);
    if (scale) fused->SetAttr("scale", *scale);
    // What is made of the product before it is the result.
    Node* made = fused;
    const auto then = [&](std::string_view op, auto operands) {
      Value* y = graph_.AddNodeOutput(made, graph_.UniqueName(StrCat(name, "_rows")),
                                      Type::Tensor(dtype, Shape{q[0], q[1], Dim()}));
      made = graph_.InsertNode(&node, "onnx", op, operands(y));
      made->set_name(graph_.UniqueName(StrCat(name, "_", op)));
    };
    if (open) {  // a query that may look at nothing gives zeros
      Value* zero = constant("_zero", Tensor::Zeros(dtype, {}));
      then("Where", [&](Value* y) { return std::vector<Value*>{open, y, zero}; });
    }
    if (by_head) {
      const int64_t size = (*result->shape())[3].value();
      Value* sizes = constant("_heads", Tensor::Of<int64_t>({4}, {0, 0, heads, size}));
      then("Reshape", [&](Value* y) { return std::vector<Value*>{y, sizes}; });
    }
    Node* aside = result->producer();
    Take(made, result);
    if (shared) {
      for (const char* what : {"_key", "_value"}) {  // its schema asks for them
        graph_.AddNodeOutput(fused, graph_.UniqueName(StrCat(name, what)), Type::Tensor(dtype));
      }
    }
    if (by_head) Drop(aside);
    Drop(&node);
    for (Node* move : moves) {
      if (!move->is_erased()) Drop(move);
    }
    return true;
  }

  static bool PutsHeadsAside(const Node& node) {
    return IsNode(&node, "Transpose") &&
           node.attrs().Ints("perm", {}) == std::vector<int64_t>{0, 2, 1, 3};
  }
  static int64_t HeadsOf(const Value& x) {
    const Dim heads = (*x.shape())[1];
    return heads.is_static() ? heads.value() : 0;
  }

  // [batch, length, width], of which the heads were taken; else null.
  Value* RowsOf(const Value* heads) {
    const Node* transpose = MadeBy(heads, "Transpose", graph_);
    const Node* reshape = transpose && PutsHeadsAside(*transpose)
                              ? MadeBy(transpose->input(0), "Reshape", graph_)
                              : nullptr;
    const Shape* to = heads->shape();
    const Shape* from = reshape ? reshape->input(0)->shape() : nullptr;
    if (!from || from->rank() != 3 || to->rank() != 4 || !(*to)[1].is_static() ||
        !(*to)[3].is_static() || !ProvablyEqual((*from)[0], (*to)[0]) ||
        !ProvablyEqual((*from)[1], (*to)[2]) ||
        (*from)[2] != Dim((*to)[1].value() * (*to)[3].value())) {
      return nullptr;
    }
    return reshape->input(0);
  }
  // What the only use of the value makes of it, with heads and length changed; else null.
  static Value* AsideOf(const Value& heads) {
    if (!IsUsedOnce(heads)) return nullptr;
    const Node& user = *heads.uses()[0].node;
    Value* y = PutsHeadsAside(user) ? user.output(0) : nullptr;
    return y && y->shape() && (*y->shape())[3].is_static() ? y : nullptr;
  }

  Value* MakePlain(Node* before, std::string_view op, std::vector<Value*> operands, Type type,
                   std::string_view name) {
    Node* node = graph_.InsertNode(before, "onnx", op, std::move(operands));
    node->set_name(graph_.UniqueName(name));
    return graph_.AddNodeOutput(node, node->name(), std::move(type));
  }
  Value* MakeConstant(std::string_view name, Tensor tensor) {
    return graph_.AddConstant(graph_.UniqueName(name), std::move(tensor));
  }

  // What a mask of "yes" and "no" adds to the scores, once for all that use it.
  Value* BiasOf(Node* before, Value* mask, DType dtype) {
    Value*& bias = biases_[mask];
    if (bias) return bias;
    const std::string name(mask->name());
    return bias = MakePlain(
               before, "Where",
               {mask, MakeConstant(StrCat(name, "_yes"), Tensor::Zeros(dtype, {})),
                MakeConstant(StrCat(name, "_no"),
                             Tensor::ScalarOf(dtype, -std::numeric_limits<double>::infinity()))},
               Type::Tensor(dtype, *mask->shape()), StrCat(name, "_bias"));
  }

  // Which queries may look at anything, [batch, length, 1], of a mask [batch, 1, length, keys];
  // null where all may.
  Value* OpenRows(Node* before, Value* mask) {
    const Shape& s = *mask->shape();
    if (const Tensor* tensor = mask->fixed_constant()) {
      const int64_t columns = tensor->dim(3);
      bool open = !tensor->is_sparse();
      const std::byte* x = open ? tensor->bytes().data() : nullptr;
      for (int64_t i = 0; open && i < tensor->num_elements(); i += columns) {
        open = std::any_of(x + i, x + i + columns, [](std::byte b) { return b != std::byte{0}; });
      }
      if (open) return nullptr;
    }
    Value*& open = open_[mask];
    if (open) return open;
    const std::string name(mask->name());
    Value* last = MakeConstant(StrCat(name, "_last"), Tensor::Of<int64_t>({1}, {3}));
    Value* any =
        MakePlain(before, "ReduceMax", {mask, last},
                  Type::Tensor(DType::kBool, Shape{s[0], Dim(1), s[2]}), StrCat(name, "_any"));
    any->producer()->SetAttr("keepdims", int64_t{0});
    open = MakePlain(before, "Transpose", {any},
                     Type::Tensor(DType::kBool, Shape{s[0], s[2], Dim(1)}), StrCat(name, "_open"));
    open->producer()->SetAttr("perm", std::vector<int64_t>{0, 2, 1});
    return open;
  }

  // What is added to the scores: each size is the score's, and batch and heads may be 1.
  static bool IsBias(const Value& mask, DType dtype, const std::vector<Dim>& scores) {
    const Shape* shape = mask.shape();
    if (mask.dtype() != dtype || !shape || shape->rank() != 4) return false;
    for (int64_t i = 0; i < 4; ++i) {
      const bool one = i < 2 && (*shape)[i] == Dim(1);
      if (!one && !ProvablyEqual((*shape)[i], scores[static_cast<size_t>(i)])) return false;
    }
    return true;
  }

  bool FuseRotary(Node& node) {
    enum { kX, kCos, kSin, kPositions };
    if (node.op() != "RotaryEmbedding") return false;
    const Value *x = node.input(kX), *positions = node.input(kPositions);
    if (!x || !HasKernels(*x) || !x->shape() || !positions) return false;
    const int64_t turned = node.attrs().Int("rotary_embedding_dim", 0);
    int64_t heads = node.attrs().Int("num_heads", 0);
    if (x->shape()->rank() == 4 && heads == 0) {
      if (!(*x->shape())[1].is_static()) return false;
      heads = (*x->shape())[1].value();
    }
    const int64_t interleaved = node.attrs().Int("interleaved", 0);
    Node* fused = Make(&node, "RotaryEmbedding",
                       {node.input(kX), node.input(kPositions), node.input(kCos), node.input(kSin)},
                       node.output(0));
    fused->SetAttr("interleaved", interleaved);
    fused->SetAttr("num_heads", heads);
    fused->SetAttr("rotary_embedding_dim", turned);
    Drop(&node);
    return true;
  }

  Graph& graph_;
  absl::flat_hash_map<const Value*, Value*> biases_, open_;  // of masks
};

}  // namespace

void UseContribOps(Model& model) {
  if (Fusion(*model.graph).Run() && model.Opset(kContribDomain) == 0) {
    model.SetOpset(kContribDomain, 1);
  }
}

}  // namespace x2ir
