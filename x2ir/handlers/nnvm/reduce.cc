// NNVM: reductions.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/symbol.h"

namespace x2ir {
namespace {

absl::StatusOr<std::vector<int64_t>> RowAxes(SymbolArgs& a) {
  return a.ReducedAxes(a.Tuple("axis"));
}

std::function<absl::StatusOr<Value*>(SymbolArgs&)> ReduceRow(Symbol op) {
  return [op](SymbolArgs& a) -> absl::StatusOr<Value*> {
    a.Ignore("dtype");
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, RowAxes(a));
    return AtLeastOneAxis(Reduce(a.in(0), op, axes, a.Flag("keepdims", false))).value();
  };
}

std::function<absl::StatusOr<Value*>(SymbolArgs&)> ArgRow(Symbol op) {
  return [op](SymbolArgs& a) -> absl::StatusOr<Value*> {
    const DType t = a.ElementType("dtype", DType::kInt32);
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, RowAxes(a));
    const bool keep = a.Flag("keepdims", false);
    if (axes.size() > 1) return Unimplemented("places along several axes");
    const Expr x = axes.empty() ? Reshape(a.in(0), {-1}) : a.in(0);
    a.Require(!axes.empty() || !keep, "places among all elements with axes kept");
    const Expr place =
        x.Op(op, {}, {{"axis", axes.empty() ? 0 : axes[0]}, {"keepdims", keep ? 1 : 0}});
    return AtLeastOneAxis(place.To(t)).value();
  };
}

std::function<absl::StatusOr<Value*>(SymbolWriter&)> ToReduce(std::string_view op) {
  return [op](SymbolWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
    X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
    const bool keep = w.Int("keepdims") != 0;
    if (rank == 0) return CannotExpress("a reduction of a tensor without axes");
    std::vector<int64_t> all = axes.value_or(std::vector<int64_t>());
    if (all.empty()) {
      if (w.Int("noop_with_empty_axes") != 0) return w.Nnvm("copy", {w.in(0)});
      all = CountedFrom(0, rank);
    }
    if (!keep && static_cast<int64_t>(all.size()) >= rank)
      return CannotExpress("a result without axes");
    for (int64_t& axis : all) axis += axis < 0 ? rank : 0;
    return w.Nnvm(op, {w.in(0)}, {{"axis", TupleText(all)}, {"keepdims", FlagText(keep)}});
  };
}

std::function<absl::StatusOr<Value*>(SymbolWriter&)> ToArg(std::string_view op) {
  return [op](SymbolWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of several places");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    const bool keep = w.Int("keepdims") != 0;
    if (!keep && w.shape(0)->rank() == 1) return CannotExpress("a result without axes");
    Value* place =
        w.Nnvm(op, {w.in(0)}, {{"axis", TupleText({axis})}, {"keepdims", FlagText(keep)}});
    return w.Nnvm("cast", {place}, {{"dtype", "int64"}});
  };
}

}  // namespace

X2IR_NNVM(reduce_sum).From("sum", ReduceRow("reduce_sum")).To("sum", ToReduce("sum"));
X2IR_NNVM(reduce_mean).From("mean", ReduceRow("reduce_mean")).To("mean", ToReduce("mean"));
X2IR_NNVM(reduce_max).From("max", ReduceRow("reduce_max")).To("max", ToReduce("max"));
X2IR_NNVM(reduce_min).From("min", ReduceRow("reduce_min")).To("min", ToReduce("min"));
X2IR_NNVM(reduce_prod).From("prod", ReduceRow("reduce_prod")).To("prod", ToReduce("prod"));
X2IR_NNVM(arg_max).From("argmax", ArgRow("arg_max")).To("argmax", ToArg("argmax"));
X2IR_NNVM(arg_min).From("argmin", ArgRow("arg_min")).To("argmin", ToArg("argmin"));

}  // namespace x2ir
