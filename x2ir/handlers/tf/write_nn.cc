// Products of matrices, convolutions, pools and norms, written as TensorFlow's: channels last.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Products -------------------------------------------------------------------------------

absl::StatusOr<Value*> ToTfMatMul(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_a, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank_b, w.Rank(1));
  Value *a = w.in(0), *b = w.in(1);
  if (rank_a == 2 && rank_b == 2) return w.Tf("MatMul", {a, b});
  if (rank_a >= 2 && rank_b >= 2) return w.Tf("BatchMatMulV2", {a, b});
  return MatMulOfVectors(w, rank_a, rank_b);
}
X2IR_TF(matmul).To("MatMul", ToTfMatMul);

Value* ToTfGemm(TfWriter& w) {
  const DType t = w.dtype();
  const double alpha = w.Float("alpha"), beta = w.Float("beta");
  const bool plain = alpha == 1 && !w.has(2);
  Value* y = w.Tf("MatMul", {w.in(0), w.in(1)},
                  {{"transpose_a", w.Int("transA")}, {"transpose_b", w.Int("transB")}},
                  plain ? Type() : w.out_type());
  if (alpha != 1) y = w.Op("mul", {y, w.Number(t, alpha)});
  if (!w.has(2)) return y;
  Value* c = beta == 1 ? w.in(2) : w.Op("mul", {w.in(2), w.Number(t, beta)});
  return w.Op("add", {y, c});
}
X2IR_TF(gemm).To("MatMul", ToTfGemm);

Value* ToTfEinsum(TfWriter& w) {
  return w.Tf("Einsum", w.node().inputs(), {{"equation", w.String("equation")}});
}
X2IR_TF(einsum).To("Einsum", ToTfEinsum);

// --- Layouts --------------------------------------------------------------------------------

bool IsChannelsLast(TfWriter& w) { return w.String("layout") == "channels_last"; }

// Channels first, or one spatial axis: the same op with channels last, or two axes, in between.
absl::StatusOr<Value*> Between(TfWriter& w, int64_t rank, AttributeMap attrs) {
  std::vector<int64_t> to(static_cast<size_t>(rank)), back(to.size());
  std::iota(to.begin(), to.end(), 1);
  to[0] = 0;
  to[to.size() - 1] = 1;
  std::iota(back.begin(), back.end(), -1);
  back[0] = 0;
  back[1] = rank - 1;
  std::vector<Value*> operands = w.node().inputs();
  operands[0] = w.Op("transpose", {operands[0]}, {{"perm", to}});
  attrs.Set("layout", "channels_last");
  Value* y = w.Op(w.node().op(), std::move(operands), std::move(attrs));
  return w.Op("transpose", {y}, {{"perm", back}});
}
absl::StatusOr<Value*> WithChannelsLast(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  return Between(w, rank, w.attrs());
}

// --- Windows --------------------------------------------------------------------------------

// One number a spatial axis as one an axis of the tensor.
Attribute::Ints OfTensor(const std::vector<int64_t>& spatial) {
  Attribute::Ints all = {1};
  all.insert(all.end(), spatial.begin(), spatial.end());
  all.push_back(1);
  return all;
}

// The kernel counts for pools alone: a convolution's may be of unknown size.
absl::StatusOr<Window> ReadTfWindow(TfWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.auto_pad == AutoPad::kSameLower) return CannotExpress("auto_pad SAME_LOWER");
  return window;
}

// The operand with `value` around it where the window has pads, which it then has no more.
Value* PadTfApart(TfWriter& w, Window& window, double value) {
  return window.padded() ? PadApart(w, window, value) : w.in(0);
}

void SetWindow(AttributeMap* attrs, const Window& window, bool dilates) {
  attrs->Set("strides", OfTensor(window.strides));
  if (dilates) attrs->Set("dilations", OfTensor(window.dilations));
  const bool same = IsSame(window.auto_pad), padded = window.padded();
  attrs->Set("padding", same ? "SAME" : padded ? "EXPLICIT" : "VALID");
  attrs->Set("data_format", window.rank() == 2 ? "NHWC" : "NDHWC");
  if (padded) attrs->Set("explicit_paddings", PairsOfPads(TensorPads(window)));
}

