// The same elements in the same order under other sizes, and axes in another order.
#include "x2ir/handlers/torch/views.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"

namespace x2ir {

void IsView(Symbol ir, std::string_view op, const TorchHandler& handler) {
  const size_t dot = std::min(op.find('.'), op.size());
  TorchSpec(ir).From(op, handler);
  TorchSpec(ir).From(StrCat(op.substr(0, dot), "_copy", op.substr(dot)), handler);
}

DType OutType(TorchCall& c) {
  if (c.out_dtype() != DType::kUndefined) return c.out_dtype();
  c.Fail(Unimplemented("a result of unknown type"));
  return DType::kFloat32;
}

Expr ReshapeAsDeclared(const Expr& x, const std::vector<Size>& sizes, const Shape* declared) {
  Builder& b = x.builder();
  std::vector<int64_t> copied, open;
  int64_t unknown = 0, zeros = 0;
  bool all_copied = true;
  const Shape* in = x->shape();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t axis = static_cast<int64_t>(i);
    if (sizes[i].number) {
      zeros += *sizes[i].number == 0;
      unknown += *sizes[i].number < 0;
      copied.push_back(*sizes[i].number);
      open.push_back(*sizes[i].number);
      continue;
    }
    ++unknown;
    open.push_back(-1);
    copied.push_back(0);
    all_copied = all_copied && in && declared && axis < in->rank() && axis < declared->rank() &&
                 !(*declared)[axis].is_unknown() && (*declared)[axis] == (*in)[axis];
  }
  if (unknown == 0) return Reshape(x, open);
  // One unknown size is inferred; that is not possible if another size is 0.
  if (unknown == 1 && zeros == 0) return x.Op("reshape", {Ints(b, open)}, {{"allowzero", 0}});
  if (all_copied && zeros == 0 && std::find(copied.begin(), copied.end(), -1) == copied.end()) {
    return x.Op("reshape", {Ints(b, copied)}, {{"allowzero", 0}});
  }
  const bool left_over = std::any_of(
      sizes.begin(), sizes.end(), [](const Size& size) { return size.number && *size.number < 0; });
  return x.Op("reshape", {Vector(b, sizes)}, {{"allowzero", !left_over}});
}

namespace {

Values View(TorchCall& c, std::string_view name) {
  Value* x = c.Tensor("self");
  return {ReshapeAsDeclared({c, x}, c.Sizes(name), c.out_shape())};
}

Values Alike(TorchCall& c) {
  Value* x = c.Tensor("self");
  Value* other = c.Tensor("other");
  return {ReshapeAsDeclared({c, x}, AllSizes({c, other}), other->shape())};
}

// The bits of elements as others of the same width; of other widths the last axis grows or shrinks.
Values ViewDtype(TorchCall& c) {
  Value* x = c.Tensor("self");
  const DType to = c.Dtype("dtype", x->dtype());
  if (to == x->dtype()) return {c.Op("identity", {x})};
  if (BitWidth(to) != BitWidth(x->dtype()) || IsComplex(to) || IsComplex(x->dtype()) ||
      to == DType::kBool || x->dtype() == DType::kBool) {
    return c.Fail(Unimplemented("the bits of ", Name(x->dtype()), " as ", Name(to)));
  }
  return {c.Op("bit_cast", {x}, {{"to", Name(to)}})};
}

Values Flatten(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t rank = c.Rank(x);
  if (rank == 0) {
    c.Axis("start_dim", x, 0);
    c.Axis("end_dim", x, -1);
    return {Reshape({c, x}, {1})};
  }
  const int64_t start = c.Axis("start_dim", x, 0), end = c.Axis("end_dim", x, -1);
  if (start > end) return c.Fail(Invalid("start_dim ", start, " is after end_dim ", end));
  std::vector<Size> sizes = SizesAt({c, x}, 0, start);
  sizes.push_back(Product(c, SizesAt({c, x}, start, end + 1)));
  const std::vector<Size> rest = SizesAt({c, x}, end + 1, rank);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return {ReshapeAsDeclared({c, x}, sizes, c.out_shape())};
}

// One -1 among the sizes is what the others leave of the axis.
Values Unflatten(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x);
  std::vector<Size> inner = c.Sizes("sizes");
  int64_t known = 1;
  Size* open = nullptr;
  for (Size& size : inner) {
    if (size.number && *size.number == -1) {
      if (open) return c.Fail(Invalid("two sizes of -1"));
      open = &size;
    } else if (!size.number || __builtin_mul_overflow(known, *size.number, &known)) {
      known = 0;
    }
  }
  if (open) {
    const Size whole = SizeAt({c, x}, axis);
    if (known > 0) {
      *open = DividedBy(c, whole, known);
    } else {
      Value* others = nullptr;
      for (const Size& size : inner) {
        if (&size == open) continue;
        others = others ? c.Op("mul", {others, Scalar(c, size)}) : Scalar(c, size);
      }
      *open = c.Op("div", {Scalar(c, whole), others});
    }
  }
  std::vector<Size> sizes = SizesAt({c, x}, 0, axis);
  sizes.insert(sizes.end(), inner.begin(), inner.end());
  const std::vector<Size> rest = SizesAt({c, x}, axis + 1, c.Rank(x));
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return {ReshapeAsDeclared({c, x}, sizes, c.out_shape())};
}

