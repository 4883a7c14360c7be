// Calls on constant weights as PyTorch's layers.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "absl/strings/str_join.h"
#include "x2ir/formats/python/program_internal.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir::python {
namespace {

std::optional<std::vector<int64_t>> DimsOf(const Value* value) {
  return value && value->shape() ? value->shape()->Static() : std::nullopt;
}

std::vector<int64_t> WithoutOnes(std::vector<int64_t> dims) {
  std::erase(dims, 1);
  return dims;
}

bool IsFloatConstant(const Value* value) {
  return value && IsFloating(value->dtype()) && DimsOf(value) && IsMovedConstant(value);
}

bool AreSame(const std::vector<int64_t>& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [&](int64_t s) { return s == sizes[0]; });
}

// "3", or "(3, 5)" where they differ.
std::string Sizes(const std::vector<int64_t>& sizes, std::string_view hint) {
  if (!sizes.empty() && AreSame(sizes)) return Hole(sizes[0], hint);
  std::vector<std::string> texts;
  for (const int64_t size : sizes) texts.push_back(StrCat(size));
  return Tuple(texts);
}

// Whether there are so many elements. A layer refuses to normalize one element at a time.
bool HasElements(const Value* x, int64_t count) {
  const auto dims = DimsOf(x);
  const auto product = dims ? CheckedProduct(*dims) : std::nullopt;
  return product && *product == count;
}

// Builds the layer that a call is. A call whose weights do not fit is not a layer.
class LayerFinder {
 public:
  LayerFinder(const Call& call, const WeightMaker& add) : call_(call), add_(add) {}

  std::unique_ptr<Layer> Conv(std::string_view type, bool transposed);
  std::unique_ptr<Layer> Linear(std::string_view x, std::string_view weight, bool as_it_is);
  std::unique_ptr<Layer> BatchNorm();
  std::unique_ptr<Layer> InstanceNorm();
  std::unique_ptr<Layer> GroupNorm();
  std::unique_ptr<Layer> LayerNorm();
  std::unique_ptr<Layer> Embedding();
  std::unique_ptr<Layer> PRelu();
  std::unique_ptr<Layer> Recurrent(std::string_view type);

 private:
  bool Start(std::string_view type, std::string_view name, std::string_view x = "input") {
    if (call_.IsNone(x)) return false;
    const Argument* argument = call_.Find(x);
    if (argument->is_list) return false;
    layer_ = std::make_unique<Layer>();
    layer_->type = type;
    layer_->name = name;
    layer_->inputs = argument->items;
    return true;
  }
  // `dims`: what the weight must be, and becomes where it has more axes of 1.
  bool Take(std::string_view leaf, const Value* constant,
            std::optional<std::vector<int64_t>> dims = std::nullopt, bool transposed = false,
            bool buffer = false) {
    if (!IsFloatConstant(constant)) return false;
    if (dims && WithoutOnes(*DimsOf(constant)) != WithoutOnes(*dims)) return false;
    taken_.push_back({std::string(leaf), constant, std::move(dims), transposed, buffer});
    return true;
  }
  void Add(std::string_view name, std::string_view text) {
    StrAppend(&layer_->arguments, layer_->arguments.empty() ? "" : ", ", name,
              name.empty() ? "" : "=", text);
  }
  void AddNumber(std::string_view hint, int64_t number) { Add("", Hole(number, hint)); }
  void AddIfNot(std::string_view name, const std::vector<int64_t>& sizes, int64_t usual) {
    if (sizes.empty()) return;
    if (AreSame(sizes)) {
      layer_->arguments += Hole(sizes[0], name, usual, StrCat(", ", name, "="));
    } else {
      Add(name, Sizes(sizes, name));
    }
  }
  void AddEpsilon(double usual) {
    const Argument* eps = call_.Find("eps");
    const double* number =
        eps && eps->items.size() == 1 ? std::get_if<double>(&eps->items[0]) : nullptr;
    if (number && static_cast<float>(*number) != static_cast<float>(usual)) {
      Add("eps", FloatLiteral(*number, true));
    }
  }
  std::unique_ptr<Layer> Done() {
    for (const Taken& taken : taken_) layer_->constants.push_back(taken.constant);
    const auto is_free = [&](const Taken& taken) { return add_.is_free(taken.constant); };
    if (!std::all_of(taken_.begin(), taken_.end(), is_free)) {
      layer_->first = add_.find_same(*layer_);
      if (layer_->first) return std::move(layer_);
      const bool may_copy = std::all_of(taken_.begin(), taken_.end(), [&](const Taken& taken) {
        return is_free(taken) || add_.may_copy(taken.constant);
      });
      if (!may_copy) return nullptr;
    }
    for (const Taken& taken : taken_) {
      Weight* weight = add_.add(taken.constant, taken.transposed, taken.buffer);
      if (taken.dims) weight->tensor = weight->tensor.Reshaped(*taken.dims);
      layer_->weights.emplace_back(taken.leaf, weight);
    }
    return std::move(layer_);
  }

