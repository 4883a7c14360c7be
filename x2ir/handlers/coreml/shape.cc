// MIL: shapes, order of axes, parts and wholes, both ways.
#include <algorithm>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/indexing.h"
#include "x2ir/handlers/coreml/layout.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/resize.h"

namespace x2ir {
namespace {

Expr MilReshape(MilArgs& a) { return a.X().Op("reshape", {a.AsInt64(a.X("shape"))}); }

Expr MilReshapeLike(MilArgs& a) {
  const Expr x = a.X();
  const std::vector<Value*> refs = a.inputs(1);
  const std::vector<int64_t> begins = a.List("begins"), ends = a.List("ends"),
                             masks = a.List("end_masks");
  a.Require(begins.size() == refs.size() && ends.size() == refs.size() &&
                masks.size() == refs.size() && !refs.empty(),
            "as many bounds as references");
  std::vector<Value*> parts;
  for (size_t i = 0; i < refs.size(); ++i) {
    AttributeMap attrs = {{"start", begins[i]}};
    if (masks[i] == 0) attrs.Set("end", ends[i]);
    parts.push_back(a.Op("shape", {refs[i]}, std::move(attrs)));
  }
  return ReshapeTo(x, Concat(a.b(), std::move(parts), 0));
}

Expr MilTranspose(MilArgs& a) {
  const Expr x = a.X();
  std::vector<int64_t> perm = a.List("perm");
  for (int64_t& axis : perm) axis = a.AxisOf(axis, static_cast<int64_t>(perm.size()));
  return Transpose(x, perm);
}

Expr MilReverse(MilArgs& a) {
  const Expr x = a.X();
  const int64_t rank = x.rank();
  std::vector<int64_t> axes = a.List("axes");
  if (!a.HasAttr("axes")) axes = CountedFrom(0, rank);
  for (int64_t& axis : axes) axis = a.AxisOf(axis, rank);
  return Reversed(x, axes);
}

Expr MilShape(MilArgs& a) { return ShapeOf(a.X()).To(DType::kInt32); }
Expr MilTile(MilArgs& a) { return a.X().Op("tile", {a.AsInt64(a.X("reps"))}); }

Expr MilConcat(MilArgs& a) {
  const std::vector<Value*> parts = a.inputs();
  const int64_t axis = a.Int("axis");
  const bool interleave = a.Bool("interleave");
  a.Require(!parts.empty(), "no operands");
  return interleave ? Interleaved(a, parts, axis) : Concat(a.b(), parts, axis);
}

Expr MilStack(MilArgs& a) {
  const std::vector<Value*> parts = a.inputs();
  a.Require(!parts.empty(), "no operands");
  return Stack(a.b(), parts, a.Int("axis"));
}

Values MilSplit(MilArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> sizes = a.List("split_sizes");
  const int64_t axis = a.Int("axis"), splits = a.NodeReader::Int("num_splits", 0);
  // The last results are left out if they have no uses.
  const size_t results = a.num_outputs();
  const size_t count = !sizes.empty() ? sizes.size()
                       : splits > 0   ? static_cast<size_t>(splits)
                                      : results;
  a.Require(count >= results && count < (1 << 20), "another number of results");
  if (count == results) {
    if (!sizes.empty()) {
      return a.b().Ops("split", {x, a.b().Ints(sizes)}, {{"axis", axis}}, count);
    }
    const Dim whole = DimAt(x, axis);
    a.Require(!whole.is_static() || whole.value() % static_cast<int64_t>(count) == 0,
              "parts of different sizes");
    return a.b().Ops("split", {x, nullptr},
                     {{"axis", axis}, {"num_outputs", static_cast<int64_t>(count)}}, count);
  }
  std::vector<int64_t> used = sizes;
  if (used.empty()) {
    const Dim whole = DimAt(x, axis);
    a.Require(whole.is_static(), "parts of unknown sizes");
    used.assign(count, whole.value() / static_cast<int64_t>(count));
  }
  Values parts;
  int64_t from = 0;
  for (size_t i = 0; i < results; from += used[i++]) {
    parts.push_back(Slice(x, axis, Size(from), Size(from + used[i])));
  }
  return parts;
}

Expr MilPad(MilArgs& a) {
  const Expr x = a.X();
  const std::string mode = a.Text("mode");
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}};
  const auto* ours = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const auto& row) { return row.first == mode; });
  a.Require(ours != std::end(kModes), StrCat("mode ", mode));
  const Expr value = a.Scalar("constant_val", x.dtype(), 0);
  Value* pads = nullptr;
  if (const auto known = KnownInts(a.X("pad"))) {
    // Begin and end of each of the last axes in turn.
    const int64_t rank = x.rank(), n = static_cast<int64_t>(known->size()) / 2;
    a.Require(known->size() % 2 == 0 && n <= rank, "pads of other axes");
    std::vector<int64_t> all(static_cast<size_t>(2 * rank), 0);
    for (int64_t i = 0; i < n; ++i) {
      const auto axis = static_cast<size_t>(rank - n + i);
      all[axis] = (*known)[static_cast<size_t>(2 * i)];
      all[axis + static_cast<size_t>(rank)] = (*known)[static_cast<size_t>(2 * i + 1)];
    }
    pads = a.b().Ints(all);
  } else {
    // Computed ones are of all axes.
    const Expr pairs = Reshape(a.X("pad").To(DType::kInt64), {-1, 2});
    pads = Reshape(Transpose(pairs, {1, 0}), {-1});
  }
  return x.Op("pad", {pads, value}, {{"mode", std::string(ours->second)}});
}