Values UnsqueezeCall(TorchCall& c) {
  Value* x = c.Tensor("self");
  return {Unsqueeze({c, x}, {c.NormalAxis(c.Int("dim"), c.Rank(x) + 1)})};
}

// Only axes whose size is 1 go. A size that is not known is what the program took it for: its
// result tells by its rank.
Values SqueezeAxes(TorchCall& c, Value* x, const std::vector<int64_t>& axes) {
  std::vector<int64_t> ones, unknown;
  for (const int64_t axis : axes) {
    const auto size = KnownSizes(x, axis, axis + 1);
    if (!size) unknown.push_back(axis);
    if (size && (*size)[0] == 1) ones.push_back(axis);
  }
  if (!unknown.empty()) {
    const Shape* out = c.out_shape();
    if (!out) return c.Fail(Unimplemented("axes whose sizes are not known"));
    const int64_t gone = c.Rank(x) - out->rank() - static_cast<int64_t>(ones.size());
    if (gone == static_cast<int64_t>(unknown.size())) {
      ones.insert(ones.end(), unknown.begin(), unknown.end());
    } else if (gone != 0) {
      return c.Fail(Unimplemented("axes whose sizes are not known"));
    }
  }
  std::sort(ones.begin(), ones.end());
  return {ones.empty() ? c.Op("identity", {x}) : Squeeze({c, x}, ones)};
}

Values SqueezeCall(TorchCall& c) {
  Value* x = c.Tensor("self");
  return SqueezeAxes(c, x, AllAxes({c, x}));
}

Values SqueezeDims(TorchCall& c) {
  Value* x = c.Tensor("self");
  std::vector<int64_t> axes;
  for (const int64_t axis : c.Ints("dim")) {
    if (const int64_t a = c.NormalAxis(axis, c.Rank(x)); c.Rank(x) > 0) axes.push_back(a);
  }
  return SqueezeAxes(c, x, axes);
}

Value* AtLeast(TorchCall& c, Value* x, int64_t rank) {
  const int64_t own = c.Rank(x);
  if (own >= rank) return c.Op("identity", {x});
  if (own == 0) return Unsqueeze({c, x}, CountedFrom(0, rank));
  if (own == 2) return Unsqueeze({c, x}, {2});
  return Unsqueeze({c, x}, rank == 2 ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 2});
}

Values AtLeastAll(TorchCall& c, int64_t rank) {
  Values results;
  for (Value* x : c.Tensors("tensors")) results.push_back(AtLeast(c, x, rank));
  return results;
}

Values Swap(TorchCall& c, std::string_view a, std::string_view b) {
  Value* x = c.Tensor("self");
  const int64_t from = c.Axis(a, x), to = c.Axis(b, x);
  if (c.Rank(x) == 0) return {c.Op("identity", {x})};
  std::vector<int64_t> perm = AllAxes({c, x});
  std::swap(perm[static_cast<size_t>(from)], perm[static_cast<size_t>(to)]);
  return {Transpose({c, x}, std::move(perm))};
}

Values Permute(TorchCall& c) {
  Value* x = c.Tensor("self");
  std::vector<int64_t> perm = c.Ints("dims");
  for (int64_t& axis : perm) axis = c.NormalAxis(axis, c.Rank(x));
  if (perm.empty()) return {c.Op("identity", {x})};
  return {Transpose({c, x}, std::move(perm))};
}

Values MoveAxes(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t rank = c.Rank(x);
  const std::vector<int64_t> from = c.Ints("source"), to = c.Ints("destination");
  if (from.size() != to.size()) return c.Fail(Invalid("source and destination differ in length"));
  std::vector<int64_t> perm(static_cast<size_t>(rank), -1);
  std::vector<bool> moved(perm.size());
  if (rank == 0) return {c.Op("identity", {x})};
  for (size_t i = 0; i < from.size(); ++i) {
    const auto source = static_cast<size_t>(c.NormalAxis(from[i], rank));
    int64_t& place = perm[static_cast<size_t>(c.NormalAxis(to[i], rank))];
    if (moved[source] || place >= 0) return c.Fail(Invalid("an axis is named twice"));
    moved[source] = true;
    place = static_cast<int64_t>(source);
  }
  size_t next = 0;
  for (int64_t& place : perm) {
    if (place >= 0) continue;
    while (moved[next]) ++next;
    place = static_cast<int64_t>(next++);
  }
  return {Transpose({c, x}, std::move(perm))};
}

// The last two axes swapped, or all of them turned around.
Values Transposed(TorchCall& c, bool all, bool conjugate) {
  Value* x = c.Tensor("self");
  if (conjugate) x = ConjOf({c, x});
  std::vector<int64_t> perm = AllAxes({c, x});
  if (perm.size() < 2) return {c.Op("identity", {x})};
  if (all) {
    std::reverse(perm.begin(), perm.end());
  } else {
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  }
  return {Transpose({c, x}, std::move(perm))};
}