  struct Taken {
    std::string leaf;
    const Value* constant;
    std::optional<std::vector<int64_t>> dims;
    bool transposed, buffer;
  };
  const Call& call_;
  const WeightMaker& add_;
  std::unique_ptr<Layer> layer_;
  std::vector<Taken> taken_;
};

std::unique_ptr<Layer> LayerFinder::Conv(std::string_view type, bool transposed) {
  const Value* weight = call_.Tensor("weight");
  const auto dims = DimsOf(weight);
  if (!Start(type, "conv") || !dims || dims->size() < 3 || !Take("weight", weight)) return nullptr;
  const size_t n = dims->size() - 2;
  const int64_t groups = call_.Int("groups", 1);
  const int64_t in = transposed ? (*dims)[0] : (*dims)[1] * groups;
  const int64_t out = transposed ? (*dims)[1] * groups : (*dims)[0];
  AddNumber("in_channels", in);
  AddNumber("out_channels", out);
  Add("kernel_size", Sizes({dims->begin() + 2, dims->end()}, "kernel_size"));
  const auto list = [&](std::string_view name) {
    std::vector<int64_t> ints = call_.Ints(name);
    if (ints.size() == 1) ints.resize(n, ints[0]);
    return ints;
  };
  AddIfNot("stride", list("stride"), 1);
  AddIfNot("padding", list("padding"), 0);
  if (transposed) AddIfNot("output_padding", list("output_padding"), 0);
  AddIfNot("dilation", list("dilation"), 1);
  AddIfNot("groups", {groups}, 1);
  if (call_.IsNone("bias")) {
    Add("bias", "False");
  } else if (!Take("bias", call_.Tensor("bias"), {{out}})) {
    return nullptr;
  }
  return Done();
}

// `as_it_is`: the weight is [out, in] already.
std::unique_ptr<Layer> LayerFinder::Linear(std::string_view x, std::string_view weight,
                                           bool as_it_is) {
  const Value* w = call_.Tensor(weight);
  const auto dims = DimsOf(w);
  const bool named = w && w->constant() && w->name().ends_with(".weight");
  // A weight that has a name stays as it is, so that others who know it by that name can load it.
  const bool affine = named && !as_it_is && call_.op != "aten::linear.default";
  if (!Start(affine ? "Affine" : "nn.Linear", "linear", x) || !dims || dims->size() != 2 ||
      !IsFloatConstant(w)) {
    return nullptr;
  }
  // A transpose of a constant is undone.
  const Node* made = w->producer();
  if (!as_it_is && made && made->op() == "aten::permute.default" && made->input(0)->constant()) {
    w = made->input(0);
    as_it_is = true;
  }
  // A weight that another op also uses directly belongs to no layer.
  const bool transposed = !as_it_is && !affine;
  const auto multiplies = [](const Use& use) {
    const std::string_view op = use.node->op().view();
    return (op == "aten::matmul.default" && use.index == 1) || op == "aten::addmm.default";
  };
  if (transposed && !std::all_of(w->uses().begin(), w->uses().end(), multiplies)) return nullptr;
  const int64_t in = as_it_is ? (*DimsOf(w))[1] : (*dims)[0];
  const int64_t out = as_it_is ? (*DimsOf(w))[0] : (*dims)[1];
  if (!Take("weight", w, std::nullopt, transposed)) return nullptr;
  AddNumber("in_features", in);
  AddNumber("out_features", out);
  const std::string_view bias = call_.op == "aten::addmm.default" ? "self" : "bias";
  if (call_.IsNone(bias)) {
    Add("bias", "False");
  } else if (!Take("bias", call_.Tensor(bias), {{out}})) {
    return nullptr;
  }
  return Done();
}

