// See classes.h.
#include "x2ir/handlers/coreml/classes.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/coreml/coreml.h"
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

}  // namespace x2ir
