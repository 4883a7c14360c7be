#include "x2ir/formats/relay/attr_table.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir {
namespace relay {
namespace {

// Of each record its name, its operators, and its fields with their defaults.
struct RecordRow {
  std::string_view type_key, ops, fields;
};

#define X2IR_RELAY_CONV_(n) \
  "strides:a=None padding:a=None dilation:a=None groups:i=1 channels:e=None kernel_size:a=None " n
constexpr RecordRow kRecords[] = {
    {"relay.attrs.Conv1DAttrs", "nn.conv1d",
     X2IR_RELAY_CONV_("data_layout:s=NCW kernel_layout:s=OIW out_layout:s out_dtype:t")},
    {"relay.attrs.Conv2DAttrs",
     "nn.conv2d nn.contrib_conv2d_NCHWc nn.contrib_depthwise_conv2d_NCHWc qnn.conv2d",
     X2IR_RELAY_CONV_("data_layout:s=NCHW kernel_layout:s=OIHW out_layout:s "
                      "auto_scheduler_rewritten_layout:S meta_schedule_original_shape:a=None "
                      "out_dtype:t")},
    {"relay.attrs.Conv3DAttrs", "nn.conv3d",
     X2IR_RELAY_CONV_("data_layout:s=NCDHW kernel_layout:s=OIDHW out_layout:s "
                      "auto_scheduler_rewritten_layout:S meta_schedule_original_shape:a=None "
                      "out_dtype:t")},
    {"relay.attrs.Conv1DTransposeAttrs", "nn.conv1d_transpose",
     "channels:e=None kernel_size:a=None strides:a=None padding:a=None output_padding:a=None "
     "dilation:a=None groups:i=1 data_layout:s=NCW kernel_layout:s=IOW out_layout:s out_dtype:t"},
    {"relay.attrs.Conv2DTransposeAttrs", "nn.conv2d_transpose qnn.conv2d_transpose",
     "channels:e=None kernel_size:a=None strides:a=None output_padding:a=None padding:a=None "
     "dilation:a=None groups:i=1 data_layout:s=NCHW kernel_layout:s=IOHW out_layout:s out_dtype:t"},
    {"relay.attrs.Conv3DTransposeAttrs", "nn.conv3d_transpose",
     "channels:e=None kernel_size:a=None strides:a=None padding:a=None output_padding:a=None "
     "dilation:a=None groups:i=1 data_layout:s=NCDHW kernel_layout:s=IODHW out_layout:s "
     "out_dtype:t"},
    {"relay.attrs.DeformableConv2DAttrs", "nn.deformable_conv2d",
     "strides:a=None padding:a=None dilation:a=None deformable_groups:i=1 groups:i=1 "
     "channels:e=None kernel_size:a=None data_layout:s=NCHW kernel_layout:s=OIHW out_layout:s "
     "out_dtype:t"},
    {"relay.attrs.DenseAttrs", "nn.dense nn.contrib_dense_pack qnn.dense",
     "units:e=None auto_scheduler_rewritten_layout:S meta_schedule_original_shape:a=None "
     "out_dtype:t"},
    {"relay.attrs.MatmulAttrs", "nn.matmul",
     "units:e=None out_dtype:t transpose_a:b=0 transpose_b:b=0 auto_scheduler_rewritten_layout:S "
     "meta_schedule_original_shape:a=None"},
    {"relay.attrs.BatchMatmulAttrs", "nn.batch_matmul qnn.batch_matmul",
     "out_dtype:t transpose_a:b=0 transpose_b:b=1 auto_scheduler_rewritten_layout:S "
     "meta_schedule_original_shape:a=None"},
    {"relay.attrs.BiasAddAttrs", "nn.bias_add", "axis:i=1"},
    {"relay.attrs.BatchNormAttrs", "nn.batch_norm",
     "axis:i=1 epsilon:f=1e-05 center:b=1 scale:b=1"},
    {"relay.attrs.InstanceNormAttrs", "nn.instance_norm",
     "axis:i=1 epsilon:f=1e-05 center:b=1 scale:b=1"},
    {"relay.attrs.LayerNormAttrs", "nn.layer_norm",
     "axis:i=-1 epsilon:f=1e-05 center:b=1 scale:b=1"},
    {"relay.attrs.GroupNormAttrs", "nn.group_norm",
     "num_groups:i=0 axis:i=1 epsilon:f=1e-05 center:b=1 scale:b=1"},
    {"relay.attrs.LRNAttrs", "nn.lrn", "size:i=5 axis:i=1 bias:f=2 alpha:f=0.0001 beta:f=0.75"},
    {"relay.attrs.L2NormalizeAttrs", "nn.l2_normalize", "eps:f axis:a=None"},
    {"relay.attrs.MaxPool1DAttrs", "nn.max_pool1d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCW out_layout:S "
     "ceil_mode:b=0"},
    {"relay.attrs.MaxPool2DAttrs", "nn.max_pool2d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCHW out_layout:S "
     "ceil_mode:b=0"},
    {"relay.attrs.MaxPool3DAttrs", "nn.max_pool3d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCDHW out_layout:S "
     "ceil_mode:b=0"},
    {"relay.attrs.AvgPool1DAttrs", "nn.avg_pool1d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCW out_layout:S "
     "ceil_mode:b=0 count_include_pad:b=0"},
    {"relay.attrs.AvgPool2DAttrs", "nn.avg_pool2d qnn.avg_pool2d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCHW out_layout:S "
     "ceil_mode:b=0 count_include_pad:b=0"},
    {"relay.attrs.AvgPool3DAttrs", "nn.avg_pool3d",
     "pool_size:a=None strides:a=None dilation:a=None padding:a=None layout:s=NCDHW out_layout:S "
     "ceil_mode:b=0 count_include_pad:b=0"},
    {"relay.attrs.GlobalPool2DAttrs", "nn.global_max_pool2d nn.global_avg_pool2d",
     "layout:s=NCHW out_layout:S"},
    {"relay.attrs.AdaptivePool1DAttrs", "nn.adaptive_max_pool1d nn.adaptive_avg_pool1d",
     "output_size:a=None layout:s=NCW out_layout:S"},
    {"relay.attrs.AdaptivePool2DAttrs",
     "nn.adaptive_max_pool2d nn.adaptive_avg_pool2d contrib.adaptive_max_pool2d "
     "contrib.adaptive_avg_pool2d",
     "output_size:a=None layout:s=NCHW out_layout:S"},
    {"relay.attrs.AdaptivePool3DAttrs", "nn.adaptive_max_pool3d nn.adaptive_avg_pool3d",
     "output_size:a=None layout:s=NCDHW out_layout:S"},
    {"relay.attrs.SoftmaxAttrs", "nn.softmax nn.fast_softmax nn.log_softmax qnn.softmax",
     "axis:i=-1"},
    {"relay.attrs.LeakyReluAttrs", "nn.leaky_relu qnn.leaky_relu", "alpha:f=0.25"},
    {"relay.attrs.PReluAttrs", "nn.prelu", "axis:i=1"},
    {"relay.attrs.DropoutAttrs", "nn.dropout", "rate:f=0.5"},
    {"relay.attrs.PadAttrs", "nn.pad", "pad_value:f=0 pad_width:a=None pad_mode:S=constant"},
    {"relay.attrs.MirrorPadAttrs", "nn.mirror_pad", "mode:s=SYMMETRIC pad_width:a=None"},
    {"relay.attrs.UpSamplingAttrs", "nn.upsampling",
     "scale_h:f=1 scale_w:f=1 layout:s=NCHW method:s=nearest_neighbor align_corners:b=0"},
    {"relay.attrs.UpSampling3DAttrs", "nn.upsampling3d",
     "scale_d:f=1 scale_h:f=1 scale_w:f=1 layout:s=NCDHW method:s=nearest_neighbor "
     "coordinate_transformation_mode:s=half_pixel"},
    {"relay.attrs.SubPixelAttrs", "nn.depth_to_space nn.space_to_depth",
     "block_size:i=1 layout:s=NCHW mode:s=DCR"},
    {"relay.attrs.SpaceToBatchNDAttrs", "nn.space_to_batch_nd",
     "block_shape:a=None paddings:a=None pad_value:f=0"},
    {"relay.attrs.BatchToSpaceNDAttrs", "nn.batch_to_space_nd", "block_shape:a=None crops:a=None"},
    {"relay.attrs.NLLLossAttrs", "nn.nll_loss", "reduction:s=mean ignore_index:i=-100"},
    {"relay.attrs.ReduceAttrs", "sum prod mean max min all any logsumexp qnn.mean",
     "axis:a=None keepdims:b=0 exclude:b=0"},
    {"relay.attrs.ArgReduceAttrs", "argmax argmin",
     "axis:a=None keepdims:b=0 select_last_index:b=0 exclude:b=0"},
    {"relay.attrs.VarianceAttrs", "variance", "axis:a=None keepdims:b=0 exclude:b=0 unbiased:b=0"},
    {"relay.attrs.CastAttrs", "cast reinterpret", "dtype:t"},
    {"relay.attrs.CastHintAttrs", "annotation.cast_hint", "dtype:t"},
    {"relay.attrs.ClipAttrs", "clip", "a_min:f a_max:f"},
    {"relay.attrs.ExpandDimsAttrs", "expand_dims", "axis:i num_newaxis:i=1"},
    {"relay.attrs.DynExpandDimsAttrs", "dyn.expand_dims", "num_newaxis:i=1"},
    {"relay.attrs.ConcatenateAttrs", "concatenate qnn.concatenate", "axis:i=0"},
    {"relay.attrs.StackAttrs", "stack", "axis:e=0"},
    {"relay.attrs.TransposeAttrs", "transpose", "axes:a=None"},
    {"relay.attrs.ReshapeAttrs", "reshape dyn.reshape contrib_reverse_reshape",
     "newshape:a=None allowzero:b=0"},
    {"relay.attrs.ReshapeLikeAttrs", "reshape_like",
     "lhs_begin:i=0 lhs_end:e=None rhs_begin:i=0 rhs_end:e=None"},
    {"relay.attrs.SqueezeAttrs", "squeeze", "axis:a=None"},
    {"relay.attrs.SplitAttrs", "split", "indices_or_sections:a=1 axis:i=0"},
    {"relay.attrs.StridedSliceAttrs", "strided_slice",
     "begin:a=None end:a=None strides:a=None slice_mode:S=end axes:a=None"},
    {"relay.attrs.StridedSliceAttrs", "dyn.strided_slice",
     "begin:a=None end:a=None strides:a=None slice_mode:S=end axes:a=None"},
    {"relay.attrs.SliceLikeAttrs", "slice_like", "axes:a=None"},
    {"relay.attrs.TakeAttrs", "take", "batch_dims:e=0 axis:e=None mode:S=clip"},
    {"relay.attrs.GatherAttrs", "gather", "axis:e=None"},
    {"relay.attrs.GatherNDAttrs", "gather_nd", "batch_dims:e=0 index_rank:e=None"},
    {"relay.attrs.ScatterAttrs", "scatter", "axis:e=0"},
    {"relay.attrs.ScatterAddAttrs", "scatter_add", "axis:e=0"},
    {"relay.attrs.ScatterElementsAttrs", "scatter_elements", "axis:e=0 reduction:S=update"},
    {"relay.attrs.ScatterNDAttrs", "scatter_nd", "mode:S=update"},
    {"relay.attrs.TileAttrs", "tile", "reps:a=None"},
    {"relay.attrs.RepeatAttrs", "repeat", "repeats:e=1 axis:e=None"},
    {"relay.attrs.ReverseAttrs", "reverse", "axis:e=None"},
    {"relay.attrs.ReverseSequenceAttrs", "reverse_sequence", "seq_axis:e=1 batch_axis:e=0"},
    {"relay.attrs.InitOpAttrs",
     "full full_like zeros ones broadcast_to dyn.full dyn.zeros dyn.ones dyn.broadcast_to",
     "shape:a=None dtype:t"},
    {"relay.attrs.ArangeAttrs", "arange", "start:e=None stop:e=None step:e=None dtype:t"},
    {"relay.attrs.MeshgridAttrs", "meshgrid", "indexing:s=ij"},
    {"relay.attrs.OneHotAttrs", "one_hot dyn.one_hot", "depth:i=0 axis:i=-1 dtype:t"},
    {"relay.attrs.ShapeOfAttrs", "shape_of", "dtype:t"},
    {"relay.attrs.NdarraySizeAttrs", "ndarray_size", "dtype:t"},
    {"relay.attrs.SequenceMaskAttrs", "sequence_mask", "mask_value:f=0 axis:i=0"},
    {"relay.attrs.SparseToDenseAttrs", "sparse_to_dense", "output_shape:a=None"},
    {"relay.attrs.MatrixSetDiagAttrs", "matrix_set_diag",
     "k1:i=0 k2:i=0 super_diag_right_align:b=1 sub_diag_right_align:b=0"},
    {"relay.attrs.CumsumAttrs", "cumsum cumprod", "axis:e=None dtype:t exclusive:e=0"},
    {"relay.attrs.ScanopAttrs", "", "axis:e=None dtype:t exclusive:e=0"},
    {"relay.attrs.TriluAttrs", "trilu", "upper:b=1"},
    {"relay.attrs.EinsumAttrs", "einsum", "equation:S"},
    {"relay.attrs.LayoutTransformAttrs", "layout_transform", "src_layout:s dst_layout:s"},
    {"relay.attrs.TopKAttrs", "topk",
     "k:e=1 axis:i=-1 ret_type:s=both is_ascend:b=0 dtype:t=int32"},
    {"relay.attrs.TopkAttrs", "dyn.topk",
     "k:e=None axis:i=-1 ret_type:s=both is_ascend:b=0 dtype:t=int32"},
    {"relay.attrs.ArgsortAttrs", "argsort sort", "axis:i=-1 is_ascend:b=1 dtype:t=int32"},
    {"relay.attrs.UniqueAttrs", "unique", "sorted:b=1 return_counts:b=0"},
    {"relay.attrs.FixedPointMultiplyAttrs", "fixed_point_multiply", "multiplier:i shift:i"},
    {"relay.attrs.ResizeAttrs", "image.resize",
     "size:a=None layout:s=NCHW method:s=bilinear coordinate_transformation_mode:s=half_pixel "
     "rounding_method:s bicubic_alpha:f=-0.5 bicubic_exclude:i=0 align_corners:b out_dtype:t"},
    {"relay.attrs.Resize1DAttrs", "image.resize1d",
     "size:a=None roi:A=None layout:s=NCW method:s=linear "
     "coordinate_transformation_mode:s=half_pixel rounding_method:s cubic_alpha:f=-0.5 "
     "cubic_exclude:i=0 extrapolation_value:f=0 out_dtype:t"},
    {"relay.attrs.Resize2DAttrs", "image.resize2d dyn.image.resize2d",
     "size:a=None roi:A=None layout:s=NCHW method:s=linear "
     "coordinate_transformation_mode:s=half_pixel rounding_method:s cubic_alpha:f=-0.5 "
     "cubic_exclude:i=0 extrapolation_value:f=0 out_dtype:t"},
    {"relay.attrs.Resize3DAttrs", "image.resize3d",
     "size:a=None roi:A=None layout:s=NCDHW method:s=linear "
     "coordinate_transformation_mode:s=half_pixel rounding_method:s cubic_alpha:f=-0.5 "
     "cubic_exclude:i=0 extrapolation_value:f=0 out_dtype:t"},
    {"relay.attrs.CropAndResizeAttrs", "image.crop_and_resize",
     "crop_size:a=None layout:s=NCHW method:s=bilinear extrapolation_value:f=0 out_dtype:t"},
    {"relay.attrs.AffineGridAttrs", "image.affine_grid", "target_shape:a=None"},
    {"relay.attrs.GridSampleAttrs", "image.grid_sample",
     "method:S=bilinear layout:S=NCHW padding_mode:S=zeros align_corners:b=1"},
    {"relay.attrs.MultiBoxPriorAttrs", "vision.multibox_prior",
     "sizes:A=None ratios:A=None steps:A=None offsets:A=None clip:b=0"},
    {"relay.attrs.MultiBoxTransformLocAttrs", "vision.multibox_transform_loc",
     "clip:b=1 threshold:f=0.01 variances:A=None keep_background:b=0"},
    {"relay.attrs.GetValidCountsAttrs", "vision.get_valid_counts",
     "score_threshold:E=0 id_index:i=0 score_index:i=1"},
    {"relay.attrs.NonMaximumSuppressionAttrs", "vision.non_max_suppression",
     "max_output_size:e=-1 iou_threshold:E=0.5 force_suppress:b=0 top_k:i=-1 coord_start:i=2 "
     "score_index:i=1 id_index:i=0 return_indices:b=1 invalid_to_bottom:b=0"},
    {"relay.attrs.AllClassNonMaximumSuppressionAttrs", "vision.all_class_non_max_suppression",
     "output_format:s=onnx"},
    {"relay.attrs.ROIAlignAttrs", "vision.roi_align",
     "pooled_size:a=None spatial_scale:f=1 sample_ratio:i=-1 layout:s=NCHW mode:s=avg"},
    {"relay.attrs.ROIPoolAttrs", "vision.roi_pool",
     "pooled_size:a=None spatial_scale:f=1 layout:s=NCHW"},
    {"relay.attrs.YoloReorgAttrs", "vision.yolo_reorg", "stride:e=1"},
    {"relay.attrs.ProposalAttrs", "vision.proposal",
     "scales:A=None ratios:A=None feature_stride:i=16 threshold:f=0.7 rpn_pre_nms_top_n:i=6000 "
     "rpn_post_nms_top_n:i=300 rpn_min_size:i=16 iou_loss:b=0"},
    {"relay.attrs.QuantizeAttrs", "qnn.quantize", "out_dtype:t=int8 axis:i=-1"},
    {"relay.attrs.DequantizeAttrs", "qnn.dequantize", "out_dtype:t=float32 axis:i=-1"},
    {"relay.attrs.RequantizeAttrs", "qnn.requantize",
     "axis:i=-1 rounding:s=None compute_dtype:s=None out_dtype:t=int8"},
    {"relay.qnn.attrs.RequantizeAttrs", "",
     "axis:i=-1 rounding:s=None compute_dtype:s=None out_dtype:t=int8"},
    {"relay.attrs.SimulatedQuantizeAttrs", "", "axis:i=-1"},
    {"relay.attrs.BroadcastAttrs", "qnn.add qnn.subtract qnn.mul qnn.mul_requantize",
     "lhs_axis:i=-1 rhs_axis:i=-1"},
    {"relay.attrs.OnDeviceAttrs", "",
     "device_type:i=0 virtual_device:e=None constrain_result:b=0 constrain_body:b=1"},
    {"relay.attrs.CompilerAttrs", "", "compiler:s"},
    {"relay.attrs.DeviceCopyAttrs", "", "src_dev_type:i=0 dst_dev_type:i=0"},
};

constexpr std::string_view kTakeTuples[] = {"concatenate", "stack",     "einsum",
                                            "meshgrid",    "adv_index", "qnn.concatenate"};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    if (space != 0) words.push_back(text.substr(0, space));
    if (space == text.npos) break;
    text.remove_prefix(space + 1);
  }
  return words;
}

