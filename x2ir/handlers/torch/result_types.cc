// The rules of PyTorch for the element types of results, as a table, and what reads it.
//
// A rule has an expression for each result, with spaces between them; the last one is for all
// further results too. Results that the schema has as numbers need none, but have a place.
//
//   self           the element type of the argument: a tensor, tensors, a number, or a dtype
//   *              that of all arguments
//   int64          that type
//   a+b            what both are promoted to: tensors with dims before those of rank 0 before
//                  numbers. Arguments that are not given do not count.
//   a|b            the first of which something is given
//   flag?a         a where `flag` is given, and is not False; else as if not given
//   function(a)    see kMaps; same(a): where all are of one type; flat(a): without regard to ranks
#include "x2ir/handlers/torch/result_types.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "x2ir/formats/torch/enums.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

struct ResultRule {
  std::string_view results;
  std::string_view ops;  // of aten where no namespace is said; all overloads where none is said
};

// One entry an operator. Those of older versions are here, too.
constexpr ResultRule kResultRules[] = {
    // --- Comparisons and logic ----------------------------------------------------------
    {"bool",
     "eq ne lt le gt ge greater greater_equal less less_equal not_equal isclose isin isfinite "
     "isinf isnan isneginf isposinf isreal signbit logical_and logical_not logical_or logical_xor "
     "_is_all_true _is_any_true"},
    {"truth(self)", "all any"},

    // --- Elementwise --------------------------------------------------------------------
    {"self+other",
     "add sub subtract rsub mul multiply floor_divide fmod remainder maximum minimum max.other "
     "min.other fmax fmin gcd lcm hypot nextafter logaddexp logaddexp2 bitwise_and "
     "bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift __and__ __or__ __xor__ "
     "__lshift__ __rshift__ _add_relu where linalg_cross cross"},
    {"int64", "where.default"},
    {"float(self+other)",
     "div.Tensor div.Scalar divide.Tensor divide.Scalar true_divide atan2 arctan2 copysign xlogy "
     "special_xlogy special_xlog1py special_zeta igamma igammac special_gammainc "
     "special_gammaincc"},
    {"rounding_mode?self+other|float(self+other)",
     "div.Tensor_mode div.Scalar_mode divide.Tensor_mode divide.Scalar_mode"},
    {"float(self+float(other))", "ldexp"},
    {"float(self+spacing)", "gradient"},
    {"mat", "addmv"},
    {"float(x+n)",
     "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
     "special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he "
     "special_laguerre_polynomial_l special_legendre_polynomial_p "
     "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
     "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w"},
    {"self+other", "inner"},
    {"self+exponent", "pow"},
    {"counted(self)", "square"},
    {"wide(self+exponent)", "float_power"},
    {"self+min+max", "clamp clip clamp_min clamp_max"},
    {"self+tensor1+tensor2", "addcmul"},
    {"float(self+tensor1+tensor2)", "addcdiv"},
    {"flat(self+vec1+vec2)", "addr"},
    {"flat(self+other)", "kron"},
    {"self+vec2", "outer ger"},
    {"float(self)",
     "acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh "
     "deg2rad digamma erf erfc erfinv exp exp2 expm1 i0 lgamma log log10 log1p log2 logit mvlgamma "
     "polygamma rad2deg reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh special_bessel_j0 "
     "special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma special_entr "
     "special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit "
     "special_expm1 special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p "
     "special_log_ndtr special_logit special_modified_bessel_i0 special_modified_bessel_i1 "
     "special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln special_ndtr "
     "special_ndtri special_polygamma special_psi special_sinc logsumexp special_logsumexp "
     "corrcoef "},
    {"float(x)",
     "special_airy_ai special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
     "special_spherical_bessel_j0"},
    {"real(self)", "abs absolute real imag view_as_real view_as_real_copy"},
    {"real(float(self))", "angle"},
    {"complex(self)", "view_as_complex view_as_complex_copy"},
    {"complex(real+imag)", "complex"},
    {"complex(abs+angle)", "polar"},
    {"self int32", "frexp"},
    {"self+end", "lerp"},

    // --- Of the operand's own type ------------------------------------------------------
    {"self",
     // Elementwise.
     "bitwise_not ceil floor trunc fix round special_round frac neg negative positive sign sgn "
     "relu relu6 conj _conj _conj_copy _conj_physical conj_physical resolve_conj "
     "resolve_neg _neg_view _neg_view_copy celu elu gelu rrelu_with_noise hardshrink hardsigmoid "
     "hardswish hardtanh "
     "leaky_relu log_sigmoid mish nan_to_num prelu _prelu_kernel rrelu selu silu softplus "
     "softshrink threshold glu renorm embedding_renorm heaviside fill fill_diagonal zero "
     // Views and copies.
     "adjoint alias alias_copy as_strided as_strided_copy broadcast_to channel_shuffle "
     "native_channel_shuffle chunk clone contiguous copy cpu cuda data detach detach_copy diag "
     "diag_embed diag_embed_copy diagflat diagonal diagonal_copy dsplit expand expand_as "
     "expand_copy flatten flip fliplr flipud hsplit lift lift_fresh lift_fresh_copy "
     "mH mT matrix_H moveaxis movedim narrow narrow_copy numpy_T permute permute_copy pin_memory "
     "_pin_memory pixel_shuffle pixel_unshuffle ravel repeat repeat_interleave reshape reshape_as "
     "_reshape_alias _reshape_alias_copy _reshape_copy _reshape_from_tensor resize resize_as roll "
     "rot90 select select_copy set slice slice_copy slice_inverse split split_copy "
     "split_with_sizes split_with_sizes_copy squeeze squeeze_copy swapaxes swapdims t t_copy "
     "tensor_split tile transpose transpose_copy tril triu unbind unbind_copy unflatten unfold "
     "unfold_copy unsafe_chunk unsafe_split unsafe_split_with_sizes _unsafe_view unsqueeze "
     "unsqueeze_copy view_as vsplit atleast_1d atleast_2d atleast_3d constant_pad_nd pad "
     "_pad_circular _pad_enum reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
     "replication_pad2d replication_pad3d im2col col2im combinations values values_copy _values "
     "_values_copy coalesce _coalesce to_sparse to_padded_tensor nested_to_padded_tensor "
     "fft_fftshift fft_ifftshift "
     // Indexing.
     "gather index index_add index_copy index_fill index_put _index_put_impl index_reduce "
     "index_select masked_fill masked_scatter masked_select put scatter scatter_add scatter_reduce "
     "as_strided_scatter diagonal_scatter select_scatter slice_scatter take take_along_dim "
     "_unsafe_index _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate "
     // Reductions, and along an axis.
     "amax amin aminmax _aminmax max min median nanmedian quantile nanquantile logcumsumexp "
     "_logcumsumexp msort histc _masked_softmax "
     // Windows and sizes.
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
     "_adaptive_avg_pool3d mkldnn_adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d max_pool1d "
     "max_pool2d max_pool3d mkldnn_max_pool2d mkldnn_max_pool3d quantized_max_pool1d "
     "quantized_max_pool2d quantized_max_pool3d max_unpool2d max_unpool3d _conv_depthwise2d "
     "conv_depthwise3d conv_tbc cudnn_convolution cudnn_convolution_relu "
     "cudnn_convolution_add_relu cudnn_convolution_transpose mkldnn_convolution "
     "miopen_convolution miopen_convolution_relu miopen_convolution_add_relu "
     "_mps_convolution miopen_convolution_transpose miopen_depthwise_convolution thnn_conv2d "
     "slow_conv3d "
     "slow_conv3d_forward _slow_conv2d_forward slow_conv_dilated2d slow_conv_dilated3d "
     "slow_conv_transpose2d slow_conv_transpose3d mkldnn_linear "
     // Products; operands have one type.
     "addbmm addmm baddbmm bmm dot linalg_matmul linalg_matrix_power "
     "matmul matrix_power mm mv tensordot vdot _addmm_activation _weight_int8pack_mm "
     "_weight_int4pack_mm _weight_int4pack_mm_for_cpu _weight_int4pack_mm_with_scales_and_zeros "
     "smm _sparse_addmm sspaddmm sparse_sampled_addmm "
     // Linear algebra.
     "cholesky cholesky_inverse cholesky_solve det geqrf inverse linalg_cholesky "
     "linalg_matrix_exp linalg_matrix_sqrth linalg_pinv "
     "linalg_solve_triangular linalg_tensorinv linalg_tensorsolve logdet lu_solve matrix_exp orgqr "
     "ormqr pinverse triangular_solve "
     // Losses.
     "binary_cross_entropy huber_loss soft_margin_loss hinge_embedding_loss multi_margin_loss "
     "multilabel_margin_loss "
     "multilabel_margin_loss_forward nll_loss nll_loss2d nll_loss2d_forward nll_loss_forward "
     "nll_loss_nd pdist _pdist_forward "
     // Random numbers.
     "bernoulli cauchy exponential geometric log_normal normal_functional poisson random uniform "
     "_standard_gamma _sample_dirichlet "
     // Quantization.
     "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine "
     "_fake_quantize_learnable_per_channel_affine _fake_quantize_learnable_per_tensor_affine "
     "fused_moving_avg_obs_fake_quant "
     // The rest.
     "max_pool2d_with_indices_backward log_sigmoid_forward _masked_scale _philox_normal "
     "_philox_uniform _fw_primal _fw_primal_copy "
     "_lazy_clone _add_batch_dim _remove_batch_dim copy_sparse_to_sparse _copy_from _foobar"},
    {"input",
     "_convolution _convolution_mode conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
     "conv_transpose3d convolution convolution_overrideable "
     "_nnpack_spatial_convolution linear batch_norm instance_norm layer_norm group_norm rms_norm "
     "native_layer_norm native_group_norm dropout alpha_dropout feature_dropout "
     "feature_alpha_dropout grid_sampler grid_sampler_2d grid_sampler_3d "
     "_grid_sampler_2d_cpu_fallback gru rnn_relu rnn_tanh lstm gru_cell rnn_relu_cell "
     "rnn_tanh_cell lstm_cell linalg_householder_product batch_norm_elemt __interpolate "
     "__upsample __upsample_bilinear __upsample_nearest _compute_linear_combination _cudnn_rnn "
     "miopen_rnn mkldnn_rnn_layer _lstm_mps "
     "torchvision::deform_conv2d torchvision::roi_align transformers::grouped_mm_fallback "
     "torch_nn::_linear_cross_entropy_batch_chunked "
     "torch_nn::_linear_cross_entropy_batch_chunked_no_reduction"},
    {"arg0",
     "torch._functorch.predispatch::_add_batch_dim "
     "torch._functorch.predispatch::_remove_batch_dim"},
    {"data", "gru.data rnn_relu.data rnn_tanh.data lstm.data segment_reduce"},
    {"data int64", "_pad_packed_sequence"},
    {"input int64", "_pack_padded_sequence"},
    {"self|input",
     "upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d "
     "upsample_nearest2d upsample_nearest3d upsample_trilinear3d _upsample_bicubic2d_aa "
     "_upsample_bilinear2d_aa _upsample_lanczos2d_aa _upsample_nearest_exact1d "
     "_upsample_nearest_exact2d _upsample_nearest_exact3d "},
    {"theta", "affine_grid_generator cudnn_affine_grid_generator"},
    {"input1", "bilinear"},
    {"i1+i2+i3", "_trilinear"},
    {"weight", "embedding"},
    {"A", "linalg_det linalg_inv linalg_lu linalg_polar linalg_qr linalg_solve linalg_diagonal"},
    {"src", "_transformer_encoder_layer_fwd"},

    // --- Lists of tensors ---------------------------------------------------------------
    {"tensors",
     "cat concat concatenate stack _stack block_diag "
     "cartesian_prod einsum linalg_multi_dot _chunk_cat "},
    // Those of rank 0 get dims first.
    {"flat(tensors)", "hstack vstack dstack column_stack row_stack flatten_dense_tensors"},
    {"matrices", "chain_matmul"},
    {"same(tensors)",
     "broadcast_tensors meshgrid atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence "
     "_to_cpu"},
    {"same(sequences)", "pad_sequence"},
    {"flat", "unflatten_dense_tensors"},

    // --- Casts and factories ------------------------------------------------------------
    {"other|dtype|self", "to"},
    {"other", "type_as"},
    {"uint8", "_cast_Byte"},
    {"int8", "_cast_Char"},
    {"float64", "_cast_Double"},
    {"float32", "_cast_Float"},
    {"float16", "_cast_Half"},
    {"int32", "_cast_Int"},
    {"int64", "_cast_Long"},
    {"int16", "_cast_Short"},
    {"dtype|self",
     "_to_copy to_dense _to_dense to_mkldnn view view_copy empty_like full_like ones_like "
     "rand_like randint_like randn_like zeros_like new_empty new_empty_strided new_full new_ones "
     "new_zeros"},
    {"dtype|float32",
     "empty empty_permuted empty_strided eye ones rand randn zeros _efficientzerotensor "
     "_make_dep_token bartlett_window blackman_window hamming_window hann_window kaiser_window "
     "fft_fftfreq fft_rfftfreq range from_file normal.float_float"},
    {"dtype|start(start+end)", "linspace logspace"},
    {"dtype|sum(start+end+step)", "arange"},
    {"dtype|fill_value", "full"},
    {"dtype|float32", "scalar_tensor"},
    {"dtype|data|t", "tensor as_tensor"},
    {"dtype|int64", "randint randperm tril_indices triu_indices"},
    {"mean", "normal.Tensor_Tensor normal.Tensor_float"},
    {"std", "normal.float_Tensor"},
    {"count", "binomial"},
    {"other", "_new_zeros_with_same_feature_meta"},
    {"dep_token",
     "_functional_assert_async _functional_assert_scalar _functional_sym_constrain_range "
     "_functional_sym_constrain_range_for_size"},

    // --- Reductions, and along an axis --------------------------------------------------
    {"dtype|sum(self)", "sum nansum prod cumsum cumprod"},
    {"sum(self)", "trace sum_to_size _grad_sum_to_size"},
    {"dtype|float(self)",
     "mean nanmean softmax log_softmax special_softmax special_log_softmax _safe_softmax"},
    {"half_to_float?float32|self", "_softmax _log_softmax"},
    {"real(dtype|float(self))",
     "norm linalg_norm linalg_vector_norm linalg_matrix_norm linalg__powsum native_norm "
     "frobenius_norm nuclear_norm std var"},
    {"real(self) self", "std_mean var_mean"},
    {"real(float(self+other))", "dist"},
    {"self int64",
     "cummax cummin kthvalue max.dim median.dim min.dim mode nanmedian.dim sort topk _unique "
     "_unique2 unique_consecutive unique_dim unique_dim_consecutive adaptive_max_pool1d "
     "adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d "
     "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices"},
    {"int64",
     "argmax argmin argsort argwhere count_nonzero linalg_matrix_rank multinomial nonzero "
     "nonzero_numpy nonzero_static one_hot _shape_as_tensor _dim_arange "
     "torchvision::nms"},
    {"repeats", "repeat_interleave.Tensor"},
    {"out_int32?int32|int64",
     "bucketize searchsorted _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo"},
    {"weights?bins(weights)|int64", "bincount"},
    {"self uint8", "_fused_dropout"},
    {"grad_output", "_softmax_backward_data _log_softmax_backward_data"},
    {"float(grad_output)", "native_dropout_backward"},
    {"self", "histogram histogramdd _histogramdd_bin_edges _histogramdd_from_bin_cts"},
    {"uint64", "hash_tensor"},
    {"self+prepend+append", "diff"},
    {"float(y+x+dx)", "trapezoid trapz cumulative_trapezoid"},
    {"float(self+aweights)", "cov"},
    {"sum(x)", "vander linalg_vander"},

    // --- Transforms ---------------------------------------------------------------------
    {"complex(self)",
     "fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn "
     "fft_rfft fft_rfft2 fft_rfftn _fft_c2c _fft_r2c"},
    {"real(float(self))", "fft_hfft fft_hfft2 fft_hfftn fft_irfft fft_irfft2 fft_irfftn _fft_c2r"},
    {"return_complex?complex(self)|self", "stft"},
    {"return_complex?complex(self)|real(self)", "istft"},

    // --- Linear algebra -----------------------------------------------------------------
    {"A real(A)", "linalg_slogdet"},
    {"self real(self)", "slogdet"},
    {"A real(A) A", "_linalg_svd linalg_svd"},
    {"self real(self) self", "svd"},
    {"real(A)", "linalg_svdvals"},
    {"real(self)", "linalg_cond linalg_eigvalsh"},
    {"real(A) A", "_linalg_eigh"},
    {"real(self) self", "linalg_eigh symeig"},
    {"self self", "qr"},
    {"complex(self)", "linalg_eig linalg_eigvals _linalg_eigvals"},
    {"A A int32", "_linalg_det"},
    {"A real(A) A int32", "_linalg_slogdet"},
    {"A A int32 int32", "_linalg_solve_ex"},
    {"A int32", "linalg_inv_ex linalg_lu_factor linalg_lu_factor_ex linalg_solve_ex"},
    {"self int32", "linalg_cholesky_ex linalg_ldl_factor linalg_ldl_factor_ex _lu_with_info"},
    {"B", "linalg_ldl_solve linalg_lu_solve"},
    {"LU_data", "lu_unpack"},
    {"self real(self) int64 real(self)", "linalg_lstsq"},
    {"x+y", "linalg_vecdot"},
    {"float(x1+x2)", "cosine_similarity"},
    {"real(float(x1+x2))", "pairwise_distance"},
    {"x1", "cdist _cdist_forward _euclidean_dist"},
    {"int32", "_int_mm _list_to_tensor"},
    {"out_dtype", "addmm.dtype baddbmm.dtype bmm.dtype mm.dtype"},
    {"out_dtype|self", "_scaled_mm _scaled_mm_v2 _grouped_mm"},
    {"out_dtype|bfloat16", "_scaled_grouped_mm _scaled_grouped_mm_v2"},

    // --- Losses -------------------------------------------------------------------------
    {"self+target", "mse_loss smooth_l1_loss kl_div cross_entropy_loss"},
    {"real(self+target)", "l1_loss"},
    {"self+target+weight+pos_weight", "binary_cross_entropy_with_logits"},
    {"float(input+target)", "poisson_nll_loss"},
    {"input1+input2+target", "margin_ranking_loss"},
    {"float(input1+input2)", "cosine_embedding_loss"},
    {"real(float(anchor+positive+negative))", "triplet_margin_loss"},
    {"log_probs", "ctc_loss _ctc_loss _cudnn_ctc_loss"},

    // --- Layers -------------------------------------------------------------------------
    // Statistics of halves whose parameters are float32 are float32.
    {"input weight|bias|running_mean|input weight|bias|running_mean|input uint8 int64",
     "_batch_norm_impl_index"},
    {"input weight|bias|running_mean|input weight|bias|running_mean|input uint8",
     "_batch_norm_no_update _batch_norm_with_update cudnn_batch_norm"},
    {"input weight|bias|running_mean|input weight|bias|running_mean|input uint8 running_mean "
     "running_var",
     "_batch_norm_with_update_functional"},
    {"input weight|bias|running_mean|input",
     "_native_batch_norm_legit _native_batch_norm_legit_no_training native_batch_norm "
     "miopen_batch_norm"},
    {"input weight|bias|running_mean|input weight|bias|running_mean|input running_mean "
     "running_var",
     "_native_batch_norm_legit_functional"},
    {"input sums(input)", "_fused_rms_norm"},
    {"sums(input)", "batch_norm_stats"},
    {"input bool", "native_dropout"},
    {"self noise", "rrelu_with_noise_functional"},
    {"v sums(g)", "_weight_norm_interface"},
    {"v+g", "_weight_norm"},
    {"real(v)", "norm_except_dim"},
    {"weight indices+offsets", "embedding_bag _embedding_bag _embedding_bag_forward_only"},
    {"query",
     "scaled_dot_product_attention "
     "_scaled_dot_product_attention_math _scaled_dot_product_attention_math_for_mps "
     "_native_multi_head_attention _triton_multi_head_attention"},
    {"query query", "_scaled_dot_product_attention _scaled_dot_product_attention_forward"},
    {"query sums(query)", "_scaled_dot_product_flash_attention_for_cpu"},
    {"query float32 int64", "_scaled_dot_product_efficient_attention _efficient_attention_forward"},
    {"query float32 uint64 uint64 query", "_flash_attention_forward"},
    {"query float32 int32 int32 int64 int64 uint64 uint64 query",
     "_scaled_dot_product_flash_attention"},
    {"query float32 int32 int32 int64 int64 int64 int64 query",
     "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable "
     "_cudnn_attention_forward"},

    // --- Quantization -------------------------------------------------------------------
    {"self bool",
     "fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine_cachemask "
     "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams _fused_moving_avg_obs_fq_helper"},
    {"self bool running_min running_max scale zero_point",
     "_fused_moving_avg_obs_fq_helper_functional"},
    {"dtype",
     "quantized_decomposed::quantize_per_tensor quantized_decomposed::quantize_per_channel "
     "quantized_decomposed::quantize_per_channel_group quantized_decomposed::quantize_per_token "
     "quantized_decomposed::convert_element_type"},
    {"out_dtype|output_dtype|float32",
     "quantized_decomposed::dequantize_per_tensor quantized_decomposed::dequantize_per_channel "
     "quantized_decomposed::dequantize_per_channel_group "
     "quantized_decomposed::dequantize_per_token"},
    {"float64 int64",
     "quantized_decomposed::choose_qparams quantized_decomposed::choose_qparams_symmetric "
     "quantized_decomposed::choose_qparams_per_token "
     "quantized_decomposed::choose_qparams_per_token_asymmetric "
     "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl"},
    {"input", "quantized_decomposed::fake_quant_per_channel"},
    {"scale_dtype|input zero_point_dtype|int32", "torchao::choose_qparams_affine"},
    {"output_dtype", "torchao::quantize_affine"},
    {"output_dtype|float32", "torchao::dequantize_affine"},

    // Tensors of quantized types, and complex numbers of halves.
    {"none(self)",
     "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm "
     "quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_rnn_relu_cell "
     "quantized_rnn_tanh_cell int_repr chalf _make_per_channel_quantized_tensor "
     "_make_per_tensor_quantized_tensor"},
    {"float32", "dequantize"},
    {"float64 int64", "_choose_qparams_per_tensor"},

    // --- Detection ----------------------------------------------------------------------
    {"input int32", "torchvision::roi_pool torchvision::ps_roi_align torchvision::ps_roi_pool"},

    // --- Numbers ------------------------------------------------------------------------
    {"number(self)", "item _local_scalar_dense"},
    {"number(a)", "ScalarImplicit"},
    {"number(*)",
     "_operator::add _operator::sub _operator::mul _operator::mod _operator::floordiv "
     "_operator::pow _operator::neg _operator::pos _operator::and_ _operator::or_ torch::sym_max "
     "torch::sym_min"},
    {"number(t+f|arg1+arg2|b+c)", "torch::sym_ite"},
    {"float64", "_operator::truediv torch::sym_float torch::sym_sqrt torch::_sym_sqrt math::sqrt"},
    {"int64", "result_type torch::sym_int math::ceil math::floor math::trunc"},
    {"bool",
     "_operator::eq _operator::ne _operator::lt _operator::le _operator::gt _operator::ge "
     "_operator::not_ torch::sym_not"},
};

