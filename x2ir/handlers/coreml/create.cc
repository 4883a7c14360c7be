// MIL: random numbers, linear steps, classes, both ways where there is a way.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/classes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

Values ClassesOf(NodeReader& a, const Expr& scores, const Attribute* classes) {
  const Expr flat = Reshape(scores, {-1});
  const auto* texts = classes ? classes->get<Attribute::Strings>() : nullptr;
  const auto* numbers = classes ? classes->get<Attribute::Ints>() : nullptr;
  if ((!texts || texts->empty()) && (!numbers || numbers->empty())) {
    a.Fail(Invalid("there are no classes"));
    return {};
  }
  const auto count =
      static_cast<int64_t>(texts && !texts->empty() ? texts->size() : numbers->size());
  const Dim size = DimAt(flat, 0);
  a.Require(!size.is_static() || size.value() == count,
            StrCat(count, " classes of another number of scores"));
  if (!a.wants(0)) return {nullptr, a.wants(1) ? flat : nullptr};
  const Expr best = flat.Op("arg_max", {}, {{"axis", 0}, {"keepdims", 1}});
  const Expr table = {a.b(),
                      a.b().Constant(texts && !texts->empty() ? Tensor::Strings({count}, *texts)
                                                              : Tensor::Vector(*numbers))};
  return {Gather(table, best, 0), a.wants(1) ? flat : nullptr};
}

Expr DrawnClasses(NodeReader& a, const Expr& logits, int64_t count, int64_t seed) {
  const int64_t rank = logits.rank();
  a.Require(rank >= 1 && count >= 1, "that many classes");
  AttributeMap attrs = {{"sample_size", count}};
  if (seed >= 0) attrs.Set("seed", static_cast<float>(seed));
  std::vector<Size> sizes = SizesAt(logits, 0, rank - 1);
  const Expr rows = ReshapeTo(logits, {Product(a.b(), sizes), SizeAt(logits, rank - 1)});
  const Expr drawn = rows.Op("multinomial", {}, std::move(attrs));
  sizes.emplace_back(count);
  return ReshapeTo(drawn, sizes).To(logits.dtype());
}

