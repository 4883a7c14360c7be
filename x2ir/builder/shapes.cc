#include "x2ir/builder/shapes.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Counted from the front, in a tensor of `added` axes more than x, where its rank is known.
void CountFromFront(const Value* x, int64_t added, std::vector<int64_t>& axes) {
  for (int64_t& axis : axes) {
    if (axis < 0 && x->shape()) axis += x->shape()->rank() + added;
  }
}

}  // namespace

Expr Unsqueeze(const Expr& x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  CountFromFront(x, static_cast<int64_t>(axes.size()), axes);
  return x.Op("unsqueeze", {Ints(x.builder(), axes)});
}
Expr Squeeze(const Expr& x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  CountFromFront(x, 0, axes);
  return x.Op("squeeze", {Ints(x.builder(), axes)});
}
Expr AlongAxis(const Expr& vector, int64_t axis, int64_t rank, std::string_view hint) {
  std::vector<int64_t> added;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) added.push_back(i);
  }
  if (added.empty()) return vector;
  return vector.Op("unsqueeze", {vector.builder().Ints(added, hint)});
}
Expr AlongChannels(const Expr& vector, int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  dims[0] = -1;
  return Reshape(vector, dims);
}

Expr AtLeast1d(const Expr& x) { return x.rank() == 0 ? Unsqueeze(x, {0}) : x; }
Expr LikeRank(const Expr& x, const Value* like) {
  if (!like->shape()) x.builder().Fail(Unimplemented("needs operands of known rank"));
  return like->shape() && like->shape()->rank() == 0 ? Squeeze(x, {0}) : x;
}

Expr Transpose(const Expr& x, std::vector<int64_t> perm) {
  return x.Op("transpose", {}, {{"perm", std::move(perm)}});
}
Expr SwapLast(const Expr& x) {
  std::vector<int64_t> perm = AllAxes(x);
  if (perm.size() < 2) return x;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transpose(x, std::move(perm));
}
Expr MoveAxis(const Expr& x, int64_t from, int64_t to) {
  if (from == to) return x;
  std::vector<int64_t> perm = AllAxes(x);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return Transpose(x, std::move(perm));
}

Expr Reshape(const Expr& x, absl::Span<const int64_t> dims) {
  const bool zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return x.Op("reshape", {Ints(x.builder(), dims)}, {{"allowzero", zero}});
}
Expr ReshapeTo(const Expr& x, Value* shape) { return x.Op("reshape", {shape}, {{"allowzero", 1}}); }
Expr Flat(const Expr& x) { return x.rank() == 1 ? x : Reshape(x, {-1}); }
Expr Expand(const Expr& x, Value* shape) { return x.Op("expand", {shape}); }

Expr ShapeOf(const Expr& x) { return x.Op("shape"); }
Expr ShapeOf(const Expr& x, int64_t from, int64_t to) {
  if (x->shape() && to < 0) to = x->shape()->rank();
  AttributeMap attrs = {{"start", from}};
  if (to >= 0) attrs.Set("end", to);
  return x.Op("shape", {}, std::move(attrs));
}
Expr ShapeWith(const Expr& x, int64_t axis, Value* size) {
  const int64_t rank = x.rank();
  Builder& b = x.builder();
  std::vector<Value*> parts;
  if (axis > 0) parts.push_back(ShapeOf(x, 0, axis));
  parts.push_back(Unsqueeze({b, size}, {0}));
  if (axis + 1 < rank) parts.push_back(ShapeOf(x, axis + 1, rank));
  return Concat(b, std::move(parts), 0);
}
Dim DimAt(const Value* x, int64_t axis) {
  const Shape* shape = x->shape();
  if (shape && axis < 0) axis += shape->rank();
  return shape && axis >= 0 && axis < shape->rank() ? (*shape)[axis] : Dim::Unknown();
}
Expr SizeOf(const Expr& x, int64_t axis) {
  if (axis < 0) axis += x.rank();
  if (const Dim dim = DimAt(x, axis); dim.is_static()) return Int(x.builder(), dim.value());
  return Squeeze(ShapeOf(x, axis, axis + 1), {0});
}

Expr FlattenFront(const Expr& x, int64_t count) {
  if (count == 1) return x;
  if (count == 0) return Unsqueeze(x, {0});
  const int64_t rank = x.rank();
  if (rank < count) return x;
  Builder& b = x.builder();
  std::vector<int64_t> dims = {-1};
  for (int64_t i = count; i < rank; ++i) {
    // With a size of 0 the -1 is not defined.
    if (const Dim size = DimAt(x, i); size.is_static() && size.value() > 0) {
      dims.push_back(size.value());
    }
  }
  if (static_cast<int64_t>(dims.size()) == rank - count + 1) return ReshapeTo(x, Ints(b, dims));
  const Expr n = ShapeOf(x, 0, count).Op("reduce_prod", {}, {{"keepdims", 1}});
  return ReshapeTo(x, Concat(b, {n, ShapeOf(x, count)}, 0));
}

Expr Concat(Builder& b, std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return {b, parts[0]};
  return {b, b.Op("concat", std::move(parts), {{"axis", axis}})};
}
Expr Stack(Builder& b, const std::vector<Value*>& values, int64_t axis) {
  std::vector<Value*> parts;
  for (Value* value : values) {
    if (!value) {
      b.Fail(Invalid("an operand of those that are stacked is missing"));
      return nullptr;
    }
    parts.push_back(Unsqueeze({b, value}, {axis}));
  }
  return {b, b.Op("concat", std::move(parts), {{"axis", axis}})};
}

std::vector<int64_t> CountedFrom(int64_t start, int64_t count, int64_t step) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(start + i * step);
  return numbers;
}
std::vector<int64_t> AllAxes(const Expr& x) { return CountedFrom(0, x.rank()); }

}  // namespace x2ir
