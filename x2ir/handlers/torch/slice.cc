// Parts of a tensor: slices, rows, splits, diagonals, windows.
#include "x2ir/ops/slice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/strides.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/views.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

Values Cut(TorchCall& c, Value* x, int64_t axis, const std::vector<int64_t>& sizes) {
  std::vector<bool> wanted(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    wanted[i] = c.num_outputs() != sizes.size() || c.wants(i);
    if (sizes[i] < 0) c.Fail(Invalid("a part of size ", sizes[i]));
  }
  if (sizes.size() == 1) return {c.Op("identity", {x})};
  return c.b().Ops("split", {x, Ints(c, sizes)}, {{"axis", axis}}, wanted);
}

Expr Diagonal(const Expr& x, int64_t offset, int64_t axis1, int64_t axis2) {
  Builder& b = x.builder();
  const int64_t rank = x.rank();
  if (rank < 2 || axis1 == axis2) {
    b.Fail(Invalid("expected two different axes"));
    return x;
  }
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis1 && i != axis2) perm.push_back(i);
  }
  perm.push_back(axis1);
  perm.push_back(axis2);
  const Size rows = SizeAt(x, axis1), columns = SizeAt(x, axis2);
  const Expr last = Transpose(x, perm);
  std::vector<Size> sizes = SizesAt(last, 0, rank - 2);
  sizes.push_back(Times(b, rows, columns));
  const Expr flat = ReshapeAsDeclared(last, sizes, nullptr);
  constexpr int64_t kFar = int64_t{1} << 40;
  if (offset < -kFar || offset > kFar) {
    b.Fail(Invalid("offset ", offset, " is out of range"));
    return x;
  }
  // Where it starts and how long it is.
  const int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  const Size height = Minus(b, rows, down), width = Minus(b, columns, right);
  const Expr length = height.number && width.number
                          ? Int(b, std::max<int64_t>(std::min(*height.number, *width.number), 0))
                          : Max(Min(Scalar(b, height), Scalar(b, width)), 0);
  const Size stride = Plus(b, columns, 1);
  const Size start = Plus(b, Times(b, columns, down), right);
  const Expr numbers = Iota(length), steps = numbers * Scalar(b, stride);
  return Gather(flat, steps + Scalar(b, start), rank - 2);
}

namespace {

constexpr int64_t kMaxParts = 1 << 16;

// --- slice, select, narrow ------------------------------------------------------------------

Values SliceOf(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  if (c.Rank(x) == 0) return c.Fail(Invalid("a slice of a tensor of rank 0"));
  Value* start = c.Has("start") ? c.SymInts("start") : Ints(c, {0});
  Value* end = c.Has("end") ? c.SymInts("end") : Ints(c, {kToEnd});
  Value* step = c.Has("step") ? c.SymInts("step") : Ints(c, {1});
  c.Ignore({"start", "end", "step"});
  if (const auto by = KnownInts(step); by && by->size() == 1 && (*by)[0] < 1) {
    return c.Fail(Invalid("a slice by steps of ", (*by)[0]));
  }
  return {c.Op("slice", {x, start, end, Ints(c, {axis}), step})};
}

Values SelectCall(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x);
  if (c.Rank(x) == 0) return c.Fail(Invalid("a row of a tensor of rank 0"));
  Value* index = c.SymInt("index");
  const auto known = KnownInts(index);
  const auto size = KnownSizes(x, axis, axis + 1);
  if (known && known->size() == 1 && size &&
      ((*known)[0] < -(*size)[0] || (*known)[0] >= (*size)[0])) {
    return c.Fail(Invalid("index ", (*known)[0], " of an axis of size ", (*size)[0]));
  }
  return {c.Op("gather", {x, index}, {{"axis", axis}})};
}

Size OneSize(TorchCall& c, std::string_view name) {
  const std::vector<Size> sizes = c.Sizes(name);
  if (sizes.size() == 1) return sizes[0];
  c.Fail(Invalid("argument '", name, "': expected an int"));
  return 0;
}

// A negative start counts from the end.
Values Narrow(TorchCall& c, bool tensor_start) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x);
  if (c.Rank(x) == 0) return c.Fail(Invalid("a part of a tensor of rank 0"));
  Size start;
  if (tensor_start) {
    Value* value = c.Cast(c.Tensor("start"), DType::kInt64);
    value = c.Rank(value) == 0 ? value : Reshape({c, value}, std::vector<int64_t>{});
    start.value = value;
    if (const auto known = KnownInts(value); known && known->size() == 1) {
      start = (*known)[0];
    }
  } else {
    start = OneSize(c, "start");
  }
  const Size size = SizeAt({c, x}, axis);
  if (start.number && *start.number < 0) {
    start = Plus(c, start, size);
  } else if (!start.number) {
    Value* from_end = c.Op("add", {start.value, Scalar(c, size)});
    Value* negative = c.Op("less", {start.value, Int(c, 0)});
    start.value = c.Op("where", {negative, from_end, start.value});
  }
  const Size length = OneSize(c, "length");
  const Size end = Plus(c, start, length);
  if ((length.number && *length.number < 0) || (start.number && *start.number < 0) ||
      (end.number && size.number && *end.number > *size.number)) {
    return c.Fail(Invalid("a part beyond the ends of the axis"));
  }
  return {Slice({c, x}, axis, start, end)};
}