// Where the kernel's axes go: [out, in, kernel...] to [kernel..., in, out].
std::vector<int64_t> ToHwio(int64_t rank) {
  std::vector<int64_t> perm;
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  perm.push_back(0);
  return perm;
}

Value* WithTfBias(TfWriter& w, Value* y) {
  return w.Tf("BiasAdd", {y, w.in(2)}, {{"data_format", "NHWC"}});
}

absl::StatusOr<Value*> ToTfConv(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  if (rank == 3) return WithTwoSpatialAxes(w, true);
  const size_t n = static_cast<size_t>(rank) - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, std::vector<int64_t>(n, 1)));
  const Shape* kernel_shape = w.shape(1);
  const auto kernel = kernel_shape ? kernel_shape->Static() : std::nullopt;
  const int64_t group = w.Int("group");
  const bool depthwise = n == 2 && group > 1 && kernel && (*kernel)[1] == 1;
  if (group != 1 && !depthwise && !(kernel && (*w.shape())[rank - 1].is_static())) {
    return CannotExpress("groups of unknown sizes");
  }
  Value* x = w.in(0);
  if (n == 3) x = PadTfApart(w, window, 0);
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  const Type result = w.has(2) ? w.out_type() : Type();
  Value* y = nullptr;
  if (depthwise) {
    const int64_t times = (*kernel)[0] / group;
    Value* own = w.in(1);
    if (const Tensor* constant = own->fixed_constant(); constant && !constant->is_sparse()) {
      own = w.b().Constant(constant->Reshaped({group, times, (*kernel)[2], (*kernel)[3]}),
                           own->name());
    } else {
      own = w.Reshape(own, {group, times, (*kernel)[2], (*kernel)[3]});
    }
    y = w.Tf("DepthwiseConv2dNative", {x, w.Transpose(own, {2, 3, 0, 1})}, std::move(attrs),
             result);
  } else {
    y = w.Tf(n == 2 ? "Conv2D" : "Conv3D", {x, w.Transpose(w.in(1), ToHwio(rank))},
             std::move(attrs), result);
  }
  return w.has(2) ? WithTfBias(w, y) : y;
}
X2IR_TF(conv).To("Conv2D", ToTfConv);

// By the sizes of the result, which must be known but for the batch.
absl::StatusOr<Value*> ToTfConvTranspose(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  if (w.attrs().Has("output_shape")) return CannotExpress("an output of a given shape");
  const std::string& automatic = w.String("auto_pad");
  if (automatic != "NOTSET" && automatic != "VALID") return CannotExpress("auto_pad ", automatic);
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  if (rank == 3) return WithTwoSpatialAxes(w, true);
  const size_t n = static_cast<size_t>(rank) - 2;
  const Shape* out = w.out_type().shape();
  std::vector<int64_t> sizes;
  for (int64_t i = 1; i < rank; ++i) {
    if (!out || out->rank() != rank || !(*out)[i].is_static()) {
      return CannotExpress("a result of unknown sizes");
    }
    sizes.push_back((*out)[i].value());
  }
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, std::vector<int64_t>(n, 1)));
  // Of three axes padding is cut off afterwards.
  std::vector<int64_t> starts, ends;
  if (n == 3 && window.padded()) {
    for (size_t i = 0; i < n; ++i) {
      starts.push_back(window.pad_begin(i));
      ends.push_back(window.pad_begin(i) + sizes[i]);
      sizes[i] += window.pad_begin(i) + window.pad_end(i);
    }
    window.pads.assign(2 * n, 0);
  }
  const DType of_sizes = DType::kInt32;
  Value* shape = nullptr;
  if ((*out)[0].is_static()) {
    sizes.insert(sizes.begin(), (*out)[0].value());
    shape = w.Int32s(sizes);
  } else {
    Value* batch = w.Cast(w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", 1}}), of_sizes);
    shape = w.Op("concat", {batch, w.Int32s(sizes)}, {{"axis", 0}});
  }
  AttributeMap attrs;
  SetWindow(&attrs, window, true);
  Value* y = w.Tf(
      n == 2 ? "Conv2DBackpropInput" : "Conv3DBackpropInputV2",
      {shape, w.Transpose(w.in(1), ToHwio(rank)), w.in(0)}, std::move(attrs),
      w.has(2) || !starts.empty() ? Type::Tensor(w.dtype(), Shape::UnknownDims(rank)) : Type());
  if (w.has(2)) y = WithTfBias(w, y);
  if (starts.empty()) return y;
  if (w.has(2)) y->set_type(Type::Tensor(w.dtype(), Shape::UnknownDims(rank)));
  return w.Op("slice", {y, w.Ints(starts), w.Ints(ends), w.Ints({1, 2, 3})});
}
X2IR_TF(conv_transpose).To("Conv2DBackpropInput", ToTfConvTranspose);

