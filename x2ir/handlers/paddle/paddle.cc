// What handlers of Paddle's operators share.
#include "x2ir/handlers/paddle/paddle.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "x2ir/builder/quantized.h"
#include "x2ir/core/dialect.h"
#include "x2ir/formats/paddle/paddle.h"
#include "x2ir/handlers/paddle/prepare.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = std::string(paddle::kDialect), .after_read = PreparePaddle});

// Attributes that do not affect results: the device and the kernel, the position in the source, and
// attributes that only training reads.
bool IsMeaningless(std::string_view name) {
  static constexpr std::string_view kNames[] = {"op_role",
                                                "op_role_var",
                                                "op_namescope",
                                                "op_callstack",
                                                "op_device",
                                                "with_quant_attr",
                                                "use_mkldnn",
                                                "use_cudnn",
                                                "use_onednn",
                                                "use_quantizer",
                                                "mkldnn_data_type",
                                                "onednn_data_type",
                                                "workspace_size_MB",
                                                "exhaustive_search",
                                                "use_addto",
                                                "force_fp32_output",
                                                "is_sparse",
                                                "is_distributed",
                                                "remote_prefetch",
                                                "trainer_id",
                                                "slot",
                                                "height_sections",
                                                "epmap",
                                                "table_names",
                                                "entry",
                                                "entry_config",
                                                "struct_name",
                                                "stop_gradient",
                                                "persistable",
                                                "place",
                                                "place_type",
                                                "force_cpu",
                                                "skip_eager_deletion_vars",
                                                "is_test",
                                                "fix_seed",
                                                "seed",
                                                "rng_name",
                                                "str_value",
                                                "in_dtype",
                                                "infer_flags",
                                                "trainable_statistics",
                                                "momentum",
                                                "is_target",
                                                "sub_block",
                                                "is_first_layer",
                                                "enable_int8",
                                                "nb",
                                                "__inputs_scale_name__",
                                                "activation_bits",
                                                "quantization_type",
                                                "skip_quant",
                                                "name",
                                                "out_threshold",
                                                "Input_scale",
                                                "use_fp16",
                                                "ring_id",
                                                "use_calc_stream",
                                                "use_model_parallel",
                                                "sync_mode",
                                                "comm_group_id",
                                                "dist_attr",
                                                "chunk_id",
                                                "Scale_x",
                                                "Scale_y",
                                                "Scale_out",
                                                "Scale_in",
                                                "Scale_in_eltwise",
                                                "Scale_weights",
                                                "scale_x",
                                                "scale_y",
                                                "scale_out",
                                                "scale_in",
                                                "scale_in_eltwise",
                                                "scale_weights",
                                                "x_data_format",
                                                "y_data_format",
                                                "bit_length",
                                                "fuse_relu_before_depthwise_conv"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.ends_with("_threshold_int8") || name.ends_with("_layer_threshold");
}

// What is fused into an operator where one of these has another value than this one.
bool IsNothingFused(std::string_view name, const Attribute& attr) {
  if (name == "fuse_relu" || name == "fuse_with_relu" || name == "fuse_residual_connection" ||
      name == "fuse_residual" || name == "fuse_brelu") {
    return attr == Attribute(false);
  }
  if (name == "fuse_activation" || name == "fuse_activation_type") return attr == Attribute("");
  // Moves that are fused into products.
  const auto* list = attr.get<Attribute::Ints>();
  if (name.starts_with("fused_") && list && list->empty()) return true;
  return name == "fuse_alpha" || name == "fuse_beta" || name == "fuse_brelu_threshold";
}

const std::vector<std::string>& SlotsOf(const Node& node, const char* name) {
  static const auto& none = *new std::vector<std::string>;
  const Attribute* attr = node.attrs().Find(name);
  const auto* slots = attr ? attr->get<Attribute::Strings>() : nullptr;
  return slots ? *slots : none;
}

// Sizes out of a tensor of them: all at once, or one each.
std::vector<Size> SizesIn(PaddleArgs& a, const Expr& tensor, std::string_view name) {
  const std::optional<std::vector<int64_t>> known = x2ir::KnownInts(tensor.value());
  std::vector<Size> sizes;
  if (known) {
    for (const int64_t size : *known) sizes.emplace_back(size);
    return sizes;
  }
  const Shape* shape = tensor->shape();
  if (shape && shape->rank() == 0) return {Size(tensor.To(DType::kInt64))};
  a.Require(shape && shape->rank() == 1 && (*shape)[0].is_static(),
            StrCat("how many numbers '", name, "' has is not known"));
  const Expr wide = tensor.To(DType::kInt64);
  for (int64_t i = 0; i < (*shape)[0].value(); ++i) {
    sizes.emplace_back(Gather(wide, a.b().Int(i), 0));
  }
  return sizes;
}

// Operators whose graphs hold for complex numbers: they move elements, add and multiply them, or
// ask for their parts. Others are refused.
constexpr std::string_view kOfComplex[] = {"abs",
                                           "angle",
                                           "as_complex",
                                           "as_real",
                                           "assign",
                                           "bmm",
                                           "broadcast_tensors",
                                           "cast",
                                           "complex",
                                           "concat",
                                           "conditional_block",
                                           "conj",
                                           "cos",
                                           "cosh",
                                           "cumsum",
                                           "diag_embed",
                                           "diagonal",
                                           "dot",
                                           "einsum",
                                           "elementwise_add",
                                           "elementwise_div",
                                           "elementwise_mul",
                                           "elementwise_pow",
                                           "elementwise_sub",
                                           "equal",
                                           "exp",
                                           "expand_as_v2",
                                           "expand_v2",
                                           "fft_c2c",
                                           "fft_c2r",
                                           "fft_r2c",
                                           "fill_any_like",
                                           "fill_constant",
                                           "fill_zeros_like",
                                           "flatten_contiguous_range",
                                           "flip",
                                           "gather",
                                           "gather_nd",
                                           "grad_add",
                                           "if",
                                           "imag",
                                           "index_select",
                                           "is_empty",
                                           "isfinite_v2",
                                           "isinf_v2",
                                           "isnan_v2",
                                           "log",
                                           "log10",
                                           "log2",
                                           "matmul_v2",
                                           "mean",
                                           "memcpy",
                                           "memcpy_d2h",
                                           "memcpy_h2d",
                                           "not_equal",
                                           "pow",
                                           "print",
                                           "real",
                                           "reciprocal",
                                           "reduce_mean",
                                           "reduce_sum",
                                           "reshape",
                                           "reshape2",
                                           "roll",
                                           "rsqrt",
                                           "scale",
                                           "select_input",
                                           "shape",
                                           "shape64",
                                           "share_data",
                                           "sigmoid",
                                           "sign",
                                           "sin",
                                           "sinh",
                                           "size",
                                           "slice",
                                           "split",
                                           "sqrt",
                                           "square",
                                           "squeeze",
                                           "squeeze2",
                                           "stack",
                                           "stft",
                                           "strided_slice",
                                           "sum",
                                           "tile",
                                           "transpose",
                                           "transpose2",
                                           "unbind",
                                           "unsqueeze",
                                           "unsqueeze2",
                                           "unstack",
                                           "where",
                                           "while"};
bool TouchesComplexNumbers(const Node& node) {
  const auto inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Value* value) { return value && IsComplex(value->dtype()); });
}

}  // namespace