// Operators that write to their first operand give it.
constexpr std::string_view kOfWriters = "self|input";
// What there is to say of operators that the table does not have.
constexpr std::string_view kOfOthers = "self+other+input+tensors";

// --- Functions of types ---------------------------------------------------------------------

bool IsIntOrBool(DType t) { return t == DType::kBool || IsInteger(t); }

constexpr DType kFloatByDefault = DType::kFloat32, kComplexByDefault = DType::kComplex64;

DType RealOf(DType t) {
  if (t == DType::kComplex64) return DType::kFloat32;
  return t == DType::kComplex128 ? DType::kFloat64 : t;
}
DType ComplexTypeOf(DType t) {
  if (IsComplex(t)) return t;
  if (IsIntOrBool(t) || t == DType::kFloat32) return kComplexByDefault;
  return t == DType::kFloat64 ? DType::kComplex128 : DType::kUndefined;
}

struct TypeMap {
  std::string_view name;
  DType (*map)(DType);
};
constexpr TypeMap kMaps[] = {
    {"float", [](DType t) { return IsIntOrBool(t) ? kFloatByDefault : t; }},
    {"sum", [](DType t) { return IsIntOrBool(t) ? DType::kInt64 : t; }},
    // What sums of such elements are computed in.
    {"sums",
     [](DType t) { return t == DType::kFloat16 || t == DType::kBFloat16 ? DType::kFloat32 : t; }},
    {"counted", [](DType t) { return t == DType::kBool ? DType::kInt64 : t; }},
    {"real", RealOf},
    {"complex", ComplexTypeOf},
    {"wide", [](DType t) { return IsComplex(t) ? DType::kComplex128 : DType::kFloat64; }},
    {"start", [](DType t) { return IsComplex(t) ? kComplexByDefault : kFloatByDefault; }},
    {"truth", [](DType t) { return t == DType::kUInt8 ? t : DType::kBool; }},
    {"bins", [](DType t) { return t == DType::kFloat32 ? t : DType::kFloat64; }},
    {"none", [](DType) { return DType::kUndefined; }},
    // A Python number.
    {"number",
     [](DType t) {
       if (t == DType::kBool) return t;
       if (IsInteger(t)) return DType::kInt64;
       return IsComplex(t) ? DType::kComplex128 : DType::kFloat64;
     }},
};

