// Tables of Caffe's messages: those of BVLC's caffe.proto, and parameters of layers that other
// branches added (SSD's, segmentation's, detectors'). The numbers of these differ from branch to
// branch; here they are only between the text and what reads it, for of binary files nothing but
// names and weights is read.
#include "x2ir/formats/caffe/caffe_internal.h"

namespace x2ir::caffe {
namespace {

struct EnumName {
  std::string_view name;
  int64_t number;
};
template <const auto& kNames>
constexpr ProtoEnum EnumOf() {
  return {[](std::string_view name) -> std::optional<int64_t> {
            for (const EnumName& row : kNames) {
              if (row.name == name) return row.number;
            }
            return std::nullopt;
          },
          [](int64_t number) -> std::string_view {
            for (const EnumName& row : kNames) {
              if (row.number == number) return row.name;
            }
            return {};
          }};
}

using FieldName = std::string_view;
constexpr ProtoField I(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kInt32};
}
constexpr ProtoField U(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kUInt32};
}
constexpr ProtoField L(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kInt64};
}
constexpr ProtoField B(FieldName name, uint32_t number) { return {name, number, ProtoKind::kBool}; }
constexpr ProtoField F(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kFloat};
}
constexpr ProtoField D(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kDouble};
}
constexpr ProtoField S(FieldName name, uint32_t number) {
  return {name, number, ProtoKind::kString};
}
constexpr ProtoField E(FieldName name, uint32_t number, const ProtoEnum* values) {
  return {name, number, ProtoKind::kEnum, nullptr, values};
}
constexpr ProtoField M(FieldName name, uint32_t number, const ProtoMessage* message) {
  return {name, number, ProtoKind::kMessage, message};
}
constexpr ProtoField Many(ProtoField field) {
  field.rule = ProtoRule::kMany;
  return field;
}

constexpr EnumName kPhaseNames[] = {{"TRAIN", 0}, {"TEST", 1}};
constexpr ProtoEnum kPhase = EnumOf<kPhaseNames>();
constexpr EnumName kParamSpecDimCheckModeNames[] = {{"STRICT", 0}, {"PERMISSIVE", 1}};
constexpr ProtoEnum kParamSpecDimCheckMode = EnumOf<kParamSpecDimCheckModeNames>();
constexpr EnumName kLossNormalizationModeNames[] = {
    {"FULL", 0}, {"VALID", 1}, {"BATCH_SIZE", 2}, {"NONE", 3}};
constexpr ProtoEnum kLossNormalizationMode = EnumOf<kLossNormalizationModeNames>();
constexpr EnumName kFillerVarianceNormNames[] = {{"FAN_IN", 0}, {"FAN_OUT", 1}, {"AVERAGE", 2}};
constexpr ProtoEnum kFillerVarianceNorm = EnumOf<kFillerVarianceNormNames>();
constexpr EnumName kConvolutionEngineNames[] = {{"DEFAULT", 0}, {"CAFFE", 1}, {"CUDNN", 2}};
constexpr ProtoEnum kConvolutionEngine = EnumOf<kConvolutionEngineNames>();
constexpr EnumName kDataDBNames[] = {{"LEVELDB", 0}, {"LMDB", 1}};
constexpr ProtoEnum kDataDB = EnumOf<kDataDBNames>();
constexpr EnumName kEltwiseEltwiseOpNames[] = {{"PROD", 0}, {"SUM", 1}, {"MAX", 2}};
constexpr ProtoEnum kEltwiseEltwiseOp = EnumOf<kEltwiseEltwiseOpNames>();
constexpr EnumName kHingeLossNormNames[] = {{"L1", 1}, {"L2", 2}};
constexpr ProtoEnum kHingeLossNorm = EnumOf<kHingeLossNormNames>();
constexpr EnumName kLRNNormRegionNames[] = {{"ACROSS_CHANNELS", 0}, {"WITHIN_CHANNEL", 1}};
constexpr ProtoEnum kLRNNormRegion = EnumOf<kLRNNormRegionNames>();
constexpr EnumName kPoolingPoolMethodNames[] = {{"MAX", 0}, {"AVE", 1}, {"STOCHASTIC", 2}};
constexpr ProtoEnum kPoolingPoolMethod = EnumOf<kPoolingPoolMethodNames>();
constexpr EnumName kPoolingRoundModeNames[] = {{"CEIL", 0}, {"FLOOR", 1}};
constexpr ProtoEnum kPoolingRoundMode = EnumOf<kPoolingRoundModeNames>();
constexpr EnumName kReductionReductionOpNames[] = {
    {"SUM", 1}, {"ASUM", 2}, {"SUMSQ", 3}, {"MEAN", 4}};
