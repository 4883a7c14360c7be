// Products with weights of few bits: MatMulNBits. See contrib_fusions.h.
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/onnx/contrib_fusion_util.h"

namespace x2ir {
namespace {

// [n, k] numbers of four or eight bits in blocks along k, as DequantizeLinear has them: in that
// order, or
// (`by_column`) as [k, n].
struct WeightBlocks {
  const Tensor *weights, *scales, *zeros;  // zeros: null where they are all 0
  int64_t n, k, block;
  bool by_column;
  bool one_each = false;  // each of the n has one scale, which is that of all its blocks

  int bits() const { return BitWidth(weights->dtype()); }
  int64_t count() const { return k / block; }
  // Where the number of row i and place j is, of `width` of them in a row.
  int64_t At(int64_t i, int64_t j, int64_t width) const {
    return by_column ? j * n + i : i * width + j;
  }
  // Where the scale and the zero point of block j of row i are.
  int64_t ScaleAt(int64_t i, int64_t j) const { return one_each ? i : At(i, j, count()); }
};

std::optional<WeightBlocks> BlocksOf(const Node& dequantize, bool by_column) {
  const auto constant = [&](size_t i) {
    const Tensor* t = dequantize.input(i) ? dequantize.input(i)->fixed_constant() : nullptr;
    return t && !t->is_sparse() ? t : nullptr;
  };
  WeightBlocks b{constant(0), constant(1), constant(2), 0, 0, 0, by_column};
  if (!b.weights || b.weights->rank() != 2 || !b.scales || (dequantize.input(2) && !b.zeros))
    return std::nullopt;
  const DType type = b.weights->dtype();
  if (!(IsInteger(type) && (BitWidth(type) == 4 || BitWidth(type) == 8))) return std::nullopt;
  b.n = b.weights->dim(by_column ? 1 : 0);
  b.k = b.weights->dim(by_column ? 0 : 1);
  b.block = dequantize.attrs().Int("block_size", 0);
  int64_t axis = dequantize.attrs().Int("axis", 1);
  if (axis < 0) axis += 2;
  // One scale for each row, or column, of numbers of four bits is one for each block of it.
  if (b.block == 0 && b.bits() == 4 && axis == (by_column ? 1 : 0) && b.scales->rank() == 1) {
    b.one_each = true;
    b.block = std::gcd(b.k, int64_t{128});
    axis = 1 - axis;
  }
  const bool known_size = b.block >= 16 && b.block <= 256 && (b.block & (b.block - 1)) == 0;
  if (axis != (by_column ? 0 : 1) || !known_size || b.n < 1 || b.k < 1 || b.k % b.block != 0) {
    return std::nullopt;
  }
  std::vector<int64_t> dims = {b.n, b.count()};
  if (by_column) std::swap(dims[0], dims[1]);
  if (b.one_each) dims = {b.n};
  if (b.scales->dims() != dims || (b.zeros && b.zeros->dims() != dims)) return std::nullopt;
  return b;
}

// Changes bits of each byte, eight of them at once.
void Flip(std::byte* bytes, size_t count, uint64_t bits) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes + i, 8);
    eight ^= bits;
    std::memcpy(bytes + i, &eight, 8);
  }
  for (; i < count; ++i) bytes[i] ^= static_cast<std::byte>(bits & 255);
}

// Rows of `width` numbers, each row beginning at a byte. Signed numbers become unsigned ones by
// half of the range more.
Tensor PackedRows(const WeightBlocks& b, const Tensor* numbers, int64_t width) {
  const bool are_zeros = numbers != b.weights;
  const int bits = b.bits();
  const int64_t row = (width * bits + 7) / 8;
  if (!numbers) return Tensor::Zeros(DType::kUInt8, {b.n, row});
  const bool is_signed = IsSignedInt(numbers->dtype());
  if (!b.by_column && !(are_zeros && b.one_each) && width * bits % 8 == 0) {  // they are in order
    const uint64_t flip = !is_signed ? 0 : bits == 8 ? 0x8080808080808080 : 0x8888888888888888;
    return MadeInParts(
        DType::kUInt8, {b.n, row},
        [numbers = *numbers, row, flip](int64_t begin, int64_t end, std::byte* to) {
          const auto count = static_cast<size_t>((end - begin) * row);
          numbers.Read(static_cast<size_t>(begin * row), {to, count});
          Flip(to, count, flip);
        },
        *numbers);
  }
  const auto* from = reinterpret_cast<const uint8_t*>(numbers->bytes().data());
  Tensor packed = Tensor::Zeros(DType::kUInt8, {b.n, row});
  auto* to = reinterpret_cast<uint8_t*>(packed.mutable_bytes().data());
  const int flip = is_signed ? 1 << (bits - 1) : 0, mask = (1 << bits) - 1;
  const int64_t in_byte = 8 / bits;
  for (int64_t i = 0; i < b.n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = are_zeros ? b.ScaleAt(i, j) : b.At(i, j, width);
      const int number = ((from[at / in_byte] >> (at % in_byte * bits)) & mask) ^ flip;
      to[i * row + j / in_byte] |= static_cast<uint8_t>(number << (j % in_byte * bits));
    }
  }
  return packed;
}