// --- Expressions ----------------------------------------------------------------------------

// The types that arguments have, by their categories; undefined where there are none of it.
struct OperandTypes {
  DType with_dims = DType::kUndefined, rank0 = with_dims, numbers = with_dims;
  bool unknown = false;  // of one of them the type is not known, or there is no promotion
  bool mixed = false;    // there are different ones

  bool empty() const {
    return !unknown && with_dims == DType::kUndefined && rank0 == with_dims && numbers == with_dims;
  }
  DType Promoted() const {
    return unknown ? DType::kUndefined : TorchResultType(with_dims, rank0, numbers);
  }
  void Add(DType OperandTypes::*category, DType t) {
    if (t == DType::kUndefined) {
      unknown = true;
      return;
    }
    mixed = mixed || (!empty() && Promoted() != t);
    DType& to = this->*category;
    to = to == DType::kUndefined ? t : TorchPromote(to, t);
    if (to == DType::kUndefined) unknown = true;
  }
  void Add(const OperandTypes& other) {
    for (const auto category :
         {&OperandTypes::with_dims, &OperandTypes::rank0, &OperandTypes::numbers}) {
      if (other.*category != DType::kUndefined) Add(category, other.*category);
    }
    unknown = unknown || other.unknown;
    mixed = mixed || other.mixed;
  }
};