// --- Splits ---------------------------------------------------------------------------------

Values Unbind(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  Values rows(c.num_outputs(), nullptr);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (c.wants(i)) rows[i] = Gather({c, x}, Int(c, static_cast<int64_t>(i)), axis);
  }
  return rows;
}

// Parts of these sizes, one after another; the last one may go to the end instead.
Values PiecesOf(TorchCall& c, Value* x, int64_t axis, const std::vector<Size>& sizes,
                bool last_to_end) {
  Values parts(sizes.size(), nullptr);
  Size start{0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool to_end = last_to_end && i + 1 == sizes.size();
    const Size end = to_end ? Size(kToEnd) : Plus(c, start, sizes[i]);
    if (c.wants(i)) parts[i] = Slice({c, x}, axis, start, end);
    start = end;
  }
  return parts;
}

// As many parts as the call gives, each of `step` but for the last one.
Values EqualParts(TorchCall& c, Value* x, int64_t axis, const Size& step) {
  const Size size = SizeAt({c, x}, axis);
  const int64_t count = static_cast<int64_t>(c.num_outputs());
  if (step.number && *step.number < 0) return c.Fail(Invalid("parts of size ", *step.number));
  if (size.number && step.number) {
    std::vector<int64_t> sizes;
    int64_t rest = *size.number;
    for (int64_t i = 0; i < count; ++i) {
      sizes.push_back(i + 1 == count ? rest : std::min(rest, *step.number));
      rest -= sizes.back();
    }
    if (count > 0 && *step.number < sizes.back()) {
      return c.Fail(Invalid("an axis of ", *size.number, " has more than ", count, " parts of ",
                            *step.number));
    }
    return Cut(c, x, axis, sizes);
  }
  return PiecesOf(c, x, axis, std::vector<Size>(c.num_outputs(), step), true);
}

Values Split(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  return EqualParts(c, x, axis, OneSize(c, "split_size"));
}

Values SplitSizes(TorchCall& c, std::string_view name) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  const std::vector<Size> sizes = c.Sizes(name);
  if (sizes.size() != c.num_outputs()) return c.Fail(Invalid("expected one size for each part"));
  std::vector<int64_t> known;
  for (const Size& size : sizes) {
    if (size.number) known.push_back(*size.number);
  }
  if (known.size() == sizes.size()) return Cut(c, x, axis, known);
  return PiecesOf(c, x, axis, sizes, false);
}

Values Chunk(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  const int64_t chunks = c.Int("chunks");
  if (chunks < 1 || chunks > kMaxParts) return c.Fail(Invalid("into ", chunks, " chunks"));
  const Size size = SizeAt({c, x}, axis);
  if (size.number)
    return EqualParts(c, x, axis, *size.number / chunks + (*size.number % chunks != 0));
  Value* rounded = c.Op("add", {size.value, Int(c, chunks - 1)});
  return EqualParts(c, x, axis, c.Op("div", {rounded, Int(c, chunks)}));
}

// The first (size mod sections) parts have one more.
Values Sections(TorchCall& c, Value* x, int64_t axis, int64_t sections, bool even) {
  if (sections < 1 || sections > kMaxParts) return c.Fail(Invalid("into ", sections, " sections"));
  if (static_cast<size_t>(sections) != c.num_outputs()) {
    return c.Fail(Invalid("into ", sections, " sections, but ", c.num_outputs(), " results"));
  }
  const Size size = SizeAt({c, x}, axis);
  if (!size.number) {
    Value* each = c.Op("div", {size.value, Int(c, sections)});
    if (even) return EqualParts(c, x, axis, each);
    Value* rest = c.Op("sub", {size.value, c.Op("mul", {each, Int(c, sections)})});
    const auto start = [&](int64_t i) -> Size {
      Value* extra = c.Op("min", {rest, Int(c, i)});
      return c.Op("add", {c.Op("mul", {each, Int(c, i)}), extra});
    };
    Values parts(c.num_outputs(), nullptr);
    for (int64_t i = 0; i < sections; ++i) {
      if (c.wants(static_cast<size_t>(i))) {
        parts[static_cast<size_t>(i)] = Slice({c, x}, axis, start(i), start(i + 1));
      }
    }
    return parts;
  }
  if (even && *size.number % sections != 0) {
    return c.Fail(Invalid("an axis of ", *size.number, " into ", sections, " equal sections"));
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < sections; ++i) {
    sizes.push_back(*size.number / sections + (i < *size.number % sections));
  }
  return Cut(c, x, axis, sizes);
}