Tensor ScalesInRows(const WeightBlocks& b) {
  if (!b.by_column && !b.one_each) return b.scales->Reshaped({b.n * b.count()});
  Tensor scales = Tensor::Zeros(b.scales->dtype(), {b.n * b.count()});
  const size_t size = b.scales->nbytes() / static_cast<size_t>(b.scales->num_elements());
  std::byte* to = scales.mutable_bytes().data();
  for (int64_t i = 0; i < b.n; ++i) {
    for (int64_t j = 0; j < b.count(); ++j, to += size) {
      std::memcpy(to, b.scales->bytes().data() + static_cast<size_t>(b.ScaleAt(i, j)) * size, size);
    }
  }
  return scales;
}

// A product x * w, or with the rows of w (transposed); `made`: nodes that make w and are used for
// it alone, the one that gives it first.
struct BlockProduct {
  Value *x, *w, *bias;
  bool by_column;
  std::vector<Node*> made = {};
  const Tensor* minima = nullptr;  // [n, blocks, 1]: subtracted from the numbers of each block
};

// The node of that op that makes the product's weights, which nothing else uses.
Node* StepBack(BlockProduct& p, std::string_view op, const Graph& graph) {
  Node* node = MadeByIr(p.w, op, graph);
  if (!node || !IsUsedOnce(*p.w)) return nullptr;
  p.made.push_back(node);
  return node;
}

std::optional<BlockProduct> AsProduct(Node& node, const Graph& graph) {
  BlockProduct p{node.input(0), node.input(1), nullptr, true};
  if (node.op() == "gemm") {
    p.bias = node.num_inputs() > 2 ? node.input(2) : nullptr;
    if (node.attrs().Int("transA", 0) != 0 || node.attrs().Float("alpha", 1) != 1 ||
        (p.bias && node.attrs().Float("beta", 1) != 1)) {
      return std::nullopt;
    }
    p.by_column = node.attrs().Int("transB", 0) == 0;
  } else if (node.op() != "matmul") {
    return std::nullopt;
  }
  if (!p.x || !p.x->shape() || p.x->shape()->rank() < 2) return std::nullopt;
  if (Node* transpose = p.by_column ? StepBack(p, "transpose", graph) : nullptr) {
    if (transpose->attrs().Ints("perm", {1, 0}) != std::vector<int64_t>{1, 0}) return std::nullopt;
    p.w = transpose->input(0);
    p.by_column = false;
  }
  return p;
}

// [n, k] = reshape(reshape(dequantized) - minima), block by block. False: it is something else.
bool TakeMinima(BlockProduct& p, const Graph& graph) {
  Node* outer = MadeByIr(p.w, "reshape", graph);
  if (!outer || p.by_column) return true;
  outer = StepBack(p, "reshape", graph);
  if (!outer) return false;
  p.w = outer->input(0);
  Node* sub = StepBack(p, "sub", graph);
  const Tensor* minima = sub && sub->input(1) ? sub->input(1)->fixed_constant() : nullptr;
  if (!minima || minima->is_sparse() || minima->rank() != 3 || minima->dim(2) != 1) return false;
  p.minima = minima;
  const Value* apart = p.w = sub->input(0);
  const Shape* shape = apart->shape();
  if (!shape || shape->rank() != 3 || (*shape)[0] != Dim(minima->dim(0)) ||
      (*shape)[1] != Dim(minima->dim(1))) {
    return false;
  }
  Node* inner = StepBack(p, "reshape", graph);
  if (inner) p.w = inner->input(0);
  return inner != nullptr;
}

