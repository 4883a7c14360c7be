// TensorFlow.js: loops. When a function ends, TensorFlow.js disposes of tensors that it put into a
// list, unless they are results of the function, too (4.22). So what rounds add up is a tensor that
// grows.
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/core/loop_as_while.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

// The shape of an element behind an axis of `rounds`; nullopt where it is not known.
std::optional<std::vector<int64_t>> StackSizes(const Value& element, int64_t rounds) {
  const auto sizes = element.shape() ? element.shape()->Static() : std::nullopt;
  if (!sizes) return std::nullopt;
  std::vector<int64_t> all = {rounds};
  all.insert(all.end(), sizes->begin(), sizes->end());
  return all;
}

absl::StatusOr<Values> ToTfjsWhile(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(LoopAsWhile loop, LoopAsWhile::Of(w, {}));
  for (size_t i = 0; i < loop.stacked(); ++i) {
    const Value& element = loop.added(i);
    const auto none = StackSizes(element, 0);
    if (!none || element.dtype() == DType::kUndefined) {
      return CannotExpress("rounds that give a tensor of unknown size");
    }
    if (element.dtype() == DType::kString) return CannotExpress("rounds that give strings");
    std::vector<Dim> dims(none->begin(), none->end());
    dims[0] = Dim();
    loop.AddStack(w.b().Constant(Tensor::Zeros(element.dtype(), *none)),
                  Type::Tensor(element.dtype(), Shape(std::move(dims))));
  }
  X2IR_ASSIGN_OR_RETURN(const auto cond, loop.Condition());
  X2IR_ASSIGN_OR_RETURN(const auto step,
                        loop.Body([](Builder& b, size_t, Value* stack, Value* added, Value*) {
                          Value* row = b.Op("unsqueeze", {added, b.Ints({0})});
                          return b.Op("concat", {stack, row}, {{"axis", int64_t{0}}});
                        }));
  std::vector<Type> types = loop.types();
  for (size_t i = 0; i < loop.carried() + loop.stacked(); ++i)
    types[loop.own() + i] = w.out_type(i);
  const Values all = w.TfAll("StatelessWhile", loop.first(), {{"cond", cond}, {"body", step}},
                             std::vector<bool>(types.size(), true), types);
  return Values(all.begin() + static_cast<ptrdiff_t>(loop.own()), all.end());
}

}  // namespace

X2IR_TFJS(loop).To("StatelessWhile", ToTfjsWhile);

}  // namespace x2ir