PaddleArgs::PaddleArgs(Rewrite& r)
    : NodeReader(r),
      operands_(SlotsOf(r.node, paddle::kOperandSlots)),
      results_(SlotsOf(r.node, paddle::kResultSlots)) {
  Ignore(paddle::kOperandSlots);
  Ignore(paddle::kResultSlots);
  Ignore(paddle::kOperandLevels);
  Ignore(paddle::kOpVersion);
  operands_.resize(num_inputs());
  results_.resize(num_outputs());
}

// --- Operands ------------------------------------------------------------------------------------

bool PaddleArgs::Has(std::string_view slot) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i] == slot && has(i)) return true;
  }
  return false;
}

std::vector<Value*> PaddleArgs::List(std::string_view slot) {
  taken_.insert(std::string(slot));
  std::vector<Value*> values;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i] == slot && has(i)) values.push_back(node().input(i));
  }
  return values;
}

Expr PaddleArgs::Opt(std::string_view slot) {
  const std::vector<Value*> values = List(slot);
  if (values.size() > 1) Fail(Invalid("expected one operand '", slot, "'"));
  if (values.empty()) return nullptr;
  return {b(), values[0]};
}

Expr PaddleArgs::X(std::string_view slot) {
  const Expr x = Opt(slot);
  if (!x.value()) Fail(Invalid("operand '", slot, "' is missing"));
  return x;
}

