#include "x2ir/handlers/keras/keras.h"

#include <algorithm>
#include <iterator>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir {
namespace {

constexpr std::string_view kHints[] = {"name",
                                       "trainable",
                                       "batch_input_shape",
                                       "batch_shape",
                                       "input_shape",
                                       "build_config",
                                       "seed",
                                       "dtype",
                                       "input_dtype",
                                       "input_dim",
                                       "input_length",
                                       "sparse",
                                       "ragged",
                                       "optional",
                                       "init",
                                       "inner_init",
                                       "forget_bias_init",
                                       "unit_forget_bias",
                                       "consume_less",
                                       "implementation",
                                       "unroll",
                                       "stateful",
                                       "dropout",
                                       "recurrent_dropout",
                                       "dropout_W",
                                       "dropout_U",
                                       "nb_row",
                                       "nb_col",
                                       "kernel_dim1",
                                       "kernel_dim2",
                                       "kernel_dim3",
                                       "use_cudnn",
                                       "autocast",
                                       "quantization_config",
                                       "lora_rank",
                                       "lora_alpha",
                                       "gamma_init",
                                       "beta_init",
                                       "momentum",
                                       "cudnn_fused",
                                       "fused",
                                       "virtual_batch_size",
                                       "renorm",
                                       "renorm_momentum",
                                       "synchronized",
                                       "zero_output_for_mask",
                                       "go_backwards",
                                       "mode"};
constexpr std::string_view kHintEndings[] = {"_initializer", "_regularizer", "_constraint"};

// "mixed_float16" computes in float16, of variables of float32.
DType ComputeTypeOf(std::string_view policy) {
  if (policy.starts_with("mixed_")) policy.remove_prefix(6);
  const auto dtype = ParseDType(policy);
  return dtype && IsFloating(*dtype) ? *dtype : DType::kUndefined;
}

}  // namespace

bool IsKerasHint(std::string_view name) {
  if (std::find(std::begin(kHints), std::end(kHints), name) != std::end(kHints)) return true;
  if (name == "W_regularizer" || name == keras::kVersion) return true;
  return std::any_of(std::begin(kHintEndings), std::end(kHintEndings),
                     [&](std::string_view end) { return name.ends_with(end); });
}

KerasArgs::KerasArgs(Rewrite& r) : NodeReader(r) {
  const auto count = [&](const char* name) {
    Ignore(name);
    const Attribute* attr = attrs().Find(name);
    const auto* number = attr ? attr->get<int64_t>() : nullptr;
    return number && *number > 0 ? static_cast<size_t>(*number) : 0;
  };
  version_ = static_cast<int>(std::max<size_t>(count(keras::kVersion), 1));
  const size_t tensors = count(keras::kCallInputs), weights = count(keras::kCallWeights);
  const std::vector<std::string> names = StringList(keras::kCallNames);
  const std::vector<int64_t> masks = IntList(keras::kCallMasks, {});
  std::vector<Value*> operands = inputs();
  size_t next = 0;
  const auto take = [&]() -> Value* { return next < operands.size() ? operands[next++] : nullptr; };
  for (size_t i = 0; i < std::min(tensors, operands.size()); ++i) tensors_.push_back(take());
  for (const std::string& name : names) named_.emplace_back(name, take());
  for (size_t i = 0; i < std::min(weights, operands.size()); ++i) weights_.push_back(take());
  masks_.assign(tensors_.size(), Expr(nullptr));
  for (const int64_t i : masks) {
    Value* value = take();
    if (i >= 0 && static_cast<size_t>(i) < masks_.size() && value) {
      masks_[static_cast<size_t>(i)] = Expr(b(), value);
    }
  }
  if (const Attribute* attr = attrs().Find("dtype")) {
    std::string policy;
    if (const auto* text = attr->get<std::string>()) policy = *text;
    if (policy.starts_with('{')) {
      const auto nested = Json::Parse(policy);
      policy = nested.ok() ? keras::PolicyName(*nested) : "";
    }
    // Keras 1 and the first of Keras 2 say no more by it than what an input is.
    compute_ = ComputeTypeOf(policy);
  }
}

Expr KerasArgs::InComputeType(const Expr& x) {
  const bool other =
      compute_ != DType::kUndefined && IsFloating(x.dtype()) && x.dtype() != compute_;
  return other ? x.To(compute_) : x;
}

Expr KerasArgs::tensor(size_t i) {
  tensors_taken_ = std::max(tensors_taken_, i + 1);
  if (i >= tensors_.size() || !tensors_[i]) Fail(Invalid("it is called with ", i, " tensors"));
  return InComputeType({b(), tensors_[i]});
}

std::vector<Expr> KerasArgs::tensors() {
  std::vector<Expr> all;
  for (size_t i = 0; i < tensors_.size(); ++i) all.push_back(tensor(i));
  return all;
}

absl::Status KerasArgs::CheckTensorsTaken() const {
  if (tensors_.size() > tensors_taken_) {
    return Unimplemented("it is called with ", tensors_.size(), " tensors");
  }
  for (const auto& [name, value] : named_) {
    if (!named_taken_.contains(name)) return Unimplemented("it is called with '", name, "'");
  }
  return absl::OkStatus();
}

std::vector<Expr> KerasArgs::named(std::string_view name) {
  named_taken_.emplace(name);
  std::vector<Expr> all;
  for (const auto& [key, value] : named_) {
    if (key == name && value) all.push_back(InComputeType({b(), value}));
  }
  return all;
}

std::vector<Expr> KerasArgs::Weights(std::initializer_list<std::string_view> names) {
  return Weights(std::vector<std::string>(names.begin(), names.end()));
}

