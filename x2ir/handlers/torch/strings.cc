// PyTorch: text.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Every position of the text where an n-gram may begin is compared with all n-grams of that length.
absl::StatusOr<Value*> WriteTfIdf(TorchWriter& w) {
  const Expr given{w, w.in(0)};
  const auto sizes = given->shape() ? given->shape()->Static() : std::nullopt;
  if (!sizes || sizes->empty() || sizes->size() > 2) return CannotExpress("text of unknown length");
  if (!IsInteger(given.dtype())) return CannotExpress("words that are no integers");
  const Attribute* pool = w.attrs().Find("pool_int64s");
  const auto* words = pool ? pool->get<Attribute::Ints>() : nullptr;
  if (!words) return CannotExpress("words that are no integers");
  const int64_t length = sizes->back();
  const Expr text = given.To(DType::kInt64);
  const std::vector<int64_t> starts = w.attrs().Ints("ngram_counts");
  const std::vector<int64_t> columns = w.attrs().Ints("ngram_indexes");
  const int64_t least = w.Int("min_gram_length"), most = w.Int("max_gram_length");
  const int64_t width = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end()) + 1;
  if (width < 1 || width > 1 << 16) return CannotExpress("a result of ", width, " columns");
  const Attribute* weights = w.attrs().Find("weights");
  const auto* factors = weights ? weights->get<Attribute::Floats>() : nullptr;
  const std::string& mode = w.String("mode");
  Expr counts{nullptr};
  size_t first = 0;  // of the n-grams of this length, among all
  for (int64_t n = 1; n <= static_cast<int64_t>(starts.size()); ++n) {
    const int64_t begin = starts[static_cast<size_t>(n) - 1];
    const int64_t end = n < static_cast<int64_t>(starts.size())
                            ? starts[static_cast<size_t>(n)]
                            : static_cast<int64_t>(words->size());
    const int64_t grams = std::max<int64_t>(end - begin, 0) / n;
    const size_t own = first;
    first += static_cast<size_t>(grams);
    if (n < least || n > most || grams == 0) continue;
    std::vector<int64_t> places;
    for (int64_t skip = 0; skip <= (n == 1 ? 0 : w.Int("max_skip_count")); ++skip) {
      for (int64_t at = 0; at + (n - 1) * (skip + 1) < length; ++at) {
        for (int64_t k = 0; k < n; ++k) places.push_back(at + k * (skip + 1));
      }
    }
    const int64_t windows = static_cast<int64_t>(places.size()) / n;
    if (windows == 0) continue;
    if (windows * grams * n > 1 << 24 || first > columns.size()) {
      return CannotExpress("a pool of that size");
    }
    const std::vector<int64_t> gram_words(words->begin() + begin,
                                          words->begin() + begin + grams * n);
    Tensor where = Tensor::Zeros(DType::kFloat32, {grams, width});
    const auto cells = where.mutable_span<float>();
    for (int64_t g = 0; g < grams; ++g) {
      const size_t gram = own + static_cast<size_t>(g);
      cells[static_cast<size_t>(g * width + columns[gram])] = 1;
    }
    const Expr window = Gather(text, w.b().Constant(Tensor::Of<int64_t>({windows, n}, places)), -1);
    const Expr same = Unsqueeze(window, {-2}) ==
                      Expr{w, w.b().Constant(Tensor::Of<int64_t>({grams, n}, gram_words))};
    const Expr found = Sum(All(same, {-1}).To(DType::kFloat32), -2);
    const Expr put = MatMul(found, {w, w.b().Constant(std::move(where))});
    counts = counts.value() ? counts + put : put;
  }
  if (!counts.value()) return CannotExpress("no n-gram that the text is long enough for");
  if (mode == "TF") return counts.value();
  std::vector<float> by_column(static_cast<size_t>(width), 1);
  for (size_t i = 0; factors && i < factors->size() && i < columns.size(); ++i) {
    by_column[static_cast<size_t>(columns[i])] = (*factors)[i];
  }
  const Expr factor{w, w.b().Constant(Tensor::Of<float>({width}, by_column))};
  return (mode == "IDF" ? (counts > 0).To(DType::kFloat32) * factor : counts * factor).value();
}

}  // namespace

X2IR_TORCH(tf_idf_vectorizer).To("aten::eq.Tensor", WriteTfIdf);

}  // namespace x2ir