std::unique_ptr<Layer> LayerFinder::BatchNorm() {
  const Value* x = call_.Tensor("input");
  const Value* mean = call_.Tensor("running_mean");
  const auto dims = DimsOf(mean);
  const int64_t rank = x && x->shape() ? x->shape()->rank() : 0;
  if (rank < 2 || rank > 5 || !dims || dims->size() != 1) return nullptr;
  if (!Start(StrCat("nn.BatchNorm", std::max<int64_t>(rank - 2, 1), "d"), "bn")) return nullptr;
  AddNumber("channels", (*dims)[0]);
  AddEpsilon(1e-5);
  const bool plain = call_.IsNone("weight") && call_.IsNone("bias");
  if (plain) {
    Add("affine", "False");
  } else if (!Take("weight", call_.Tensor("weight"), dims) ||
             !Take("bias", call_.Tensor("bias"), dims)) {
    return nullptr;
  }
  if (!Take("running_mean", mean, dims, false, true) ||
      !Take("running_var", call_.Tensor("running_var"), dims, false, true)) {
    return nullptr;
  }
  return Done();
}

std::unique_ptr<Layer> LayerFinder::InstanceNorm() {
  const Value* x = call_.Tensor("input");
  const auto dims = DimsOf(call_.Tensor("weight"));
  const int64_t rank = x && x->shape() ? x->shape()->rank() : 0;
  if (rank < 3 || rank > 5 || !dims || dims->size() != 1) return nullptr;
  const Dim& batch = (*x->shape())[0];
  if (batch.is_static() && HasElements(x, batch.value() * (*dims)[0])) return nullptr;
  if (!Start(StrCat("nn.InstanceNorm", rank - 2, "d"), "norm")) return nullptr;
  AddNumber("channels", (*dims)[0]);
  AddEpsilon(1e-5);
  Add("affine", "True");
  if (!Take("weight", call_.Tensor("weight"), dims) || !Take("bias", call_.Tensor("bias"), dims)) {
    return nullptr;
  }
  return Done();
}

std::unique_ptr<Layer> LayerFinder::GroupNorm() {
  const Value* x = call_.Tensor("input");
  const auto dims = DimsOf(call_.Tensor("weight"));
  if (!dims || dims->size() != 1) return nullptr;
  // A size of channels that is not stated is that of the weight.
  std::vector<Dim> sizes;
  if (x && x->shape()) sizes.assign(x->shape()->begin(), x->shape()->end());
  if (sizes.size() > 1) sizes[1] = Dim((*dims)[0]);
  if (Shape(sizes).NumElements() == Dim(call_.Int("num_groups", 1))) return nullptr;
  if (!Start("nn.GroupNorm", "norm")) return nullptr;
  AddNumber("num_groups", call_.Int("num_groups", 1));
  AddNumber("channels", (*dims)[0]);
  AddEpsilon(1e-5);
  if (!Take("weight", call_.Tensor("weight"), dims) || !Take("bias", call_.Tensor("bias"), dims)) {
    return nullptr;
  }
  return Done();
}

std::unique_ptr<Layer> LayerFinder::LayerNorm() {
  const std::vector<int64_t> shape = call_.Ints("normalized_shape");
  if (shape.empty() || !Start("nn.LayerNorm", "norm")) return nullptr;
  if (shape.size() == 1) {
    AddNumber("features", shape[0]);
  } else {
    std::vector<std::string> texts;
    for (const int64_t size : shape) texts.push_back(StrCat(size));
    Add("", Tuple(texts));
  }
  AddEpsilon(1e-5);
  if (!Take("weight", call_.Tensor("weight"), shape)) return nullptr;
  // Without a bias alone is newer than PyTorch 1.13.
  if (!Take("bias", call_.Tensor("bias"), shape)) return nullptr;
  return Done();
}

std::unique_ptr<Layer> LayerFinder::Embedding() {
  const Argument* indices = call_.Find("indices");
  const auto dims = DimsOf(call_.Tensor("self"));
  const Value* index = nullptr;
  if (indices && indices->items.size() == 1) {
    if (const Operand* operand = std::get_if<Operand>(&indices->items[0])) index = operand->value;
  }
  // A layer takes no indices that count from the end.
  if (const Tensor* known = index ? index->fixed_constant() : nullptr) {
    if (known->num_elements() > 4096) return nullptr;
    for (int64_t i = 0; i < known->num_elements(); ++i) {
      if (known->AsInt(i) < 0) return nullptr;
    }
  }
  if (!index || index->dtype() != DType::kInt64 || !dims || dims->size() != 2 ||
      !call_.Tensor("self")->constant() || !index->shape() || index->shape()->rank() == 0) {
    return nullptr;
  }
  layer_ = std::make_unique<Layer>();
  layer_->type = "nn.Embedding";
  layer_->name = "embedding";
  layer_->inputs = {Operand{index}};
  AddNumber("num_embeddings", (*dims)[0]);
  AddNumber("embedding_dim", (*dims)[1]);
  if (!Take("weight", call_.Tensor("self"))) return nullptr;
  return Done();
}