// Numbers of one type, from start on; the end comes first.
Expr MilRange(MilArgs& a) { return a.X("start").Op("range", {a.X("end"), a.X("step")}); }

Expr FillNumber(MilArgs& a) {
  const Attribute* value = a.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  return a.Scalar("value", tensor ? tensor->dtype() : DType::kFloat32, 0);
}

Expr MilFill(MilArgs& a) {
  const Expr number = FillNumber(a);
  return Expand(number, a.AsInt64(a.X("shape")));
}

Expr MilFillLike(MilArgs& a) {
  const Expr number = FillNumber(a);
  return Expand(number, ShapeOf(a.X("ref_tensor")));
}

Expr MilBandPart(MilArgs& a) {
  const int64_t lower = a.Int("lower"), upper = a.Int("upper");
  return BandPart(a.X(), lower, upper);
}

Expr MilSlidingWindows(MilArgs& a) {
  const int64_t axis = a.Int("axis"), size = a.Int("size"), stride = a.Int("stride");
  return SlidingWindows(a, a.X(), axis, size, stride);
}

Expr MilPixelUnshuffle(MilArgs& a) { return PixelUnshuffle(a.X(), a.Int("downscale_factor")); }

// TensorFlow's operators, whose images have their channels last.
Expr ByBlocks(MilArgs& a, std::string_view op, Symbol amounts) {
  const Expr x = MoveAxis(a.X(), 1, 3);
  const std::vector<int64_t> block = a.List("block_shape"), edges = a.List(amounts);
  a.Require(block.size() == 2 && edges.size() == 4, "blocks of other axes");
  Value* table = a.b().Constant(Tensor::Vector(edges).Reshaped({2, 2}));
  const Values y = AsTf(a, op, {x, a.b().Ints(block), table});
  return MoveAxis({a, y[0]}, 3, 1);
}

Expr MilSpaceToBatch(MilArgs& a) { return ByBlocks(a, "SpaceToBatchND", "paddings"); }
Expr MilBatchToSpace(MilArgs& a) { return ByBlocks(a, "BatchToSpaceND", "crops"); }

