// Tensors put together and repeated.
#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// --- Side by side ---------------------------------------------------------------------------

// The tensors in the type of the result.
std::vector<Value*> InOneType(TorchCall& c, std::string_view name) {
  std::vector<Value*> tensors = c.Tensors(name);
  if (tensors.empty()) c.Fail(Invalid("argument '", name, "': expected tensors, got none"));
  const DType t = OutType(c);
  for (Value*& x : tensors) x = c.Cast(x, t);
  return tensors;
}

Values Joined(TorchCall& c, std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return {c.Op("identity", {parts[0]})};
  return {Concat(c, std::move(parts), axis)};
}

// Tensors of shape [0] go with any others, as they once did.
Values Cat(TorchCall& c) {
  std::vector<Value*> all = InOneType(c, "tensors"), parts;
  for (Value* x : all) {
    const auto sizes = KnownSizes(x, 0, c.Rank(x));
    if (!sizes || *sizes != std::vector<int64_t>{0}) parts.push_back(x);
  }
  if (parts.empty() && !all.empty()) parts = {all[0]};
  if (parts.empty()) return c.Fail(Invalid("nothing to put together"));
  return Joined(c, parts, c.Axis("dim", parts[0], 0));
}

Values StackCall(TorchCall& c) {
  std::vector<Value*> parts = InOneType(c, "tensors");
  if (parts.empty()) return c.Fail(Invalid("nothing to put together"));
  const int64_t axis = c.NormalAxis(c.Int("dim", 0), c.Rank(parts[0]) + 1);
  for (Value*& x : parts) x = Unsqueeze({c, x}, {axis});
  return Joined(c, std::move(parts), axis);
}

// Each tensor in so many parts along the axis, zeros filling the last ones; then the parts of all
// side by side, each part a row.
Values ChunkCat(TorchCall& c) {
  std::vector<Value*> parts = InOneType(c, "tensors");
  if (parts.empty()) return c.Fail(Invalid("nothing to put together"));
  const int64_t axis = c.Axis("dim", parts[0]), chunks = c.Int("num_chunks");
  if (chunks < 1) return c.Fail(Invalid("num_chunks: ", chunks));
  for (Value*& part : parts) {
    const Expr x(c, part);
    if (x.rank() <= axis) return c.Fail(Invalid("dim: ", axis, " of rank ", x.rank()));
    const Size size = SizeAt(x, axis), count = chunks;
    const Size missing = Modulo(c, Minus(c, 0, size), count);
    Value* pads = Vector(c, std::vector<Size>{0, missing});
    const Expr padded =
        x.Op("pad", {pads, c.Constant(x.dtype(), 0), Ints(c, {axis})}, {{"mode", "constant"}});
    std::vector<Size> shape = SizesAt(x, 0, axis), inner = SizesAt(x, axis + 1, x.rank());
    inner.push_back(Divided(c, Plus(c, size, missing), count));
    shape.insert(shape.end(), {count, Product(c, inner)});
    part = ReshapeTo(padded, shape);
  }
  return Joined(c, std::move(parts), axis + 1);
}

Value* WithRank(TorchCall& c, Value* x, int64_t rank) {
  const int64_t own = c.Rank(x);
  if (own >= rank) return x;
  if (own == 0) return Unsqueeze({c, x}, CountedFrom(0, rank));
  if (own == 2) return Unsqueeze({c, x}, {2});
  return Unsqueeze({c, x}, rank == 2 ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 2});
}

// Along `axis` once they have so many axes.
TorchHandler StackAlong(int64_t axis, int64_t rank) {
  return [=](TorchCall& c) -> Values {
    std::vector<Value*> parts = InOneType(c, "tensors");
    for (Value*& x : parts) x = WithRank(c, x, rank);
    if (parts.empty()) return c.Fail(Invalid("nothing to put together"));
    return Joined(c, parts, std::min(axis, c.Rank(parts[0]) - 1));
  };
}

Values ColumnStack(TorchCall& c) {
  std::vector<Value*> parts = InOneType(c, "tensors");
  for (Value*& x : parts) {
    if (c.Rank(x) == 0) x = Unsqueeze({c, x}, {0, 1});
    if (c.Rank(x) == 1) x = Unsqueeze({c, x}, {1});
  }
  return Joined(c, std::move(parts), 1);
}

Value* ZerosCall(TorchCall& c, DType t, const std::vector<Size>& sizes) {
  return Filled(c, t, sizes, 0);
}

