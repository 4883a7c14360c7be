// Layers of networks that pick and put elements. Places are float32, and may count from the end.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/indexing.h"
#include "x2ir/handlers/coreml/layout.h"
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

Expr SliceStatic(NnArgs& a) {
  const std::vector<int64_t> begin = a.List("beginIds"), end = a.List("endIds"),
                             strides = a.List("strides"), begin_mask = a.List("beginMasks"),
                             end_mask = a.List("endMasks"), squeeze = a.List("squeezeMasks");
  return AtLeastOneAxis(SlicedByIndex(a, a.X(), Ints(a.b(), begin), Ints(a.b(), end), strides,
                                      begin_mask, end_mask, squeeze));
}

// Begin, end, strides and masks may be operands, in this order.
absl::StatusOr<Value*> SliceDynamic(NnArgs& a) {
  const std::vector<int64_t> ends = a.List("endIds");
  const Expr end = a.count() > 2 ? a.Whole(2) : Ints(a.b(), ends);
  std::vector<int64_t> lists[4] = {a.List("strides"), a.List("beginMasks"), a.List("endMasks"),
                                   a.List("squeezeMasks")};
  for (size_t i = 3; i < a.count() && i < 7; ++i) {
    X2IR_ASSIGN_OR_RETURN(lists[i - 3], a.Known(i, "stride or mask"));
  }
  return AtLeastOneAxis(
             SlicedByIndex(a, a.X(), a.Whole(1), end, lists[0], lists[1], lists[2], lists[3]))
      .value();
}

// As many elements from the begin on that the operand says.
Expr SliceBySize(NnArgs& a) {
  const int64_t size = a.Int("size"), axis = a.Int("axis");
  const Expr begin = Reshape(a.Whole(1), {1});
  return Slice(a.X(), axis, Size(begin), Plus(a.b(), Size(begin), size));
}

Expr Places(NnArgs& a) { return AsNumber(Transpose(a.Holds(0).Op("non_zero"), {1, 0})); }

absl::StatusOr<Value*> OneHot(NnArgs& a) {
  int64_t size = a.Int("oneHotVectorSize");
  const int64_t axis = a.Int("axis");
  const double on = a.Number("onValue"), off = a.Number("offValue");
  if (a.count() > 1) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(1, "size"));
    a.Require(given.size() == 1, "several sizes");
    size = given[0];
  }
  const Expr values = NumbersAs(a.b(), DType::kFloat32, {2}, {off, on});
  return a.Op("one_hot", {a.Whole(0), a.b().Int(size), values}, {{"axis", axis}}).value();
}

}  // namespace

X2IR_NN(gather).From("gather", Gathered);
X2IR_NN(gather_elements).From("gatherAlongAxis", GatheredAlongAxis);
X2IR_NN(gather_nd).From("gatherND", GatheredNd);
X2IR_NN(scatter_elements).From("scatter", Scattered).From("scatterAlongAxis", ScatteredAlongAxis);
X2IR_NN(scatter_nd).From("scatterND", ScatteredNd);
X2IR_NN(slice)
    .From("sliceStatic", SliceStatic)
    .From("sliceDynamic", SliceDynamic)
    .From("sliceBySize", SliceBySize);
X2IR_NN(non_zero).From("whereNonZero", Places);
X2IR_NN(one_hot).From("oneHot", OneHot);

}  // namespace x2ir