class ResultTyper {
 public:
  explicit ResultTyper(const Node& node) : node_(node) {
    const Attribute* names = node.attrs().Find("operands");
    const auto* strings = names ? names->get<Attribute::Strings>() : nullptr;
    for (size_t i = 0; strings && i < std::min(strings->size(), node.num_inputs()); ++i) {
      operands_.push_back(ParseTorchOperandName((*strings)[i]));
      const Value* value = node.input(i);
      if (operands_.back().number || !value || value->shape()) continue;
      if (std::find(ranks_unknown_.begin(), ranks_unknown_.end(), value->dtype()) ==
          ranks_unknown_.end()) {
        ranks_unknown_.push_back(value->dtype());
      }
    }
  }

  // Where ranks are not known it must be the same whatever they are.
  DType TypeOf(std::string_view expression) {
    constexpr size_t kMostTypes = 6;
    if (ranks_unknown_.size() > kMostTypes) return DType::kUndefined;
    DType result = DType::kUndefined;
    for (size_t ranks = 0; ranks < size_t{1} << ranks_unknown_.size(); ++ranks) {
      rank0_ = ranks;
      rest_ = expression;
      const DType t = Alternatives().Promoted();
      if (ranks > 0 && t != result) return DType::kUndefined;
      result = t;
    }
    return result;
  }