Values BlockDiag(TorchCall& c) {
  std::vector<Value*> blocks = InOneType(c, "tensors");
  for (Value*& x : blocks) {
    if (c.Rank(x) > 2) return c.Fail(Invalid("a block of rank ", c.Rank(x)));
    x = WithRank(c, x, 2);
  }
  std::vector<Value*> rows;
  for (size_t i = 0; i < blocks.size(); ++i) {
    Size before = 0, after = 0;
    for (size_t j = 0; j < blocks.size(); ++j) {
      Size& side = j < i ? before : after;
      if (j != i) side = Plus(c, side, SizeAt({c, blocks[j]}, 1));
    }
    const Size height = SizeAt({c, blocks[i]}, 0);
    const DType t = blocks[i]->dtype();
    std::vector<Value*> parts;
    if (i > 0) parts.push_back(ZerosCall(c, t, {height, before}));
    parts.push_back(blocks[i]);
    if (i + 1 < blocks.size()) parts.push_back(ZerosCall(c, t, {height, after}));
    rows.push_back(Concat(c, parts, 1));
  }
  return Joined(c, std::move(rows), 0);
}

// --- Grids ----------------------------------------------------------------------------------

// Each tensor along its own axis, broadcast over the axes of the others; `swapped`: the first two
// axes are in the other order.
std::vector<Value*> Grid(TorchCall& c, std::vector<Value*> tensors, bool swapped) {
  const auto axis_of = [&](size_t i) {
    return static_cast<int64_t>(swapped && i < 2 && tensors.size() > 1 ? 1 - i : i);
  };
  std::vector<Size> sizes(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = AtLeast1d({c, tensors[i]});
    if (c.Rank(tensors[i]) != 1) c.Fail(Invalid("a grid of a tensor of rank ", c.Rank(tensors[i])));
    sizes[static_cast<size_t>(axis_of(i))] = SizeAt({c, tensors[i]}, 0);
  }
  Value* shape = Vector(c, sizes);
  std::vector<Value*> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Value* along = AlongAxis({c, tensors[i]}, axis_of(i), static_cast<int64_t>(tensors.size()));
    grids.push_back(Expand({c, along}, shape));
  }
  return grids;
}

Values Meshgrid(TorchCall& c) {
  const std::string indexing = c.String("indexing", "ij");
  if (indexing != "ij" && indexing != "xy") return c.Fail(Invalid("indexing '", indexing, "'"));
  return Grid(c, c.Tensors("tensors"), indexing == "xy");
}

Values CartesianProd(TorchCall& c) {
  std::vector<Value*> tensors = c.Tensors("tensors");
  if (tensors.size() == 1) return {c.Op("identity", {tensors[0]})};
  std::vector<Value*> columns;
  for (Value* grid : Grid(c, tensors, false)) columns.push_back(Reshape({c, grid}, {-1, 1}));
  return Joined(c, std::move(columns), 1);
}

// Every choice of r elements in their order.
Values Combinations(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t r = c.Int("r", 2);
  const bool again = c.Bool("with_replacement", false);
  const auto sizes = KnownSizes(x, 0, c.Rank(x));
  if (!sizes || sizes->size() != 1 || r < 0) {
    return c.Fail(Unimplemented("of other than a row of elements whose number is known"));
  }
  if (r == 0) return {ZerosCall(c, x->dtype(), {0})};
  const int64_t n = (*sizes)[0];
  std::vector<int64_t> picks, pick(static_cast<size_t>(std::min<int64_t>(r, 64)));
  if (r > 64) return c.Fail(Unimplemented("of more than 64 elements each"));
  for (size_t i = 1; i < pick.size(); ++i) pick[i] = again ? 0 : static_cast<int64_t>(i);
  while (n > 0 && pick.back() < n) {
    picks.insert(picks.end(), pick.begin(), pick.end());
    if (static_cast<int64_t>(picks.size()) > kMaxPositions) {
      return c.Fail(Unimplemented("of too many elements"));
    }
    // The last element that can grow does; the elements after it restart.
    size_t i = pick.size();
    while (i-- > 0) {
      const int64_t room = again ? n - 1 : n - static_cast<int64_t>(pick.size() - i);
      if (pick[i] < room || i == 0) break;
    }
    ++pick[i];
    for (size_t j = i + 1; j < pick.size(); ++j) pick[j] = pick[j - 1] + (again ? 0 : 1);
  }
  const int64_t count = static_cast<int64_t>(picks.size()) / r;
  Value* index = Reshape(Ints(c, picks), {count, r});
  return {c.Op("gather", {x, index}, {{"axis", 0}})};
}

// --- Repeated -------------------------------------------------------------------------------