void PaddleArgs::Drop(std::initializer_list<std::string_view> slots) {
  for (const std::string_view slot : slots) taken_.insert(std::string(slot));
}

size_t PaddleArgs::NumResults(std::string_view slot) const {
  return static_cast<size_t>(std::count(results_.begin(), results_.end(), slot));
}

bool PaddleArgs::Wants(std::string_view slot) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i] == slot && wants(i)) return true;
  }
  return false;
}

int64_t PaddleArgs::Level(std::string_view slot) const {
  const Attribute* attr = attrs().Find(paddle::kOperandLevels);
  const auto* levels = attr ? attr->get<Attribute::Ints>() : nullptr;
  for (size_t i = 0; levels && i < levels->size() && i < operands_.size(); ++i) {
    if (operands_[i] == slot) return (*levels)[i];
  }
  return 0;
}

int64_t PaddleArgs::Version() const {
  const Attribute* attr = attrs().Find(paddle::kOpVersion);
  const auto* version = attr ? attr->get<int64_t>() : nullptr;
  return version ? *version : INT64_MAX;
}

int64_t PaddleArgs::Rank(const Expr& x) {
  if (!x->shape()) Fail(Unimplemented("needs operands of known rank"));
  return x->shape()->rank();
}

int64_t PaddleArgs::Axis(int64_t axis, const Expr& x) {
  return AxisOf(axis, std::max<int64_t>(Rank(x), 1));
}

// --- Attributes ----------------------------------------------------------------------------------

double PaddleArgs::Number(Symbol name, double fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* i = attr->get<int64_t>()) return static_cast<double>(*i);
  if (const auto* f = attr->get<float>()) return *f;
  if (const auto* d = attr->get<double>()) return *d;
  if (const auto* s = attr->get<std::string>()) {
    if (s->empty()) return fallback;
    char* end = nullptr;
    const double number = std::strtod(s->c_str(), &end);
    if (end == s->c_str() + s->size()) return number;
  }
  Fail(Invalid("attribute '", name.view(), "': expected a number, got ", attr->ToString()));
  return fallback;
}

std::vector<int64_t> PaddleArgs::Ints(Symbol name, std::vector<int64_t> fallback) {
  const Attribute* attr = attrs().Find(name);
  if (const auto* i = attr ? attr->get<int64_t>() : nullptr) {
    Ignore(name);
    return {*i};
  }
  return IntList(name, std::move(fallback));
}

std::vector<double> PaddleArgs::Numbers(Symbol name, std::vector<double> fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* floats = attr->get<Attribute::Floats>()) return {floats->begin(), floats->end()};
  if (const auto* ints = attr->get<Attribute::Ints>()) return {ints->begin(), ints->end()};
  if (const auto* tensor = attr->get<Tensor>()) {
    std::vector<double> numbers;
    if (IsComplex(tensor->dtype())) {
      Fail(Unimplemented("attribute '", name.view(), "': a complex number"));
    }
    for (int64_t i = 0; i < tensor->num_elements(); ++i) numbers.push_back(tensor->AsDouble(i));
    return numbers;
  }
  return {Number(name, 0)};
}

