#include "x2ir/handlers/checkpoint/net.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/blocks.h"
#include "x2ir/handlers/checkpoint/rounded.h"
#include "x2ir/ops/name_made.h"

namespace x2ir::checkpoint {
namespace {

constexpr int64_t kMaxParts = 65536;
constexpr size_t kFewLayers = 256;

std::string DimsText(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t d : dims) {
    StrAppend(&text, text.empty() ? "" : ",", d < 0 ? std::string("?") : StrCat(d));
  }
  return StrCat("[", text, "]");
}

Expr Relu2(const Expr& x) { return Square(x.Op("relu")); }
Expr QuickGelu(const Expr& x) { return x.Op("swish", {}, {{"alpha", 1.702f}}); }
Expr Swish(const Expr& x) { return x.Op("swish"); }
Expr Gelu10(const Expr& x) {
  const Expr y = x.Op("gelu");
  return Clip(y, y.Number(-10), y.Number(10));
}
Expr GeluAccurate(const Expr& x) { return activation::GeluTanh(x); }

constexpr NamedActivation kActivations[] = {
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_10", "", Gelu10},
    {"gelu_accurate", "", GeluAccurate},
    {"gelu_fast", "", activation::GeluTanh},
    {"gelu_new", "", activation::GeluTanh},
    {"gelu_pytorch_tanh", "", activation::GeluTanh},
    {"gelu_python_tanh", "", activation::GeluTanh},
    {"hardswish", "hard_swish"},
    {"linear", ""},
    {"mish", "mish"},
    {"quick_gelu", "", QuickGelu},
    {"relu", "relu"},
    {"relu2", "", Relu2},
    {"sigmoid", "sigmoid"},
    {"silu", "", Swish},
    {"swish", "", Swish},
    {"tanh", "tanh"},
};

}  // namespace

std::string Joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() || prefix.ends_with('.') ? StrCat(prefix, name) : StrCat(prefix, ".", name);
}

std::string Numbered(std::string_view name, int64_t number) {
  const size_t at = name.find("{}");
  return at == name.npos ? std::string(name)
                         : StrCat(name.substr(0, at), number, name.substr(at + 2));
}

Net::Net(Graph& graph, const Program& program)
    : program_(program), settings_(program.config), b_(graph, nullptr) {
  b_.set_stops(true);
  b_.set_name_hint("constant");
}

Expr Net::Named(const Expr& x, std::string_view name) {
  if (x->name().empty()) graph().Rename(x, graph().UniqueName(name));
  return x;
}

void Net::NameAll() { b_.Fail(NameMade(b_, "", graph().outputs())); }

const Tensor* Net::Find(std::string_view name) const {
  const auto part = parts_.find(name);
  return part == parts_.end() ? program_.weights.Find(name) : &part->second;
}

const QuantizedWeight* Net::FindQuantized(std::string_view name) const {
  return quantized_ ? quantized_->Find(name) : nullptr;
}

void Net::ReadQuantized(std::vector<std::string>& warnings) {
  if (!Quantized::IsIn(program_.config)) return;
  quantized_ = std::make_unique<Quantized>(settings_, program_, warnings);
  IgnoreWeights(quantized_->unused());
}

void Net::Unstack(std::string_view name, std::string_view each) {
  const Tensor* all = program_.weights.Find(name);
  if (!all) return;
  if (FindQuantized(name)) Refuse("weight '", name, "' is quantized, and a stack of weights");
  if (all->rank() < 1 || all->dim(0) < 1 || all->dim(0) > kMaxParts || all->is_string() ||
      all->is_sparse()) {
    Broken("weight '", name, "' is ", DimsText(all->dims()), ", which is no stack of weights");
  }
  taken_.emplace(name);
  const int64_t count = all->dim(0);
  const size_t size = all->nbytes() / static_cast<size_t>(count);
  const std::vector<int64_t> dims(all->dims().begin() + 1, all->dims().end());
  const auto owner = std::make_shared<const Tensor>(*all);
  for (int64_t i = 0; i < count; ++i) {
    const auto start = size * static_cast<size_t>(i);
    const auto range = all->file_range();
    absl::StatusOr<Tensor> part =
        range ? Tensor::FromFile(all->dtype(), dims, range->file, range->offset + start, size)
              : Tensor::View(all->dtype(), dims, all->bytes().subspan(start, size), owner);
    if (!part.ok()) throw Refusal{part.status()};
    parts_.emplace(Numbered(each, i), *std::move(part));
  }
}

bool Net::HasWeight(std::string_view name) const {
  return FindQuantized(name) || Find(name) || program_.blocks.contains(name);
}

std::vector<int64_t> Net::DimsOf(std::string_view name) const {
  if (const QuantizedWeight* quantized = FindQuantized(name)) return quantized->dims;
  if (const Tensor* tensor = Find(name)) return tensor->dims();
  const auto block = program_.blocks.find(name);
  if (block == program_.blocks.end()) Broken("weight '", name, "' is missing");
  return block->second.dims;
}