constexpr ProtoEnum kReductionReductionOp = EnumOf<kReductionReductionOpNames>();
constexpr EnumName kPriorBoxCodeTypeNames[] = {
    {"CORNER", 1}, {"CENTER_SIZE", 2}, {"CORNER_SIZE", 3}};
constexpr ProtoEnum kPriorBoxCodeType = EnumOf<kPriorBoxCodeTypeNames>();
constexpr EnumName kV1LayerLayerTypeNames[] = {{"NONE", 0},
                                               {"ABSVAL", 35},
                                               {"ACCURACY", 1},
                                               {"ARGMAX", 30},
                                               {"BNLL", 2},
                                               {"CONCAT", 3},
                                               {"CONTRASTIVE_LOSS", 37},
                                               {"CONVOLUTION", 4},
                                               {"DATA", 5},
                                               {"DECONVOLUTION", 39},
                                               {"DROPOUT", 6},
                                               {"DUMMY_DATA", 32},
                                               {"EUCLIDEAN_LOSS", 7},
                                               {"ELTWISE", 25},
                                               {"EXP", 38},
                                               {"FLATTEN", 8},
                                               {"HDF5_DATA", 9},
                                               {"HDF5_OUTPUT", 10},
                                               {"HINGE_LOSS", 28},
                                               {"IM2COL", 11},
                                               {"IMAGE_DATA", 12},
                                               {"INFOGAIN_LOSS", 13},
                                               {"INNER_PRODUCT", 14},
                                               {"LRN", 15},
                                               {"MEMORY_DATA", 29},
                                               {"MULTINOMIAL_LOGISTIC_LOSS", 16},
                                               {"MVN", 34},
                                               {"POOLING", 17},
                                               {"POWER", 26},
                                               {"RELU", 18},
                                               {"SIGMOID", 19},
                                               {"SIGMOID_CROSS_ENTROPY_LOSS", 27},
                                               {"SILENCE", 36},
                                               {"SOFTMAX", 20},
                                               {"SOFTMAX_LOSS", 21},
                                               {"SPLIT", 22},
                                               {"SLICE", 33},
                                               {"TANH", 23},
                                               {"WINDOW_DATA", 24},
                                               {"THRESHOLD", 31}};
constexpr ProtoEnum kV1LayerLayerType = EnumOf<kV1LayerLayerTypeNames>();
constexpr ProtoField kBlobShapeFields[] = {Many(L("dim", 1))};
constexpr ProtoMessage kBlobShape = {"BlobShape", kBlobShapeFields};
constexpr ProtoField kNetStateFields[] = {E("phase", 1, &kPhase), I("level", 2),
                                          Many(S("stage", 3))};
constexpr ProtoMessage kNetState = {"NetState", kNetStateFields};
constexpr ProtoField kParamSpecFields[] = {
    S("name", 1), E("share_mode", 2, &kParamSpecDimCheckMode), F("lr_mult", 3), F("decay_mult", 4)};
constexpr ProtoMessage kParamSpec = {"ParamSpec", kParamSpecFields};
constexpr ProtoField kBlobProtoFields[] = {M("shape", 7, &kBlobShape),
                                           Many(F("data", 5)),
                                           Many(F("diff", 6)),
                                           Many(D("double_data", 8)),
                                           Many(D("double_diff", 9)),
                                           I("num", 1),
                                           I("channels", 2),
                                           I("height", 3),
                                           I("width", 4)};
constexpr ProtoMessage kBlobProto = {"BlobProto", kBlobProtoFields};
constexpr ProtoField kNetStateRuleFields[] = {E("phase", 1, &kPhase), I("min_level", 2),
                                              I("max_level", 3), Many(S("stage", 4)),
                                              Many(S("not_stage", 5))};
constexpr ProtoMessage kNetStateRule = {"NetStateRule", kNetStateRuleFields};
constexpr ProtoField kResizeFields[] = {F("prob", 1), I("resize_mode", 2), U("height", 3),
                                        U("width", 4)};
constexpr ProtoMessage kResize = {"ResizeParameter", kResizeFields};
constexpr ProtoField kTransformationFields[] = {F("scale", 1),
                                                B("mirror", 2),
                                                U("crop_size", 3),
                                                S("mean_file", 4),
                                                Many(F("mean_value", 5)),
                                                B("force_color", 6),
                                                B("force_gray", 7),
                                                M("resize_param", 8, &kResize)};
