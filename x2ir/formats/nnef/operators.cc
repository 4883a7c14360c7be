#include "x2ir/formats/nnef/operators.h"

#include <algorithm>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace nnef {
namespace {

// Windows, and element by element: "name" stands for a declaration with these parameters.
struct Group {
  std::string_view names, params, results;
};
constexpr std::string_view kOne = "(y: tensor<?>)";
#define X2IR_NNEF_WINDOW                                             \
  "border: string = 'constant', padding: (integer,integer)[] = [], " \
  "stride: integer[] = [], dilation: integer[] = []"

constexpr Group kGroups[] = {
    {"exp log sin cos tan asin acos atan sinh cosh asinh acosh atanh abs sign rcp neg floor ceil "
     "round sqr sqrt rsqr rsqrt log2 relu sigmoid tanh softplus silu square recip",
     "x: tensor<scalar>", kOne},
    {"not", "x: tensor<logical>", kOne},
    {"copy", "x: tensor<?>", kOne},
    {"tract_core_erf tract_core_round_even tract_core_cbrt tract_core_cot tract_core_silu "
     "tract_transformers_silu tract_core_hard_swish tract_core_isinf tract_core_is_nan "
     "tract_core_square tract_core_gelu_approximate tract_core_bitnot tract_core_tan "
     "tract_core_asin tract_core_acos tract_core_atan tract_core_sinh tract_core_cosh "
     "tract_core_asinh tract_core_acosh tract_core_atanh tract_onnx_is_nan tract_extra_is_nan "
     "tract_onnx_erf",
     "x: tensor<?>", kOne},
    {"add sub mul div pow lt gt le ge eq ne min max", "x: tensor<scalar>, y: tensor<scalar>", kOne},
    {"and or", "x: tensor<logical>, y: tensor<logical>", kOne},
    {"tract_core_xor tract_core_bitand tract_core_bitor tract_core_bitxor tract_shl tract_shr",
     "a: tensor<?>, b: tensor<?>", kOne},
    {"tract_core_gelu_approx tract_transformers_gelu_approx",
     "input: tensor<scalar>, fast_impl: logical = false", kOne},
    {"tract_core_is_inf tract_onnx_isinf tract_extra_is_inf",
     "input: tensor<scalar>, detect_positive: logical = true, detect_negative: logical = true",
     kOne},
    {"tract_core_fft", "input: tensor<scalar>, axis: integer, inverse: logical", kOne},
    {"tract_core_stft",
     "input: tensor<scalar>, axis: integer, frame: integer, stride: integer, "
     "window: tensor<scalar> = 0.0",
     kOne},
    {"tract_onnx_lrn",
     "input: tensor<scalar>, alpha: scalar = 0.0001, beta: scalar = 0.75, bias: scalar = 1.0, "
     "size: integer",
     kOne},
    {"tract_onnx_non_max_suppression",
     "boxes: tensor<scalar>, scores: tensor<scalar>, "
     "max_output_boxes_per_class: tensor<integer> = 0, iou_threshold: tensor<scalar> = 0.0, "
     "score_threshold: tensor<scalar> = 0.0, center_point_box: integer = 0",
     kOne},
    {"tract_core_pow_const", "input: tensor<scalar>, exponent: scalar", kOne},
    {"tract_core_clamped_swiglu",
     "gate: tensor<scalar>, up: tensor<scalar>, alpha: scalar, limit: scalar", kOne},
    {"select", "condition: tensor<logical>, true_value: tensor<?>, false_value: tensor<?>", kOne},
    {"clamp", "x: tensor<scalar>, a: tensor<scalar>, b: tensor<scalar>", kOne},
    {"reshape",
     "input: tensor<?>, shape: integer[], axis_start: integer = 0, "
     "axis_count: integer = -1",
     kOne},
    {"transpose squeeze unsqueeze", "input: tensor<?>, axes: integer[]", kOne},
    {"concat stack", "values: tensor<?>[], axis: integer", kOne},
    {"split", "value: tensor<?>, axis: integer, ratios: integer[]", "(values: tensor<?>[])"},
    {"unstack", "value: tensor<?>, axis: integer", "(values: tensor<?>[])"},
    {"slice",
     "input: tensor<?>, axes: integer[], begin: integer[], end: integer[], "
     "stride: integer[] = []",
     kOne},
    {"tile", "input: tensor<?>, repeats: integer[]", kOne},
    {"pad",
     "input: tensor<scalar>, padding: (integer,integer)[], border: string = 'constant', "
     "value: scalar = 0.0",
     kOne},
    {"gather", "input: tensor<?>, indices: tensor<integer>, axis: integer = 0", kOne},
    {"cast", "input: tensor<?>", kOne},
    {"matmul",
     "A: tensor<scalar>, B: tensor<scalar>, transposeA: logical = false, "
     "transposeB: logical = false",
     kOne},
    {"linear", "input: tensor<scalar>, filter: tensor<scalar>, bias: tensor<scalar> = 0.0", kOne},
    {"conv",
     "input: tensor<scalar>, filter: tensor<scalar>, bias: tensor<scalar> = 0.0, " X2IR_NNEF_WINDOW
     ", groups: integer = 1",
     kOne},
    {"deconv",
     "input: tensor<scalar>, filter: tensor<scalar>, bias: tensor<scalar> = 0.0, " X2IR_NNEF_WINDOW
     ", output_shape: integer[] = [], groups: integer = 1",
     kOne},
    {"separable_conv",
     "input: tensor<scalar>, plane_filter: tensor<scalar>, "
     "point_filter: tensor<scalar>, bias: tensor<scalar> = 0.0, " X2IR_NNEF_WINDOW
     ", groups: integer = 1",
     kOne},
    {"separable_deconv",
     "input: tensor<scalar>, plane_filter: tensor<scalar>, "
     "point_filter: tensor<scalar>, bias: tensor<scalar> = 0.0, " X2IR_NNEF_WINDOW
     ", output_shape: integer[] = [], groups: integer = 1",
     kOne},
    {"box",
     "input: tensor<scalar>, size: integer[], " X2IR_NNEF_WINDOW ", normalize: logical = false",
     kOne},
    {"debox",
     "input: tensor<scalar>, size: integer[], " X2IR_NNEF_WINDOW
     ", output_shape: integer[] = [], normalize: logical = false",
     kOne},
    {"argmax_pool max_pool avg_pool rms_pool",
     "input: tensor<scalar>, size: integer[], " X2IR_NNEF_WINDOW, kOne},
    {"max_pool_with_index", "input: tensor<scalar>, size: integer[], " X2IR_NNEF_WINDOW,
     "(output: tensor<scalar>, index: tensor<integer>)"},
    {"sample", "input: tensor<scalar>, index: tensor<integer>, size: integer[], " X2IR_NNEF_WINDOW,
     kOne},
    {"desample",
     "input: tensor<scalar>, index: tensor<integer>, size: integer[], " X2IR_NNEF_WINDOW
     ", output_shape: integer[] = []",
     kOne},
    {"nearest_downsample area_downsample nearest_upsample",
     "input: tensor<scalar>, factor: integer[]", kOne},
    {"multilinear_upsample",
     "input: tensor<scalar>, factor: integer[], "
     "method: string = 'symmetric', border: string = 'replicate'",
     kOne},
    {"sum_reduce", "input: tensor<scalar>, axes: integer[], normalize: logical = false", kOne},
    {"max_reduce min_reduce argmax_reduce argmin_reduce mean_reduce",
     "input: tensor<scalar>, axes: integer[]", kOne},
    {"any_reduce all_reduce", "input: tensor<logical>, axes: integer[]", kOne},
    {"moments", "input: tensor<scalar>, axes: integer[]",
     "(mean: tensor<scalar>, variance: tensor<scalar>)"},
    {"softabs", "x: tensor<scalar>, epsilon: scalar", kOne},
    {"softmax", "x: tensor<scalar>, axes: integer[] = [1]", kOne},
    {"elu", "x: tensor<scalar>, alpha: scalar = 1.0", kOne},
    {"selu", "x: tensor<scalar>, alpha: scalar = 1.67326319, lambda: scalar = 1.05070102", kOne},
    {"prelu", "x: tensor<scalar>, alpha: tensor<scalar>", kOne},
    {"leaky_relu", "x: tensor<scalar>, alpha: scalar", kOne},
    {"local_response_normalization",
     "input: tensor<scalar>, size: integer[], "
     "alpha: scalar = 1.0, beta: scalar = 0.5, bias: scalar = 1.0",
     kOne},
    {"local_mean_normalization", "input: tensor<scalar>, size: integer[]", kOne},
    {"local_variance_normalization local_contrast_normalization",
     "input: tensor<scalar>, size: integer[], bias: scalar = 0.0, epsilon: scalar = 0.0", kOne},
    {"l1_normalization l2_normalization",
     "input: tensor<scalar>, axes: integer[], "
     "bias: scalar = 0.0, epsilon: scalar = 0.0",
     kOne},
    {"batch_normalization",
     "input: tensor<scalar>, mean: tensor<scalar>, "
     "variance: tensor<scalar>, offset: tensor<scalar>, scale: tensor<scalar>, epsilon: scalar",
     kOne},
    {"min_max_linear_quantize",
     "x: tensor<scalar>, min: tensor<scalar>, max: tensor<scalar>, "
     "bits: integer, signed: logical, symmetric: logical",
     kOne},
    {"zero_point_linear_quantize",
     "x: tensor<scalar>, zero_point: tensor<integer>, "
     "scale: tensor<scalar>, bits: integer, signed: logical, symmetric: logical",
     kOne},
    {"linear_quantize",
     "x: tensor<scalar>, min: tensor<scalar>, max: tensor<scalar>, "
     "bits: integer",
     kOne},
    {"logarithmic_quantize", "x: tensor<scalar>, max: tensor<scalar>, bits: integer", kOne},
    {"copy_n", "x: tensor<?>, times: integer", "(y: tensor<?>[])"},
    {"add_n", "x: tensor<scalar>[]", kOne},
    {"update", "variable: tensor<?>, value: tensor<?>", kOne},
    {"tract_core_shape_of", "input: tensor<?>", kOne},
    {"tract_core_cast", "input: tensor<?>, to: string = ''", kOne},
    {"tract_core_einsum", "inputs: tensor<?>[], expr: string, acc: string, output: string = ''",
     kOne},
    {"tract_core_range", "start: tensor<?>, end: tensor<?>, step: tensor<?>", kOne},
    {"tract_core_broadcast", "input: tensor<?>, shape: integer[]", kOne},
    {"tract_core_gather",
     "input: tensor<?>, indices: tensor<integer>, axis: integer, "
     "datum_type: string = ''",
     kOne},
    {"tract_core_gather_elements", "input: tensor<?>, indices: tensor<integer>, axis: integer",
     kOne},
    {"tract_core_gather_nd", "input: tensor<?>, indices: tensor<integer>, batch_dims: integer = 0",
     kOne},
    {"tract_core_scatter_elements",
     "input: tensor<?>, indices: tensor<integer>, updates: tensor<?>, axis: integer", kOne},
    {"tract_core_scatter_nd", "input: tensor<?>, indices: tensor<integer>, updates: tensor<?>",
     kOne},
    {"tract_core_trilu", "input: tensor<?>, k: tensor<integer>, upper: logical", kOne},
    {"tract_core_topk", "input: tensor<?>, k: tensor<integer>, axis: integer, largest: logical",
     "(values: tensor<?>, indices: tensor<integer>)"},
    {"tract_core_product_reduce tract_core_argmax_reduce_last tract_core_argmin_reduce_last",
     "input: tensor<?>, axes: integer[]", kOne},
    {"tract_core_log_softmax", "x: tensor<scalar>, axes: integer[]", kOne},
    {"tract_core_softmax", "x: tensor<scalar>, axes: integer[], exp: string = ''", kOne},
    {"tract_core_one_hot",
     "input: tensor<?>, axis: integer, dim: integer, value_off: scalar = 0.0, "
     "value_on: scalar = 1.0",
     kOne},
    {"tract_core_downsample",
     "input: tensor<?>, axis: integer, stride: integer, modulo: integer = 0", kOne},
    {"tract_core_dyn_slice",
     "input: tensor<?>, start: integer, end: integer, len: integer, axis: integer", kOne},
    {"tract_core_grid_sample tract_onnx_grid_sample",
     "input: tensor<scalar>, grid: tensor<scalar>, mode: string = 'bilinear', "
     "padding_mode: string = 'zeros', align_corners: logical = false",
     kOne},
    {"tract_core_lstm_epilogue", "preact: tensor<scalar>, c_prev: tensor<scalar>, hidden: integer",
     "(ht: tensor<scalar>, ct: tensor<scalar>)"},
    {"tract_core_gru_epilogue",
     "xh: tensor<scalar>, rh: tensor<scalar>, h_prev: tensor<scalar>, hidden: integer", kOne},
    {"tract_core_gru_seq",
     "x: tensor<scalar>, w: tensor<scalar>, r: tensor<scalar>, b: tensor<scalar> = 0.0, "
     "initial_h: tensor<scalar>, hidden: integer, chunk: integer, has_bias: integer = 0, "
     "reset_every_turn: integer = 0, emit_y: integer = 1",
     "(y: tensor<scalar>, y_h: tensor<scalar>)"},
    {"tract_transformers_apply_rope",
     "input: tensor<scalar>, cos: tensor<scalar>, sin: tensor<scalar>", kOne},
    {"tract_core_rms_norm tract_transformers_rms_norm",
     "input: tensor<scalar>, axis: integer, eps: tensor<scalar> = 1e-6", kOne},
    {"tract_core_resize",
     "input: tensor<scalar>, scales: tensor<scalar> = [], "
     "sizes: tensor<scalar> = [], coord_transformer: string = 'half_pixel', "
     "interpolator: string = 'nearest', nearest_mode: string = 'floor'",
     kOne},
    {"tract_transformers_scaled_masked_softmax",
     "input: tensor<scalar>, mask: tensor<?>, "
     "scale: scalar, post_softmax_mask: logical = false",
     kOne},
    {"tract_transformers_sdpa",
     "q: tensor<scalar>, k: tensor<scalar>, v: tensor<scalar>, "
     "mask: tensor<?> = 0.0, scale: scalar = 0.0, datum_type: string, acc_datum_type: string, "
     "is_causal: logical = false",
     kOne},
    {"x2ir.element", "input: tensor<?>, index: integer", kOne},
    // A variable of integers that graph.quant names. Its operand has the name that the quantization
    // gives it when it is read.
    {"x2ir.dequantize",
     "x: tensor<?>, zero_point: tensor<integer> = 0, scale: tensor<scalar> = 1.0, "
     "min: tensor<scalar> = 0.0, max: tensor<scalar> = 0.0, quantize: string",
     kOne},
};
#undef X2IR_NNEF_WINDOW

struct Refusal {
  std::string_view names, why;
};
constexpr Refusal kRefusals[] = {
    {"avg_roi_pool max_roi_pool roi_resample avg_roi_align max_roi_align",
     "no public text says what the coordinates of regions mean"},
    {"tract_core_load tract_core_store tract_core_delay tract_pulse_delay tract_pulse_mask "
     "tract_pulse_pulse_pad tract_extra_exp_unit_norm tract_extra_exp_mean_norm "
     "tract_transformers_dyn_kv_cache tract_transformers_quantized_dyn_kv_cache "
     "tract_transformers_gpt_oss_sdpa tract_transformers_gdn_recurrent "
     "tract_transformers_causal_conv1d_update",
     "it keeps a state between runs"},
    {"tract_core_qconv tract_core_qmatmul tract_core_einsum_q",
     "its result is of a type of tract's, integers with a scale, which all that uses it heeds"},
    {"tract_core_matmul", "an older form of tract_core_einsum, whose axes have no written meaning"},
    {"tract_core_complex_to_inner_dim tract_core_inner_dim_to_complex", "complex numbers"},
    {"tract_core_vptq_gemm tract_core_lir_matmul_unary", "weights in a packing of tract's"},
    {"tract_core_force_eval tract_core_scaled_rms_norm tract_onnx_resize tract_onnx_non_zero",
     "it is not mapped"},
    {"tract_onnx_random tract_onnx_multinomial", "random numbers"},
    {"tract_onnx_ml_category_mapper_to_int tract_onnx_ml_direct_lookup "
     "tract_onnx_ml_linear_classifier tract_onnx_ml_linear_regressor tract_onnx_ml_normalizer "
     "tract_onnx_ml_tree_ensemble_classifier",
     "it is not of a neural network"},
    {"tract_resource_get", "a value of a file of settings beside the model"},
};

// Calls `fn` with each of the names that are apart by spaces.
template <typename Fn>
void ForEachName(std::string_view names, const Fn& fn) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    fn(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

StringMap<Fragment> MakeOperators() {
  StringMap<Fragment> all;
  for (const Group& group : kGroups) {
    ForEachName(group.names, [&](std::string_view name) {
      // Names of our own have a dot, which a text cannot have.
      auto parsed =
          ParseFragments(StrCat("fragment op(", group.params, ") -> ", group.results, ";"));
      if (!parsed.ok()) return;
      (*parsed)[0].name = std::string(name);
      all[(*parsed)[0].name] = std::move((*parsed)[0]);
    });
  }
  return all;
}

const StringMap<Fragment>& DeclaredOperators() {
  static const auto& all = *new StringMap<Fragment>(MakeOperators());
  return all;
}

}  // namespace

const Fragment* FindOperator(std::string_view name) {
  const auto it = DeclaredOperators().find(name);
  return it == DeclaredOperators().end() ? nullptr : &it->second;
}
std::string_view RefusalOf(std::string_view name) {
  std::string_view why;
  for (const Refusal& refusal : kRefusals) {
    ForEachName(refusal.names, [&](std::string_view of) {
      if (of == name) why = refusal.why;
    });
  }
  return why;
}
std::vector<std::string> TractOperators() {
  std::vector<std::string> names;
  for (const auto& [name, fragment] : DeclaredOperators()) {
    if (IsTracts(name)) names.push_back(name);
  }
  for (const Refusal& refusal : kRefusals) {
    ForEachName(refusal.names, [&](std::string_view name) {
      if (IsTracts(name)) names.emplace_back(name);
    });
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsTracts(std::string_view name) { return name.starts_with("tract_"); }
std::string_view RegistryOf(std::string_view name) {
  for (const std::string_view registry :
       {"tract_onnx", "tract_pulse", "tract_resource", "tract_transformers", "tract_extra"}) {
    if (name.starts_with(registry)) return registry;
  }
  return "tract_core";
}

}  // namespace nnef
}  // namespace x2ir