std::vector<Expr> KerasArgs::Weights(const std::vector<std::string>& names) {
  if (weights_.size() != names.size()) {
    std::string all;
    for (const std::string& name : names) StrAppend(&all, all.empty() ? "" : ", ", name);
    if (weights_.empty()) {
      Fail(Invalid("its weights (", all,
                   ") are not in the file; the option params says in which they are"));
    }
    Fail(
        Invalid("expected ", names.size(), " weights (", all, "), the file has ", weights_.size()));
  }
  std::vector<Expr> weights;
  for (Value* value : weights_) {
    if (!value) Fail(Invalid("a weight is missing"));
    weights.push_back(InComputeType({b(), value}));
  }
  return weights;
}

DType KerasArgs::VariableType() const {
  return compute_ == DType::kUndefined ? DType::kFloat32 : compute_;
}

void KerasArgs::Wrong(Symbol name, std::string_view kind) {
  b().set_stops(true);
  const Attribute* attr = attrs().Find(name);
  Fail(Invalid("'", name.view(), "' is ", attr ? attr->ToString() : "missing", ", which is no ",
               kind));
  throw Builder::Stopped();
}

std::string KerasArgs::Text(Symbol name, std::string_view fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return std::string(fallback);
  const auto* text = attr->get<std::string>();
  if (!text) Wrong(name, "text");
  return *text;
}

int64_t KerasArgs::Integer(Symbol name, int64_t fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* number = attr->get<int64_t>()) return *number;
  if (const auto* real = attr->get<double>();
      real && *real == static_cast<double>(static_cast<int64_t>(*real))) {
    return static_cast<int64_t>(*real);
  }
  if (const auto* list = attr->get<Attribute::Ints>(); list && list->size() == 1) return (*list)[0];
  Wrong(name, "integer");
}

bool KerasArgs::Flag(Symbol name, bool fallback) { return Integer(name, fallback) != 0; }

double KerasArgs::Number(Symbol name, double fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* number = attr->get<int64_t>()) return static_cast<double>(*number);
  if (const auto* real = attr->get<double>()) return *real;
  // A number of NumPy's: {"type": "ndarray", "value": 0.3}.
  if (const auto* text = attr->get<std::string>(); text && text->starts_with('{')) {
    const auto nested = Json::Parse(*text);
    if (nested.ok() && (*nested)["value"].is_number()) return (*nested)["value"].Number();
    if (nested.ok() && (*nested)["config"]["value"].is_number()) {
      return (*nested)["config"]["value"].Number();
    }
  }
  const std::vector<double> list = Numbers(name);
  if (list.size() != 1) Wrong(name, "number");
  return list[0];
}

std::vector<int64_t> KerasArgs::Integers(Symbol name) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return {};
  if (const auto* list = attr->get<Attribute::Ints>()) return *list;
  if (const auto* number = attr->get<int64_t>()) return {*number};
  std::vector<int64_t> list;
  for (const double number : Numbers(name)) {
    list.push_back(static_cast<int64_t>(number));
    if (static_cast<double>(list.back()) != number) Wrong(name, "list of integers");
  }
  return list;
}

std::vector<double> KerasArgs::Numbers(Symbol name) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return {};
  if (const auto* list = attr->get<Attribute::Floats>()) return {list->begin(), list->end()};
  if (const auto* list = attr->get<Attribute::Ints>()) return {list->begin(), list->end()};
  if (const auto* number = attr->get<int64_t>()) return {static_cast<double>(*number)};
  if (const auto* real = attr->get<double>()) return {*real};
  Wrong(name, "list of numbers");
}

std::vector<std::string> KerasArgs::Texts(Symbol name) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return {};
  if (const auto* list = attr->get<Attribute::Strings>()) return *list;
  if (const auto* list = attr->get<Attribute::Ints>(); list && list->empty()) return {};
  Wrong(name, "list of texts");
}

std::vector<int64_t> KerasArgs::Tuple(Symbol name, size_t count, int64_t fallback) {
  std::vector<int64_t> list = Integers(name);
  if (list.empty()) list = {fallback};
  if (list.size() == 1) list.resize(count, list[0]);
  if (list.size() != count) Wrong(name, StrCat("list of ", count, " integers"));
  return list;
}

Json KerasArgs::Nested(Symbol name) {
  const std::string text = Text(name);
  if (!text.starts_with('{') && !text.starts_with('[')) return Json(text);
  absl::StatusOr<Json> json = Json::Parse(text);
  if (!json.ok()) Wrong(name, "configuration");
  return *std::move(json);
}

std::vector<int64_t> KerasArgs::Axes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> counted;
  for (const int64_t axis : axes) counted.push_back(AxisOf(axis, rank));
  return counted;
}

bool KerasArgs::ChannelsLast(Symbol name) {
  const std::string format = Text(name, "channels_last");
  Require(format == "channels_last" || format == "channels_first" || format == "default",
          StrCat("data_format '", format, "'"));
  return format != "channels_first";
}

void KerasArgs::IgnoreConfiguration() {
  for (const auto& [name, attr] : attrs()) Ignore(name);
  for (const auto& [name, value] : named_) named_taken_.insert(name);
}

int64_t KerasArgs::RankOf(const Expr& x) {
  if (!x->shape()) Fail(Unimplemented("a tensor of unknown rank"));
  return x->shape()->rank();
}

absl::Status KerasDialect::Finish(KerasArgs& args) {
  args.IgnoreAll(IsKerasHint);
  X2IR_RETURN_IF_ERROR(args.CheckAllTaken());
  return args.CheckTensorsTaken();
}

}  // namespace x2ir