constexpr ProtoMessage kTransformation = {"TransformationParameter", kTransformationFields};
constexpr ProtoField kLossFields[] = {
    I("ignore_label", 1), E("normalization", 3, &kLossNormalizationMode), B("normalize", 2)};
constexpr ProtoMessage kLoss = {"LossParameter", kLossFields};
constexpr ProtoField kAccuracyFields[] = {U("top_k", 1), I("axis", 2), I("ignore_label", 3)};
constexpr ProtoMessage kAccuracy = {"AccuracyParameter", kAccuracyFields};
constexpr ProtoField kArgMaxFields[] = {B("out_max_val", 1), U("top_k", 2), I("axis", 3)};
constexpr ProtoMessage kArgMax = {"ArgMaxParameter", kArgMaxFields};
constexpr ProtoField kBatchNormFields[] = {B("use_global_stats", 1),
                                           F("moving_average_fraction", 2), F("eps", 3)};
constexpr ProtoMessage kBatchNorm = {"BatchNormParameter", kBatchNormFields};
constexpr ProtoField kFillerFields[] = {
    S("type", 1), F("value", 2), F("min", 3),    F("max", 4),
    F("mean", 5), F("std", 6),   I("sparse", 7), E("variance_norm", 8, &kFillerVarianceNorm)};
constexpr ProtoMessage kFiller = {"FillerParameter", kFillerFields};
constexpr ProtoField kBiasFields[] = {I("axis", 1), I("num_axes", 2), M("filler", 3, &kFiller)};
constexpr ProtoMessage kBias = {"BiasParameter", kBiasFields};
constexpr ProtoField kClipFields[] = {F("min", 1), F("max", 2)};
constexpr ProtoMessage kClip = {"ClipParameter", kClipFields};
constexpr ProtoField kConcatFields[] = {I("axis", 2), U("concat_dim", 1)};
constexpr ProtoMessage kConcat = {"ConcatParameter", kConcatFields};
constexpr ProtoField kContrastiveLossFields[] = {F("margin", 1), B("legacy_version", 2)};
constexpr ProtoMessage kContrastiveLoss = {"ContrastiveLossParameter", kContrastiveLossFields};
constexpr ProtoField kConvolutionFields[] = {U("num_output", 1),
                                             B("bias_term", 2),
                                             Many(U("pad", 3)),
                                             Many(U("kernel_size", 4)),
                                             Many(U("stride", 6)),
                                             Many(U("dilation", 18)),
                                             U("pad_h", 9),
                                             U("pad_w", 10),
                                             U("kernel_h", 11),
                                             U("kernel_w", 12),
                                             U("stride_h", 13),
                                             U("stride_w", 14),
                                             U("group", 5),
                                             M("weight_filler", 7, &kFiller),
                                             M("bias_filler", 8, &kFiller),
                                             E("engine", 15, &kConvolutionEngine),
                                             I("axis", 16),
                                             B("force_nd_im2col", 17)};
constexpr ProtoMessage kConvolution = {"ConvolutionParameter", kConvolutionFields};
constexpr ProtoField kCropFields[] = {I("axis", 1), Many(U("offset", 2))};
constexpr ProtoMessage kCrop = {"CropParameter", kCropFields};
constexpr ProtoField kDataFields[] = {S("source", 1),
                                      U("batch_size", 4),
                                      U("rand_skip", 7),
                                      E("backend", 8, &kDataDB),
                                      F("scale", 2),
                                      S("mean_file", 3),
                                      U("crop_size", 5),
                                      B("mirror", 6),
                                      B("force_encoded_color", 9),
                                      U("prefetch", 10)};
constexpr ProtoMessage kData = {"DataParameter", kDataFields};
constexpr ProtoField kDropoutFields[] = {F("dropout_ratio", 1), B("scale_train", 2)};
constexpr ProtoMessage kDropout = {"DropoutParameter", kDropoutFields};
constexpr ProtoField kDummyDataFields[] = {Many(M("data_filler", 1, &kFiller)),
                                           Many(M("shape", 6, &kBlobShape)),
                                           Many(U("num", 2)),
                                           Many(U("channels", 3)),
                                           Many(U("height", 4)),
                                           Many(U("width", 5))};
constexpr ProtoMessage kDummyData = {"DummyDataParameter", kDummyDataFields};
constexpr ProtoField kEltwiseFields[] = {E("operation", 1, &kEltwiseEltwiseOp), Many(F("coeff", 2)),
                                         B("stable_prod_grad", 3)};