DType PaddleArgs::Dtype(Symbol name, DType fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* type = attr->get<x2ir::Type>()) {
    return type->is_tensor() && type->dtype() != DType::kUndefined ? type->dtype() : fallback;
  }
  const auto* number = attr->get<int64_t>();
  if (number && *number < 0) return fallback;
  const DType dtype = number ? paddle::ToDType(*number) : DType::kUndefined;
  if (dtype == DType::kUndefined) {
    Fail(Invalid("attribute '", name.view(), "': no element type: ", attr->ToString()));
  }
  return dtype;
}

// --- Attributes or operands ----------------------------------------------------------------------

bool PaddleArgs::HasOperandFor(Symbol name, Slots slots) const {
  return Has(name.view()) ||
         std::any_of(slots.begin(), slots.end(), [&](auto slot) { return Has(slot); });
}

std::vector<Size> PaddleArgs::Sizes(Symbol name, Slots slots, std::vector<int64_t> fallback) {
  std::vector<Value*> found = List(name.view());
  for (const std::string_view slot : slots) {
    const std::vector<Value*> values = List(slot);  // taken even if an earlier slot has values
    if (found.empty()) found = values;
  }
  const std::vector<int64_t> known = Ints(name, std::move(fallback));
  std::vector<Size> sizes;
  if (found.empty()) {
    for (const int64_t size : known) sizes.emplace_back(size);
  } else if (found.size() == 1) {
    sizes = SizesIn(*this, {b(), found[0]}, name.view());
  } else {
    for (Value* value : found) {
      std::vector<Size> each = SizesIn(*this, {b(), value}, name.view());
      Require(each.size() == 1, StrCat("one number of '", name.view(), "' in each tensor"));
      sizes.push_back(each[0]);
    }
  }
  return sizes;
}

std::vector<int64_t> PaddleArgs::KnownList(Symbol name, Slots slots,
                                           std::vector<int64_t> fallback) {
  std::vector<int64_t> numbers;
  for (const Size& size : Sizes(name, slots, std::move(fallback))) {
    Require(size.number.has_value(),
            StrCat("'", name.view(), "' is computed; expected a constant"));
    numbers.push_back(*size.number);
  }
  return numbers;
}

int64_t PaddleArgs::KnownNumber(Symbol name, Slots slots, int64_t fallback) {
  const std::vector<int64_t> numbers = KnownList(name, slots, {fallback});
  Require(numbers.size() == 1, StrCat("one number as '", name.view(), "'"));
  return numbers[0];
}

Expr PaddleArgs::Scalar(Symbol name, Slots slots, double fallback, DType type) {
  Expr found = Opt(name.view());
  for (const std::string_view slot : slots) {
    const Expr value = Opt(slot);
    if (!found.value()) found = value;
  }
  const double number = Number(name, fallback);
  if (!found.value()) return {b(), b().Scalar(type, number)};
  if (const Tensor* known = SettledTensor(found); known && known->num_elements() == 1 &&
                                                  !IsComplex(known->dtype()) &&
                                                  known->dtype() != DType::kString) {
    return {b(), b().Scalar(type, known->AsDouble(0))};
  }
  if (!found->shape() || found->shape()->rank() != 0) {
    found = found.Op("reshape", {b().Ints({})}, {{"allowzero", 1}});
  }
  return found.To(type);
}

// --- The end -------------------------------------------------------------------------------------

absl::Status PaddleArgs::CheckAllTaken() const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (has(i) && !taken_.contains(operands_[i])) {
      return Unimplemented("operand '", operands_[i], "' is not known");
    }
  }
  for (const auto& [name, attr] : attrs()) {
    if (IsTaken(name) || IsMeaningless(name.view()) || IsNothingFused(name.view(), attr)) continue;
    return Unimplemented("attribute '", name.view(), "' = ", attr.ToString(), " is not known");
  }
  return absl::OkStatus();
}