std::unique_ptr<Layer> LayerFinder::PRelu() {
  const auto dims = DimsOf(call_.Tensor("weight"));
  if (!dims || dims->size() != 1 || !Start("nn.PReLU", "prelu", "self")) return nullptr;
  if ((*dims)[0] != 1) AddNumber("channels", (*dims)[0]);
  if (!Take("weight", call_.Tensor("weight"))) return nullptr;
  return Done();
}

// One layer in one direction or both; the state goes in as it is.
std::unique_ptr<Layer> LayerFinder::Recurrent(std::string_view type) {
  const Argument *params = call_.Find("params"), *state = call_.Find("hx");
  const auto flag = [&](std::string_view name) {
    const Argument* argument = call_.Find(name);
    return argument && argument->items.size() == 1 && argument->items[0] == Item(true);
  };
  const bool both = flag("bidirectional"), biases = flag("has_biases");
  const size_t each = biases ? 4 : 2;
  if (!params || !state || call_.Int("num_layers", 0) != 1 || flag("batch_first") ||
      params->items.size() != each * (both ? 2 : 1)) {
    return nullptr;
  }
  if (!Start(type, type == "nn.LSTM" ? "lstm" : type == "nn.GRU" ? "gru" : "rnn")) return nullptr;
  constexpr std::array<std::string_view, 4> kLeaves = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0",
                                                       "bias_hh_l0"};
  std::optional<std::vector<int64_t>> of_input, of_state;
  for (size_t i = 0; i < params->items.size(); ++i) {
    const Operand* operand = std::get_if<Operand>(&params->items[i]);
    const bool back = i >= each;
    if (!operand || !Take(StrCat(kLeaves[i % each], back ? "_reverse" : ""), operand->value)) {
      return nullptr;
    }
    if (i == 0) of_input = DimsOf(operand->value);
    if (i == 1) of_state = DimsOf(operand->value);
  }
  if (of_input->size() != 2 || of_state->size() != 2) return nullptr;
  AddNumber("input_size", (*of_input)[1]);
  AddNumber("hidden_size", (*of_state)[1]);
  if (!biases) Add("bias", "False");
  if (both) Add("bidirectional", "True");
  if (call_.op == "aten::rnn_relu.input") Add("nonlinearity", "\"relu\"");
  // Zeros are what a layer begins with.
  const bool zeros = std::all_of(state->items.begin(), state->items.end(), [](const Item& item) {
    const Operand* operand = std::get_if<Operand>(&item);
    return operand && IsZero(operand->value);
  });
  for (const Item& item : state->items) {
    if (!zeros) layer_->inputs.push_back(item);
  }
  return Done();
}

}  // namespace

std::unique_ptr<Layer> FindLayer(const Call& call, const WeightMaker& add) {
  LayerFinder f(call, add);
  const std::string_view op = call.op;
  const auto one = [&](std::string_view name) {
    const Argument* argument = call.Find(name);
    const double* d = argument && argument->items.size() == 1
                          ? std::get_if<double>(&argument->items[0])
                          : nullptr;
    return !argument || (d && *d == 1) || call.Int(name, 0) == 1;
  };
  if (op == "aten::conv1d.default") return f.Conv("nn.Conv1d", false);
  if (op == "aten::conv2d.default") return f.Conv("nn.Conv2d", false);
  if (op == "aten::conv3d.default") return f.Conv("nn.Conv3d", false);
  if (op == "aten::conv_transpose1d.default") return f.Conv("nn.ConvTranspose1d", true);
  if (op == "aten::conv_transpose2d.input") return f.Conv("nn.ConvTranspose2d", true);
  if (op == "aten::conv_transpose3d.input") return f.Conv("nn.ConvTranspose3d", true);
  if (op == "aten::linear.default") return f.Linear("input", "weight", true);
  if (op == "aten::matmul.default") return f.Linear("self", "other", false);
  if (op == "aten::addmm.default" && one("alpha") && one("beta")) {
    return f.Linear("mat1", "mat2", false);
  }
  if (op == "aten::batch_norm.default") return f.BatchNorm();
  if (op == "aten::instance_norm.default") return f.InstanceNorm();
  if (op == "aten::group_norm.default") return f.GroupNorm();
  if (op == "aten::layer_norm.default") return f.LayerNorm();
  if (op == "aten::index.Tensor") return f.Embedding();
  if (op == "aten::prelu.default") return f.PRelu();
  if (op == "aten::lstm.input") return f.Recurrent("nn.LSTM");
  if (op == "aten::gru.input") return f.Recurrent("nn.GRU");
  if (op == "aten::rnn_tanh.input" || op == "aten::rnn_relu.input") return f.Recurrent("nn.RNN");
  return nullptr;
}

