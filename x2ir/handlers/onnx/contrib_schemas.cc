// A row an op. Operands: NAME, then `?` if it may be left out, `*` if it may be repeated, then
// `:` and the element types. Attributes: `name=default`, else `name:kind`, with `!` where it is
// required.
#include "x2ir/handlers/onnx/contrib_schemas.h"

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct Row {
  std::string_view op, inputs, outputs, attrs;
};

// Element types: f floats, i int32, l int32 and int64, b 8-bit integers, t bool, u uint8, w
// uint8 and 4-bit integers, c what a cache of keys holds, q what numbers are quantized to, . any.
constexpr std::string_view kConvAttrs =
    "auto_pad='NOTSET' dilations:ints group=1 kernel_shape:ints pads:ints strides:ints "
    "activation:string activation_params:floats";

const Row kRows[] = {
    {"BiasGelu", "A:f B:f", "C:f", ""},
    {"FastGelu", "X:f bias?:f", "Y:f", ""},
    {"Gelu", "X:f", "Y:f", ""},
    {"QuickGelu", "X:f", "Y:f", "alpha=1.702"},

    {"EmbedLayerNormalization",
     "input_ids:i segment_ids?:i word_embedding:f position_embedding:f segment_embedding?:f "
     "gamma:f beta:f mask?:i position_ids?:i",
     "output:f mask_index?:i embedding_sum?:f", "epsilon=1e-12 mask_index_type=0"},
    {"QEmbedLayerNormalization",
     "input_ids:i segment_ids?:i word_embedding_quant:b position_embedding_quant:b "
     "segment_embedding?:b gamma_quant:b beta_quant:b mask?:i word_embedding_scale:f "
     "position_embedding_scale:f segment_embedding_scale?:f gamma_scale:f beta_scale:f "
     "word_embedding_zero_point:b position_embedding_zero_point:b "
     "segment_embedding_zero_point?:b gamma_zero_point:b beta_zero_point:b",
     "layernorm_out:f mask_index_out?:i", "epsilon=1e-12"},
    {"GroupNorm", "X:f gamma:f beta:f", "Y:f",
     "activation:int! channels_last=1 epsilon=1e-5 groups:int!"},
    {"SkipGroupNorm", "X:f gamma:f beta:f skip:f bias?:f", "Y:f S?:f",
     "activation:int! channels_last=1 epsilon=1e-5 groups:int!"},
    {"BiasAdd", "X:f bias:f skip:f", "Y:f", ""},
    {"BiasSplitGelu", "X:f bias:f", "Y:f", ""},
    {"SkipLayerNormalization", "input:f skip:f gamma:f beta?:f bias?:f",
     "output:f mean?:f inv_std_var?:f input_skip_bias_sum?:f", "epsilon=1e-12"},
    {"SkipSimplifiedLayerNormalization", "input:f skip:f gamma:f bias?:f",
     "output:f mean?:f inv_std_var?:f input_skip_bias_sum?:f", "epsilon=1e-12"},

    {"FusedMatMul", "A:f B:f", "Y:f", "alpha=1.0 transA=0 transB=0 transBatchA=0 transBatchB=0"},
    {"TransposeMatMul", "A:f B:f", "Y:f",
     "alpha=1.0 transA=0 transB=0 transBatchA=0 transBatchB=0"},
    {"FusedMatMulActivation", "A:f B:f", "Y:f",
     "activation:string! activation_alpha:float activation_axis:int activation_beta:float "
     "activation_gamma:float alpha=1.0 transA=0 transB=0 transBatchA=0 transBatchB=0"},
    {"GemmFastGelu", "X:f W:f bias?:f", "Y:f", ""},
    {"FusedGemm", "A:f B:f C?:f", "Y:f",
     "alpha=1.0 beta=1.0 transA=0 transB=0 activation:string activation_alpha:float "
     "activation_beta:float activation_gamma:float"},
    {"FusedConv", "X:f W:f B?:f Z?:f", "Y:f", kConvAttrs},
    {"MatMulIntegerToFloat", "A:b B:b a_scale:f b_scale:f a_zero_point?:b b_zero_point?:b bias?:f",
     "Y:f", ""},
    {"DynamicQuantizeMatMul", "A:f B:b b_scale:f b_zero_point?:b bias?:f", "Y:f", ""},
    {"DynamicQuantizeLSTM",
     "X:f W:b R:b B?:f sequence_lens?:i initial_h?:f initial_c?:f P?:f W_scale:f W_zero_point:b "
     "R_scale:f R_zero_point:b",
     "Y?:f Y_h?:f Y_c?:f",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float "
     "direction='forward' hidden_size:int input_forget=0"},
    {"MatMulBnb4", "A:f B:u absmax:f", "Y:f",
     "K:int! N:int! block_size:int! quant_type:int! training_mode=0 transB=1"},
    {"MatMulNBits", "A:f B:u scales:f zero_points?:. g_idx?:i bias?:f", "Y:f",
     "K:int! N:int! bits=4 block_size:int! accuracy_level=0 weight_prepacked=0"},

    {"Attention",
     "input:f weights:f bias?:f mask_index?:i past?:f attention_bias?:f past_sequence_length?:i",
     "output:f present?:f",
     "do_rotary=0 mask_filter_value=-10000.0 num_heads:int! past_present_share_buffer=0 "
     "qkv_hidden_sizes:ints rotary_embedding_dim:int scale:float unidirectional=0"},
    {"MultiHeadAttention",
     "query:f key?:f value?:f bias?:f key_padding_mask?:i attention_bias?:f past_key?:f "
     "past_value?:f past_sequence_length?:i cache_indirection?:i",
     "output:f present_key?:f present_value?:f qk?:f",
     "mask_filter_value=-10000.0 num_heads:int! scale:float unidirectional=0"},
    {"DecoderMaskedMultiHeadAttention",
     "query:f key?:f value?:f mask_index?:i attention_bias?:f past_key?:f past_value?:f "
     "past_sequence_length?:i beam_width?:i cache_indirection?:i bias?:f",
     "output:f present_key?:f present_value?:f qk?:f",
     "mask_filter_value=-10000.0 num_heads:int! output_qk=0 past_present_share_buffer=0 "
     "scale:float"},
    {"QAttention",
     "input:b weight:b bias:f input_scale:f weight_scale:f mask_index?:i input_zero_point?:b "
     "weight_zero_point?:b past?:f",
     "output:f present?:f",
     "do_rotary=0 mask_filter_value=-10000.0 num_heads:int! past_present_share_buffer=0 "
     "scale:float unidirectional=0"},
    {"PackedAttention",
     "input:f weights:f bias:f token_offset:i cumulative_sequence_length:i attention_bias?:f",
     "output:f", "num_heads:int! qkv_hidden_sizes:ints scale:float"},
    {"PackedMultiHeadAttention",
     "query:f key?:f value?:f bias?:f token_offset:i cumulative_sequence_length:i "
     "attention_bias?:f",
     "output:f", "mask_filter_value=-10000.0 num_heads:int! scale:float"},
    {"RemovePadding", "input:f sequence_token_count:i",
     "output:f token_offset:i cumulated_seq_len:i max_seq_len:i", ""},
    {"RestorePadding", "input:f token_offset:i", "output:f", ""},
    {"LinearAttention", "query:f key:f value:f past_state?:f decay?:f beta?:f",
     "output:f present_state?:f",
     "chunk_size=64 kv_num_heads:int! q_num_heads:int! scale=0.0 state_window=0 "
     "update_rule='gated_delta'"},
    {"CausalConvWithState", "input:f weight:f bias?:f past_state?:f", "output:f present_state?:f",
     "activation='none' channels_last=0 dilation=1 ndim=1 state_window=0"},
    {"GroupQueryAttention",
     "query:f key?:f value?:f past_key?:c past_value?:c seqlens_k:i total_sequence_length:i "
     "cos_cache?:f sin_cache?:f position_ids?:l attention_bias?:f head_sink?:f k_scale?:f "
     "v_scale?:f q_norm_weight?:f k_norm_weight?:f",
     "output:f present_key?:c present_value?:c output_qk?:f",
     "causal=1 do_rotary=0 k_quant_type='NONE' kv_cache_bit_width:int kv_num_heads:int! "
     "local_window_size=-1 num_heads:int! qk_norm_epsilon=1e-6 qk_output=0 rotary_interleaved=0 "
     "scale:float sliding_window_cache=0 smooth_softmax=-1 softcap:float v_quant_type='NONE'"},
    {"SparseAttention",
     "query:f key?:f value?:f past_key:f past_value:f block_row_indices:i block_col_indices:i "
     "total_sequence_length:i key_total_sequence_lengths:i cos_cache?:f sin_cache?:f",
     "output:f present_key:f present_value:f",
     "do_rotary=0 kv_num_heads:int! num_heads:int! rotary_interleaved=0 scale:float "
     "sparse_block_size:int!"},
    {"RotaryEmbedding", "input:f position_ids:l cos_cache:f sin_cache:f", "output:f",
     "interleaved=0 is_packed_batching=0 num_heads=0 rotary_embedding_dim=0 scale=1.0"},
    {"GemmaRotaryEmbedding", "emb:f q:f q_rot:f k:f k_rot:f", "output1:f output2:f", ""},

    {"MoE",
     "input:f router_probs:f fc1_experts_weights:f fc1_experts_bias?:f fc2_experts_weights:f "
     "fc2_experts_bias?:f fc3_experts_weights?:f fc3_experts_bias?:f",
     "output:f",
     "activation_alpha=1.0 activation_beta=0.0 activation_type='relu' k=1 "
     "normalize_routing_weights=0 swiglu_fusion=0 swiglu_limit:float use_sparse_mixer=0"},
    {"QMoE",
     "input:f router_probs:f fc1_experts_weights:. fc1_scales?:. fc1_experts_bias?:f "
     "fc2_experts_weights:. fc2_scales?:. fc2_experts_bias?:f fc3_experts_weights?:. "
     "fc3_scales?:. fc3_experts_bias?:f fc1_zero_points?:. fc2_zero_points?:. fc3_zero_points?:. "
     "router_weights?:f fc1_global_scale?:f fc2_global_scale?:f fc1_act_scale?:f "
     "fc2_act_scale?:f fc1_act_block_scale?:. fc2_act_block_scale?:.",
     "output:f",
     "accuracy_level=0 activation_alpha=1.0 activation_beta=0.0 activation_type='relu' "
     "block_size:int expert_weight_bits=4 k=1 normalize_routing_weights=0 quant_type='int' "
     "swiglu_fusion=0 swiglu_limit:float use_sparse_mixer=0 weights_prepacked=-1"},

    {"QuantizeLinear", "x:f y_scale:f y_zero_point?:q", "y:q", "axis:int block_size=0"},
    {"DequantizeLinear", "x:q x_scale:f x_zero_point?:q", "y:f", "axis:int block_size=0"},
    {"GatherBlockQuantized", "data:w indices:l scales:f zero_points?:w", "output:f",
     "bits=4 block_size=128 gather_axis=0 quantize_axis=1"},
    {"QLinearWhere",
     "condition:t X:b x_scale:f x_zero_point:b Y:b y_scale:f y_zero_point:b z_scale:f "
     "z_zero_point:b",
     "Z:b", ""},
    {"QGemm",
     "A:b a_scale:f a_zero_point:b B:b b_scale:f b_zero_point:b C?:i y_scale?:f y_zero_point?:b",
     "Y:.", "alpha=1.0 transA=0 transB=0"},
    {"QLinearLeakyRelu", "X:b X_scale:f X_zero_point?:b Y_scale:f Y_zero_point?:b", "Y:b",
     "alpha=0.01"},
    {"QLinearSigmoid", "X:b X_scale:f X_zero_point?:b Y_scale:f Y_zero_point?:b", "Y:b", ""},
    {"QLinearAdd",
     "A:b A_scale:f A_zero_point?:b B:b B_scale:f B_zero_point?:b C_scale:f C_zero_point?:b", "C:b",
     ""},
    {"QLinearMul",
     "A:b A_scale:f A_zero_point?:b B:b B_scale:f B_zero_point?:b C_scale:f C_zero_point?:b", "C:b",
     ""},
    {"QLinearGlobalAveragePool", "X:b x_scale:f x_zero_point?:b y_scale:f y_zero_point?:b", "Y:b",
     "channels_last=0"},
    {"QLinearAveragePool", "X:b x_scale:f x_zero_point?:b y_scale:f y_zero_point?:b", "Y:b",
     "auto_pad='NOTSET' ceil_mode=0 channels_last=0 count_include_pad=0 kernel_shape:ints! "
     "pads:ints "
     "strides:ints"},
    {"NhwcMaxPool", "x:b", "y:b",
     "auto_pad='NOTSET' ceil_mode=0 dilations:ints kernel_shape:ints! pads:ints strides:ints"},
    {"MatMulInteger16", "A:. B:.", "Y:i", ""},
    {"QLinearSoftmax", "X:b X_scale:f x_zero_point?:b y_scale:f y_zero_point:b", "Y:b",
     "axis=-1 opset:int!"},
    {"QLinearConcat", "Y_scale:f Y_zero_point:b inputs*:.", "Y:b", "axis:int!"},

    {"Inverse", "X:f", "Y:f", ""},
    {"CDist", "A:f B:f", "C:f", "metric='sqeuclidean'"},
    {"ExpandDims", "X:. axis:i", "Y:.", ""},
    {"GatherND", "data:. indices:l", "output:.", ""},
    {"GridSample", "X:f Grid:f", "Y:f", "align_corners=0 mode='bilinear' padding_mode='zeros'"},
    {"Pad", "data:. pads:l value?:.", "output:.", "mode='constant'"},
    {"Range", "start:. limit:. delta?:.", "Y:.", ""},
    {"Trilu", "X:. k?:l", "Y:.", "upper=1"},
    {"Unique", "x:f", "y:f idx:l counts:l", ""},
};

