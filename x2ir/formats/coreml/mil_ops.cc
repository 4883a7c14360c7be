#include "x2ir/formats/coreml/mil_ops.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "x2ir/formats/name_index.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir::coreml {
namespace {

// NAME OPSET RESULTS TYPES|ARGUMENTS. Types of the first operand: h fp16, f fp32, i int32, b bool,
// 8 int8 and uint8, 6 int16 and uint16, s strings (labels, in graphs that were read); "-" any. Of
// an argument: "?" may be left out, "!" is constant, "*" any number; "@7" from that opset on.
// "fixed#" and "classes#" are the reader's (coreml.h).
constexpr std::string_view kMilLines[] = {
    // Functions of elements.
    "abs 5 1 hfi|x",
    "acos 5 1 hf|x",
    "asin 5 1 hf|x",
    "atan 5 1 hf|x",
    "atanh 5 1 hf|x",
    "cast 5 1 hfib86|x dtype:string",
    "ceil 5 1 hf|x",
    "clamped_relu 5 1 hf|x alpha:float beta:float",
    "clip 5 1 hf|x alpha:float beta:float",
    "cos 5 1 hf|x",
    "cosh 5 1 hf|x",
    "elu 5 1 hf|x alpha:float",
    "erf 5 1 hf|x",
    "exp 5 1 hf|x",
    "exp2 5 1 hfi|x",
    "floor 5 1 hf|x",
    "gelu 5 1 hf|x mode:string=EXACT",
    "inverse 5 1 hf|x epsilon:float=1e-4",
    "leaky_relu 5 1 hf|x alpha:float",
    "linear_activation 5 1 hf|x alpha:float beta:float",
    "log 5 1 hf|x epsilon:float=1e-45",
    "logical_not 5 1 b|x",
    "prelu 5 1 hf|x alpha!",
    "relu 5 1 hf|x",
    "relu6 5 1 hf|x",
    "round 5 1 hf|x",
    "rsqrt 5 1 hf|x epsilon:float=1e-12",
    "scaled_tanh 5 1 hf|x alpha:float beta:float",
    "sigmoid 5 1 hf|x",
    "sigmoid_hard 5 1 hf|x alpha:float beta:float",
    "sign 5 1 hfi|x",
    "silu 5 1 hf|x",
    "sin 5 1 hf|x",
    "sinh 5 1 hf|x",
    "softmax 5 1 hf|x axis:int=-1",
    "softplus 5 1 hf|x",
    "softplus_parametric 5 1 hf|x alpha! beta!",
    "softsign 5 1 hf|x",
    "sqrt 5 1 hf|x",
    "square 5 1 hfi|x",
    "tan 5 1 hf|x",
    "tanh 5 1 hf|x",
    "threshold 5 1 hfi|x alpha:float",
    "thresholded_relu 5 1 hf|x alpha:float",
    // Arithmetic of two operands.
    "add 5 1 hfi|x y",
    "equal 5 1 hfib|x y",
    "floor_div 5 1 hfi|x y",
    "greater 5 1 hfi|x y",
    "greater_equal 5 1 hfi|x y",
    "less 5 1 hfi|x y",
    "less_equal 5 1 hfi|x y",
    "logical_and 5 1 b|x y",
    "logical_or 5 1 b|x y",
    "logical_xor 5 1 b|x y",
    "maximum 5 1 hfi|x y",
    "minimum 5 1 hfi|x y",
    "mod 5 1 hfi|x y",
    "mul 5 1 hfi|x y",
    "not_equal 5 1 hfib|x y",
    "pow 5 1 hfi|x y",
    "real_div 5 1 hfi|x y",
    "select 5 1 b|cond a b",
    "sub 5 1 hfi|x y",
    // Convolutions, products, pools.
    "conv 5 1 hf|x weight bias!? strides:ints? pad_type:string=valid pad:ints? dilations:ints? "
    "groups:int=1",
    "conv_quantized 5 1 hf|x weight bias!? quant_scale! quant_bias! quantization_type:string "
    "nbits:int=8 strides:ints? pad_type:string=valid pad:ints? dilations:ints? groups:int=1",
    "conv_transpose 5 1 hf|x weight! bias!? pad:ints? output_shape:ints? pad_type:string=valid "
    "strides:ints? dilations:ints? groups:int=1",
    "avg_pool 5 1 hf|x kernel_sizes:ints strides:ints? pad_type:string=valid pad:ints? "
    "ceil_mode:bool=0 exclude_padding_from_average:bool=0",
    "l2_pool 5 1 hf|x kernel_sizes:ints strides:ints? pad_type:string=valid pad:ints? "
    "ceil_mode:bool=0",
    "max_pool 5 1 hf|x kernel_sizes:ints strides:ints? pad_type:string=valid pad:ints? "
    "ceil_mode:bool=0",
    "linear 5 1 hfi|x weight! bias!?",
    "matmul 5 1 hfi|x y transpose_x:bool=0 transpose_y:bool=0",
    "einsum 5 1 hf|values* equation:string",
    "scaled_dot_product_attention 8 1 hf|query key value attn_mask?",
    // Norms.
    "batch_norm 5 1 hf|x mean! variance! gamma!? beta!? epsilon:float=1e-5",
    "instance_norm 5 1 hf|x gamma!? beta!? epsilon:float=1e-5",
    "l2_norm 5 1 hf|x epsilon:float=1e-6",
    "layer_norm 5 1 hf|x gamma!? beta!? axes:ints? epsilon:float=1e-5",
    "local_response_norm 5 1 hf|x size:int alpha:float=1e-4 beta:float=0.75 k:float=1",
    // Recurrent layers.
    "gru 5 2 hf|x initial_h weight_ih! weight_hh! bias!? input_bias!?@8 direction:string=forward "
    "output_sequence:bool=0 recurrent_activation:string=sigmoid activation:string=tanh "
    "reset_after:bool=0@8",
    "lstm 5 3 hf|x initial_h initial_c weight_ih! weight_hh! bias!? peephole!? weight_ih_back!? "
    "weight_hh_back!? bias_back!? peephole_back!? direction:string=forward output_sequence:bool=0 "
    "recurrent_activation:string=sigmoid cell_activation:string=tanh activation:string=tanh "
    "clip:float?",
    "rnn 5 2 hf|x initial_h weight_ih! weight_hh! bias!? direction:string=forward "
    "output_sequence:bool=0 activation:string=tanh",
    // Reductions, orders, sums along an axis.
    "argsort 5 1 hfi|x axis:int=-1 ascending:bool=0 output_dtype:string=int32@7",
    "cumsum 5 1 hfi|x axis:int=0 exclusive:bool=0 reverse:bool=0",
    "reduce_argmax 5 1 hfi|x axis:int=-1 keep_dims:bool=0 output_dtype:string=int32@7",
    "reduce_argmin 5 1 hfi|x axis:int=-1 keep_dims:bool=0 output_dtype:string=int32@7",
    "reduce_l1_norm 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_l2_norm 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_log_sum 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_log_sum_exp 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_max 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_mean 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_min 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_prod 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_sum 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "reduce_sum_square 5 1 hfi|x axes:ints? keep_dims:bool=0",
    "topk 5 2 hfi86|x k:int=1 axis:int=-1 ascending:bool=0 sort:bool=1@6 return_indices:bool=1@6 "
    "output_indices_dtype:string=int32@7",
    // Images.
    "affine 5 1 hf|x transform_matrix output_height:int output_width:int sampling_mode:string "
    "padding_mode:string padding_value:float coordinates_mode:string align_corners:bool",
    "crop 5 1 hf|x crop_height:ints crop_width:ints",
    "crop_resize 5 1 hf|x roi? boxes?@7 box_indices?@7 target_height:int=1 target_width:int=1 "
    "normalized_coordinates:bool=0 spatial_scale:float32=1 "
    "box_coordinate_mode:string=CORNERS_HEIGHT_FIRST sampling_mode:string=DEFAULT "
    "pad_value:float=0@6",
    "resample 5 1 hf|x coordinates sampling_mode:string padding_mode:string padding_value:float "
    "coordinates_mode:string align_corners:bool",
    "resize 7 1 hfi|x shape resized_dims:uint interpolation_mode:string=LINEAR "
    "sampling_mode:string=DEFAULT",
    "resize_bilinear 5 1 hf|x target_size_height:int=1 target_size_width:int=1 "
    "sampling_mode:string=DEFAULT",
    "resize_nearest_neighbor 5 1 hf|x target_size_height:int target_size_width:int",
    "upsample_bilinear 5 1 hf|x scale_factor_height:float32=1 scale_factor_width:float32=1 "
    "align_corners:bool=1 half_pixel_centers:bool?@6",
    "upsample_nearest_neighbor 5 1 hf|x scale_factor_height:float32=1 scale_factor_width:float32=1",
    // Picked and put.
    "gather 5 1 hfi86|x indices axis:int=0 batch_dims:int=0@6 validate_indices:bool=0@7",
    "gather_along_axis 5 1 hfi86|x indices axis:int=0 validate_indices:bool=0@7",
    "gather_nd 5 1 hfi86|x indices batch_dims:int=0@6 validate_indices:bool=0@7",
    "scatter 5 1 hfi|data indices updates axis:int=0 mode:string=add validate_indices:bool=0@7",
    "scatter_along_axis 5 1 hfi|data indices updates axis:int=0 mode:string=add "
    "validate_indices:bool=0@7",
    "scatter_nd 5 1 hfi|data indices updates mode:string=add validate_indices:bool=0@7",
    // Shapes, parts and wholes.
    "band_part 5 1 hfib|x lower:int=-1 upper:int=-1",
    "batch_to_space 5 1 hf|x block_shape:ints crops:ints",
    "concat 5 1 hfib86|values* axis:int interleave:bool=0",
    "depth_to_space 5 1 hf|x block_size:int",
    "expand_dims 5 1 hfib86|x axes:ints",
    "fill 5 1 i|shape value:scalar=0",
    "fill_like 6 1 hfib|ref_tensor value:scalar=0",
    "flatten2d 5 1 hfib|x axis:int=1",
    "identity 5 1 -|x",
    "non_zero 5 1 hfib|x",
    "one_hot 5 1 i|indices one_hot_vector_size axis:int=-1 on_value:scalar=1 off_value:scalar=0",
    "pad 5 1 hfi|x pad mode:string=constant constant_val:scalar=0",
    "pixel_shuffle 5 1 hf|x upscale_factor:int",
    "pixel_unshuffle 6 1 hf|x downscale_factor:uint",
    "range_1d 5 1 hfi|end start step",
    "reshape 5 1 hfib86s|x shape",
    "reshape_like 6 1 hfib|x ref_tensors* begins:ints ends:ints end_masks:bools",
    "reverse 5 1 hfib|x axes:ints?",
    "reverse_sequence 5 1 hfib|x lengths seq_axis:int=0 batch_axis:int=0",
    "shape 5 1 hfib86|x",
    "slice_by_index 5 1 hfib86|x begin end stride:ints? begin_mask:bools? end_mask:bools? "
    "squeeze_mask:bools?",
    "slice_by_size 5 1 hfib|x begin size",
    "slice_update 8 1 hfib86|x update begin end stride:ints? begin_mask:bools? end_mask:bools? "
    "squeeze_mask:bools?",
    "sliding_windows 5 1 hfi|x axis:int size:int stride:int=1",
    "space_to_batch 5 1 hf|x block_shape:ints paddings:ints",
    "space_to_depth 5 1 hf|x block_size:int",
    "split 5 -1 hfib86|x num_splits:int? split_sizes:ints? axis:int",
    "squeeze 5 1 hfib86|x axes:ints?",
    "stack 5 1 hfib|values* axis:int",
    "tile 5 1 hfib|x reps",
    "transpose 5 1 hfib86|x perm:ints",
    // Random numbers.
    "random_bernoulli 5 1 i|shape prob:float32=0.5 seed:int=-1",
    "random_categorical 5 1 hf|x mode:string=logits size:int=1 seed:int=-1",
    "random_normal 5 1 i|shape mean:float32=0 stddev:float32=1 seed:int=-1",
    "random_uniform 5 1 i|shape low:float32=0 high:float32=1 seed:int=-1",
    // Others.
    "classify 5 2 hf|probabilities classes:strings? classes#:ints?",
    "cond 5 -1 b|pred",
    "coreml_update_state 8 1 -|state value",
    "dequantize 7 1 8|input zero_point!? scale! axis:int?",
    "list_gather 5 1 -|ls indices",
    "list_length 5 1 -|ls",
    "list_read 5 1 -|ls index",
    "list_scatter 5 1 -|ls indices value fixed#:bool=0",
    "list_write 5 1 -|ls index value fixed#:bool=0",
    "make_list 5 1 -|init_length? elem_shape* dynamic_length:bool=1 dtype:string=fp32",
    "non_maximum_suppression 5 4 hf|boxes scores iou_threshold:float score_threshold:float? "
    "max_boxes:int per_class_suppression:bool=0",
    "quantize 7 1 hf|input zero_point!? scale! axis:int? output_dtype:string",
    "read_state 8 1 -|input",
    "while_loop 5 -1 -|loop_vars*",
};

constexpr std::pair<std::string_view, MilKind> kMilKinds[] = {
    {"int", MilKind::kInt},         {"ints", MilKind::kInts},     {"uint", MilKind::kUInt},
    {"bool", MilKind::kBool},       {"bools", MilKind::kBools},   {"float", MilKind::kFloat},
    {"float32", MilKind::kFloat32}, {"string", MilKind::kString}, {"strings", MilKind::kStrings},
    {"scalar", MilKind::kScalar},
};

std::string_view NextPart(std::string_view* text, char separator) {
  const std::string_view part = text->substr(0, text->find(separator));
  text->remove_prefix(std::min(part.size() + 1, text->size()));
  return part;
}

// The table is as it says: what it holds needs no checks.
MilArgument ArgumentOf(std::string_view text) {
  MilArgument argument;
  if (const size_t at = text.find('@'); at != text.npos) {
    argument.since = static_cast<int>(*ParseNumber<int64_t>(text.substr(at + 1)));
    text = text.substr(0, at);
  }
  std::string_view value;
  if (const size_t equals = text.find('='); equals != text.npos) {
    value = text.substr(equals + 1);
    text = text.substr(0, equals);
    argument.optional = true;
  }
  for (; text.ends_with('?') || text.ends_with('!') || text.ends_with('*'); text.remove_suffix(1)) {
    argument.optional |= text.ends_with('?');
    argument.constant |= text.ends_with('!');
    argument.many |= text.ends_with('*');
  }
  argument.name = NextPart(&text, ':');
  for (const auto& [name, kind] : kMilKinds) {
    if (name == text) argument.kind = kind;
  }
  if (value.empty()) return argument;
  switch (argument.kind) {
    case MilKind::kString: argument.default_value = Attribute(value); break;
    case MilKind::kFloat:
    case MilKind::kFloat32:
      argument.default_value = Attribute(static_cast<float>(*ParseNumber<double>(value)));
      break;
    case MilKind::kScalar: break;
    default: argument.default_value = Attribute(*ParseNumber<int64_t>(value));
  }
  return argument;
}

uint32_t DtypesOf(std::string_view letters) {
  uint32_t bits = 0;
  const auto add = [&](DType t) { bits |= uint32_t{1} << static_cast<int>(t); };
  for (const char letter : letters) {
    switch (letter) {
      case 'h': add(DType::kFloat16); break;
      case 'f':  // what is float64 elsewhere is float32 in a program
        add(DType::kFloat32);
        add(DType::kFloat64);
        break;
      case 'i':  // what is int64 elsewhere is int32 in a program
        add(DType::kInt32);
        add(DType::kInt64);
        break;
      case 'b': add(DType::kBool); break;
      case 's': add(DType::kString); break;
      case '8':
        add(DType::kInt8);
        add(DType::kUInt8);
        break;
      case '6':
        add(DType::kInt16);
        add(DType::kUInt16);
        break;
      default: break;
    }
  }
  return bits;
}

MilOp OpOf(std::string_view line) {
  std::string_view head = NextPart(&line, '|');
  MilOp op;
  op.name = NextPart(&head, ' ');
  op.since = static_cast<int>(*ParseNumber<int64_t>(NextPart(&head, ' ')));
  op.results = static_cast<int>(*ParseNumber<int64_t>(NextPart(&head, ' ')));
  op.dtypes = DtypesOf(head);
  while (!line.empty()) op.arguments.push_back(ArgumentOf(NextPart(&line, ' ')));
  return op;
}

struct MilTypeRow {
  int64_t number;
  DType dtype;
  std::string_view name;
};
constexpr MilTypeRow kMilTypes[] = {
    {1, DType::kBool, "bool"},           {2, DType::kString, "string"},
    {10, DType::kFloat16, "fp16"},       {11, DType::kFloat32, "fp32"},
    {12, DType::kFloat64, "fp64"},       {13, DType::kBFloat16, "bf16"},
    {21, DType::kInt8, "int8"},          {22, DType::kInt16, "int16"},
    {23, DType::kInt32, "int32"},        {24, DType::kInt64, "int64"},
    {25, DType::kInt4, "int4"},          {31, DType::kUInt8, "uint8"},
    {32, DType::kUInt16, "uint16"},      {33, DType::kUInt32, "uint32"},
    {34, DType::kUInt64, "uint64"},      {35, DType::kUInt4, "uint4"},
    {36, DType::kUInt2, "uint2"},        {40, DType::kFloat8E4M3FN, "fp8e4m3fn"},
    {41, DType::kFloat8E5M2, "fp8e5m2"},
};

}  // namespace