absl::StatusOr<Value*> ToReshape(MilWriter& w) {
  if (w.dtype() == DType::kString) return CannotExpress("strings in another shape");
  const Shape* shape = w.out_type().shape();
  std::vector<int64_t> sizes;
  int unknown = 0;
  bool zero = false;
  for (int64_t i = 0; shape && i < shape->rank(); ++i) {
    const Dim& dim = (*shape)[i];
    sizes.push_back(dim.is_static() ? dim.value() : -1);
    unknown += !dim.is_static();
    zero |= dim.is_static() && dim.value() == 0;
  }
  if (zero) return CannotExpress("tensors without elements");
  if (shape && sizes.empty()) {
    // A shape of no sizes would be a constant without elements.
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    if (rank == 0) return w.Op("identity", {w.in(0)});
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return w.Mil("squeeze", {w.in(0)}, {{"axes", axes}});
  }
  if (shape && unknown <= 1) return w.Mil("reshape", {w.in(0), w.Int32s(sizes)});
  if (!w.node().Is("reshape")) return CannotExpress("sizes that are not known");
  if (w.Int("allowzero") != 0) return w.Mil("reshape", {w.in(0), w.in(1)});
  const auto known = KnownInts(w.in(1));
  const std::vector<Dim>* parts = w.in(1)->elements();
  bool copies = !known && !parts;
  for (size_t i = 0; known && i < known->size(); ++i) copies |= (*known)[i] == 0;
  for (size_t i = 0; parts && i < parts->size(); ++i) {
    copies |= (*parts)[i].is_static() && (*parts)[i].value() == 0;
  }
  if (copies) {
    // MIL copies a size only where the ranks are the same.
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    if (!shape) return CannotExpress("sizes that may be 0");
    const int64_t count = shape->rank();
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
    if (count > rank) {
      const std::vector<int64_t> rest(static_cast<size_t>(count - rank), 0);
      own = w.Op("concat", {own, w.Ints(rest)}, {{"axis", 0}});
    }
    Value* wide = w.Cast(w.in(1), DType::kInt64);
    return w.Mil("reshape",
                 {w.in(0), w.Op("where", {w.Op("equal", {wide, w.b().Int(0)}), own, wide})});
  }
  return w.Mil("reshape", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToTranspose(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> perm, PermOf(w));
  if (perm.empty()) return w.Op("identity", {w.in(0)});
  return w.Mil("transpose", {w.in(0)}, {{"perm", std::move(perm)}});
}

absl::StatusOr<Value*> ToSqueeze(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (axes && axes->empty()) return w.Op("identity", {w.in(0)});
  AttributeMap attrs;
  if (axes) attrs.Set("axes", *axes);
  return w.Mil("squeeze", {w.in(0)}, std::move(attrs));
}

absl::StatusOr<Value*> ToUnsqueeze(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (axes->empty()) return w.Op("identity", {w.in(0)});
  return w.Mil("expand_dims", {w.in(0)}, {{"axes", *axes}});
}

absl::StatusOr<Value*> ToConcat(MilWriter& w) {
  if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  return w.Mil("concat", w.node().inputs(), {{"axis", axis}});
}

absl::StatusOr<Values> ToSplit(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "sizes"));
  const auto count = static_cast<int64_t>(w.node().num_outputs());
  std::vector<int64_t> parts = given.value_or(std::vector<int64_t>());
  if (!given) {
    const Shape* in = w.shape();
    if (!in || !(*in)[axis].is_static()) return CannotExpress("parts of unknown sizes");
    const int64_t size = (*in)[axis].value(), each = (size + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) parts.push_back(std::min(each, size - i * each));
  }
  if (static_cast<int64_t>(parts.size()) != count) return Invalid("its parts");
  if (std::any_of(parts.begin(), parts.end(), [](int64_t p) { return p <= 0; })) {
    return CannotExpress("parts without elements");
  }
  std::vector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    if (!w.shape()) return CannotExpress("parts of unknown rank");
    Shape shape = *w.shape();
    shape[axis] = Dim(parts[static_cast<size_t>(i)]);
    types.push_back(Type::Tensor(w.dtype(), std::move(shape)));
  }
  Values made = w.MilAll("split", {w.in(0)}, {{"axis", axis}, {"split_sizes", parts}},
                         std::vector<bool>(static_cast<size_t>(count), true), types);
  for (int64_t i = 0; i < count; ++i) {
    if (!w.wants(static_cast<size_t>(i))) made[static_cast<size_t>(i)] = nullptr;
  }
  return made;
}