// Ops that ONNX Runtime has put into ONNX's own domain, at every opset at which ONNX has none of
// that name: the newer ones before their time, and ops that ONNX had for trying, and took away.
const Row kRowsOfOnnx[] = {
    {"SimplifiedLayerNormalization", "X:f scale:f", "Y:f inv_std_var?:f",
     "axis=-1 epsilon=1e-5 stash_type=1"},
    {"LayerNormalization", "X:f Scale:f B?:f", "Y:f Mean?:f InvStdDev?:f",
     "axis=-1 epsilon=1e-5 stash_type=1"},
    {"MeanVarianceNormalization", "input:f", "output:f", "across_channels=0 normalize_variance=1"},
    {"ThresholdedRelu", "X:f", "Y:f", "alpha=1.0"},
    {"Affine", "X:f", "Y:f", "alpha=1.0 beta=0.0"},
    {"Crop", "input:f", "output:f", "border:ints! scale:ints"},
    {"DynamicSlice", "data:. starts:l ends:l axes?:l", "output:.", ""},
    // consumed_inputs said which operands may be overwritten.
    {"FC", "X:f W:f B:f", "Y:f", "axis=1 axis_w=1 consumed_inputs:ints"},
    {"SpatialBN", "X:f scale:f bias:f mean:f var:f",
     "Y:f running_mean?:f running_var?:f saved_mean?:f saved_var?:f",
     "consumed_inputs:ints epsilon=1e-5 is_test=0 momentum=0.9 num_batches=1 order='NCHW' "
     "spatial=1"},
    {"ImageScaler", "input:f", "output:f", "bias:floats scale=1.0"},
    {"ParametricSoftplus", "X:f", "Y:f", "alpha:float! beta:float!"},
    {"Scale", "input:f", "output:f", "scale=1.0"},
    {"ScaledTanh", "input:f", "output:f", "alpha:float! beta:float!"},
};