struct AttrTable {
  absl::flat_hash_map<std::string_view, AttrRecord> records;
  absl::flat_hash_map<std::string_view, std::string_view> of_op;

  AttrTable() {
    for (const RecordRow& row : kRecords) {
      AttrRecord& record = records[row.type_key];
      record.type_key = row.type_key;
      for (const std::string_view op : Words(row.ops)) of_op[op] = row.type_key;
      if (!record.fields.empty()) continue;
      for (const std::string_view word : Words(row.fields)) {
        const size_t colon = word.find(':'), equals = word.find('=');
        record.fields.push_back({word.substr(0, colon), word[colon + 1],
                                 equals == word.npos ? "" : word.substr(equals + 1)});
      }
    }
  }
};
const AttrTable& Table() {
  static const auto& table = *new AttrTable();
  return table;
}

// "[2, 4]" has three parts, "3" as well.
int64_t PartsOf(const RelayAttrs& attrs) {
  for (const auto& [name, text] : attrs) {
    if (name != "indices_or_sections") continue;
    const auto numbers = nnvm::ParseTuple(text);
    if (!numbers) return -1;
    if (text.find_first_of("[(") != text.npos) return static_cast<int64_t>(numbers->size()) + 1;
    if (numbers->size() == 1 && (*numbers)[0] > 0 && (*numbers)[0] <= (1 << 20)) {
      return (*numbers)[0];
    }
  }
  return -1;
}

}  // namespace