constexpr ProtoMessage kEltwise = {"EltwiseParameter", kEltwiseFields};
constexpr ProtoField kELUFields[] = {F("alpha", 1)};
constexpr ProtoMessage kELU = {"ELUParameter", kELUFields};
constexpr ProtoField kEmbedFields[] = {U("num_output", 1), U("input_dim", 2), B("bias_term", 3),
                                       M("weight_filler", 4, &kFiller),
                                       M("bias_filler", 5, &kFiller)};
constexpr ProtoMessage kEmbed = {"EmbedParameter", kEmbedFields};
constexpr ProtoField kExpFields[] = {F("base", 1), F("scale", 2), F("shift", 3)};
constexpr ProtoMessage kExp = {"ExpParameter", kExpFields};
constexpr ProtoField kFlattenFields[] = {I("axis", 1), I("end_axis", 2)};
constexpr ProtoMessage kFlatten = {"FlattenParameter", kFlattenFields};
constexpr ProtoField kHDF5DataFields[] = {S("source", 1), U("batch_size", 2), B("shuffle", 3)};
constexpr ProtoMessage kHDF5Data = {"HDF5DataParameter", kHDF5DataFields};
constexpr ProtoField kHDF5OutputFields[] = {S("file_name", 1)};
constexpr ProtoMessage kHDF5Output = {"HDF5OutputParameter", kHDF5OutputFields};
constexpr ProtoField kHingeLossFields[] = {E("norm", 1, &kHingeLossNorm)};
constexpr ProtoMessage kHingeLoss = {"HingeLossParameter", kHingeLossFields};
constexpr ProtoField kImageDataFields[] = {
    S("source", 1),     U("batch_size", 4), U("rand_skip", 7), B("shuffle", 8),
    U("new_height", 9), U("new_width", 10), B("is_color", 11), F("scale", 2),
    S("mean_file", 3),  U("crop_size", 5),  B("mirror", 6),    S("root_folder", 12)};
constexpr ProtoMessage kImageData = {"ImageDataParameter", kImageDataFields};
constexpr ProtoField kInfogainLossFields[] = {S("source", 1), I("axis", 2)};
constexpr ProtoMessage kInfogainLoss = {"InfogainLossParameter", kInfogainLossFields};
constexpr ProtoField kInnerProductFields[] = {U("num_output", 1),
                                              B("bias_term", 2),
                                              M("weight_filler", 3, &kFiller),
                                              M("bias_filler", 4, &kFiller),
                                              I("axis", 5),
                                              B("transpose", 6)};
constexpr ProtoMessage kInnerProduct = {"InnerProductParameter", kInnerProductFields};
constexpr ProtoField kInputFields[] = {Many(M("shape", 1, &kBlobShape))};
constexpr ProtoMessage kInput = {"InputParameter", kInputFields};
constexpr ProtoField kLogFields[] = {F("base", 1), F("scale", 2), F("shift", 3)};
constexpr ProtoMessage kLog = {"LogParameter", kLogFields};
constexpr ProtoField kLRNFields[] = {U("local_size", 1), F("alpha", 2),
                                     F("beta", 3),       E("norm_region", 4, &kLRNNormRegion),
                                     F("k", 5),          E("engine", 6, &kConvolutionEngine)};
constexpr ProtoMessage kLRN = {"LRNParameter", kLRNFields};
constexpr ProtoField kMemoryDataFields[] = {U("batch_size", 1), U("channels", 2), U("height", 3),
                                            U("width", 4)};
constexpr ProtoMessage kMemoryData = {"MemoryDataParameter", kMemoryDataFields};
constexpr ProtoField kMVNFields[] = {B("normalize_variance", 1), B("across_channels", 2),
                                     F("eps", 3)};
constexpr ProtoMessage kMVN = {"MVNParameter", kMVNFields};
constexpr ProtoField kFields[] = {M("shape", 1, &kBlobShape)};
constexpr ProtoMessage k = {"ParameterParameter", kFields};
constexpr ProtoField kPoolingFields[] = {E("pool", 1, &kPoolingPoolMethod),
                                         U("pad", 4),
                                         U("pad_h", 9),
                                         U("pad_w", 10),
                                         U("kernel_size", 2),
                                         U("kernel_h", 5),
                                         U("kernel_w", 6),
                                         U("stride", 3),
                                         U("stride_h", 7),
                                         U("stride_w", 8),
                                         E("engine", 11, &kConvolutionEngine),
                                         B("global_pooling", 12),
                                         E("round_mode", 13, &kPoolingRoundMode)};
