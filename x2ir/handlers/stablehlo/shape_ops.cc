// StableHLO: the IR's ops on shapes, written. Sizes that are not known when a file is written are
// operands of the operations that are called dynamic.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

std::optional<std::vector<int64_t>> StaticSizes(const Value* value) {
  const Shape* shape = value->shape();
  return shape ? shape->Static() : std::nullopt;
}
std::optional<std::vector<int64_t>> StaticSizes(const Type& type) {
  return type.shape() ? type.shape()->Static() : std::nullopt;
}

// --- Sizes ---------------------------------------------------------------------------------------

absl::StatusOr<Value*> WriteShape(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto place = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t from = place(w.Int("start"));
  const int64_t to = w.attrs().Has("end") ? place(w.Int("end")) : rank;
  std::vector<int64_t> known;
  std::vector<Value*> parts;
  for (int64_t axis = from; axis < to; ++axis) {
    const Dim& dim = (*w.shape())[axis];
    if (dim.is_static()) {
      known.push_back(dim.value());
      parts.push_back(w.Ints({dim.value()}));
      continue;
    }
    Value* size = w.Hlo("get_dimension_size", {w.in(0)}, {{"dimension", axis}},
                        Type::Tensor(DType::kInt32, Shape()));
    parts.push_back(Unsqueeze({w, w.Cast(size, DType::kInt64)}, {0}));
  }
  if (known.size() == parts.size()) return w.Ints(known);
  return Concat(w, std::move(parts), 0).value();
}

absl::StatusOr<Value*> WriteSize(StablehloWriter& w) {
  if (const auto sizes = StaticSizes(w.in(0))) {
    if (const auto count = CheckedProduct(*sizes)) return w.b().Int(*count);
  }
  X2IR_RETURN_IF_ERROR(w.Rank().status());
  return ShapeOf(X(w)).Op("reduce_prod", {}, {{"keepdims", 0}}).value();
}

// The shape operand of a reshape: 0 and -1 are replaced by sizes.
absl::StatusOr<Expr> ResolvedSizes(StablehloWriter& w) {
  const Expr x = X(w), shape = X(w, 1);
  const bool allows_zero = w.Int("allowzero") != 0;
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Dim count = DimAt(shape, 0);
  if (!count.is_static()) return CannotExpress("a shape of a rank that is not known");
  std::vector<Size> sizes;
  const auto known = w.KnownInts(1, "shape");
  if (known.ok() && *known) {
    std::optional<size_t> rest;
    Size others = 1;
    for (size_t i = 0; i < (*known)->size(); ++i) {
      const int64_t size = (**known)[i];
      const auto axis = static_cast<int64_t>(i);
      if (size == -1) {
        rest = i;
        sizes.emplace_back(1);
        continue;
      }
      if (size == 0 && !allows_zero && axis >= rank) return CannotExpress("a size of no axis");
      sizes.push_back(size == 0 && !allows_zero ? SizeAt(x, axis) : Size(size));
      others = Times(w, others, sizes.back());
    }
    if (rest) {
      if (others.number == 0) return CannotExpress("a size that is left of nothing");
      sizes[*rest] = Divided(w, Product(w, AllSizes(x)), others);
    }
    return Vector(w, sizes);
  }
  Expr resolved = shape;
  if (!allows_zero) {
    // Axes that the operand has not are never copied.
    Expr own = ShapeOf(x);
    const int64_t more = count.value() - rank;
    if (more > 0)
      own = Concat(w, {own, w.Ints(std::vector<int64_t>(static_cast<size_t>(more), 0))}, 0);
    if (more < 0) own = Slice(own, 0, 0, count.value());
    resolved = Where(shape == 0, own, shape);
  }
  const Expr left = resolved == -1, others = Where(left, 1, resolved);
  const Expr product = others.Op("reduce_prod", {}, {{"keepdims", 1}});
  const Expr total = ShapeOf(x).Op("reduce_prod", {}, {{"keepdims", 1}});
  return Where(left, total / Where(product == 0, 1, product), resolved);
}

absl::StatusOr<Value*> WriteReshape(StablehloWriter& w) {
  if (StaticSizes(w.out_type()) && StaticSizes(w.in(0))) return w.Hlo("reshape", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const Expr sizes, ResolvedSizes(w));
  return w.Hlo("dynamic_reshape", {w.in(0), sizes});
}