// Before version 2.5 there were no tensors of rank 0, but such of one element.
Value* PaddleArgs::AsDeclared(size_t i, Value* value) {
  const Value* result = node().output(i);
  const bool single = result && result->shape() && result->shape()->rank() == 1;
  const bool none = value && value->shape() && value->shape()->rank() == 0;
  return single && none ? b().Op("reshape", {value, b().Ints({1})}) : value;
}

absl::StatusOr<Values> PaddleArgs::Arrange(const PaddleResults& results) {
  std::string main;
  for (const char* name : {"Out", "Output", "Y", "0"}) {
    if (main.empty() && std::find(results_.begin(), results_.end(), name) != results_.end()) {
      main = name;
    }
  }
  if (main.empty() && !results_.empty()) main = results_[0];
  Values values(num_outputs());
  for (const auto& [name, given] : results) {
    size_t next = 0;
    for (size_t i = 0; i < results_.size(); ++i) {
      if (results_[i] != (name.empty() ? main : name)) continue;
      if (next >= given.size())
        return Invalid("it has more results '", results_[i], "' than are given");
      values[i] = AsDeclared(i, given[next++]);
    }
  }
  for (size_t i = 0; i < num_outputs(); ++i) {
    if (wants(i) && !values[i]) {
      return Unimplemented("result '", results_[i], "' is used, which has no counterpart");
    }
  }
  return values;
}

absl::StatusOr<Values> FromPaddle(const PaddleFn& fn, Rewrite& r) {
  return ReadNode(r, [&]() -> absl::StatusOr<Values> {
    PaddleArgs args(r);
    if (TouchesComplexNumbers(r.node) &&
        !std::binary_search(std::begin(kOfComplex), std::end(kOfComplex), args.op())) {
      return Unimplemented("of complex numbers");
    }
    const PaddleResults results = fn(args);
    X2IR_RETURN_IF_ERROR(args.CheckAllTaken());
    return args.Arrange(results);
  });
}

DType PaddlePromote(DType a, DType b) {
  if (a == b || b == DType::kUndefined) return a;
  if (a == DType::kUndefined) return b;
  const auto kind = [](DType t) {
    return IsComplex(t) ? 3 : IsFloating(t) ? 2 : IsInteger(t) ? 1 : 0;
  };
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  // Of two halves neither holds the other.
  if (kind(a) == 2 && BitWidth(a) == BitWidth(b)) return DType::kFloat32;
  if (kind(a) == 1 && BitWidth(a) == BitWidth(b)) return IsSignedInt(a) ? a : b;
  return BitWidth(a) > BitWidth(b) ? a : b;
}

PaddleSpec& PaddleSpec::From(std::string_view op, std::vector<PaddleAttr> attrs,
                             std::vector<std::string> slots) {
  return Reads(op,
               [ir_op = ir_op_, attrs = std::move(attrs),
                slots = std::move(slots)](PaddleArgs& a) -> PaddleResults {
                 std::vector<Value*> operands;
                 for (const std::string& slot : slots) operands.push_back(a.X(slot));
                 AttributeMap given;
                 for (const PaddleAttr& attr : attrs) {
                   given.Set(attr.ir, static_cast<float>(a.Number(attr.own, attr.fallback)));
                 }
                 return {{"", Values{a.Op(ir_op, std::move(operands), std::move(given))}}};
               });
}

PaddleSpec& PaddleSpec::Reads(std::string_view op, PaddleFn fn) {
  spec_.Is(op, Since(1),
           Code{[fn = std::move(fn)](Rewrite& r) { return FromPaddle(fn, r); }, nullptr});
  return *this;
}

// --- PyTorch -------------------------------------------------------------------------------------

Expr AsTorch(PaddleArgs& a, std::string_view op, const std::vector<AsTorchArgument>& arguments,
             DType result) {
  return {a.b(), AsTorch(a, op, arguments, std::vector<DType>{result})[0]};
}

}  // namespace x2ir