constexpr ProtoMessage kPooling = {"PoolingParameter", kPoolingFields};
constexpr ProtoField kPowerFields[] = {F("power", 1), F("scale", 2), F("shift", 3)};
constexpr ProtoMessage kPower = {"PowerParameter", kPowerFields};
constexpr ProtoField kPReLUFields[] = {M("filler", 1, &kFiller), B("channel_shared", 2)};
constexpr ProtoMessage kPReLU = {"PReLUParameter", kPReLUFields};
constexpr ProtoField kPythonFields[] = {S("module", 1), S("layer", 2), S("param_str", 3),
                                        B("share_in_parallel", 4)};
constexpr ProtoMessage kPython = {"PythonParameter", kPythonFields};
constexpr ProtoField kRecurrentFields[] = {U("num_output", 1), M("weight_filler", 2, &kFiller),
                                           M("bias_filler", 3, &kFiller), B("debug_info", 4),
                                           B("expose_hidden", 5)};
constexpr ProtoMessage kRecurrent = {"RecurrentParameter", kRecurrentFields};
constexpr ProtoField kReductionFields[] = {E("operation", 1, &kReductionReductionOp), I("axis", 2),
                                           F("coeff", 3)};
constexpr ProtoMessage kReduction = {"ReductionParameter", kReductionFields};
constexpr ProtoField kReLUFields[] = {F("negative_slope", 1), E("engine", 2, &kConvolutionEngine)};
constexpr ProtoMessage kReLU = {"ReLUParameter", kReLUFields};
constexpr ProtoField kReshapeFields[] = {M("shape", 1, &kBlobShape), I("axis", 2),
                                         I("num_axes", 3)};
constexpr ProtoMessage kReshape = {"ReshapeParameter", kReshapeFields};
constexpr ProtoField kScaleFields[] = {I("axis", 1), I("num_axes", 2), M("filler", 3, &kFiller),
                                       B("bias_term", 4), M("bias_filler", 5, &kFiller)};
constexpr ProtoMessage kScale = {"ScaleParameter", kScaleFields};
constexpr ProtoField kSigmoidFields[] = {E("engine", 1, &kConvolutionEngine)};
constexpr ProtoMessage kSigmoid = {"SigmoidParameter", kSigmoidFields};
constexpr ProtoField kSoftmaxFields[] = {E("engine", 1, &kConvolutionEngine), I("axis", 2)};
constexpr ProtoMessage kSoftmax = {"SoftmaxParameter", kSoftmaxFields};
constexpr ProtoField kSPPFields[] = {U("pyramid_height", 1), E("pool", 2, &kPoolingPoolMethod),
                                     E("engine", 6, &kConvolutionEngine)};
constexpr ProtoMessage kSPP = {"SPPParameter", kSPPFields};
constexpr ProtoField kSliceFields[] = {I("axis", 3), Many(U("slice_point", 2)), U("slice_dim", 1)};
constexpr ProtoMessage kSlice = {"SliceParameter", kSliceFields};
constexpr ProtoField kSwishFields[] = {F("beta", 1)};
constexpr ProtoMessage kSwish = {"SwishParameter", kSwishFields};
constexpr ProtoField kTanHFields[] = {E("engine", 1, &kConvolutionEngine)};
constexpr ProtoMessage kTanH = {"TanHParameter", kTanHFields};
constexpr ProtoField kThresholdFields[] = {F("threshold", 1)};
constexpr ProtoMessage kThreshold = {"ThresholdParameter", kThresholdFields};
constexpr ProtoField kTileFields[] = {I("axis", 1), I("tiles", 2)};
constexpr ProtoMessage kTile = {"TileParameter", kTileFields};
constexpr ProtoField kWindowDataFields[] = {
    S("source", 1),      F("scale", 2),        S("mean_file", 3),    U("batch_size", 4),
    U("crop_size", 5),   B("mirror", 6),       F("fg_threshold", 7), F("bg_threshold", 8),
    F("fg_fraction", 9), U("context_pad", 10), S("crop_mode", 11),   B("cache_images", 12),
    S("root_folder", 13)};
constexpr ProtoMessage kWindowData = {"WindowDataParameter", kWindowDataFields};
constexpr ProtoField kNormalizeFields[] = {B("across_spatial", 1), M("scale_filler", 2, &kFiller),
                                           B("channel_shared", 3), F("eps", 4)};
