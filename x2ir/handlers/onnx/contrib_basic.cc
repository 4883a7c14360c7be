// ONNX Runtime's own domain: activations, norms, and ops that are those of ONNX but for how
// operands are written. All of it is only read.
#include <memory>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/matrices.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// --- Activations --------------------------------------------------------------------------------

absl::StatusOr<Values> FromBiasGelu(Rewrite& r) {
  return Values{r.b.Op("gelu", {r.b.Op("add", {r.in(0), r.in(1)})}, {{"approximate", "none"}})};
}

absl::StatusOr<Values> FromFastGelu(Rewrite& r) {
  Value* x = r.has(1) ? r.b.Op("add", {r.in(0), r.in(1)}) : r.in(0);
  return Values{r.b.Op("gelu", {x}, {{"approximate", "tanh"}})};
}

X2IR_ONNX(swish).Is("com.microsoft::QuickGelu", Since(1), Attr("alpha", 1.702f), ImportOnly());
X2IR_ONNX(gelu)
    .Is("com.microsoft::Gelu", Since(1), Fixed("approximate", "none"), ImportOnly())
    .Is("com.microsoft::BiasGelu", Since(1), Code{FromBiasGelu, nullptr})
    .Is("com.microsoft::FastGelu", Since(1), Code{FromFastGelu, nullptr});

// --- Norms --------------------------------------------------------------------------------------

float Epsilon(const Rewrite& r, float when_absent) {
  return static_cast<float>(r.attrs().Float("epsilon", when_absent));
}

bool Wants(const Rewrite& r, size_t i) { return i < r.num_outputs() && r.node.output(i); }

// 1 / sqrt(mean of squares + epsilon) over the last axis, which stays, of size 1.
Value* InverseRms(Builder& b, Value* sum, float epsilon) {
  const Expr x{b, sum};
  return Reciprocal(Sqrt(Reduce(Square(x), "reduce_mean", {-1}, true) + epsilon));
}

// Operands of the sum before the norm: input + skip, then + bias.
Value* SumOf(Rewrite& r, size_t bias) {
  Value* sum = r.b.Op("add", {r.in(0), r.in(1)});
  return r.has(bias) ? r.b.Op("add", {sum, r.in(bias)}) : sum;
}

absl::StatusOr<Values> FromSkipLayerNorm(Rewrite& r) {
  Value* sum = SumOf(r, 4);
  const Values y = r.b.Ops("layer_normalization", {sum, r.in(2), r.in(3)},
                           {{"axis", -1}, {"epsilon", Epsilon(r, 1e-12f)}},
                           std::vector<bool>{true, Wants(r, 1), Wants(r, 2)});
  return Values{y[0], y[1], y[2], sum};
}

absl::StatusOr<Values> FromSkipRmsNorm(Rewrite& r) {
  if (Wants(r, 1)) return Unimplemented("an output of the mean, which the op does not compute");
  Value* sum = SumOf(r, 3);
  const float epsilon = Epsilon(r, 1e-12f);
  Value* y = r.b.Op("rms_normalization", {sum, r.in(2)}, {{"axis", -1}, {"epsilon", epsilon}});
  return Values{y, nullptr, Wants(r, 2) ? InverseRms(r.b, sum, epsilon) : nullptr, sum};
}

absl::StatusOr<Values> FromRmsNorm(Rewrite& r) {
  if (r.attrs().Int("stash_type", 1) != 1) return Unimplemented("a stash_type other than float");
  const int64_t axis = r.attrs().Int("axis", -1);
  const float epsilon = Epsilon(r, 1e-5f);
  Value* y =
      r.b.Op("rms_normalization", {r.in(0), r.in(1)}, {{"axis", axis}, {"epsilon", epsilon}});
  if (!r.node.output(1)) return Values{y};
  if (axis != -1 && axis != r.rank(0) - 1) {
    return Unimplemented("inv_std_var: an output of another axis than the last");
  }
  return Values{y, InverseRms(r.b, r.in(0), epsilon)};
}

struct Embeddings {
  Value *ids = nullptr, *segments = nullptr, *places = nullptr;  // places: null for 0, 1, ...
  Value *words = nullptr, *of_places = nullptr, *of_segments = nullptr;
  Value *gamma = nullptr, *beta = nullptr, *mask = nullptr;
};