absl::StatusOr<Value*> ToSlice(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  X2IR_ASSIGN_OR_RETURN(const StridedBounds bounds, StridedBoundsOf(w));
  const auto strides = KnownInts(bounds.strides);
  std::vector<int64_t> begin_mask, end_mask;
  for (int64_t i = 0; i < rank; ++i) {
    begin_mask.push_back(bounds.begin_mask >> i & 1);
    end_mask.push_back(bounds.end_mask >> i & 1);
  }
  return w.Mil("slice_by_index", {w.in(0), bounds.begin, bounds.end},
               {{"stride", *strides}, {"begin_mask", begin_mask}, {"end_mask", end_mask}});
}

absl::StatusOr<Value*> ToPad(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> all, PadPairsOf(w, {"constant", "reflect", "edge"}));
  const std::string& mode = w.String("mode");
  // Only the last axes, of which MIL reflects and repeats two.
  int64_t first = 0;
  while (first < rank && all[static_cast<size_t>(2 * first)] == 0 &&
         all[static_cast<size_t>(2 * first + 1)] == 0) {
    ++first;
  }
  if (first == rank) return w.Op("identity", {w.in(0)});
  if (mode != "constant" && rank - first > 2) return CannotExpress("mode ", mode, " of three axes");
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(2 * first));
  AttributeMap attrs = {{"mode", mode == "edge" ? "replicate" : mode}};
  if (w.has(2)) {
    const auto number = KnownTensor(*w.in(2));
    if (!number || number->num_elements() != 1) return CannotExpress("a computed value");
    attrs.Set("constant_val", number->Reshaped({}));
  } else {
    if (w.dtype() == DType::kString) return CannotExpress("strings");
    attrs.Set("constant_val", Tensor::ScalarOf(w.dtype(), 0));
  }
  return w.Mil("pad", {w.in(0), w.Int32s(all)}, std::move(attrs));
}

absl::StatusOr<Value*> ToShape(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = bound(w.Int("start")), to = bound(w.attrs().Int("end", rank));
  Value* all = w.Mil("shape", {w.in(0)}, {}, Type::Tensor(DType::kInt64, Shape({Dim(rank)})));
  if (from == 0 && to == rank) return all;
  return w.Op("slice", {all, w.Ints({from}), w.Ints({std::max(from, to)}), w.Ints({0})});
}

Value* ToSize(MilWriter& w) {
  return w.Op("reduce_prod", {w.Op("shape", {w.in(0)}), w.Ints({0})}, {{"keepdims", 0}});
}

absl::StatusOr<Value*> ToFill(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(Tensor fill, FillOf(w));
  return w.Mil("fill", {w.in(0)}, {{"value", std::move(fill)}});
}

Value* ToRange(MilWriter& w) { return w.Mil("range_1d", {w.in(1), w.in(0), w.in(2)}); }