absl::StatusOr<Value*> ToTfPool(TfWriter& w, bool max) {
  if (max && w.wants(1)) return CannotExpress("places");
  if (w.Int("ceil_mode") != 0) return CannotExpress("ceil_mode");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3 || rank > 5) return CannotExpress("rank ", rank);
  const size_t n = static_cast<size_t>(rank) - 2;
  X2IR_ASSIGN_OR_RETURN(Window window, ReadTfWindow(w, w.attrs().Ints("kernel_shape")));
  if (window.dilated()) return CannotExpress("dilated windows");
  if (max && !IsFloating(w.dtype()) && window.padded()) return CannotExpress("padding of integers");
  const bool include_pad = !max && w.Int("count_include_pad") != 0, same = IsSame(window.auto_pad);
  if (!max && window.padded() && !include_pad) return CannotExpress("that padding");
  if (!max && same && include_pad) return CannotExpress("means over padding");
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  if (rank == 3) return WithTwoSpatialAxes(w, false);
  Value* x = PadTfApart(w, window, max ? -std::numeric_limits<double>::infinity() : 0);
  AttributeMap attrs = {{"ksize", OfTensor(window.kernel)}};
  SetWindow(&attrs, window, false);
  const std::string_view op = max ? "MaxPool" : "AvgPool";
  return w.Tf(n == 2 ? std::string(op) : StrCat(op, "3D"), {x}, std::move(attrs));
}
X2IR_TF(max_pool).To("MaxPool", [](TfWriter& w) { return ToTfPool(w, true); });
X2IR_TF(average_pool).To("AvgPool", [](TfWriter& w) { return ToTfPool(w, false); });

auto ToTfGlobalPool(std::string_view reduction) {
  return [=](TfWriter& w) { return ReduceSpatial(w, reduction); };
}
X2IR_TF(global_average_pool).To("Mean", ToTfGlobalPool("reduce_mean"));
X2IR_TF(global_max_pool).To("Max", ToTfGlobalPool("reduce_max"));

// --- Norms ----------------------------------------------------------------------------------

// A vector of channels so that it broadcasts.
Value* OfChannels(TfWriter& w, Value* v, int64_t rank) {
  if (IsChannelsLast(w) || rank <= 2) return v;
  std::vector<int64_t> axes(static_cast<size_t>(rank) - 2);
  std::iota(axes.begin(), axes.end(), 1);
  return w.Op("unsqueeze", {v, w.Ints(axes)});
}

absl::StatusOr<Value*> ToTfBatchNorm(TfWriter& w) {
  if (w.Int("training_mode") != 0) return CannotExpress("statistics of the batch");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  const DType t = w.dtype(), of_parameters = w.dtype(1);
  const bool fused = rank == 4 && of_parameters == DType::kFloat32 && w.dtype(3) == of_parameters &&
                     t != DType::kFloat64;
  if (fused && !IsChannelsLast(w)) return WithChannelsLast(w);
  if (fused) {
    return w.TfAll("FusedBatchNormV3", w.node().inputs(),
                   {{"epsilon", w.Float("epsilon")}, {"data_format", "NHWC"}, {"is_training", 0}},
                   {true, false, false, false, false, false})[0];
  }
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != t) return CannotExpress("parameters of another type");
  }
  Value* spread = w.Op("sqrt", {w.Op("add", {w.in(4), w.Number(t, w.Float("epsilon"))})});
  Value* scale = w.Op("div", {w.in(1), spread});
  Value* centered = w.Op("sub", {w.in(0), OfChannels(w, w.in(3), rank)});
  Value* scaled = w.Op("mul", {centered, OfChannels(w, scale, rank)});
  return w.Op("add", {scaled, OfChannels(w, w.in(2), rank)});
}
X2IR_TF(batch_normalization).To("FusedBatchNormV3", ToTfBatchNorm);