// Embeddings of words, positions and segments, added up and normalized: the result, how many words
// of each sequence count, and the sum.
absl::StatusOr<Values> NormedEmbeddings(Rewrite& r, const Embeddings& e) {
  if (!e.segments != !e.of_segments) {
    return Invalid("segment_ids and segment_embedding go together");
  }
  if (r.rank(0) >= 0 && r.rank(0) != 2) {
    return Invalid("input_ids: expected rank 2, got ", r.rank(0));
  }
  Builder& b = r.b;
  const auto gather = [&](Value* table, Value* ids) {
    return b.Op("gather", {table, ids}, {{"axis", 0}});
  };
  // Without positions, those of a sequence from its first word on.
  Value* places = e.places;
  if (!places) {
    Value* length = b.Op("squeeze", {b.Op("shape", {e.ids}, {{"start", 1}, {"end", 2}})});
    places = b.Op("range", {b.Int(0), length, b.Int(1)});
  }
  Value* sum = b.Op("add", {gather(e.words, e.ids), gather(e.of_places, places)});
  if (e.segments) sum = b.Op("add", {sum, gather(e.of_segments, e.segments)});
  Value* y = b.Op("layer_normalization", {sum, e.gamma, e.beta},
                  {{"axis", -1}, {"epsilon", Epsilon(r, 1e-12f)}});
  Value* mask_index = nullptr;
  if (r.node.output(1)) {
    Value* counted = nullptr;
    if (e.mask) {
      Value* one = b.Scalar(DType::kInt32, 1);
      counted = b.Op("cast", {b.Op("equal", {e.mask, one})}, {{"to", "int32"}});
    } else {
      counted = b.Op("mul", {e.ids, b.Scalar(DType::kInt32, 0)});
    }
    mask_index = b.Op("reduce_sum", {counted, b.Ints({1})}, {{"keepdims", 0}});
  }
  return Values{y, mask_index, sum};
}

absl::StatusOr<Values> FromEmbedLayerNorm(Rewrite& r) {
  enum { kIds, kSegments, kWords, kPlaces, kSegmentWords, kGamma, kBeta, kMask, kPlaceIds };
  return NormedEmbeddings(
      r, {r.in(kIds), r.in(kSegments), r.in(kPlaceIds), r.in(kWords), r.in(kPlaces),
          r.in(kSegmentWords), r.in(kGamma), r.in(kBeta), r.in(kMask)});
}

// Tables, gamma and beta in 8 bits, each with a scale and a zero point.
absl::StatusOr<Values> FromQEmbedLayerNorm(Rewrite& r) {
  enum {
    kIds,
    kSegments,
    kWords,
    kPlaces,
    kSegmentWords,
    kGamma,
    kBeta,
    kMask,
    kWordsScale,
    kPlacesScale,
    kSegmentsScale,
    kGammaScale,
    kBetaScale,
    kWordsZero,
    kPlacesZero,
    kSegmentsZero,
    kGammaZero,
    kBetaZero
  };
  const auto real = [&](size_t x, size_t scale, size_t zero) -> Value* {
    // A scale of one element, whatever its rank.
    const auto one = [&](size_t i) -> Value* {
      return r.has(i) ? r.b.Op("reshape", {r.in(i), r.b.Ints({})}) : nullptr;
    };
    return r.has(x) ? r.b.Op("dequantize_linear", {r.in(x), one(scale), one(zero)}) : nullptr;
  };
  return NormedEmbeddings(
      r,
      {r.in(kIds), r.in(kSegments), nullptr, real(kWords, kWordsScale, kWordsZero),
       real(kPlaces, kPlacesScale, kPlacesZero), real(kSegmentWords, kSegmentsScale, kSegmentsZero),
       real(kGamma, kGammaScale, kGammaZero), real(kBeta, kBetaScale, kBetaZero), r.in(kMask)});
}

X2IR_ONNX(layer_normalization)
    .Is("com.microsoft::SkipLayerNormalization", Since(1), Code{FromSkipLayerNorm, nullptr})
    .Is("com.microsoft::EmbedLayerNormalization", Since(1), Code{FromEmbedLayerNorm, nullptr})
    .Is("com.microsoft::QEmbedLayerNormalization", Since(1), Code{FromQEmbedLayerNorm, nullptr});
X2IR_ONNX(rms_normalization)
    .Is("com.microsoft::SkipSimplifiedLayerNormalization", Since(1), Code{FromSkipRmsNorm, nullptr})
    .Is("SimplifiedLayerNormalization", Since(1), Code{FromRmsNorm, nullptr});

// --- Data movement ------------------------------------------------------------------------------

absl::StatusOr<Values> FromExpandDims(Rewrite& r) {
  Value* axes = r.b.Op("reshape", {r.in(1), r.b.Ints({1})});
  return Values{r.b.Op("unsqueeze", {r.in(0), r.b.Op("cast", {axes}, {{"to", "int64"}})})};
}