// Axes of size 1 are repeated; where sizes are not known, it is a product with ones.
absl::StatusOr<Value*> ToExpand(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Shape *in = w.shape(), *out = w.out_type().shape();
  const auto from = in ? in->Static() : std::nullopt, to = out ? out->Static() : std::nullopt;
  if (from && to) {
    std::vector<int64_t> reps;
    const auto more = static_cast<int64_t>(to->size()) - rank;
    for (int64_t i = 0; i < static_cast<int64_t>(to->size()); ++i) {
      const int64_t own = i < more ? 1 : (*from)[static_cast<size_t>(i - more)];
      const int64_t size = (*to)[static_cast<size_t>(i)];
      if (size == 0) return CannotExpress("tensors without elements");
      reps.push_back(own == size ? 1 : size);
    }
    Value* x = w.in(0);
    if (more > 0) x = w.Op("unsqueeze", {x, w.Ints(CountedFrom(0, more))});
    if (std::all_of(reps.begin(), reps.end(), [](int64_t r) { return r == 1; })) {
      return w.Op("identity", {x});
    }
    return w.Op("tile", {x, w.Ints(reps)});
  }
  if (!out) return CannotExpress("a result of unknown rank");
  if (!w.shape(1) || w.shape(1)->rank() != 1) return CannotExpress("sizes that are no vector");
  if (w.dtype() == DType::kString || (IsInteger(w.dtype()) && BitWidth(w.dtype()) < 32)) {
    return CannotExpress("no fill of ", Name(w.dtype()));  // int32 gives the same numbers
  }
  const bool truth = w.dtype() == DType::kBool;
  const Tensor one = truth ? Tensor::Scalar<bool>(true) : Tensor::ScalarOf(w.dtype(), 1);
  Value* ones = w.Op("constant_of_shape", {w.in(1)}, {{"value", one.Reshaped({1})}});
  return w.Op(truth ? "and" : "mul", {w.in(0), ones});
}

absl::StatusOr<Value*> ToTile(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank == 0) return w.Op("identity", {w.in(0)});
  return w.Mil("tile", {w.in(0), w.in(1)});
}

// A band has the diagonals on both sides of the main one.
absl::StatusOr<Value*> ToTrilu(MilWriter& w) {
  const auto k = w.has(1) ? MilWriter::NumberOf(w.in(1)) : std::optional<double>(0);
  if (!k) return CannotExpress("a computed diagonal");
  const bool upper = w.Int("upper") != 0;
  const auto diagonal = static_cast<int64_t>(*k);
  if (upper ? diagonal <= 0 : diagonal >= 0) {
    return w.Mil(
        "band_part", {w.in(0)},
        {{"lower", upper ? -diagonal : int64_t{-1}}, {"upper", upper ? int64_t{-1} : diagonal}});
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Shape& shape = *w.shape();
  if (rank < 2 || !shape[rank - 2].is_static() || !shape[rank - 1].is_static() ||
      w.dtype() == DType::kBool) {
    return CannotExpress("a diagonal beside the main one of matrices of unknown size");
  }
  const int64_t rows = shape[rank - 2].value(), columns = shape[rank - 1].value();
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      mask.push_back(upper ? j - i >= diagonal : j - i <= diagonal);
    }
  }
  const Tensor bytes = Tensor::Of<uint8_t>({rows, columns}, mask);
  return w.Op("where",
              {w.b().Constant(bytes.Reinterpreted(DType::kBool)), w.in(0), w.Number(w.dtype(), 0)});
}

absl::StatusOr<Value*> ToDepthToSpace(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 4 || w.String("layout") != "channels_first") return CannotExpress("channels last");
  if (w.String("mode") == "CRD") {
    return w.Mil("pixel_shuffle", {w.in(0)}, {{"upscale_factor", w.Int("blocksize")}});
  }
  return w.Mil("depth_to_space", {w.in(0)}, {{"block_size", w.Int("blocksize")}});
}

Expr MilSliceByIndex(MilArgs& a) {
  const std::vector<int64_t> stride = a.List("stride"), begin_mask = a.List("begin_mask"),
                             end_mask = a.List("end_mask"), squeeze = a.List("squeeze_mask");
  return SlicedByIndex(a, a.X(), a.X("begin"), a.X("end"), stride, begin_mask, end_mask, squeeze);
}