bool FitTheBlocks(const BlockProduct& p, const WeightBlocks& b) {
  return !p.minima || (p.minima->dims() == std::vector<int64_t>{b.n, b.count(), 1} &&
                       p.minima->dtype() == b.scales->dtype());
}

// [blocks, n] of [n, blocks, 1].
Tensor Turned(const Tensor& minima) {
  const int64_t n = minima.dim(0), blocks = minima.dim(1);
  Tensor turned = Tensor::Zeros(minima.dtype(), {blocks, n});
  const size_t size = minima.nbytes() / static_cast<size_t>(n * blocks);
  std::vector<std::byte> from(minima.nbytes());
  minima.Read(0, absl::MakeSpan(from));
  std::byte* to = turned.mutable_bytes().data();
  for (int64_t j = 0; j < blocks; ++j) {
    for (int64_t i = 0; i < n; ++i, to += size) {
      std::memcpy(to, from.data() + static_cast<size_t>(i * blocks + j) * size, size);
    }
  }
  return Spilled(std::move(turned));
}

}  // namespace

bool FuseContribBlocks(FusionSite& site, Node& node) {
  Graph& graph = site.graph();
  Value* result = node.output(0);
  std::optional<BlockProduct> p = AsProduct(node, graph);
  if (!p || !result || !HasKernels(*result) || !TakeMinima(*p, graph)) return false;
  Node* dequantize = StepBack(*p, "dequantize_linear", graph);
  if (!dequantize || p->w->dtype() != result->dtype()) return false;
  const auto blocks = BlocksOf(*dequantize, p->by_column);
  if (!blocks || !FitTheBlocks(*p, *blocks)) return false;
  const std::string hint(p->w->name());
  const auto constant = [&](std::string_view name, Tensor tensor) {
    return graph.AddConstant(graph.UniqueName(StrCat(hint, name)), std::move(tensor));
  };
  const int64_t bits = blocks->bits();
  std::vector<Value*> operands = {
      p->x,
      constant("_blocks", PackedRows(*blocks, blocks->weights, blocks->k)
                              .Reshaped({blocks->n, blocks->count(), blocks->block * bits / 8})),
      constant("_scales", ScalesInRows(*blocks))};
  // Without zero points they are the middle of the range: 0 of signed numbers.
  if (blocks->zeros || IsUnsignedInt(blocks->weights->dtype())) {
    Tensor zeros = PackedRows(*blocks, blocks->zeros, blocks->count());
    const int64_t bytes = zeros.num_elements();
    operands.push_back(constant("_zero_points", zeros.Reshaped({bytes})));
  }
  const bool is_all = !p->minima && !p->bias;
  Node* fused =
      site.MakeContrib(&node, "MatMulNBits", std::move(operands), is_all ? result : nullptr);
  fused->SetAttr("K", blocks->k);
  fused->SetAttr("N", blocks->n);
  fused->SetAttr("bits", bits);
  fused->SetAttr("block_size", blocks->block);
  // Computed in float32, or in float16 at least. Where a model does not say so, kernels may round x
  // to eight bits.
  fused->SetAttr("accuracy_level", int64_t{result->dtype() == DType::kFloat32 ? 1 : 2});
  if (!is_all) {
    Builder b(graph, &node);
    Expr y(b, graph.AddNodeOutput(fused, graph.UniqueName(StrCat(result->name(), "_product")),
                                  result->type()));
    // The sum of x over each block by what is subtracted there.
    if (p->minima) {
      std::vector<Size> sizes = AllSizes(Expr(b, p->x));
      sizes.back() = blocks->count();
      sizes.emplace_back(blocks->block);
      const Expr sums = Sum(ReshapeTo(Expr(b, p->x), sizes), -1);
      y = y - MatMul(sums, Expr(b, constant("_minima", Turned(*p->minima))));
    }
    if (p->bias) y = y + Expr(b, p->bias);
    const Type type = result->type();
    graph.AdoptOutput(y.value(), result);
    result->set_type(type);
    site.Name(b, result->name());
  }
  site.Drop(&node);
  for (Node* made : p->made) site.Drop(made);
  return true;
}

}  // namespace x2ir