 private:
  bool Take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  OperandTypes Alternatives() {
    OperandTypes first = Sum();
    while (Take('|')) {
      const OperandTypes next = Sum();
      if (first.empty()) first = next;
    }
    return first;
  }

  OperandTypes Sum() {
    OperandTypes all = Term();
    while (Take('+')) all.Add(Term());
    return all;
  }

  OperandTypes Term() {
    if (Take('*')) return All();
    size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 || rest_[end] == '_')) {
      ++end;
    }
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (Take('(')) {
      const OperandTypes inner = Alternatives();
      Take(')');
      return Apply(name, inner);
    }
    if (Take('?')) {
      const OperandTypes then = Sum();
      return IsSet(name) ? then : OperandTypes();
    }
    const std::optional<DType> literal = ParseDType(name);
    if (!literal || Name(*literal) != name) return Argument(name);
    OperandTypes types;
    types.with_dims = *literal;
    return types;
  }

  // The result is of the highest category that there is.
  static OperandTypes Apply(std::string_view function, const OperandTypes& types) {
    if (types.empty()) return types;
    OperandTypes result;
    DType t = types.Promoted();
    if (function == "same") {
      if (types.mixed) t = DType::kUndefined;
    } else if (function == "flat") {
      for (const DType lower : {types.rank0, types.numbers}) {
        if (t != DType::kUndefined && lower != DType::kUndefined) t = TorchPromote(t, lower);
      }
    } else {
      const auto it = std::find_if(std::begin(kMaps), std::end(kMaps),
                                   [&](const TypeMap& map) { return map.name == function; });
      if (t != DType::kUndefined) t = it == std::end(kMaps) ? DType::kUndefined : it->map(t);
    }
    result.Add(types.with_dims != DType::kUndefined ? &OperandTypes::with_dims
               : types.rank0 != DType::kUndefined   ? &OperandTypes::rank0
                                                    : &OperandTypes::numbers,
               t);
    return result;
  }

  bool IsSet(std::string_view name) const {
    for (const TorchOperandName& operand : operands_) {
      if (operand.name == name) return true;
    }
    const Attribute* attr = node_.attrs().Find(name);
    if (!attr) return false;
    if (const Type* type = attr->get<Type>()) return type->is_known();
    if (const auto* number = attr->get<int64_t>()) return *number != 0;
    const Tensor* tensor = attr->get<Tensor>();
    return !tensor || tensor->dtype() != DType::kBool || tensor->num_elements() != 1 ||
           tensor->AsInt(0) != 0;
  }

  OperandTypes Argument(std::string_view name) const {
    OperandTypes types;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].name == name) AddOperand(i, &types);
    }
    const Attribute* attr = node_.attrs().Find(name);
    if (attr && types.empty()) AddAttribute(name, *attr, &types);
    return types;
  }

  OperandTypes All() const {
    OperandTypes types;
    for (size_t i = 0; i < operands_.size(); ++i) AddOperand(i, &types);
    for (const auto& [name, attr] : node_.attrs()) {
      if (name != "operands") AddAttribute(name.view(), attr, &types);
    }
    return types;
  }

  void AddOperand(size_t i, OperandTypes* types) const {
    switch (operands_[i].number) {
      case 'i': return types->Add(&OperandTypes::numbers, DType::kInt64);
      case 'f': return types->Add(&OperandTypes::numbers, kFloatByDefault);
      case 'b': return types->Add(&OperandTypes::numbers, DType::kBool);
      default: break;
    }
    const Value* value = node_.input(i);
    if (!value) return types->Add(&OperandTypes::with_dims, DType::kUndefined);
    bool rank0 = value->shape() && value->shape()->rank() == 0;
    if (!value->shape()) {
      const auto it = std::find(ranks_unknown_.begin(), ranks_unknown_.end(), value->dtype());
      rank0 = (rank0_ >> (it - ranks_unknown_.begin()) & 1) != 0;
    }
    types->Add(rank0 ? &OperandTypes::rank0 : &OperandTypes::with_dims, value->dtype());
  }

  // Numbers are of Python; a dtype counts as a tensor of it.
  static void AddAttribute(std::string_view name, const Attribute& attr, OperandTypes* types) {
    if (const Type* type = attr.get<Type>()) {
      if (type->is_known()) types->Add(&OperandTypes::with_dims, type->dtype());
    } else if (attr.get<int64_t>() && name.ends_with("dtype")) {
      types->Add(&OperandTypes::with_dims, ScalarTypeOf(*attr.get<int64_t>()));
    } else if (attr.get<int64_t>() || attr.get<Attribute::Ints>()) {
      types->Add(&OperandTypes::numbers, DType::kInt64);
    } else if (attr.get<double>()) {
      types->Add(&OperandTypes::numbers, kFloatByDefault);
    } else if (const Tensor* tensor = attr.get<Tensor>()) {
      const DType t = tensor->dtype();
      types->Add(&OperandTypes::numbers, IsComplex(t)    ? kComplexByDefault
                                         : IsFloating(t) ? kFloatByDefault
                                                         : t);
    } else {
      types->unknown = true;
    }
  }

  const Node& node_;
  std::vector<TorchOperandName> operands_;
  std::vector<DType> ranks_unknown_;  // of operands of unknown rank
  size_t rank0_ = 0;                  // those of ranks_unknown_ that are taken to be of rank 0
  std::string_view rest_;
};

