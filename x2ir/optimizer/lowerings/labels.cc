// Lowerings of ops that replace labels.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// Of a key that occurs twice the last counts in the one op, the first in the other.
absl::StatusOr<Values> CategoryMapperAsLabelEncoder(Rewrite& r) {
  std::vector<std::string> names;
  std::vector<int64_t> numbers;
  if (const auto* list = r.attrs().Find("cats_strings")) names = *list->get<Attribute::Strings>();
  if (const auto* list = r.attrs().Find("cats_int64s")) numbers = *list->get<Attribute::Ints>();
  if (names.size() != numbers.size()) {
    return Invalid(names.size(), " cats_strings for ", numbers.size(), " cats_int64s");
  }
  const DType from = r.dtype(0);
  if (from != DType::kString && from != DType::kInt64) {
    return CannotExpress("the element type of the labels is not known");
  }
  std::reverse(names.begin(), names.end());
  std::reverse(numbers.begin(), numbers.end());
  const auto count = static_cast<int64_t>(names.size());
  const Tensor texts = Tensor::Strings({count}, std::move(names));
  const Tensor ints = Tensor::Of<int64_t>({count}, numbers);
  const bool reads = from == DType::kString;
  const Tensor otherwise = reads ? Tensor::Scalar<int64_t>(r.attrs().Int("default_int64"))
                                 : Tensor::Strings({}, {r.attrs().String("default_string")});
  return Values{r.b.Op(
      "label_encoder", {r.in(0)},
      {{"keys", reads ? texts : ints}, {"values", reads ? ints : texts}, {"default", otherwise}})};
}
X2IR_LOWERING(category_mapper, CategoryMapperAsLabelEncoder);

}  // namespace
}  // namespace x2ir