bool AttrField::IsFallback(std::string_view text) const {
  const auto flag = [](std::string_view t) { return t == "True" || t == "true" || t == "1"; };
  if (kind == 'b') return !fallback.empty() && flag(text) == flag(fallback);
  if (text == fallback) return true;
  if (kind == 't') return text.empty() || text == "void" ? fallback.empty() : false;
  const auto x = ParseNumber<double>(text), y = ParseNumber<double>(fallback);
  return (kind == 'f' || kind == 'E') && x && y && *x == *y;
}

const AttrField* AttrRecord::Find(std::string_view name) const {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const AttrField& field) { return field.name == name; });
  return it == fields.end() ? nullptr : &*it;
}

const AttrRecord* FindAttrRecord(std::string_view type_key) {
  const auto it = Table().records.find(type_key);
  return it == Table().records.end() ? nullptr : &it->second;
}

const AttrRecord* AttrRecordOf(std::string_view op) {
  const auto it = Table().of_op.find(op);
  return it == Table().of_op.end() ? nullptr : FindAttrRecord(it->second);
}

bool IsAttrOfSchedules(std::string_view name) {
  return name == "auto_scheduler_rewritten_layout" || name == "meta_schedule_original_shape" ||
         name == "schedule_rule" || name == "span";
}

bool TakesTuple(std::string_view op) {
  return std::find(std::begin(kTakeTuples), std::end(kTakeTuples), op) != std::end(kTakeTuples);
}

int64_t TupleSizeOf(std::string_view op, const RelayAttrs& attrs, size_t operands) {
  const auto says = [&](std::string_view attr, std::initializer_list<std::string_view> texts) {
    for (const auto& [name, text] : attrs) {
      if (name == attr) return std::find(texts.begin(), texts.end(), text) != texts.end();
    }
    return false;
  };
  if (op == "split") return PartsOf(attrs);
  if (op == "nn.batch_norm" || op == "vision.get_valid_counts") return 3;
  if (op == "nn.dropout" || op == "vision.multibox_transform_loc") return 2;
  if (op == "topk" || op == "dyn.topk") {
    return says("ret_type", {"values", "indices"}) ? 0 : 2;
  }
  if (op == "meshgrid") return static_cast<int64_t>(operands);
  if (op == "unique") return says("return_counts", {"True", "1", "true"}) ? 5 : 4;
  if (op == "vision.all_class_non_max_suppression") {
    return says("output_format", {"tensorflow"}) ? 3 : 2;
  }
  if (op == "vision.non_max_suppression") {
    return says("return_indices", {"False", "0", "false"}) ? 0 : 2;
  }
  return 0;
}

}  // namespace relay
}  // namespace x2ir