// --- Rules ----------------------------------------------------------------------------------

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const StringMap<std::string_view>& AllResultRules() {
  static const auto* table = [] {
    auto* all = new StringMap<std::string_view>;
    for (const ResultRule& rule : kResultRules) {
      for (const std::string_view op : WordsOf(rule.ops)) {
        const bool named = op.find("::") != op.npos;
        (*all)[named ? std::string(op) : StrCat("aten::", op)] = rule.results;
      }
    }
    return all;
  }();
  return *table;
}

// Empty: there is none.
std::string_view ResultRuleOf(std::string_view op) {
  const StringMap<std::string_view>& rules = AllResultRules();
  auto it = rules.find(op);
  if (it != rules.end()) return it->second;
  const std::string_view base = op.substr(0, op.rfind('.'));
  if (it = rules.find(base); it != rules.end()) return it->second;
  const bool special = base.ends_with("__");  // __iand__
  if (special ? base.find("::__i") != base.npos : base.ends_with('_')) return kOfWriters;
  return FindTorchSchema(op) ? kOfOthers : std::string_view();
}

// Of a result that is not a tensor; undefined for others.
DType TypeOfResult(std::string_view schema_type) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"int", DType::kInt64},      {"SymInt", DType::kInt64},  {"int[]", DType::kInt64},
      {"SymInt[]", DType::kInt64}, {"float", DType::kFloat64}, {"SymFloat", DType::kFloat64},
      {"bool", DType::kBool},      {"SymBool", DType::kBool},  {"complex", DType::kComplex128},
  };
  for (const auto& [name, t] : kTypes) {
    if (name == schema_type) return t;
  }
  return DType::kUndefined;
}

// Calls of graphs give what the last of their graphs gives (of a loop, the body).
std::vector<DType> TypesOfGraph(const Node& node) {
  std::vector<DType> types;
  const std::vector<const Graph*> graphs = node.subgraphs();
  if (graphs.empty()) return types;
  for (const Value* value : graphs.back()->outputs()) types.push_back(value->dtype());
  return types;
}

}  // namespace

std::vector<DType> TorchResultTypes(const Node& node) {
  const std::string_view op = node.op().view();
  if (op.starts_with("higher_order::")) return TypesOfGraph(node);
  const TorchSchema* schema = FindTorchSchema(op);
  const std::vector<std::string_view> expressions = WordsOf(ResultRuleOf(op));
  std::vector<DType> types(schema ? schema->results.size()
                                  : std::max(node.num_outputs(), expressions.size()));
  ResultTyper typer(node);
  for (size_t i = 0; i < types.size(); ++i) {
    if (schema) types[i] = TypeOfResult(schema->results[i]);
    if (types[i] != DType::kUndefined || expressions.empty()) continue;
    types[i] = typer.TypeOf(expressions[std::min(i, expressions.size() - 1)]);
  }
  return types;
}

}  // namespace x2ir