// Between one index and the next, with Python's rules for slices.
Values AtIndices(TorchCall& c, Value* x, int64_t axis, const std::vector<Size>& indices) {
  if (indices.size() + 1 != c.num_outputs()) return c.Fail(Invalid("expected one part more"));
  Values parts(c.num_outputs(), nullptr);
  Size start{0};
  for (size_t i = 0; i < parts.size(); ++i) {
    const Size end = i < indices.size() ? indices[i] : Size(kToEnd);
    if (c.wants(i)) parts[i] = Slice({c, x}, axis, start, end);
    start = end;
  }
  return parts;
}

Values TensorSplit(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dim", x, 0);
  if (c.Has("sections")) return Sections(c, x, axis, c.Int("sections"), /*even=*/false);
  if (c.Has("indices")) return AtIndices(c, x, axis, c.Sizes("indices"));
  Value* where = c.Tensor("tensor_indices_or_sections");
  const auto known = KnownInts(where);
  if (c.Rank(where) == 0) {
    // How many parts there are was said when the program was exported.
    return Sections(c, x, axis,
                    known && !known->empty() ? (*known)[0] : static_cast<int64_t>(c.num_outputs()),
                    false);
  }
  std::vector<Size> indices;
  for (size_t i = 0; i + 1 < c.num_outputs(); ++i) {
    if (known && i < known->size()) {
      indices.push_back((*known)[i]);
    } else {
      indices.push_back(Gather({c, where}, Int(c, static_cast<int64_t>(i)), 0));
    }
  }
  return AtIndices(c, x, axis, indices);
}

TorchHandler SplitAlong(int64_t axis) {
  return [axis](TorchCall& c) -> Values {
    Value* x = c.Tensor("self");
    const int64_t along = axis == 1 && c.Rank(x) == 1 ? 0 : axis;
    if (along >= c.Rank(x)) return c.Fail(Invalid("of a tensor of rank ", c.Rank(x)));
    if (c.Has("sections")) return Sections(c, x, along, c.Int("sections"), /*even=*/true);
    return AtIndices(c, x, along, c.Sizes("indices"));
  };
}

// --- Diagonals, windows, strides ------------------------------------------------------------

TorchHandler DiagonalOf(std::string_view self, int64_t dim1, int64_t dim2) {
  return [=](TorchCall& c) -> Values {
    Value* x = c.Tensor(self);
    const int64_t axis1 = c.Axis("dim1", x, dim1), axis2 = c.Axis("dim2", x, dim2);
    return {Diagonal({c, x}, c.Int("offset", 0), axis1, axis2)};
  };
}

// A new last axis holds the elements of each window of the axis.
Values Unfold(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t axis = c.Axis("dimension", x), size = c.Int("size"), step = c.Int("step");
  if (size < 0 || step < 1) return c.Fail(Invalid("windows of ", size, " by ", step));
  if (c.Rank(x) == 0) {
    if (size > 1) return c.Fail(Invalid("windows of ", size, " of one element"));
    return {c.Op("slice", {Unsqueeze({c, x}, {0}), Ints(c, {0}), Ints(c, {size})})};
  }
  const Size whole = SizeAt({c, x}, axis);
  if (whole.number && *whole.number < size) {
    return c.Fail(Invalid("windows of ", size, " of an axis of ", *whole.number));
  }
  Value* count =
      whole.number
          ? Int(c, (*whole.number - size) / step + 1)
          : c.Op("add", {c.Op("div", {c.Op("sub", {whole.value, Int(c, size)}), Int(c, step)}),
                         Int(c, 1)});
  Value* starts = Unsqueeze(c.Op("mul", {Iota({c, count}), Int(c, step)}), {1});
  Value* index = c.Op("add", {starts, Iota(Int(c, size))});
  Value* windows = c.Op("gather", {x, index}, {{"axis", axis}});
  return {MoveAxis({c, windows}, axis + 1, c.Rank(x))};
}

Values AsStrided(TorchCall& c) {
  Value* x = c.Tensor("self");
  const std::vector<int64_t> sizes = c.Ints("size"), strides = c.Ints("stride");
  const std::vector<int64_t> elements = ElementsAt(c, x, sizes, strides);
  const auto count = CheckedProduct(*KnownSizes(x, 0, c.Rank(x)));
  // All of them in their order: the same tensor under other sizes.
  if (count == static_cast<int64_t>(elements.size()) &&
      elements == CountedFrom(0, static_cast<int64_t>(elements.size()))) {
    return {Reshape({c, x}, sizes)};
  }
  Value* picked = c.Op("gather", {Reshape({c, x}, {-1}), Ints(c, elements)}, {{"axis", 0}});
  return {Reshape({c, picked}, sizes)};
}