void Net::CheckDims(std::string_view name, const std::vector<int64_t>& is,
                    const std::vector<int64_t>& expected) const {
  bool fits = is.size() == expected.size();
  for (size_t i = 0; fits && i < is.size(); ++i) fits = expected[i] < 0 || expected[i] == is[i];
  if (!fits) {
    Broken("weight '", name, "' is ", DimsText(is), "; by the configuration it is ",
           DimsText(expected));
  }
}

Expr Net::AsStored(const QuantizedWeight& weight, std::string_view name) {
  taken_.insert(weight.parts.begin(), weight.parts.end());
  auto [it, is_new] = as_stored_.try_emplace(std::string(name), nullptr);
  if (is_new && request().unpack != DType::kUndefined) {
    it->second = Unpacked(DequantizedMatrix(weight, request().unpack), name).To(DType::kFloat32);
  } else if (is_new) {
    it->second = weight.make(b_, name);
  }
  return {b_, it->second};
}

Expr Net::AsStored(const BlockWeight& weight, std::string_view name) {
  const DType type = request().unpack;
  return type == DType::kUndefined ? BlockWeightAsIr(b_, weight, name)
                                   : Unpacked(DequantizedBlock(weight, type), name);
}

Expr Net::Unpacked(absl::StatusOr<Tensor> numbers, std::string_view name) {
  if (!numbers.ok()) throw Refusal{Annotate(numbers.status(), StrCat("weight '", name, "'"))};
  unpacked_.emplace(name);
  return {b_, graph().AddConstant(graph().UniqueName(name), *std::move(numbers))};
}

Expr Net::StoredWeight(std::string_view name, const std::vector<int64_t>& dims) {
  CheckDims(name, DimsOf(name), dims);
  taken_.emplace(name);
  auto [it, is_new] = stored_.try_emplace(std::string(name), nullptr);
  if (!is_new) return {b_, it->second};
  if (const QuantizedWeight* quantized = FindQuantized(name)) {
    return {b_, it->second = InOrder(AsStored(*quantized, name), quantized->order)};
  }
  const Tensor* tensor = Find(name);
  if (!tensor) {
    return {b_, it->second = AsStored(program_.blocks.find(name)->second, name)};
  }
  switch (tensor->dtype()) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat64: break;
    default:
      Refuse("weight '", name, "' is of ", Name(tensor->dtype()),
             "; float32, float16, bfloat16 and float64 are supported");
  }
  return {b_, it->second = graph().AddConstant(graph().UniqueName(name), *tensor)};
}

Expr Net::Weight(std::string_view name, const std::vector<int64_t>& dims) {
  Value*& known = cast_[std::string(name)];
  const Expr stored = StoredWeight(name, dims);
  if (!known) known = stored.To(DType::kFloat32);
  return {b_, known};
}

std::vector<double> Net::Numbers(std::string_view name, const std::vector<int64_t>& dims) {
  CheckDims(name, DimsOf(name), dims);
  taken_.emplace(name);
  if (FindQuantized(name)) Refuse("weight '", name, "' is quantized; its numbers are needed");
  absl::StatusOr<Tensor> unpacked;
  const Tensor* tensor = Find(name);
  if (!tensor) {
    unpacked = DequantizedBlock(program_.blocks.find(name)->second, DType::kFloat32);
    if (unpacked.ok()) tensor = &*unpacked;
  }
  if (!tensor || !IsFloating(tensor->dtype())) Broken("weight '", name, "' is not of numbers");
  if (tensor->num_elements() > (1 << 20)) Broken("weight '", name, "' is too large");
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) numbers.push_back(tensor->AsDouble(i));
  return numbers;
}

std::string Net::AnyOf(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (HasWeight(name)) return name;
  }
  return names[0];
}

std::string Net::Tied(const std::string& own, const std::string& shared) {
  const Tensor *a = Find(own), *b = Find(shared);
  const bool differ = a && b &&
                      (a->dtype() != b->dtype() || a->dims() != b->dims() ||
                       !std::ranges::equal(a->bytes(), b->bytes()));
  if (HasWeight(own) && (differ || FindQuantized(own) || !HasWeight(shared))) return own;
  IgnoreWeights({own});
  return shared;
}

int64_t Net::LayerCount(std::string_view names, std::optional<int64_t> fallback) {
  const int64_t count = fallback ? settings_.Count(names, *fallback) : settings_.Count(names);
  const size_t weights = program_.weights.tensors.size() + program_.blocks.size();
  if (static_cast<size_t>(count) > std::max(weights, kFewLayers)) {
    Broken("config.json says that there are ", count, " layers; only ", weights,
           " weights are stored");
  }
  return count;
}

void Net::IgnoreWeights(const std::vector<std::string>& patterns) {
  ignored_.insert(ignored_.end(), patterns.begin(), patterns.end());
}

// --- Layers --------------------------------------------------------------------------------------