// Each channel of each image by its own mean and variance; halves in float32.
absl::StatusOr<Value*> ToTfInstanceNorm(TfWriter& w) {
  return InstanceNormByMeans(w, w.dtype() == DType::kFloat64 ? w.dtype() : DType::kFloat32);
}
X2IR_TF(instance_normalization).To("Mean", ToTfInstanceNorm);

absl::StatusOr<Value*> ToTfLrn(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  if (rank != 4 || size % 2 == 0 || w.dtype() == DType::kFloat64) {
    return CannotExpress("rank ", rank, ", size ", size);
  }
  if (!IsChannelsLast(w)) return WithChannelsLast(w);
  return w.Tf("LRN", {w.in(0)},
              {{"depth_radius", (size - 1) / 2},
               {"bias", w.Float("bias")},
               {"alpha", w.Float("alpha") / static_cast<float>(size)},
               {"beta", w.Float("beta")}});
}
X2IR_TF(lrn).To("LRN", ToTfLrn);

// --- Images ---------------------------------------------------------------------------------

auto ToTfBlocks(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    const Attribute* mode = w.attrs().Find("mode");
    if (mode && *mode != Attribute("DCR")) return CannotExpress("mode CRD");
    if (!IsChannelsLast(w)) return WithChannelsLast(w);
    return w.Tf(op, {w.in(0)}, {{"block_size", w.Int("blocksize")}, {"data_format", "NHWC"}});
  };
}
X2IR_TF(depth_to_space).To("DepthToSpace", ToTfBlocks("DepthToSpace"));
X2IR_TF(space_to_depth).To("SpaceToDepth", ToTfBlocks("SpaceToDepth"));

// Images of float32, rows and columns after the batch.
absl::StatusOr<Value*> ToTfResize(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Sampling sampling = SamplingOf(w.node());
  if (rank != 4 || w.dtype() != DType::kFloat32 || !IsPlainResize(w.node())) {
    return CannotExpress("images of that kind");
  }
  std::vector<int64_t> axes = w.attrs().Ints("axes", {0, 1, 2, 3});
  const bool first = axes == std::vector<int64_t>{2, 3}, last = axes == std::vector<int64_t>{1, 2};
  if (!first && !last) return CannotExpress("other axes than rows and columns");
  static constexpr Sampling kSaid[] = {kNearestFloor, kNearestCorners, Interpolated("linear", true),
                                       Interpolated("linear", false),
                                       Interpolated("linear", false, false)};
  X2IR_RETURN_IF_ERROR(CheckSampling(sampling, kSaid));
  Value* sizes = w.in(3);
  if (!sizes) {
    const auto out = w.out_type().shape() ? w.out_type().shape()->Static() : std::nullopt;
    const auto in = w.shape()->Static();
    const auto scales = w.has(2) ? KnownTensor(*w.in(2)) : std::nullopt;
    if (!out || !in || !scales) return CannotExpress("factors of unknown sizes");
    std::vector<int64_t> known;
    for (size_t i = 0; i < 2; ++i) {
      const auto at = static_cast<size_t>(axes[i]);
      // TensorFlow goes by the sizes: the factor must be theirs.
      if (static_cast<double>((*in)[at]) * scales->AsDouble(static_cast<int64_t>(i)) !=
          static_cast<double>((*out)[at])) {
        return CannotExpress("a factor that is not the sizes'");
      }
      known.push_back((*out)[at]);
    }
    sizes = w.Ints(known);
  }
  if (first) return ResizedChannelsLast(w, w.node(), nullptr, sizes);
  const auto known = KnownInts(sizes);
  return w.Tf(sampling.mode == "nearest" ? "ResizeNearestNeighbor" : "ResizeBilinear",
              {w.in(0), known ? w.Int32s(*known) : w.Cast(sizes, DType::kInt32)},
              {{"align_corners", sampling.coordinates == "align_corners"},
               {"half_pixel_centers", sampling.coordinates == "half_pixel"}});
}
X2IR_TF(resize).To("ResizeBilinear", ToTfResize);

}  // namespace
}  // namespace x2ir