// The pads may have a first axis of size 1.
absl::StatusOr<Values> FromPad(Rewrite& r) {
  Value* pads = r.b.Op("reshape", {r.in(1), r.b.Ints({-1})});
  Value* value = r.in(2);
  if (value) value = r.b.Op("reshape", {value, r.b.Ints({})});
  return Values{
      r.b.Op("pad", {r.in(0), pads, value}, {{"mode", r.attrs().String("mode", "constant")}})};
}

absl::StatusOr<Values> FromRange(Rewrite& r) {
  Value* delta = r.in(2);
  if (!delta) {
    if (r.dtype(0) == DType::kUndefined) return Unimplemented("start of an unknown element type");
    delta = r.b.Scalar(r.dtype(0), 1);
  }
  // Each may be a tensor of one element.
  const auto scalar = [&](Value* v) { return r.b.Op("reshape", {v, r.b.Ints({})}); };
  return Values{r.b.Op("range", {scalar(r.in(0)), scalar(r.in(1)), scalar(delta)})};
}

// Unsorted, with where each element went and how often it is there.
absl::StatusOr<Values> FromUnique(Rewrite& r) {
  const std::vector<bool> wanted = {true, false, r.num_outputs() > 1 && r.node.output(1),
                                    r.num_outputs() > 2 && r.node.output(2)};
  const Values all = r.b.Ops("unique", {r.in(0)}, {{"sorted", 0}}, wanted);
  return Values{all[0], all[2], all[3]};
}

// Distances between the rows of two matrices.
absl::StatusOr<Values> FromCDist(Rewrite& r) {
  const std::string metric = r.attrs().String("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") {
    return Invalid("metric: expected euclidean or sqeuclidean, got '", metric, "'");
  }
  for (size_t i : {0, 1}) {
    if (r.rank(i) >= 0 && r.rank(i) != 2) {
      return Invalid("operand ", i, ": expected rank 2, got ", r.rank(i));
    }
  }
  Builder& b = r.b;
  Value* difference = b.Op("sub", {b.Op("unsqueeze", {r.in(0), b.Ints({1})}),
                                   b.Op("unsqueeze", {r.in(1), b.Ints({0})})});
  Value* sum =
      b.Op("reduce_sum", {b.Op("mul", {difference, difference}), b.Ints({2})}, {{"keepdims", 0}});
  return Values{metric == "euclidean" ? b.Op("sqrt", {sum}) : sum};
}

// ONNX Runtime cuts positions off before it interpolates; ONNX does not.
class NoCubicBorderLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const AttributeMap& attrs = draft.node().attrs();
    if (attrs.String("mode", "") == "bicubic" && attrs.String("padding_mode", "") == "border") {
      return Unimplemented("mode bicubic with padding_mode border");
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};
Lens NoCubicBorder() { return std::make_shared<NoCubicBorderLens>(); }

absl::StatusOr<Values> FromInverse(Rewrite& r) {
  if (r.rank(0) < 2) {
    return r.rank(0) < 0 ? Unimplemented("X: a matrix of unknown rank")
                         : Invalid("X: expected rank 2 or more, got ", r.rank(0));
  }
  if (!IsFloating(r.dtype(0))) return Unimplemented("X: an unknown element type");
  return Values{Inverse({r.b, r.in(0)})};
}

X2IR_ONNX(matmul).Is("com.microsoft::Inverse", Since(1), Code{FromInverse, nullptr});
X2IR_ONNX(unsqueeze).Is("com.microsoft::ExpandDims", Since(1), Code{FromExpandDims, nullptr});
X2IR_ONNX(pad).Is("com.microsoft::Pad", Since(1), Code{FromPad, nullptr});
X2IR_ONNX(range).Is("com.microsoft::Range", Since(1), Code{FromRange, nullptr});
X2IR_ONNX(unique).Is("com.microsoft::Unique", Since(1), Code{FromUnique, nullptr});
X2IR_ONNX(reduce_sum).Is("com.microsoft::CDist", Since(1), Code{FromCDist, nullptr});
X2IR_ONNX(trilu).Is("com.microsoft::Trilu", Since(1), ImportOnly());
X2IR_ONNX(gather_nd).Is("com.microsoft::GatherND", Since(1), Fixed("batch_dims", 0), ImportOnly());
X2IR_ONNX(grid_sample)
    .Is("com.microsoft::GridSample", Since(1), ImportOnly(), NoCubicBorder(),
        EnumMap("mode", "mode",
                {{"linear", "bilinear"}, {"nearest", "nearest"}, {"cubic", "bicubic"}}));

}  // namespace
}  // namespace x2ir