TorchHandler TransposedBy(bool all, bool conjugate) {
  return [=](TorchCall& c) { return Transposed(c, all, conjugate); };
}

// -1 keeps a size. A size of 1 that is asked for is no more than that, so shapes are the result's.
Values ExpandCall(TorchCall& c) {
  Value* x = c.Tensor("self");
  c.Ignore({"implicit"});
  std::vector<Size> sizes = c.Sizes("size");
  const int64_t added = static_cast<int64_t>(sizes.size()) - c.Rank(x);
  if (added < 0) return c.Fail(Invalid("expand to fewer axes"));
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i) {
    Size& size = sizes[static_cast<size_t>(i)];
    if (!size.number || *size.number != -1) continue;
    if (i < added) return c.Fail(Invalid("-1 is the size of a new axis"));
    size = 1;
  }
  return {Expand({c, x}, Vector(c, sizes))};
}

Values ExpandAs(TorchCall& c) {
  Value* x = c.Tensor("self");
  return {Expand({c, x}, Vector(c, AllSizes(c.Tensor("other"))))};
}

// As much as each lacks of the common shape.
Values BroadcastTensors(TorchCall& c) {
  const std::vector<Value*> tensors = c.Tensors("tensors");
  Values results;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Value* x = tensors[i];
    const Shape* want = c.out_shape(i);
    if (want && want->is_static()) {
      results.push_back(Expand({c, x}, Ints(c, *want->Static())));
      continue;
    }
    for (size_t j = 0; j < tensors.size(); ++j) {
      if (j != i) x = Expand({c, x}, ShapeOf({c, tensors[j]}));
    }
    results.push_back(tensors.size() == 1 ? c.Op("identity", {x}) : x);
  }
  return results;
}

[[maybe_unused]] const bool kViewRows = [] {
  const auto view = [](std::string_view name) {
    return [=](TorchCall& c) { return View(c, name); };
  };
  IsView("reshape", "aten::view.default", view("size"));
  IsView("bit_cast", "aten::view.dtype", ViewDtype);
  IsView("reshape", "aten::_reshape_alias.default", [](TorchCall& c) {
    c.Ignore({"stride"});
    return View(c, "size");
  });
  TorchSpec("reshape")
      .From("aten::_unsafe_view.default", view("size"))
      .From("aten::reshape.default", view("shape"))
      .From({"aten::view_as.default", "aten::reshape_as.default"}, Alike)
      .From("aten::flatten.using_ints", Flatten)
      .From("aten::unflatten.int", Unflatten)
      .From("aten::ravel.default",
            [](TorchCall& c) -> Values { return {Reshape(c.Tensor("self"), {-1})}; });
  IsView("unsqueeze", "aten::unsqueeze.default", UnsqueezeCall);
  IsView("squeeze", "aten::squeeze.default", SqueezeCall);
  IsView("squeeze", "aten::squeeze.dim", SqueezeDims);
  IsView("squeeze", "aten::squeeze.dims", SqueezeDims);
  const auto at_least = [](std::string_view name, int64_t rank) {
    TorchSpec("unsqueeze")
        .From(StrCat(name, ".default"),
              [=](TorchCall& c) -> Values { return {AtLeast(c, c.Tensor("self"), rank)}; })
        .From(StrCat(name, ".Sequence"), [=](TorchCall& c) { return AtLeastAll(c, rank); });
  };
  at_least("aten::atleast_1d", 1);
  at_least("aten::atleast_2d", 2);
  at_least("aten::atleast_3d", 3);
  const auto swap = [](std::string_view a, std::string_view b) {
    return [=](TorchCall& c) { return Swap(c, a, b); };
  };
  IsView("transpose", "aten::transpose.int", swap("dim0", "dim1"));
  IsView("transpose", "aten::t.default", TransposedBy(false, false));
  IsView("transpose", "aten::permute.default", Permute);
  TorchSpec("transpose")
      .From("aten::swapdims.default", swap("dim0", "dim1"))
      .From("aten::swapaxes.default", swap("axis0", "axis1"))
      .From({"aten::movedim.intlist", "aten::movedim.int", "aten::moveaxis.intlist",
             "aten::moveaxis.int"},
            MoveAxes)
      .From({"aten::numpy_T.default", "aten::numpy_T.a"}, TransposedBy(true, false))
      .From({"aten::mT.default", "aten::mT.a"}, TransposedBy(false, false))
      .From({"aten::mH.default", "aten::mH.a", "aten::matrix_H.default", "aten::matrix_H.a",
             "aten::adjoint.default"},
            TransposedBy(false, true));
  IsView("expand", "aten::expand.default", ExpandCall);
  TorchSpec("expand")
      .From("aten::broadcast_to.default", ExpandCall)
      .From("aten::expand_as.default", ExpandAs)
      .From("aten::broadcast_tensors.default", BroadcastTensors);
  return true;
}();

}  // namespace

}  // namespace x2ir