constexpr ProtoMessage kNormalize = {"NormalizeParameter", kNormalizeFields};
constexpr ProtoField kPermuteFields[] = {Many(U("order", 1))};
constexpr ProtoMessage kPermute = {"PermuteParameter", kPermuteFields};
constexpr ProtoField kPriorBoxFields[] = {
    Many(F("min_size", 1)), Many(F("max_size", 2)), Many(F("aspect_ratio", 3)),
    B("flip", 4),           B("clip", 5),           Many(F("variance", 6)),
    U("img_size", 7),       U("img_h", 8),          U("img_w", 9),
    F("step", 10),          F("step_h", 11),        F("step_w", 12),
    F("offset", 13)};
constexpr ProtoMessage kPriorBox = {"PriorBoxParameter", kPriorBoxFields};
constexpr ProtoField kNonMaximumSuppressionFields[] = {F("nms_threshold", 1), I("top_k", 2),
                                                       F("eta", 3)};
constexpr ProtoMessage kNonMaximumSuppression = {"NonMaximumSuppressionParameter",
                                                 kNonMaximumSuppressionFields};
constexpr ProtoField kSaveOutputFields[] = {
    S("output_directory", 1),      S("output_name_prefix", 2), S("output_format", 3),
    S("label_map_file", 4),        S("name_size_file", 5),     U("num_test_image", 6),
    M("resize_param", 7, &kResize)};
constexpr ProtoMessage kSaveOutput = {"SaveOutputParameter", kSaveOutputFields};
constexpr ProtoField kDetectionOutputFields[] = {U("num_classes", 1),
                                                 B("share_location", 2),
                                                 I("background_label_id", 3),
                                                 M("nms_param", 4, &kNonMaximumSuppression),
                                                 M("save_output_param", 5, &kSaveOutput),
                                                 E("code_type", 6, &kPriorBoxCodeType),
                                                 B("variance_encoded_in_target", 8),
                                                 I("keep_top_k", 7),
                                                 F("confidence_threshold", 9),
                                                 B("visualize", 10),
                                                 F("visualize_threshold", 11),
                                                 S("save_file", 12)};
constexpr ProtoMessage kDetectionOutput = {"DetectionOutputParameter", kDetectionOutputFields};
// PSPNet's (slope, bias, eps) and SegNet's (scale, shift, mode).
constexpr EnumName kBNModeNames[] = {{"LEARN", 0}, {"INFERENCE", 1}};
constexpr ProtoEnum kBNMode = EnumOf<kBNModeNames>();
constexpr ProtoField kBNFields[] = {M("slope_filler", 1, &kFiller),
                                    M("bias_filler", 2, &kFiller),
                                    F("momentum", 3),
                                    F("eps", 4),
                                    B("frozen", 5),
                                    E("engine", 6, &kConvolutionEngine),
                                    M("scale_filler", 7, &kFiller),
                                    M("shift_filler", 8, &kFiller),
                                    E("bn_mode", 9, &kBNMode)};
constexpr ProtoMessage kBN = {"BNParameter", kBNFields};
constexpr ProtoField kInterpFields[] = {I("height", 1),        I("width", 2),   I("zoom_factor", 3),
                                        I("shrink_factor", 4), I("pad_beg", 5), I("pad_end", 6)};
constexpr ProtoMessage kInterp = {"InterpParameter", kInterpFields};
constexpr ProtoField kUpsampleFields[] = {U("scale", 1),     U("scale_h", 2),   U("scale_w", 3),
                                          B("pad_out_h", 4), B("pad_out_w", 5), U("upsample_h", 6),
                                          U("upsample_w", 7)};
constexpr ProtoMessage kUpsample = {"UpsampleParameter", kUpsampleFields};
constexpr ProtoField kReorgFields[] = {U("stride", 1), B("reverse", 2)};
constexpr ProtoMessage kReorg = {"ReorgParameter", kReorgFields};
constexpr ProtoField kPSROIPoolingFields[] = {F("spatial_scale", 1), I("output_dim", 2),
                                              I("group_size", 3)};
constexpr ProtoMessage kPSROIPooling = {"PSROIPoolingParameter", kPSROIPoolingFields};
constexpr ProtoField kROIPoolingFields[] = {U("pooled_h", 1), U("pooled_w", 2),
                                            F("spatial_scale", 3)};
constexpr ProtoMessage kROIPooling = {"ROIPoolingParameter", kROIPoolingFields};
constexpr ProtoField kProposalFields[] = {
    U("feat_stride", 1), U("base_size", 2),    U("min_size", 3),      Many(F("ratio", 4)),
    Many(F("scale", 5)), U("pre_nms_topn", 6), U("post_nms_topn", 7), F("nms_thresh", 8)};