namespace {

Values MilClassify(MilArgs& a) {
  a.Ignore("classes");
  a.Ignore(coreml::kIntClasses);
  const Attribute* texts = a.attrs().Find("classes");
  return ClassesOf(a, a.X("probabilities"), texts ? texts : a.attrs().Find(coreml::kIntClasses));
}

// A seed that is none: each run has numbers of its own.
void SetSeed(MilArgs& a, AttributeMap* attrs) {
  const int64_t seed = a.Int("seed");
  if (seed >= 0) attrs->Set("seed", static_cast<float>(seed));
}
Expr MilRandomNormal(MilArgs& a) {
  AttributeMap attrs = {{"mean", static_cast<float>(a.Number("mean"))},
                        {"scale", static_cast<float>(a.Number("stddev"))}};
  SetSeed(a, &attrs);
  return a.Op("random_normal", {a.AsInt64(a.X("shape"))}, std::move(attrs));
}
Expr MilRandomUniform(MilArgs& a) {
  AttributeMap attrs = {{"low", static_cast<float>(a.Number("low"))},
                        {"high", static_cast<float>(a.Number("high"))}};
  SetSeed(a, &attrs);
  return a.Op("random_uniform", {a.AsInt64(a.X("shape"))}, std::move(attrs));
}
Expr MilRandomBernoulli(MilArgs& a) {
  AttributeMap attrs;
  SetSeed(a, &attrs);
  const Expr number = NumbersAs(a.b(), DType::kFloat32, {}, {a.Number("prob")});
  return Expand(number, a.AsInt64(a.X("shape"))).Op("bernoulli", {}, std::move(attrs));
}

Expr MilRandomCategorical(MilArgs& a) {
  const std::string mode = a.Text("mode");
  const int64_t count = a.Int("size"), seed = a.Int("seed");
  a.Require(mode == "logits" || mode == "probs", StrCat("mode ", mode));
  return DrawnClasses(a, mode == "probs" ? Log(a.X()) : a.X(), count, seed);
}

// --- Linear steps -------------------------------------------------------------------------------

AttributeMap StepsAxis(MilArgs& a, const Expr& scale) {
  AttributeMap attrs;
  const int64_t axis = a.Int("axis");
  if (scale.rank() > 0) attrs.Set("axis", axis);
  return attrs;
}
Expr MilDequantize(MilArgs& a) {
  const Expr scale = a.X("scale");
  return a.Op("dequantize_linear", {a.X("input"), scale, a.Opt("zero_point")}, StepsAxis(a, scale));
}
absl::StatusOr<Value*> MilQuantize(MilArgs& a) {
  const Expr scale = a.X("scale");
  const DType type = coreml::ParseMilTypeName(a.Text("output_dtype"));
  AttributeMap attrs = StepsAxis(a, scale);
  if (type != DType::kInt8 && type != DType::kUInt8) return Unimplemented("steps of that type");
  if (!a.Has("zero_point")) attrs.Set("output_dtype", Name(type));
  return a.Op("quantize_linear", {a.X("input"), scale, a.Opt("zero_point")}, std::move(attrs))
      .value();
}
// Compressed weights: operands are the numbers, the scale and the zero point.
Expr MilAffineDequantize(NodeReader& a) {
  const int64_t axis = a.Int("axis", 0);
  const Expr scale = a.in(1);
  AttributeMap attrs;
  if (scale.rank() > 0) attrs.Set("axis", axis);
  return a.Op("dequantize_linear", {a.in(0), scale, a.in(2)}, std::move(attrs));
}

absl::StatusOr<AttributeMap> WrittenSteps(MilWriter& w) {
  for (size_t i = 1; i < 3; ++i) {
    if (w.has(i) && !w.in(i)->fixed_constant()) return CannotExpress("computed steps");
  }
  if (w.Int("block_size") != 0) return CannotExpress("steps of blocks");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  AttributeMap attrs;
  if (rank > 1) return CannotExpress("steps of blocks");
  if (rank == 1) attrs.Set("axis", w.attrs().Int("axis", 1));
  return attrs;
}
bool IsByte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }
absl::StatusOr<Value*> ToDequantize(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenSteps(w));
  if (!IsByte(w.dtype())) return CannotExpress("steps of ", Name(w.dtype()));
  if (w.out_type().dtype() != w.dtype(1)) return CannotExpress("steps of two types");
  return w.Mil("dequantize", {w.in(0), w.in(2), w.in(1)}, std::move(attrs));
}
absl::StatusOr<Value*> ToQuantize(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenSteps(w));
  const DType to = w.out_type().dtype();
  if (!IsByte(to) || w.dtype() != w.dtype(1)) return CannotExpress("steps of ", Name(to));
  attrs.Set("output_dtype", coreml::MilTypeName(to));
  return w.Mil("quantize", {w.in(0), w.in(2), w.in(1)}, std::move(attrs));
}

absl::StatusOr<Value*> ToMultinomial(MilWriter& w) {
  if (w.dtype() == DType::kFloat64) return CannotExpress("chances of float64");
  Type type = w.out_type();
  type.set_dtype(w.dtype());
  Value* drawn = w.Mil("random_categorical", {w.in(0)},
                       {{"mode", "logits"},
                        {"size", w.Int("sample_size")},
                        {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}},
                       type);
  return w.Cast(drawn, w.out_type().dtype());
}
Value* ToRandomNormal(MilWriter& w) {
  return w.Mil("random_normal", {w.in(0)},
               {{"mean", w.Float("mean")},
                {"stddev", w.Float("scale")},
                {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}});
}
Value* ToRandomUniform(MilWriter& w) {
  return w.Mil("random_uniform", {w.in(0)},
               {{"low", w.Float("low")},
                {"high", w.Float("high")},
                {"seed", static_cast<int64_t>(w.attrs().Float("seed", -1))}});
}

}  // namespace

X2IR_MIL(array_feature_extractor).From("classify", MilClassify);
X2IR_MIL(random_normal).To("random_normal", ToRandomNormal).From("random_normal", MilRandomNormal);
X2IR_MIL(random_uniform)
    .To("random_uniform", ToRandomUniform)
    .From("random_uniform", MilRandomUniform);
X2IR_MIL(multinomial)
    .To("random_categorical", ToMultinomial)
    .From("random_categorical", MilRandomCategorical);
X2IR_MIL(bernoulli).From("random_bernoulli", MilRandomBernoulli);
X2IR_MIL(dequantize_linear)
    .To("dequantize", ToDequantize)
    .From("dequantize", MilDequantize)
    .From("constexpr_affine_dequantize", [](MilArgs& a) { return MilAffineDequantize(a); });
X2IR_MIL(quantize_linear).To("quantize", ToQuantize).From("quantize", MilQuantize);

}  // namespace x2ir
