// Layers with packed weights: objects of classes of PyTorch's own, that a file has with what they
// were made of, or that its code makes. An object that is made here has the newest form.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/quantized.h"

namespace x2ir::torch_script {
namespace {

constexpr std::string_view kConvClass = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
constexpr std::string_view kLinearClass =
    "__torch__.torch.classes.quantized.LinearPackedParamsBase";
constexpr std::string_view kEmbeddingClass =
    "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase";

Val PackedObject(std::string_view class_name, Val state) {
  auto object = std::make_shared<ObjectHeap>();
  object->class_name = std::string(class_name);
  object->state = std::move(state);
  return Val::Of(Val::kObject, std::move(object));
}
// What an object of PyTorch's own was made of.
const std::vector<Val>& StateOf(const QuantizedCall& c, const Val& object, size_t least) {
  if (object.kind != Val::kObject || object.object().cls) {
    c.m.Refuse(c.op, " of ", Describe(object), " as packed weights");
  }
  const Val& state = object.object().state;
  if (state.kind != Val::kTuple || state.tuple().size() < least) {
    c.m.Refuse(c.op, ": ", object.object().class_name, " is not saved in a form that is read");
  }
  return state.tuple();
}

Val IntsOf(const std::vector<int64_t>& numbers) {
  std::vector<Val> items;
  for (const int64_t n : numbers) items.push_back(Val::Int(n));
  return Val::List(std::move(items));
}
// Numbers of a list, or of a tensor that is a constant.
std::vector<int64_t> NumbersIn(const QuantizedCall& c, const Val& v) {
  std::vector<int64_t> numbers;
  if (v.kind == Val::kTensor) {
    const Tensor* tensor = SettledTensor(c.m.Read(v));
    if (!tensor || !IsInteger(tensor->dtype())) c.m.Refuse(c.op, ": its numbers are not known");
    for (int64_t i = 0; i < tensor->num_elements(); ++i) numbers.push_back(tensor->AsInt(i));
    return numbers;
  }
  if (v.is_number()) return {c.m.KnownInt(v, "a number of a convolution")};
  for (const Val& item : c.m.Items(v, "a list of numbers")) {
    for (const int64_t n : NumbersIn(c, item)) numbers.push_back(n);
  }
  return numbers;
}

// --- Convolutions --------------------------------------------------------------------------------

struct ConvWeights {
  Val weight, bias;
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
  bool transposed = false;
};

// [dims, stride.., padding.., dilation.., output_padding.., groups, whether it is transposed]
void TakeNumbers(const QuantizedCall& c, const std::vector<int64_t>& numbers, ConvWeights& w) {
  const auto dims = static_cast<size_t>(numbers.empty() ? 0 : numbers[0]);
  if (dims < 1 || dims > 3 || numbers.size() != 4 * dims + 3) {
    c.m.Refuse(c.op, ": the numbers of a convolution are broken");
  }
  auto at = numbers.begin() + 1;
  for (auto* part : {&w.stride, &w.padding, &w.dilation, &w.output_padding}) {
    part->assign(at, at + numbers[0]);
    at += numbers[0];
  }
  w.groups = *at++;
  w.transposed = (*at & 1) != 0;
}

// The versions differ in where the numbers are: 1 has them as tensors one by one, 2 in a tensor
// before the weight, 3 in a list.
ConvWeights ConvWeightsOf(const QuantizedCall& c, const Val& object) {
  Machine& m = c.m;
  const auto& state = StateOf(c, object, 3);
  ConvWeights w;
  const auto items = [&](size_t i, size_t least) -> const std::vector<Val>& {
    const auto& list = m.Items(state[i], "packed weights");
    if (list.size() < least) m.Refuse(c.op, ": packed weights with too few tensors");
    return list;
  };
  if (state[0].kind == Val::kTensor) {
    if (state.size() < 6) m.Refuse(c.op, ": packed weights of an unknown form");
    w.weight = state[0];
    w.bias = state[1];
    w.stride = NumbersIn(c, state[2]);
    w.padding = NumbersIn(c, state[3]);
    w.dilation = NumbersIn(c, state[4]);
    w.output_padding.assign(w.stride.size(), 0);
    const std::vector<int64_t> groups = NumbersIn(c, state[5]);
    if (groups.size() != 1) m.Refuse(c.op, ": packed weights of an unknown form");
    w.groups = groups[0];
  } else if (state[0].kind == Val::kString && state[0].str() == "2") {
    const auto& tensors = items(1, 2);
    w.weight = tensors[1];
    w.bias = items(2, 1)[0];
    TakeNumbers(c, NumbersIn(c, tensors[0]), w);
  } else if (state[0].is_known(Val::kInt) && state[0].i == 3) {
    const auto& tensors = items(2, 3);
    w.weight = tensors[1];
    w.bias = tensors[2];
    TakeNumbers(c, NumbersIn(c, state[1]), w);
  } else {
    m.Refuse(c.op, ": packed weights of version ", m.Format(state[0]));
  }
  return w;
}

template <int dims, bool transposed>
Val PackConv(const QuantizedCall& c) {
  const auto of = [&](size_t i, std::string_view name) {
    std::vector<int64_t> numbers = NumbersIn(c, c.At(i, name));
    if (numbers.size() == 1) numbers.resize(dims, numbers[0]);
    if (numbers.size() != dims) c.m.Refuse(c.op, ": ", name, " of ", numbers.size(), " numbers");
    return numbers;
  };
  const std::vector<int64_t> none(dims, 0);
  const std::vector<int64_t> parts[] = {of(2, "stride"), of(3, "padding"),
                                        transposed ? of(5, "dilation") : of(4, "dilation"),
                                        transposed ? of(4, "output_padding") : none};
  std::vector<int64_t> numbers = {dims};
  for (const auto& part : parts) numbers.insert(numbers.end(), part.begin(), part.end());
  numbers.push_back(c.m.KnownInt(c.At(transposed ? 6 : 5, "groups"), "groups"));
  numbers.push_back(transposed);
  const Val weights = Val::List({Val::None(), c.At(0, "weight"), c.At(1, "bias")});
  return PackedObject(kConvClass, Val::Tuple({Val::Int(3), IntsOf(numbers), weights}));
}

// Weights of one dim that were packed as those of two; their first is of size 1.
void AsOneDim(const QuantizedCall& c, ConvWeights& w) {
  if (w.stride.size() != 2) return;
  const QuantizationPtr q = QuantizationOf(w.weight);
  if (q && q->axis > 1) c.m.Refuse(c.op, " with a scale for each place of the kernel");
  const Val integers = IntegersOf(c.m, w.weight);
  const Val squeezed = c.m.CallWith("aten::squeeze", {{"self", integers}, {"dim", Val::Int(2)}});
  w.weight = q ? Marked(squeezed, q) : squeezed;
  for (auto* part : {&w.stride, &w.padding, &w.dilation, &w.output_padding}) {
    part->erase(part->begin());
  }
}
ConvWeights ConvWeightsFor(const QuantizedCall& c, const Val& object) {
  ConvWeights w = ConvWeightsOf(c, object);
  if (c.op.find("1d") != c.op.npos) AsOneDim(c, w);
  return w;
}

Val Convolve(const QuantizedCall& c, const Val& x, const ConvWeights& w) {
  return c.m.CallWith("aten::convolution", {{"input", FloatsOf(c.m, x)},
                                            {"weight", FloatsOf(c.m, w.weight)},
                                            {"bias", FloatsOf(c.m, w.bias)},
                                            {"stride", IntsOf(w.stride)},
                                            {"padding", IntsOf(w.padding)},
                                            {"dilation", IntsOf(w.dilation)},
                                            {"transposed", Val::Bool(w.transposed)},
                                            {"output_padding", IntsOf(w.output_padding)},
                                            {"groups", Val::Int(w.groups)}});
}
// Old calls repeat the numbers between the weights and the scale.
Val Conv(const QuantizedCall& c) {
  const Val& x = c.At(0, "qx");
  const Val y = Convolve(c, x, ConvWeightsFor(c, c.At(1, "packed_weight")));
  return Finished(c, y, c.args.size() == 8 ? 6 : 2, RequireQuantized(c, x)->dtype);
}
Val ConvAdd(const QuantizedCall& c) {
  const Val& x = c.At(0, "qx");
  const Val y = Convolve(c, x, ConvWeightsFor(c, c.At(2, "packed_weight")));
  const Val sum = c.m.Call("aten::add", {{y, FloatsOf(c.m, c.At(1, "qaccum"))}, {}});
  return Finished(c, sum, 3, RequireQuantized(c, x)->dtype);
}
// PyTorch quantizes the result as the input, and takes it for floats again.
Val ConvDynamic(const QuantizedCall& c) {
  const Val& x = c.At(0, "qx");
  const QuantizationPtr q = DynamicQuantization(c.m, x, DType::kUInt8, c.Flag(2, "reduce_range"));
  const Val y = Convolve(c, QuantizedAs(c.m, x, q), ConvWeightsFor(c, c.At(1, "packed_weight")));
  return FloatsOf(c.m, QuantizedAs(c.m, y, q));
}

Val UnpackConv(const QuantizedCall& c) {
  const ConvWeights w = ConvWeightsFor(c, c.At(0, "packed_weights"));
  return Val::Tuple({w.weight, w.bias});
}
template <std::vector<int64_t> ConvWeights::*part>
Val NumbersOfConv(const QuantizedCall& c) {
  return IntsOf(ConvWeightsOf(c, c.At(0, "packed_weights")).*part);
}
Val GroupsOfConv(const QuantizedCall& c) {
  return Val::Int(ConvWeightsOf(c, c.At(0, "packed_weights")).groups);
}
Val IsTransposedConv(const QuantizedCall& c) {
  return Val::Int(ConvWeightsOf(c, c.At(0, "packed_weights")).transposed);
}

// --- Linear layers -------------------------------------------------------------------------------

Val OptionalAt(const QuantizedCall& c, size_t i, std::string_view name) {
  const Val* v = c.Find(i, name);
  return v ? *v : Val::None();
}
Val PackLinear(const QuantizedCall& c) {
  return PackedObject(kLinearClass, Val::Tuple({c.At(0, "W"), OptionalAt(c, 1, "B")}));
}
// Weights are kept as halves, the largest ones cut to what a half can be.
Val AsHalves(Machine& m, const Val& weight) {
  constexpr double kMost = 65504;
  Value *w = m.Read(weight), *rounded = nullptr;
  m.Build("weight", [&](Builder& b) {
    const ValueBounds within = BoundsOf(w);
    const Formula x(b, w);
    const Formula cut = within.Within(-kMost, kMost) ? x : Max(Min(x, kMost), -kMost);
    rounded = CastNow(CastNow(cut, DType::kFloat16), DType::kFloat32);
  });
  return m.Fresh(rounded);
}
Val PackLinearHalves(const QuantizedCall& c) {
  return PackedObject(kLinearClass,
                      Val::Tuple({AsHalves(c.m, c.At(0, "W")), OptionalAt(c, 1, "B")}));
}
Val UnpackLinear(const QuantizedCall& c) {
  const LinearWeights w = LinearWeightsOf(c, c.At(0, "W_prepack"));
  return Val::Tuple({w.weight, w.bias});
}

Val LinearOf(const QuantizedCall& c, const Val& x, const LinearWeights& w) {
  return c.m.CallWith("aten::linear", {{"input", FloatsOf(c.m, x)},
                                       {"weight", FloatsOf(c.m, w.weight)},
                                       {"bias", FloatsOf(c.m, w.bias)}});
}
Val Linear(const QuantizedCall& c) {
  const Val& x = c.At(0, "X");
  const Val y = LinearOf(c, x, LinearWeightsOf(c, c.At(1, "W_prepack")));
  return Finished(c, y, 2, RequireQuantized(c, x)->dtype);
}
Val LinearLeakyRelu(const QuantizedCall& c) {
  const Val& x = c.At(0, "X");
  const Val y = LinearOf(c, x, LinearWeightsOf(c, c.At(1, "W_prepack")));
  const Val leaky = c.m.Call("aten::leaky_relu", {{y, c.At(4, "negative_slope")}, {}});
  return Finished(c, leaky, 2, RequireQuantized(c, x)->dtype);
}
Val LinearTanh(const QuantizedCall& c) {
  const Val& x = c.At(0, "X");
  const Val y = LinearOf(c, x, LinearWeightsOf(c, c.At(1, "W_prepack")));
  return Finished(c, c.m.Call("aten::tanh", {{y}, {}}), 2, RequireQuantized(c, x)->dtype);
}
Val RoundedDynamically(Machine& m, const Val& x, bool reduce_range) {
  Value *floats = m.Read(x), *rounded = nullptr;
  m.Build("dynamic", [&](Builder& b) { rounded = DynamicallyRounded({b, floats}, reduce_range); });
  return m.Fresh(rounded);
}
Val LinearDynamic(const QuantizedCall& c) {
  const Val x = RoundedDynamically(c.m, c.At(0, "X"), c.Flag(2, "reduce_range"));
  return WithRelu(c, LinearOf(c, x, LinearWeightsOf(c, c.At(1, "W_prepack"))));
}
Val LinearHalves(const QuantizedCall& c) {
  return WithRelu(c, LinearOf(c, c.At(0, "X"), LinearWeightsOf(c, c.At(1, "W_prepack"))));
}
// Floats that are quantized by a known scale on the way in.
Val LinearOfRounded(const QuantizedCall& c) {
  const QuantizationPtr q =
      MakeQuantization(c.m, c.At(1, "X_scale"), c.At(2, "X_zero_point"), DType::kUInt8);
  const Val x = QuantizedAs(c.m, c.At(0, "X"), q);
  return WithRelu(c, LinearOf(c, x, LinearWeightsOf(c, c.At(3, "W_prepack"))));
}

// The first library: (input, weight, packed, col_offsets, scale, zero_point, bias).
Val LinearInt8(const QuantizedCall& c) {
  const QuantizationPtr q =
      MakeQuantization(c.m, c.At(4, "weight_scale"), c.At(5, "weight_zero_point"), DType::kInt8);
  const Val weight = Marked(c.m.Fresh(c.m.Read(c.At(1, "weight"))), q);
  return LinearOf(c, RoundedDynamically(c.m, c.At(0, "input"), false), {weight, c.At(6, "bias")});
}
Val PackHalves(const QuantizedCall& c) { return AsHalves(c.m, c.At(0, "input")); }
Val Unpacked(const QuantizedCall& c) { return c.At(0, "input"); }
Val LinearOfHalves(const QuantizedCall& c) {
  return LinearOf(c, c.At(0, "input"), {c.At(1, "packed_weight"), c.At(2, "bias")});
}

// --- Embeddings ----------------------------------------------------------------------------------

Val EmbeddingWeightOf(const QuantizedCall& c) {
  const auto& state = StateOf(c, c.At(0, "weight"), 4);
  if (!state[0].is_known(Val::kInt) || state[0].i != 1) {
    c.m.Refuse(c.op, ": packed weights of version ", c.m.Format(state[0]));
  }
  const auto& tensors = c.m.Items(state[1], "packed weights");
  if (tensors.size() != 1 || !QuantizationOf(tensors[0])) {
    c.m.Refuse(c.op, ": packed weights that are not quantized");
  }
  return tensors[0];
}
Val PackEmbedding(const QuantizedCall& c) {
  return PackedObject(kEmbeddingClass, Val::Tuple({Val::Int(1), Val::List({c.At(0, "weight")}),
                                                   Val::List({}), Val::List({Val::Int(8)})}));
}
Val Embedding(const QuantizedCall& c) {
  if (c.Flag(2, "pruned_weights")) c.m.Refuse(c.op, " of pruned weights");
  return c.m.CallWith("aten::embedding", {{"weight", FloatsOf(c.m, EmbeddingWeightOf(c))},
                                          {"indices", c.At(1, "indices")}});
}
// Sums, whatever the mode is.
Val EmbeddingBag(const QuantizedCall& c) {
  Machine& m = c.m;
  const Val compressed = OptionalAt(c, 7, "compressed_indices_mapping");
  if (c.Flag(5, "pruned_weights") || compressed.kind != Val::kNone) {
    m.Refuse(c.op, " of pruned weights");
  }
  const Val weight = FloatsOf(m, EmbeddingWeightOf(c)), indices = c.At(1, "indices");
  const Val offsets = OptionalAt(c, 2, "offsets"), factors = OptionalAt(c, 6, "per_sample_weights");
  if (offsets.kind != Val::kNone) {
    const Val all = m.Call("aten::embedding_bag", {{weight, indices, offsets, Val::Bool(false),
                                                    Val::Int(0), Val::Bool(false), factors,
                                                    Val::Bool(c.Flag(8, "include_last_offset"))},
                                                   {}});
    return all.kind == Val::kTuple ? all.tuple()[0] : all;
  }
  Val rows = m.Call("aten::embedding", {{weight, indices}, {}});
  if (factors.kind != Val::kNone) {
    const Val each = m.Call("aten::unsqueeze", {{factors, Val::Int(-1)}, {}});
    rows = m.Call("aten::mul", {{rows, each}, {}});
  }
  return m.Call("aten::sum", {{rows, Val::List({Val::Int(1)})}, {}});
}

// --- Layers of floats, packed for mobile devices -------------------------------------------------

Val PackForMobile(const QuantizedCall& c) {
  std::vector<Val> state = c.args.positional;
  if (!c.args.named.empty()) c.m.Refuse(c.op, " with arguments by name");
  const size_t size = c.op.find("linear") != c.op.npos      ? 4
                      : c.op.find("transpose") != c.op.npos ? 9
                                                            : 8;
  state.resize(std::max(state.size(), size));
  return PackedObject("__torch__.torch.classes.xnnpack.OpContext", Val::Tuple(std::move(state)));
}
// Within the last two items, of which each may be left out.
Val Bounded(const QuantizedCall& c, const Val& y, const std::vector<Val>& state, size_t i) {
  const Val least = state[i], most = state[i + 1];
  if (least.kind == Val::kNone && most.kind == Val::kNone) return y;
  const bool at_zero = least.is_known_number() && least.d == 0 && most.kind == Val::kNone;
  if (at_zero) return c.m.Call("aten::relu", {{y}, {}});
  return c.m.Call("aten::clamp", {{y, least, most}, {}});
}
Val LinearOnMobile(const QuantizedCall& c) {
  const auto& state = StateOf(c, c.At(1, "W_prepack"), 4);
  return Bounded(c, LinearOf(c, c.At(0, "X"), {state[0], state[1]}), state, 2);
}
template <bool transposed>
Val ConvOnMobile(const QuantizedCall& c) {
  const auto& state = StateOf(c, c.At(1, "W_prepack"), transposed ? 9 : 8);
  // (weight, bias, stride, padding, [output_padding,] dilation, groups, least, most)
  size_t i = 2;
  ConvWeights w;
  w.weight = state[0];
  w.bias = state[1];
  w.transposed = transposed;
  w.stride = NumbersIn(c, state[i++]);
  w.padding = NumbersIn(c, state[i++]);
  w.output_padding = transposed ? NumbersIn(c, state[i++]) : std::vector<int64_t>(2, 0);
  w.dilation = NumbersIn(c, state[i++]);
  w.groups = c.m.KnownInt(state[i++], "groups");
  return Bounded(c, Convolve(c, c.At(0, "X"), w), state, i);
}

// --- Methods of the objects ----------------------------------------------------------------------

bool IsLinear(const QuantizedCall& c) {
  const Val& object = c.At(0, "self");
  return object.kind == Val::kObject &&
         object.object().class_name.find(".Linear") != std::string::npos;
}
Val UnpackObject(const QuantizedCall& c) { return IsLinear(c) ? UnpackLinear(c) : UnpackConv(c); }
Val WeightOfObject(const QuantizedCall& c) { return UnpackObject(c).tuple()[0]; }
Val BiasOfObject(const QuantizedCall& c) { return UnpackObject(c).tuple()[1]; }

void AddConvs(QuantizedTable& all) {
  struct Row {
    std::string_view name;
    QuantizedFunction pack;
    bool transposed;
  };
  static constexpr Row kRows[] = {{"quantized::conv", PackConv<2, false>, false},
                                  {"quantized::conv1d", PackConv<1, false>, false},
                                  {"quantized::conv2d", PackConv<2, false>, false},
                                  {"quantized::conv3d", PackConv<3, false>, false},
                                  {"quantized::conv_transpose1d", PackConv<1, true>, true},
                                  {"quantized::conv_transpose2d", PackConv<2, true>, true},
                                  {"quantized::conv_transpose3d", PackConv<3, true>, true}};
  static constexpr std::pair<std::string_view, QuantizedFunction> kForms[] = {
      {"", Conv},
      {"_dynamic", ConvDynamic},
      {"_unpack", UnpackConv},
      {"_stride", NumbersOfConv<&ConvWeights::stride>},
      {"_padding", NumbersOfConv<&ConvWeights::padding>},
      {"_output_padding", NumbersOfConv<&ConvWeights::output_padding>},
      {"_dilation", NumbersOfConv<&ConvWeights::dilation>},
      {"_groups", GroupsOfConv},
      {"_transpose", IsTransposedConv}};
  static std::vector<std::string> names;
  names.reserve(std::size(kRows) * (std::size(kForms) + 1));
  for (const Row& row : kRows) {
    all[names.emplace_back(StrCat(row.name, "_prepack"))] = row.pack;
    for (const auto& [suffix, f] : kForms) all[names.emplace_back(StrCat(row.name, suffix))] = f;
  }
  for (const auto& [suffix, f] : kForms) {
    if (suffix.empty() || suffix == "_dynamic" || suffix == "_unpack") continue;
    static std::vector<std::string> methods;
    methods.reserve(std::size(kForms));
    all[methods.emplace_back(StrCat("packed::", suffix.substr(1)))] = f;
  }
}

}  // namespace

LinearWeights LinearWeightsOf(const QuantizedCall& c, const Val& packed) {
  if (packed.kind == Val::kTensor) {
    c.m.Refuse(c.op, " with weights that are packed into a tensor");
  }
  const auto& state = StateOf(c, packed, 2);
  if (state[0].kind != Val::kTensor) {
    c.m.Refuse(c.op, ": packed weights that begin with ", Describe(state[0]));
  }
  return {state[0], state[1]};
}

const QuantizedTable& QuantizedLayers() {
  static const auto* table = [] {
    auto* all = new QuantizedTable{
        {"quantized::conv2d_add", ConvAdd},
        {"quantized::linear", Linear},
        {"quantized::linear_leaky_relu", LinearLeakyRelu},
        {"quantized::linear_tanh", LinearTanh},
        {"quantized::linear_dynamic", LinearDynamic},
        {"quantized::linear_dynamic_fp16", LinearHalves},
        {"quantized::linear_with_input_q_dq_qweight_dq_output_fp32", LinearOfRounded},
        {"quantized::linear_prepack", PackLinear},
        {"quantized::linear_prepack_fp16", PackLinearHalves},
        {"quantized::linear_unpack", UnpackLinear},
        {"quantized::linear_unpack_fp16", UnpackLinear},
        {"aten::fbgemm_linear_int8_weight", LinearInt8},
        {"aten::fbgemm_linear_int8_weight_fp32_activation", LinearInt8},
        {"aten::fbgemm_linear_fp16_weight", LinearOfHalves},
        {"aten::fbgemm_linear_fp16_weight_fp32_activation", LinearOfHalves},
        {"aten::fbgemm_pack_gemm_matrix_fp16", PackHalves},
        {"aten::fbgemm_pack_quantized_matrix", Unpacked},
        {"quantized::embedding_bag_prepack", PackEmbedding},
        {"quantized::embedding_bag_unpack", EmbeddingWeightOf},
        {"quantized::embedding_byte", Embedding},
        {"quantized::embedding_4bit", Embedding},
        {"quantized::embedding_bag_byte", EmbeddingBag},
        {"quantized::embedding_bag_4bit", EmbeddingBag},
        {"prepacked::linear_clamp_prepack", PackForMobile},
        {"prepacked::conv2d_clamp_prepack", PackForMobile},
        {"prepacked::conv2d_transpose_clamp_prepack", PackForMobile},
        {"prepacked::linear_clamp_run", LinearOnMobile},
        {"prepacked::conv2d_clamp_run", ConvOnMobile<false>},
        {"prepacked::conv2d_transpose_clamp_run", ConvOnMobile<true>},
        {"packed::unpack", UnpackObject},
        {"packed::weight", WeightOfObject},
        {"packed::bias", BiasOfObject},
    };
    AddConvs(*all);
    return all;
  }();
  return *table;
}

}  // namespace x2ir::torch_script