[[maybe_unused]] const bool kSliceRows = [] {
  IsView("slice", "aten::slice.Tensor", SliceOf);
  IsView("gather", "aten::select.int", SelectCall);
  IsView("gather", "aten::unbind.int", Unbind);
  IsView("split", "aten::split.Tensor", Split);
  IsView("split", "aten::split_with_sizes.default",
         [](TorchCall& c) { return SplitSizes(c, "split_sizes"); });
  IsView("gather", "aten::diagonal.default", DiagonalOf("self", 0, 1));
  IsView("gather", "aten::unfold.default", Unfold);
  IsView("gather", "aten::as_strided.default", AsStrided);
  TorchSpec("slice")
      .From({"aten::narrow.default", "aten::narrow_copy.default"},
            [](TorchCall& c) { return Narrow(c, false); })
      .From("aten::narrow.Tensor", [](TorchCall& c) { return Narrow(c, true); });
  TorchSpec("split")
      .From("aten::unsafe_split.Tensor", Split)
      .From("aten::split.default", Split)
      .From("aten::split.sizes", [](TorchCall& c) { return SplitSizes(c, "split_size"); })
      .From("aten::unsafe_split_with_sizes.default",
            [](TorchCall& c) { return SplitSizes(c, "split_sizes"); })
      .From({"aten::chunk.default", "aten::unsafe_chunk.default"}, Chunk)
      .From({"aten::tensor_split.sections", "aten::tensor_split.indices",
             "aten::tensor_split.tensor_indices_or_sections"},
            TensorSplit)
      .From({"aten::hsplit.int", "aten::hsplit.array"}, SplitAlong(1))
      .From({"aten::vsplit.int", "aten::vsplit.array"}, SplitAlong(0))
      .From({"aten::dsplit.int", "aten::dsplit.array"}, SplitAlong(2));
  TorchSpec("gather").From("aten::linalg_diagonal.default", DiagonalOf("A", -2, -1));
  return true;
}();

// One axis at a time; PyTorch's steps are positive, and all of an axis backwards is a flip.
absl::StatusOr<Value*> WriteSlice(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<TorchScalar> starts, w.Sizes(w.in(1)));
  X2IR_ASSIGN_OR_RETURN(const std::vector<TorchScalar> ends, w.Sizes(w.in(2)));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  X2IR_ASSIGN_OR_RETURN(const auto by, w.KnownInts(4, "steps"));
  const size_t n = starts.size();
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  for (size_t i = 0; i < n && !given; ++i) axes.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> steps = by.value_or(std::vector<int64_t>(n, 1));
  if (ends.size() != n || axes.size() != n || steps.size() != n) return Invalid("other counts");
  std::vector<int64_t> flipped;
  Value* x = w.in(0);
  for (size_t i = 0; i < n; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    const int64_t* start = std::get_if<int64_t>(&starts[i].value);
    const int64_t* end = std::get_if<int64_t>(&ends[i].value);
    const Dim& size = (*x->shape())[axis];
    constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
    if (steps[i] < 0) {
      const int64_t last = size.is_static() ? size.value() - 1 : kLimit;
      const int64_t before = size.is_static() ? -size.value() - 1 : -kLimit;
      if (steps[i] != -1 || !start || !end || !(*start == -1 || *start >= last) || *end > before) {
        return CannotExpress("negative steps but of the whole axis backwards");
      }
      flipped.push_back(axis);
      continue;
    }
    if (start && end && steps[i] == 1 && *start == 0 &&
        (*end == kLimit || (size.is_static() && *end >= size.value()))) {
      continue;
    }
    // Other axes keep their sizes.
    Shape shape = *x->shape();
    const Shape* out = w.out_type().shape();
    shape[axis] = out && out->rank() == shape.rank() ? (*out)[axis] : Dim();
    x = w.Call(
        "aten::slice.Tensor",
        {{"self", x}, {"dim", axis}, {"start", starts[i]}, {"end", ends[i]}, {"step", steps[i]}},
        Type::Tensor(x->dtype(), std::move(shape)));
  }
  if (flipped.empty()) return x == w.in(0) ? w.Op("identity", {x}) : x;
  return w.Call("aten::flip.default", {{"self", x}, {"dims", std::move(flipped)}});
}

}  // namespace

X2IR_TORCH(slice).To("aten::slice.Tensor", WriteSlice);

}  // namespace x2ir