constexpr ProtoMessage kProposal = {"ProposalParameter", kProposalFields};
constexpr ProtoField kShuffleChannelFields[] = {U("group", 1)};
constexpr ProtoMessage kShuffleChannel = {"ShuffleChannelParameter", kShuffleChannelFields};
constexpr ProtoField kLayerFields[] = {S("name", 1),
                                       S("type", 2),
                                       Many(S("bottom", 3)),
                                       Many(S("top", 4)),
                                       E("phase", 10, &kPhase),
                                       Many(F("loss_weight", 5)),
                                       Many(M("param", 6, &kParamSpec)),
                                       Many(M("blobs", 7, &kBlobProto)),
                                       Many(B("propagate_down", 11)),
                                       Many(M("include", 8, &kNetStateRule)),
                                       Many(M("exclude", 9, &kNetStateRule)),
                                       M("transform_param", 100, &kTransformation),
                                       M("loss_param", 101, &kLoss),
                                       M("accuracy_param", 102, &kAccuracy),
                                       M("argmax_param", 103, &kArgMax),
                                       M("batch_norm_param", 139, &kBatchNorm),
                                       M("bias_param", 141, &kBias),
                                       M("clip_param", 148, &kClip),
                                       M("concat_param", 104, &kConcat),
                                       M("contrastive_loss_param", 105, &kContrastiveLoss),
                                       M("convolution_param", 106, &kConvolution),
                                       M("crop_param", 144, &kCrop),
                                       M("data_param", 107, &kData),
                                       M("dropout_param", 108, &kDropout),
                                       M("dummy_data_param", 109, &kDummyData),
                                       M("eltwise_param", 110, &kEltwise),
                                       M("elu_param", 140, &kELU),
                                       M("embed_param", 137, &kEmbed),
                                       M("exp_param", 111, &kExp),
                                       M("flatten_param", 135, &kFlatten),
                                       M("hdf5_data_param", 112, &kHDF5Data),
                                       M("hdf5_output_param", 113, &kHDF5Output),
                                       M("hinge_loss_param", 114, &kHingeLoss),
                                       M("image_data_param", 115, &kImageData),
                                       M("infogain_loss_param", 116, &kInfogainLoss),
                                       M("inner_product_param", 117, &kInnerProduct),
                                       M("input_param", 143, &kInput),
                                       M("log_param", 134, &kLog),
                                       M("lrn_param", 118, &kLRN),
                                       M("memory_data_param", 119, &kMemoryData),
                                       M("mvn_param", 120, &kMVN),
                                       M("parameter_param", 145, &k),
                                       M("pooling_param", 121, &kPooling),
                                       M("power_param", 122, &kPower),
                                       M("prelu_param", 131, &kPReLU),
                                       M("python_param", 130, &kPython),
                                       M("recurrent_param", 146, &kRecurrent),
                                       M("reduction_param", 136, &kReduction),
                                       M("relu_param", 123, &kReLU),
                                       M("reshape_param", 133, &kReshape),
                                       M("scale_param", 142, &kScale),
                                       M("sigmoid_param", 124, &kSigmoid),
                                       M("softmax_param", 125, &kSoftmax),
                                       M("spp_param", 132, &kSPP),
                                       M("slice_param", 126, &kSlice),
                                       M("swish_param", 147, &kSwish),
                                       M("tanh_param", 127, &kTanH),
                                       M("threshold_param", 128, &kThreshold),
                                       M("tile_param", 138, &kTile),
                                       M("window_data_param", 129, &kWindowData),
                                       M("norm_param", 3000, &kNormalize),
                                       M("permute_param", 3001, &kPermute),
                                       M("prior_box_param", 3002, &kPriorBox),
                                       M("detection_output_param", 3003, &kDetectionOutput),
                                       M("interp_param", 3004, &kInterp),
                                       M("upsample_param", 3005, &kUpsample),
                                       M("reorg_param", 3006, &kReorg),
                                       M("psroi_pooling_param", 3007, &kPSROIPooling),
                                       M("roi_pooling_param", 3008, &kROIPooling),
                                       M("proposal_param", 3009, &kProposal),
                                       M("shuffle_channel_param", 3010, &kShuffleChannel),
                                       M("bn_param", 3011, &kBN)};
