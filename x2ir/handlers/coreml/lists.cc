// MIL: lists, which are tensors here: their elements along the first axis. Sizes of elements that
// are not known are 0 until the first one is written.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/coreml.h"

namespace x2ir {
namespace {

Expr MilMakeList(MilArgs& a) {
  for (const char* name : {"dynamic_length", "dtype"}) a.Ignore(name);
  const x2ir::Type& type = a.node().output(0)->type();
  const Shape* shape = type.is_tensor() ? type.shape() : nullptr;
  a.Require(shape && type.dtype() != DType::kUndefined, "a list of elements of unknown rank");
  std::vector<Size> sizes = {1};
  if (a.Has("init_length")) sizes[0] = Size(Reshape(a.X("init_length").To(DType::kInt64), {}));
  for (int64_t i = 1; i < shape->rank(); ++i) {
    sizes.emplace_back((*shape)[i].is_static() ? (*shape)[i].value() : 0);
  }
  const Expr zero = NumbersAs(a.b(), DType::kInt32, {}, {0});
  return Expand(zero.To(type.dtype()), Vector(a.b(), sizes));
}

// Padded with zeros up to that length and those sizes of elements.
Expr Grown(const Expr& list, const Expr& length, const Expr& sizes) {
  Builder& b = list.builder();
  const Expr own = ShapeOf(list);
  const Expr ends = Max(Concat(b, {Reshape(length, {1}), sizes}, 0) - own, own * 0.0);
  return list.Op("pad", {Concat(b, {ends * 0.0, ends}, 0),
                         NumbersAs(b, DType::kInt32, {}, {0}).To(list.dtype())});
}

Expr MilListWrite(MilArgs& a) {
  const Expr list = a.X("ls"), value = a.X("value");
  const Expr index = Reshape(a.X("index").To(DType::kInt64), {});
  const bool fixed = a.Bool(coreml::kFixedList) && KnownSizes(list, 1, list.rank()).has_value();
  const Expr whole = fixed ? list : Grown(list, Max(SizeOf(list, 0), index + 1.0), ShapeOf(value));
  return ScatterNd(whole, Reshape(index, {1, 1}), Unsqueeze(value, {0}), "none");
}

Expr MilListScatter(MilArgs& a) {
  const Expr list = a.X("ls"), values = a.X("value");
  const Expr indices = Reshape(a.X("indices").To(DType::kInt64), {-1});
  const bool fixed = a.Bool(coreml::kFixedList) && KnownSizes(list, 1, list.rank()).has_value();
  const Expr most = Reduce(indices, "reduce_max", {0}) + 1.0;
  const Expr whole = fixed ? list : Grown(list, Max(SizeOf(list, 0), most), ShapeOf(values, 1));
  return ScatterNd(whole, Unsqueeze(indices, {1}), values, "none");
}

Expr MilListRead(MilArgs& a) {
  return Gather(a.X("ls"), Reshape(a.X("index").To(DType::kInt64), {}), 0);
}
Expr MilListGather(MilArgs& a) { return Gather(a.X("ls"), a.X("indices").To(DType::kInt64), 0); }
Expr MilListLength(MilArgs& a) { return SizeOf(a.X("ls"), 0).To(DType::kInt32); }

}  // namespace

X2IR_MIL(expand).From("make_list", MilMakeList);
X2IR_MIL(scatter_nd).From({{"list_write", MilListWrite}, {"list_scatter", MilListScatter}});
X2IR_MIL(gather).From({{"list_read", MilListRead}, {"list_gather", MilListGather}});
X2IR_MIL(size).From("list_length", MilListLength);

}  // namespace x2ir
