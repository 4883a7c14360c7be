// Layers of networks that pick and put elements. Places are float32, and may count from the end.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/indexing.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

Expr Gathered(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return Gather(a.X(), a.Whole(1), axis);
}

Expr GatheredAlongAxis(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return GatherElements(a.X(), a.Whole(1), axis);
}

Expr GatheredNd(NnArgs& a) { return a.X().Op("gather_nd", {a.Whole(1)}); }

Expr Put(NnArgs& a, const PutFn& put) {
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"SCATTER_UPDATE", "update"}, {"SCATTER_ADD", "add"}, {"SCATTER_SUB", "sub"},
      {"SCATTER_MUL", "mul"},       {"SCATTER_DIV", "div"}, {"SCATTER_MAX", "max"},
      {"SCATTER_MIN", "min"}};
  const std::string mode = a.Enum("mode", "SCATTER_UPDATE");
  for (const auto& [core, mil] : kModes) {
    if (core == mode) return CombinedAt(a, a.X(0), a.Whole(1), a.X(2), std::string(mil), put);
  }
  a.Require(false, StrCat("mode ", mode));
  return nullptr;
}

Expr Scattered(NnArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis"), a.X().rank());
  a.Require(a.X(1).rank() == 1, "places of more than one axis");
  return Put(a, [axis](const Expr& data, const Expr& places, const Expr& updates,
                       std::string_view reduction) {
    return ScatterSlices(data, axis, places, updates, reduction);
  });
}

Expr ScatteredAlongAxis(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return Put(a, [axis](const Expr& data, const Expr& places, const Expr& updates,
                       std::string_view reduction) {
    return ScatterElements(data, axis, places, updates, reduction);
  });
}

Expr ScatteredNd(NnArgs& a) {
  return Put(
      a, [](const Expr& data, const Expr& places, const Expr& updates, std::string_view reduction) {
        return ScatterNd(data, places, updates, reduction);
      });
}

Expr Places(NnArgs& a) { return AsNumber(Transpose(a.Holds(0).Op("non_zero"), {1, 0})); }

// Rows of a table whose columns the weights are.
Expr Looked(NnArgs& a, int64_t count, int64_t size, const Expr& places) {
  const bool biased = a.Flag("hasBias");
  const Expr table = SwapLast(a.NeedWeights("weights", {size, count}));
  const Expr y = Gather(table, places.To(DType::kInt64), 0);
  return biased ? y + a.NeedWeights("bias", {size}) : y;
}

Expr Embedding(NnArgs& a) {
  const int64_t count = a.Int("inputDim"), size = a.Int("outputChannels");
  const Expr x = a.X();
  const int64_t rank = x.rank();
  a.Require(rank == 4 || rank == 5, StrCat("rank ", rank));
  const Expr places = Squeeze(x, {rank - 3, rank - 2, rank - 1});
  return Unsqueeze(Looked(a, count, size, places), {-2, -1});
}

Expr EmbeddingNd(NnArgs& a) {
  const int64_t count = a.Int("vocabSize"), size = a.Int("embeddingSize");
  return Looked(a, count, size, Squeeze(a.X(), {-1}));
}

absl::StatusOr<Values> TopK(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  int64_t k = a.Int("K");
  const bool least = a.Flag("useBottomK");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "k"));
    a.Require(given.size() == 1, "several numbers");
    k = given[0];
  }
  a.Require(k > 0, StrCat("the first ", k));
  const Values both =
      a.b().Ops("top_k", {a.X(), a.b().Ints({k})},
                {{"axis", axis}, {"largest", least ? 0 : 1}, {"sorted", 1}}, {true, a.wants(1)});
  return Values{both[0], both[1] ? a.Cast(both[1], DType::kFloat32).value() : nullptr};
}

Expr ArgSort(NnArgs& a) {
  const int64_t axis = a.Int("axis");
  return AsNumber(Sort(a.X(), axis, a.Flag("descending")).indices);
}

}  // namespace

X2IR_NN(gather).From({{"gather", Gathered},
                      {"embedding", Embedding},
                      {"embeddingND", EmbeddingNd}});
X2IR_NN(gather_elements).From("gatherAlongAxis", GatheredAlongAxis);
X2IR_NN(gather_nd).From("gatherND", GatheredNd);
X2IR_NN(scatter_elements).From({{"scatter", Scattered}, {"scatterAlongAxis", ScatteredAlongAxis}});
X2IR_NN(scatter_nd).From("scatterND", ScatteredNd);
X2IR_NN(non_zero).From("whereNonZero", Places);
X2IR_NN(top_k).From({{"topK", TopK}, {"argSort", ArgSort}});

}  // namespace x2ir