constexpr ProtoMessage kLayer = {"LayerParameter", kLayerFields};
constexpr ProtoField kV0LayerFields[] = {S("name", 1),
                                         S("type", 2),
                                         U("num_output", 3),
                                         B("biasterm", 4),
                                         M("weight_filler", 5, &kFiller),
                                         M("bias_filler", 6, &kFiller),
                                         U("pad", 7),
                                         U("kernelsize", 8),
                                         U("group", 9),
                                         U("stride", 10),
                                         E("pool", 11, &kPoolingPoolMethod),
                                         F("dropout_ratio", 12),
                                         U("local_size", 13),
                                         F("alpha", 14),
                                         F("beta", 15),
                                         F("k", 22),
                                         S("source", 16),
                                         F("scale", 17),
                                         S("meanfile", 18),
                                         U("batchsize", 19),
                                         U("cropsize", 20),
                                         B("mirror", 21),
                                         Many(M("blobs", 50, &kBlobProto)),
                                         Many(F("blobs_lr", 51)),
                                         Many(F("weight_decay", 52)),
                                         U("rand_skip", 53),
                                         F("det_fg_threshold", 54),
                                         F("det_bg_threshold", 55),
                                         F("det_fg_fraction", 56),
                                         U("det_context_pad", 58),
                                         S("det_crop_mode", 59),
                                         I("new_num", 60),
                                         I("new_channels", 61),
                                         I("new_height", 62),
                                         I("new_width", 63),
                                         B("shuffle_images", 64),
                                         U("concat_dim", 65),
                                         M("hdf5_output_param", 1001, &kHDF5Output)};
constexpr ProtoMessage kV0Layer = {"V0LayerParameter", kV0LayerFields};
constexpr ProtoField kV1LayerFields[] = {Many(S("bottom", 2)),
                                         Many(S("top", 3)),
                                         S("name", 4),
                                         Many(M("include", 32, &kNetStateRule)),
                                         Many(M("exclude", 33, &kNetStateRule)),
                                         E("type", 5, &kV1LayerLayerType),
                                         Many(M("blobs", 6, &kBlobProto)),
                                         Many(S("param", 1001)),
                                         Many(E("blob_share_mode", 1002, &kParamSpecDimCheckMode)),
                                         Many(F("blobs_lr", 7)),
                                         Many(F("weight_decay", 8)),
                                         Many(F("loss_weight", 35)),
                                         M("accuracy_param", 27, &kAccuracy),
                                         M("argmax_param", 23, &kArgMax),
                                         M("concat_param", 9, &kConcat),
                                         M("contrastive_loss_param", 40, &kContrastiveLoss),
                                         M("convolution_param", 10, &kConvolution),
                                         M("data_param", 11, &kData),
                                         M("dropout_param", 12, &kDropout),
                                         M("dummy_data_param", 26, &kDummyData),
                                         M("eltwise_param", 24, &kEltwise),
                                         M("exp_param", 41, &kExp),
                                         M("hdf5_data_param", 13, &kHDF5Data),
                                         M("hdf5_output_param", 14, &kHDF5Output),
                                         M("hinge_loss_param", 29, &kHingeLoss),
                                         M("image_data_param", 15, &kImageData),
                                         M("infogain_loss_param", 16, &kInfogainLoss),
                                         M("inner_product_param", 17, &kInnerProduct),
                                         M("lrn_param", 18, &kLRN),
                                         M("memory_data_param", 22, &kMemoryData),
                                         M("mvn_param", 34, &kMVN),
                                         M("pooling_param", 19, &kPooling),
                                         M("power_param", 21, &kPower),
                                         M("relu_param", 30, &kReLU),
                                         M("sigmoid_param", 38, &kSigmoid),
                                         M("softmax_param", 39, &kSoftmax),
                                         M("slice_param", 31, &kSlice),
                                         M("tanh_param", 37, &kTanH),
                                         M("threshold_param", 25, &kThreshold),
                                         M("window_data_param", 20, &kWindowData),
                                         M("transform_param", 36, &kTransformation),
                                         M("loss_param", 42, &kLoss),
                                         M("layer", 1, &kV0Layer)};
constexpr ProtoMessage kV1Layer = {"V1LayerParameter", kV1LayerFields};
constexpr ProtoField kNetFields[] = {S("name", 1),
                                     Many(S("input", 3)),
                                     Many(M("input_shape", 8, &kBlobShape)),
                                     Many(I("input_dim", 4)),
                                     B("force_backward", 5),
                                     M("state", 6, &kNetState),
                                     B("debug_info", 7),
                                     Many(M("layer", 100, &kLayer)),
                                     Many(M("layers", 2, &kV1Layer))};
constexpr ProtoMessage kNet = {"NetParameter", kNetFields};

}  // namespace

const ProtoMessage& NetMessage() { return kNet; }
const ProtoMessage& LayerMessage() { return kLayer; }
const ProtoMessage& V1LayerMessage() { return kV1Layer; }
const ProtoMessage& V0LayerMessage() { return kV0Layer; }

}  // namespace x2ir::caffe