Value* MilSliceBySize(MilArgs& a) {
  return AsTf(a, "Slice", {a.X(), a.AsInt64(a.X("begin")), a.AsInt64(a.X("size"))})[0];
}

Expr MilOneHot(MilArgs& a) {
  const int64_t axis = a.Int("axis");
  const Attribute* on = a.attrs().Find("on_value");
  const Tensor* value = on ? on->get<Tensor>() : nullptr;
  const DType type = value ? value->dtype() : DType::kInt32;
  // Runtimes have it for these two types of values.
  const DType wide = IsFloating(type) ? DType::kFloat32 : DType::kInt64;
  const Expr off = a.Scalar("off_value", type, 0), lit = a.Scalar("on_value", type, 1);
  const Expr values = Concat(a.b(), {AtLeast1d(off.To(wide)), AtLeast1d(lit.To(wide))}, 0);
  return a
      .Op("one_hot", {a.AsInt64(a.X("indices")), a.AsInt64(a.X("one_hot_vector_size")), values},
          {{"axis", axis}})
      .To(type);
}

// What MIL makes of an index outside of 0 .. depth - 1 is not said: each place asks whether it is
// meant.
absl::StatusOr<Value*> OneHotByQuestion(MilWriter& w, Value* index, double depth) {
  const Shape* shape = index->shape();
  constexpr double kLimit = 1 << 24;
  if (!shape || depth < 1 || depth > kLimit) return CannotExpress("indices of unknown rank");
  const auto size = static_cast<int64_t>(depth);
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += shape->rank() + 1;
  std::vector<int64_t> dims(static_cast<size_t>(shape->rank() + 1), 1);
  dims[static_cast<size_t>(axis)] = size;
  std::vector<double> places;
  for (int64_t i = 0; i < size; ++i) places.push_back(static_cast<double>(i));
  const Expr all = NumbersAs(w.b(), DType::kInt64, std::move(dims), places);
  const Expr meant = Unsqueeze({w.b(), w.FromTheFront(index, w.b().Int(size))}, {axis});
  return Where(meant.Op("equal", {all}), Gather(w.X(2), w.b().Int(1), 0),
               Gather(w.X(2), w.b().Int(0), 0))
      .value();
}

absl::StatusOr<Value*> ToOneHot(MilWriter& w) {
  const auto depth = MilWriter::NumberOf(w.in(1));
  const auto values = KnownTensor(*w.in(2));
  if (!depth) return CannotExpress("a computed size");
  Value* index = w.in(0);
  if (!IsInteger(index->dtype())) index = w.Cast(index, DType::kInt64);
  if (!w.CountsFromTheFront(*index)) return OneHotByQuestion(w, index, *depth);
  if (!values || values->num_elements() != 2) {
    Type type = w.out_type();
    type.set_dtype(DType::kInt32);
    Value* hot = w.Mil("one_hot", {index, w.Int32(static_cast<int64_t>(*depth))},
                       {{"axis", w.Int("axis")},
                        {"on_value", Tensor::Scalar<int32_t>(1)},
                        {"off_value", Tensor::Scalar<int32_t>(0)}},
                       std::move(type));
    return Where({w.b(), w.Cast(hot, DType::kBool)}, Gather(w.X(2), w.b().Int(1), 0),
                 Gather(w.X(2), w.b().Int(0), 0))
        .value();
  }
  const auto number = [&](int64_t i) {
    return values->dtype() == DType::kBool ? Tensor::Scalar<bool>(values->AsInt(i) != 0)
                                           : Tensor::ScalarOf(values->dtype(), values->AsDouble(i));
  };
  return w.Mil("one_hot", {index, w.Int32(static_cast<int64_t>(*depth))},
               {{"axis", w.Int("axis")}, {"on_value", number(1)}, {"off_value", number(0)}});
}