absl::StatusOr<Value*> WriteFlatten(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t named = w.Int("axis"), axis = named < 0 ? named + rank : named;
  const std::vector<Size> sizes = AllSizes(X(w));
  const auto at = sizes.begin() + std::clamp<int64_t>(axis, 0, rank);
  const Size front = Product(w, {sizes.begin(), at}), back = Product(w, {at, sizes.end()});
  return ReshapeTo(X(w), Vector(w, {front, back})).value();
}

// Axes of size 1 come and go.
absl::StatusOr<Value*> WriteUnsqueeze(StablehloWriter& w) {
  if (StaticSizes(w.out_type()) && StaticSizes(w.in(0))) return w.Hlo("reshape", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (!axes) return CannotExpress("an unsqueeze without axes");
  const auto whole = rank + static_cast<int64_t>(axes->size());
  std::vector<bool> is_new(static_cast<size_t>(whole), false);
  for (const int64_t axis : *axes) {
    const int64_t at = axis < 0 ? axis + whole : axis;
    if (at < 0 || at >= whole) return Invalid("axis ", axis, " of an unsqueeze");
    is_new[static_cast<size_t>(at)] = true;
  }
  const std::vector<Size> own = AllSizes(X(w));
  std::vector<Size> sizes;
  for (size_t i = 0, next = 0; i < is_new.size() && next <= own.size(); ++i) {
    if (!is_new[i] && next == own.size()) return Invalid("an unsqueeze names an axis twice");
    sizes.push_back(is_new[i] ? Size(1) : own[next++]);
  }
  return w.Hlo("dynamic_reshape", {w.in(0), Vector(w, sizes)});
}
absl::StatusOr<Value*> WriteSqueeze(StablehloWriter& w) {
  if (StaticSizes(w.out_type()) && StaticSizes(w.in(0))) return w.Hlo("reshape", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (!axes) return CannotExpress("a squeeze without axes of a size that is not known");
  std::vector<Size> sizes = AllSizes(X(w)), rest;
  for (int64_t i = 0; i < rank; ++i) {
    const auto named = [&](int64_t axis) { return (axis < 0 ? axis + rank : axis) == i; };
    if (std::none_of(axes->begin(), axes->end(), named)) {
      rest.push_back(sizes[static_cast<size_t>(i)]);
    }
  }
  return w.Hlo("dynamic_reshape", {w.in(0), Vector(w, rest)});
}

// --- Broadcast -----------------------------------------------------------------------------------

// Where the shape has 1 the operand's size stays; axes are counted from the end.
Expr JointSizes(StablehloWriter& w, const Expr& x, const Expr& shape, int64_t count) {
  const int64_t rank = x.rank(), both = std::min(rank, count);
  const auto is_one = [](const Dim& dim) { return dim == Dim(1); };
  if (rank <= count && std::all_of(x->shape()->begin(), x->shape()->end(), is_one)) return shape;
  const Expr own = ShapeOf(x);
  const Expr longer = rank > count ? own : shape;
  const int64_t head = std::max(rank, count) - both;
  const auto tail = [&](const Expr& all, int64_t size) {
    return size == both ? all : Slice(all, 0, size - both, size);
  };
  const Expr p = tail(own, rank), q = tail(shape, count);
  const Expr joint = Where(q == 1, p, q);
  return head == 0 ? joint : Concat(w, {Slice(longer, 0, 0, head), joint}, 0);
}

absl::StatusOr<Value*> WriteExpand(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto sizes = StaticSizes(w.out_type()), own = StaticSizes(w.in(0));
  const Shape* out = w.out_type().shape();
  if (!out) return CannotExpress("a result of a rank that is not known");
  AttributeMap attrs{{"broadcast_dimensions", CountedFrom(out->rank() - rank, rank)}};
  if (sizes && own) {
    if (*sizes == *own) return w.Op("identity", {w.in(0)});
    return w.Hlo("broadcast_in_dim", {w.in(0)}, std::move(attrs));
  }
  const Dim count = DimAt(w.in(1), 0);
  if (!count.is_static()) return CannotExpress("a shape of a rank that is not known");
  const Expr joint = sizes ? Ints(w, *sizes) : JointSizes(w, X(w), X(w, 1), count.value());
  return w.Hlo("dynamic_broadcast_in_dim", {w.in(0), joint}, std::move(attrs));
}

// Every axis gets one before it, along which it is repeated.
absl::StatusOr<Value*> WriteTile(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const std::vector<Size> own = AllSizes(X(w));
  std::vector<Size> apart, wide, whole;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    const Size times = ElementAt(X(w, 1), 0, i);
    const auto known = w.KnownInts(1, "repeats");
    const Size repeats = known.ok() && *known ? Size((**known)[static_cast<size_t>(i)]) : times;
    wide.push_back(repeats);
    wide.push_back(own[static_cast<size_t>(i)]);
    whole.push_back(Times(w, repeats, own[static_cast<size_t>(i)]));
    axes.push_back(2 * i);
  }
  if (rank == 0) return w.Op("identity", {w.in(0)});
  return ReshapeTo(Expand(Unsqueeze(X(w), axes), Vector(w, wide)), Vector(w, whole)).value();
}

absl::StatusOr<Value*> WriteFilled(StablehloWriter& w) {
  const auto* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  const Tensor zero = Tensor::Zeros(DType::kFloat32, {});
  return w.Op("expand", {w.b().Constant(tensor ? tensor->Reshaped({}) : zero), w.in(0)});
}

// --- Order ---------------------------------------------------------------------------------------

absl::StatusOr<Value*> WriteTranspose(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  std::vector<int64_t> backwards = CountedFrom(0, rank);
  std::reverse(backwards.begin(), backwards.end());
  return w.Hlo("transpose", {w.in(0)},
               {{"permutation", w.attrs().Ints("perm", std::move(backwards))}});
}
absl::StatusOr<Value*> WriteConcat(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const std::vector<Value*> parts = w.node().inputs();
  return w.Hlo("concatenate", parts, {{"dimension", axis}});
}

// start, start + delta, ...
absl::StatusOr<Value*> WriteRange(StablehloWriter& w) {
  const DType t = w.dtype(), wide = AtLeastFloat32(t);
  const auto sizes = StaticSizes(w.out_type());
  const std::optional<Tensor> first = KnownTensor(*w.in(0)), step = KnownTensor(*w.in(2));
  const bool plain =
      first && step && t == wide && first->AsDouble(0) == 0 && step->AsDouble(0) == 1;
  const Expr start = X(w, 0).To(wide), end = X(w, 1).To(wide), delta = X(w, 2).To(wide);
  Value* count = nullptr;
  if (!sizes) {
    Expr steps = end - start;
    if (IsFloating(wide)) {
      steps = Ceil(steps / delta).To(DType::kInt64);
    } else {
      steps = steps.To(DType::kInt64);
      const Expr by = delta.To(DType::kInt64);
      steps = (steps + by - Sign(by)) / by;
    }
    count = Unsqueeze(Max(steps, 0), {0});
  }
  const auto positions = [&](const Type& type) {
    const AttributeMap attrs{{"iota_dimension", 0}};
    return sizes ? w.Hlo("iota", {}, attrs, type) : w.Hlo("dynamic_iota", {count}, attrs, type);
  };
  if (plain) return positions(w.out_type());
  Type type = w.out_type();
  type.set_dtype(wide);
  return (start + Expr(w, positions(type)) * delta).To(t).value();
}

}  // namespace

X2IR_STABLEHLO(concat).To("concatenate", WriteConcat);
X2IR_STABLEHLO(constant_of_shape).To("broadcast_in_dim", WriteFilled);
X2IR_STABLEHLO(expand).To("broadcast_in_dim", WriteExpand);
X2IR_STABLEHLO(flatten).To("reshape", WriteFlatten);
X2IR_STABLEHLO(range).To("iota", WriteRange);
X2IR_STABLEHLO(reshape).To("reshape", WriteReshape);
X2IR_STABLEHLO(shape).To("get_dimension_size", WriteShape);
X2IR_STABLEHLO(size).To("get_dimension_size", WriteSize);
X2IR_STABLEHLO(squeeze).To("reshape", WriteSqueeze);
X2IR_STABLEHLO(tile).To("broadcast_in_dim", WriteTile);
X2IR_STABLEHLO(transpose).To("transpose", WriteTranspose);
X2IR_STABLEHLO(unsqueeze).To("reshape", WriteUnsqueeze);

}  // namespace x2ir