Expr Net::ProductWeight(std::string_view name, const std::vector<int64_t>& dims) {
  const Tensor* tensor = request().weight_bits ? Find(name) : nullptr;
  if (!tensor || !CanRound(*tensor)) return Weight(name, dims);
  CheckDims(name, tensor->dims(), dims);
  taken_.emplace(name);
  Value*& known = rounded_[std::string(name)];
  if (!known) known = RoundedAsIr(b_, *tensor, request().weight_bits, name);
  return {b_, known};
}

Expr Net::Linear(const Expr& input, std::string_view name, int64_t in, int64_t out, bool bias,
                 bool transposed) {
  const std::string weight = StrCat(name, ".weight");
  Expr x = input, w = nullptr;
  if (const QuantizedWeight* quantized = FindQuantized(weight)) {
    CheckDims(weight, quantized->dims, {out, in});
    // The inputs in the weight's order, and not the weight in theirs: it stays as it is stored.
    if (!quantized->order.empty()) x = Gather(x, b_.Ints(quantized->order), x.rank() - 1);
    w = AsStored(*quantized, weight);
    transposed = false;
  } else {
    w = transposed ? Weight(weight, {in, out}) : ProductWeight(weight, {out, in});
  }
  Value* shift = bias ? Weight(StrCat(name, ".bias"), {out}).value() : nullptr;
  if (x.rank() == 2) return Named(Dense(x, w, shift, transposed), name);
  // As a matrix: weights stay as they are then.
  std::vector<x2ir::Size> sizes = AllSizes(x);
  sizes.back() = out;
  return Named(ReshapeTo(Dense(FlattenFront(x, x.rank() - 1), w, shift, transposed), sizes), name);
}

Expr Net::Embedding(const Expr& ids, std::string_view name, int64_t count, int64_t width) {
  const std::string weight = StrCat(name, ".weight");
  const auto block = program_.blocks.find(weight);
  if (block != program_.blocks.end() && request().unpack == DType::kUndefined) {
    CheckDims(weight, block->second.dims, {count, width});
    taken_.emplace(weight);
    return Named(BlockRowsAsIr(b_, block->second, ids, weight), name);
  }
  const Expr table = StoredWeight(weight, {count, width});
  return Named(Gather(table, ids, 0).To(DType::kFloat32), name);
}

Expr Net::Norm(const Expr& x, const NormSpec& norm, std::string_view name, int64_t width) {
  if (norm.kind == NormSpec::kNone) return x;
  Expr scale = nullptr;
  if (norm.scale) {
    scale = Weight(Joined(name, "weight"), {width});
    if (norm.plus_one) scale = scale + 1.0;
  } else {
    scale = Filled(b_, DType::kFloat32, {x2ir::Size(width)}, 1);
  }
  if (norm.kind == NormSpec::kAffine) {
    return x * scale + Weight(Joined(name, "bias"), {width});
  }
  const AttributeMap attrs = {{"axis", -1}, {"epsilon", static_cast<float>(norm.eps)}};
  std::vector<Value*> operands = {scale};
  if (norm.kind == NormSpec::kLayer && norm.shift) {
    operands.push_back(Weight(Joined(name, "bias"), {width}));
  }
  const char* op = norm.kind == NormSpec::kRms ? "rms_normalization" : "layer_normalization";
  return Named(x.Op(op, operands, attrs), name);
}

Expr Net::Conv(const Expr& x, std::string_view name, const ConvSpec& conv) {
  std::vector<int64_t> dims = {conv.out, conv.in / conv.groups};
  dims.insert(dims.end(), conv.kernel.begin(), conv.kernel.end());
  return ConvBy(x, Weight(StrCat(name, ".weight"), dims), name, conv);
}

Expr Net::ConvBy(const Expr& x, const Expr& w, std::string_view name, const ConvSpec& conv) {
  Value* bias = conv.bias ? Weight(StrCat(name, ".bias"), {conv.out}).value() : nullptr;
  Window window;
  window.kernel = conv.kernel;
  window.strides = conv.stride;
  window.dilations = conv.dilation;
  window.pads =
      conv.padding.size() == 2 * conv.kernel.size() ? conv.padding : BothEnds(conv.padding);
  if (conv.same) window.auto_pad = AutoPad::kSameUpper;
  return Named(MakeConv(x, w, bias, window, conv.groups), name);
}

Expr Net::Activate(const Expr& x, std::string_view activation) {
  if (const auto y = Activated("relu6 leaky_relu", kActivations, activation, x)) return *y;
  Refuse("activation '", activation, "' is not known");
}

Expr Net::BatchNorm(const Expr& x, std::string_view name, int64_t channels, double eps) {
  const std::string prefix(name);
  IgnoreWeights({Joined(prefix, "num_batches_tracked")});
  std::vector<Value*> operands;
  for (const char* part : {"weight", "bias", "running_mean", "running_var"}) {
    operands.push_back(Weight(Joined(prefix, part), {channels}));
  }
  return x.Op("batch_normalization", operands, {{"epsilon", static_cast<float>(eps)}});
}

}  // namespace x2ir::checkpoint