absl::StatusOr<Value*> MilCrop(MilArgs& a) {
  const Expr x = a.X();
  const std::vector<int64_t> rows = a.List("crop_height"), columns = a.List("crop_width");
  const int64_t rank = x.rank();
  a.Require(rows.size() == 2 && columns.size() == 2 && rank >= 2, "amounts of other axes");
  const auto cut = [&](const Expr& y, int64_t axis, const std::vector<int64_t>& by) {
    return Slice(y, axis, by[0], by[1] == 0 ? Size(kToEnd) : Size(-by[1]));
  };
  return cut(cut(x, rank - 2, rows), rank - 1, columns).value();
}

absl::StatusOr<Value*> ToEyeLike(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)));
  const auto numbers = [&](int64_t count, int64_t from) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(from + i);
    return Ints(w.b(), all);
  };
  const Expr rows = Unsqueeze(numbers(dims[0], w.Int("k")), {1}),
             columns = Unsqueeze(numbers(dims[1], 0), {0});
  return w.Cast(rows.Op("equal", {columns}), w.out_type().dtype());
}

}  // namespace

X2IR_MIL(reshape)
    .To("reshape", ToReshape)
    .From({{"reshape", MilReshape}, {"reshape_like", MilReshapeLike}});
X2IR_MIL(flatten).To("reshape", ToReshape).From("flatten2d");
X2IR_MIL(transpose).To("transpose", ToTranspose).From("transpose", MilTranspose);
X2IR_MIL(squeeze).To("squeeze", ToSqueeze).From("squeeze", OperandAsAttr("axes"));
X2IR_MIL(unsqueeze).To("expand_dims", ToUnsqueeze).From("expand_dims", OperandAsAttr("axes"));
X2IR_MIL(concat).To("concat", ToConcat).From({{"concat", MilConcat}, {"stack", MilStack}});
X2IR_MIL(split).To("split", ToSplit).From("split", MilSplit);
X2IR_MIL(slice)
    .To("slice_by_index", ToSlice)
    .From({{"reverse", MilReverse},
           {"sliding_windows", MilSlidingWindows},
           {"slice_by_index", MilSliceByIndex},
           {"slice_by_size", MilSliceBySize},
           {"crop", MilCrop}});
X2IR_MIL(pad).To("pad", ToPad).From("pad", MilPad);
X2IR_MIL(shape).To("shape", ToShape).From("shape", MilShape);
X2IR_MIL(size).To("shape", ToSize);
X2IR_MIL(constant_of_shape).To("fill", ToFill);
X2IR_MIL(range).To("range_1d", ToRange).From("range_1d", MilRange);
X2IR_MIL(expand).To("tile", ToExpand).From({{"fill", MilFill}, {"fill_like", MilFillLike}});
X2IR_MIL(tile).To("tile", ToTile).From("tile", MilTile);
X2IR_MIL(trilu).To("band_part", ToTrilu).From("band_part", MilBandPart);
X2IR_MIL(depth_to_space)
    .To("depth_to_space", ToDepthToSpace)
    .From("depth_to_space", Renamed("blocksize", "block_size"), Fixed("mode", "DCR"),
          Fixed("layout", "channels_first"))
    .From("pixel_shuffle", Renamed("blocksize", "upscale_factor"), Fixed("mode", "CRD"),
          Fixed("layout", "channels_first"))
    .From("batch_to_space", MilBatchToSpace);
X2IR_MIL(space_to_depth)
    .Is("space_to_depth", Renamed("blocksize", "block_size"), Fixed("layout", "channels_first"))
    .From({{"pixel_unshuffle", MilPixelUnshuffle}, {"space_to_batch", MilSpaceToBatch}});
X2IR_MIL(one_hot).To("one_hot", ToOneHot).From("one_hot", MilOneHot);
X2IR_MIL(eye_like).To("equal", ToEyeLike);

}  // namespace x2ir