constexpr uint32_t Bits(std::initializer_list<DType> types) {
  uint32_t bits = 0;
  for (const DType t : types) bits |= uint32_t{1} << static_cast<int>(t);
  return bits;
}

uint32_t TypesOf(char code) {
  using enum DType;
  switch (code) {
    case 'f': return Bits({kFloat32, kFloat64, kFloat16, kBFloat16});
    case 'i': return Bits({kInt32});
    case 'l': return Bits({kInt32, kInt64});
    case 'b': return Bits({kInt8, kUInt8});
    case 't': return Bits({kBool});
    case 'w': return Bits({kUInt8, kInt4, kUInt4});
    case 'c': return Bits({kFloat32, kFloat16, kBFloat16, kUInt8, kInt8, kFloat8E4M3FN});
    case 'u': return Bits({kUInt8});
    case 'q': return Bits({kInt8, kUInt8, kInt16, kUInt16, kInt32, kInt4, kUInt4});
    default: return ~uint32_t{0};
  }
}

// The words of a text, one after another.
template <typename F>
void ForEachWord(std::string_view text, F f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<OperandSchema> ParseOperands(std::string_view text) {
  std::vector<OperandSchema> operands;
  ForEachWord(text, [&](std::string_view word) {
    const size_t colon = word.find(':');
    X2IR_CHECK(colon != word.npos && colon > 0 && colon + 2 == word.size(), std::string(word));
    OperandSchema operand;
    std::string_view name = word.substr(0, colon);
    if (name.back() == '?') operand.arity = Arity::kOptional;
    if (name.back() == '*') operand.arity = Arity::kVariadic;
    if (operand.arity != Arity::kRequired) name.remove_suffix(1);
    operand.name = name;
    operand.dtypes = TypesOf(word.back());
    operands.push_back(std::move(operand));
  });
  return operands;
}

template <typename T>
T NumberOf(std::string_view text) {
  const auto number = ParseNumber<T>(text);
  X2IR_CHECK(number.has_value(), std::string(text));
  return *number;
}

Attribute ParseDefault(std::string_view text) {
  if (text.front() == '\'') return Attribute(text.substr(1, text.size() - 2));
  if (text.find_first_of(".e") != text.npos) return Attribute(NumberOf<float>(text));
  return Attribute(NumberOf<int64_t>(text));
}

AttrKind ParseKind(std::string_view text) {
  for (int i = 0; i < static_cast<int>(AttrKind::kRef); ++i) {
    if (Name(static_cast<AttrKind>(i)) == text) return static_cast<AttrKind>(i);
  }
  X2IR_CHECK(false, std::string(text));
  return AttrKind::kInt;
}

std::vector<AttrSchema> ParseAttrs(std::string_view text) {
  std::vector<AttrSchema> attrs;
  ForEachWord(text, [&](std::string_view word) {
    const size_t at = word.find_first_of("=:");
    X2IR_CHECK(at != word.npos, std::string(word));
    AttrSchema attr{Symbol(word.substr(0, at)), AttrKind::kInt};
    std::string_view rest = word.substr(at + 1);
    if (word[at] == '=') {
      attr.default_value = ParseDefault(rest);
      attr.kind = attr.default_value->kind();
    } else {
      attr.required = rest.back() == '!';
      if (attr.required) rest.remove_suffix(1);
      attr.kind = ParseKind(rest);
    }
    attrs.push_back(std::move(attr));
  });
  return attrs;
}

absl::flat_hash_map<Symbol, OpSchema>* MakeTable() {
  auto* table = new absl::flat_hash_map<Symbol, OpSchema>;
  const auto add = [&](std::string op, const Row& row) {
    OpSchema& schema = (*table)[Symbol(op)];
    schema.name = std::move(op);
    schema.inputs = ParseOperands(row.inputs);
    schema.outputs = ParseOperands(row.outputs);
    schema.attrs = ParseAttrs(row.attrs);
    schema.lenient = schema.name.find("::") == schema.name.npos;
  };
  for (const Row& row : kRows) add(StrCat("com.microsoft::", row.op), row);
  for (const Row& row : kRowsOfOnnx) add(std::string(row.op), row);
  return table;
}

}  // namespace

const OpSchema* ContribSchema(Symbol op) {
  static const auto* const table = MakeTable();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : &it->second;
}

}  // namespace x2ir