std::optional<size_t> MilOp::OperandIndex(std::string_view argument) const {
  size_t index = 0;
  for (const MilArgument& each : arguments) {
    if (each.kind != MilKind::kOperand) continue;
    if (each.name == argument) return index;
    ++index;
  }
  return std::nullopt;
}

const MilArgument* MilOp::Find(std::string_view argument) const {
  for (const MilArgument& each : arguments) {
    if (each.name == argument) return &each;
  }
  return nullptr;
}

const std::vector<MilOp>& AllMilOps() {
  static const auto* const ops = [] {
    auto* all = new std::vector<MilOp>;
    for (const std::string_view line : kMilLines) all->push_back(OpOf(line));
    std::sort(all->begin(), all->end(),
              [](const MilOp& a, const MilOp& b) { return a.name < b.name; });
    return all;
  }();
  return *ops;
}

const MilOp* FindMilOp(std::string_view name) {
  static const auto& index = *new NameIndex<MilOp>(AllMilOps());
  return index.Find(name);
}

AttrKind KindOf(MilKind kind) {
  switch (kind) {
    case MilKind::kInts:
    case MilKind::kBools: return AttrKind::kInts;
    case MilKind::kFloat:
    case MilKind::kFloat32: return AttrKind::kFloat;
    case MilKind::kString: return AttrKind::kString;
    case MilKind::kStrings: return AttrKind::kStrings;
    case MilKind::kScalar: return AttrKind::kTensor;
    default: return AttrKind::kInt;
  }
}

DType MilToDType(int64_t data_type) {
  for (const MilTypeRow& row : kMilTypes) {
    if (row.number == data_type) return row.dtype;
  }
  return DType::kUndefined;
}

int64_t MilDataType(DType dtype) {
  for (const MilTypeRow& row : kMilTypes) {
    if (row.dtype == dtype) return row.number;
  }
  return 0;
}

std::string_view MilTypeName(DType dtype) {
  for (const MilTypeRow& row : kMilTypes) {
    if (row.dtype == dtype) return row.name;
  }
  return "";
}

DType ParseMilTypeName(std::string_view name) {
  for (const MilTypeRow& row : kMilTypes) {
    if (row.name == name) return row.dtype;
  }
  return DType::kUndefined;
}

}  // namespace x2ir::coreml
