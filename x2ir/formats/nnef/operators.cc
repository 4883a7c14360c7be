#include "x2ir/formats/nnef/operators.h"

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
     "round sqr sqrt rsqr rsqrt log2 relu sigmoid tanh softplus silu",
     "x: tensor<scalar>", kOne},
    {"not", "x: tensor<logical>", kOne},
    {"copy", "x: tensor<?>", kOne},
    {"tract_core_erf tract_core_round_even tract_core_cbrt tract_core_cot tract_core_silu "
     "tract_core_hard_swish tract_core_isinf tract_core_is_nan tract_core_square "
     "tract_core_gelu_approximate",
     "x: tensor<?>", kOne},
    {"add sub mul div pow lt gt le ge eq ne min max", "x: tensor<scalar>, y: tensor<scalar>", kOne},
    {"and or", "x: tensor<logical>, y: tensor<logical>", kOne},
    {"tract_core_xor tract_core_bitand tract_core_bitor tract_core_bitxor",
     "a: tensor<?>, b: tensor<?>", kOne},
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
    {"avg_roi_pool max_roi_pool",
     "input: tensor<scalar>, rois: tensor<scalar>, "
     "batch_index: tensor<integer>, output_size: integer[]",
     kOne},
    {"roi_resample",
     "input: tensor<scalar>, rois: tensor<scalar>, "
     "batch_index: tensor<integer>, output_size: integer[], method: string = 'symmetric'",
     kOne},
    {"avg_roi_align max_roi_align",
     "input: tensor<scalar>, rois: tensor<scalar>, "
     "batch_index: tensor<integer>, output_size: integer[], sampling_rate: integer[], "
     "resize_method: string = 'symmetric'",
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
    {"tract_core_product_reduce", "input: tensor<?>, axes: integer[]", kOne},
    {"tract_core_log_softmax", "x: tensor<scalar>, axes: integer[]", kOne},
    {"tract_core_rms_norm", "input: tensor<scalar>, axis: integer, eps: tensor<scalar> = 1e-6",
     kOne},
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
    {"x2ir.dequantize", "input: tensor<?>, quantize: string", kOne},
};
#undef X2IR_NNEF_WINDOW

StringMap<Fragment> MakeOperators() {
  StringMap<Fragment> all;
  for (const Group& group : kGroups) {
    std::string_view names = group.names;
    while (!names.empty()) {
      const size_t end = std::min(names.find(' '), names.size());
      // Names of our own have a dot, which a text cannot have.
      auto parsed =
          ParseFragments(StrCat("fragment op(", group.params, ") -> ", group.results, ";"));
      if (parsed.ok()) {
        (*parsed)[0].name = std::string(names.substr(0, end));
        all[(*parsed)[0].name] = std::move((*parsed)[0]);
      }
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return all;
}

}  // namespace

const Fragment* FindOperator(std::string_view name) {
  static const auto& all = *new StringMap<Fragment>(MakeOperators());
  const auto it = all.find(name);
  return it == all.end() ? nullptr : &it->second;
}

bool IsTracts(std::string_view name) { return name.starts_with("tract_"); }

}  // namespace nnef
}  // namespace x2ir