Values Tile(TorchCall& c, std::string_view name, bool fewer) {
  Value* x = c.Tensor("self");
  std::vector<Size> repeats = c.Sizes(name);
  const int64_t added = static_cast<int64_t>(repeats.size()) - c.Rank(x);
  if (added < 0 && !fewer) return c.Fail(Invalid("fewer repeats than axes"));
  for (int64_t i = added; i < 0; ++i) repeats.insert(repeats.begin(), 1);
  for (const Size& n : repeats) {
    if (n.number && *n.number < 0) return c.Fail(Invalid("repeated ", *n.number, " times"));
  }
  if (added > 0) x = Unsqueeze({c, x}, CountedFrom(0, added));
  if (repeats.empty()) return {c.Op("identity", {x})};
  return {c.Op("tile", {x, Vector(c, repeats)})};
}

// repeats[i] times i, for each i.
Value* Repeated(TorchCall& c, Value* repeats) {
  Value* ends = CumSum(c.Cast(repeats, DType::kInt64), 0);
  Value* total = Reduce(c.Cast(repeats, DType::kInt64), "reduce_sum", {0}, false);
  Value* position = Unsqueeze(Iota({c, total}), {1});
  Value* passed = c.Op("greater_or_equal", {position, Unsqueeze({c, ends}, {0})});
  return Reduce(c.Cast(passed, DType::kInt64), "reduce_sum", {1}, false);
}

Values RepeatInterleave(TorchCall& c) {
  c.Ignore({"output_size"});
  if (!c.Has("self")) {
    Value* repeats = c.Tensor("repeats");
    return {c.Cast(Repeated(c, AtLeast1d({c, repeats})), repeats->dtype())};
  }
  Value* x = c.Tensor("self");
  const bool flat = !c.Has("dim");
  c.Ignore({"dim"});
  const int64_t axis = flat ? 0 : c.Axis("dim", x);
  if (flat || c.Rank(x) == 0) x = Reshape({c, x}, {-1});
  Value* repeats = c.OptSymInt("repeats");
  if (!repeats) return c.Fail(Invalid("argument 'repeats' is missing"));
  Value* index = nullptr;
  if (c.Rank(repeats) > 1) return c.Fail(Invalid("repeats of rank ", c.Rank(repeats)));
  if (c.Rank(repeats) == 1 && !KnownSizes(repeats, 0, 1)) {
    return c.Fail(Unimplemented("repeats whose number is not known"));
  }
  if (c.Rank(repeats) == 0 || (*KnownSizes(repeats, 0, 1))[0] == 1) {
    repeats = c.Cast(c.Rank(repeats) == 0 ? repeats : Squeeze({c, repeats}, {0}), DType::kInt64);
    Size each = repeats;
    if (const auto known = KnownInts(repeats); known && known->size() == 1) {
      each = (*known)[0];
    }
    if (each.number && *each.number < 0)
      return c.Fail(Invalid("repeated ", *each.number, " times"));
    if (each.number && *each.number == 0) {
      index = Ints(c, {});
    } else {
      // Never divided by 0: there is nothing to divide then.
      Value* by = c.Op("max", {repeats, Int(c, 1)});
      Value* count = Scalar(c, Times(c, SizeAt({c, x}, axis), each));
      index = c.Op("div", {Iota({c, count}), by});
    }
  } else {
    index = Repeated(c, repeats);
  }
  return {c.Op("gather", {x, index}, {{"axis", axis}})};
}

X2IR_TORCH(concat)
    .From({"aten::cat.default", "aten::concat.default", "aten::concatenate.default"}, Cat)
    .From("aten::stack.default", StackCall)
    .From("aten::_stack.default", StackCall)
    .From("aten::hstack.default", StackAlong(1, 1))
    .From({"aten::vstack.default", "aten::row_stack.default"}, StackAlong(0, 2))
    .From("aten::dstack.default", StackAlong(2, 3))
    .From("aten::column_stack.default", ColumnStack)
    .From("aten::_chunk_cat.default", ChunkCat)
    .From("aten::block_diag.default", BlockDiag)
    .From("aten::cartesian_prod.default", CartesianProd);
X2IR_TORCH(expand).From({"aten::meshgrid.default", "aten::meshgrid.indexing"}, Meshgrid);
X2IR_TORCH(tile)
    .From("aten::tile.default", [](TorchCall& c) { return Tile(c, "dims", true); })
    .From("aten::repeat.default", [](TorchCall& c) { return Tile(c, "repeats", false); });
X2IR_TORCH(gather)
    .From("aten::combinations.default", Combinations)
    .From({"aten::repeat_interleave.self_int", "aten::repeat_interleave.self_Tensor",
           "aten::repeat_interleave.Tensor"},
          RepeatInterleave);

}  // namespace
}  // namespace x2ir