void SpellOut(Call& call) {
  if (call.op == "aten::matmul.default" && call.Find("bias")) call.op = "python::linear";
  // What a pad is filled with is 0 where nothing is said, for floats too.
  const auto fill = call.Number("value");
  if (call.op == "aten::constant_pad_nd.default" && fill == 0.0 && !std::signbit(*fill)) {
    call.Erase("value");
  }
  const Value* self = call.Tensor("self");
  if (call.op == "aten::clamp.default" && call.Number("min") == 0.0 && call.Number("max") == 6.0 &&
      self && IsFloating(self->dtype())) {
    call.op = "python::relu6";
    call.Erase("min");
    call.Erase("max");
  }
}

std::unique_ptr<Layer> FindActivation(const Call& call) {
  struct Row {
    std::string_view op, type;
    std::string_view argument = {}, usual = {};
    std::string_view positional = {};
  };
  constexpr Row kRows[] = {
      {"aten::relu.default", "nn.ReLU"},
      {"python::relu6", "nn.ReLU6"},
      {"aten::silu.default", "nn.SiLU"},
      {"aten::selu.default", "nn.SELU"},
      {"aten::mish.default", "nn.Mish"},
      {"aten::tanh.default", "nn.Tanh"},
      {"aten::sigmoid.default", "nn.Sigmoid"},
      {"aten::hardswish.default", "nn.Hardswish"},
      {"aten::hardsigmoid.default", "nn.Hardsigmoid"},
      {"aten::gelu.default", "nn.GELU", "approximate", "none"},
      {"aten::elu.default", "nn.ELU", "alpha", "1.0"},
      {"aten::leaky_relu.default", "nn.LeakyReLU", "negative_slope", "0.01"},
      {"aten::clone.default", "nn.Identity"},
  };
  const Argument* self = call.Find("self");
  if (!self || self->is_list) return nullptr;
  auto layer = std::make_unique<Layer>();
  layer->inputs = self->items;
  for (const Row& row : kRows) {
    if (row.op != call.op) continue;
    layer->type = row.type;
    if (row.argument.empty()) return layer;
    const Argument* argument = call.Find(row.argument);
    if (!argument || argument->items.size() != 1) return layer;
    const std::string* text = std::get_if<std::string>(&argument->items[0]);
    const auto value = call.Number(row.argument);
    const std::string spelled = text    ? StringLiteral(*text)
                                : value ? FloatLiteral(*value, true)
                                        : std::string();
    if (spelled.empty()) return nullptr;
    if (spelled != row.usual && spelled != StrCat("\"", row.usual, "\"")) {
      layer->arguments = StrCat(row.argument, "=", spelled);
    }
    return layer;
  }
  const auto window = [&](std::string_view name, int64_t usual) -> std::string {
    const std::vector<int64_t> ints = call.Ints(name);
    if (ints.empty() || (AreSame(ints) && ints[0] == usual)) return "";
    return StrCat(", ", name, "=", Sizes(ints, name));
  };
  for (const char* n : {"1", "2", "3"}) {
    const bool max = call.op == StrCat("aten::max_pool", n, "d.default");
    const bool average = call.op == StrCat("aten::avg_pool", n, "d.default");
    if (!max && !average) continue;
    layer->type = StrCat(max ? "nn.MaxPool" : "nn.AvgPool", n, "d");
    const std::vector<int64_t> kernel = call.Ints("kernel_size");
    if (kernel.empty()) return nullptr;
    layer->arguments = Sizes(kernel, "kernel_size");
    if (call.Ints("stride") != kernel) layer->arguments += window("stride", -1);
    layer->arguments += window("padding", 0);
    layer->arguments += window("dilation", 1);
    const auto flag = [&](std::string_view name) {
      const Argument* argument = call.Find(name);
      return argument && argument->items.size() == 1 && argument->items[0] == Item(true);
    };
    if (flag("ceil_mode")) layer->arguments += ", ceil_mode=True";
    if (average && !flag("count_include_pad")) layer->arguments += ", count_include_pad=False";
    return layer;
  }
  return nullptr;
}

std::string Hole(int64_t number, std::string_view hint) {
  return StrCat(std::string_view(&kHoleBegin, 1), hint, ":", number,
                std::string_view(&kHoleEnd, 1));
}

std::string Hole(int64_t number, std::string_view hint, int64_t usual, std::string_view prefix) {
  return StrCat(std::string_view(&kHoleBegin, 1), hint, ":", number, ":", usual, ":", prefix,
                std::string_view(&kHoleEnd, 1));
}

}  // namespace x2ir::python
