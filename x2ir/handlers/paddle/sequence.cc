// Operators on sequences of LoD. Each knows one sequence; what makes several of them is refused,
// since their borders would be lost.
#include "x2ir/handlers/paddle/sequence.h"

#include <algorithm>
#include <memory>

#include "x2ir/builder/nested.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// How many rows a tensor is known to have.
bool HasOneRow(const Expr& x) { return DimAt(x, 0).is_static() && DimAt(x, 0).value() == 1; }

void RequireOneOf(PaddleArgs& a, const Expr& batch) {
  a.Require(HasOneRow(batch), "more than one sequence, or a batch whose size is not known to be 1");
}

Expr NumberOfRows(PaddleArgs& a, const Expr& x) { return Vector(a, SizeAt(x, 0)); }

// One row: the sum of all, their mean, the greatest, ... An empty sequence gives pad_value.
Expr Pooled(PaddleArgs& a, const Expr& x, std::string_view type, double pad) {
  if (type == "FIRST") return Gather(x, a.b().Ints({0}), 0);
  if (type == "LAST") return Gather(x, a.b().Ints({-1}), 0);
  Expr y = nullptr;
  if (type == "MAX") {
    y = Reduce(x, "reduce_max", {0}, true);
  } else {
    const bool mean = type == "AVERAGE", root = type == "SQRT";
    a.Require(mean || root || type == "SUM", StrCat("a pool ", type));
    y = Sum(x, 0, true);
    const Expr count = Max(NumberOfRows(a, x), Ints(a, {1})).To(x.dtype());
    if (mean) y = y / count;
    if (root) y = y / Sqrt(count);
    if (pad == 0) return y;
  }
  const Dim rows = DimAt(x, 0);
  if (rows.is_static() && rows.value() > 0) return y;
  return Where(NumberOfRows(a, x) == Ints(a, {0}), pad, y);
}

Expr SequencePool(PaddleArgs& a) {
  const std::string type = a.String("pooltype", "AVERAGE");
  const double pad = a.Number("pad_value", 0);
  return Pooled(a, Sequence(a), type, pad);
}

// The same of several sequences, concatenated along axis 1.
Expr SequencePoolConcat(PaddleArgs& a) {
  const std::string type = a.String("pooltype", "SUM");
  a.Require(a.Int("axis", 1) == 1 && a.Level("X") <= 1, "another axis than 1, or more levels");
  std::vector<Value*> pools;
  for (Value* x : a.List("X")) pools.push_back(Pooled(a, Expr(a.b(), x), type, 0));
  return Concat(a, pools, 1).Op("identity");
}

Expr SequenceSoftmax(PaddleArgs& a) { return Sequence(a).Op("softmax", {}, {{"axis", 0}}); }

// Every row of X as often as the sequence of Y has rows: of one sequence, one row.
Expr SequenceExpand(PaddleArgs& a) {
  const Expr x = Sequence(a), y = a.X("Y");
  const int64_t level = a.Int("ref_level", -1);
  a.Require(a.Level("Y") <= 1 && level <= 0, "sequences of sequences");
  if (a.Level("X") > 0) {
    a.Require(HasOneRow(y), "a sequence that is repeated: more than one sequence");
    return x.Op("identity");
  }
  std::vector<Size> sizes = AllSizes(x);
  sizes[0] = SizeAt(y, 0);
  return Expand(x, Vector(a, sizes));
}

// Every row with those around it, as one; rows outside of the sequence are zeros.
Expr SequenceConv(PaddleArgs& a) {
  const Expr x = Sequence(a), filter = a.X("Filter");
  const int64_t length = a.Int("contextLength", 1), start = a.Int("contextStart", 0);
  a.Require(a.Int("contextStride", 1) == 1, "a stride other than 1");
  a.Require(!a.Bool("paddingTrainable", false), "a padding that is learned");
  a.Require(length >= 1 && length <= 4096 && start >= -4096 && start <= 4096, "a context");
  const int64_t before = std::max<int64_t>(-start, 0);
  const int64_t behind = std::max<int64_t>(start + length - 1, 0);
  const Expr padded = x.Op("pad", {a.b().Ints({before, behind}), x.Number(0), a.b().Ints({0})});
  std::vector<Value*> columns;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t from = start + i + before;
    columns.push_back(Slice(padded, 0, from, Plus(a, SizeAt(x, 0), from)));
  }
  return MatMul(Concat(a, columns, 1), filter);
}

Expr SequenceConvRelu(PaddleArgs& a) {
  const Expr y = SequenceConv(a) + a.X("Bias");
  return y.Op("relu");
}

Expr SequenceReverse(PaddleArgs& a) { return RowsReversed(Sequence(a)); }

// The sequence as the only one of a batch, padded with rows of PadValue; and its length.
PaddleResults SequencePad(PaddleArgs& a) {
  const Expr x = Sequence(a), pad = a.X("PadValue");
  const int64_t length = a.Int("padded_length", -1);
  const Size rows = SizeAt(x, 0);
  Expr y = x;
  if (length != -1) {
    if (rows.number && *rows.number > length) a.Fail(Invalid("a sequence of more rows"));
    std::vector<Size> sizes = AllSizes(x);
    sizes[0] = Minus(a, length, rows);
    const bool single = a.Rank(pad) == 1 && HasOneRow(pad);
    const Expr row = single ? Reshape(pad, std::vector<int64_t>{}) : pad;
    y = Concat(a, {x, Expand(row.To(x.dtype()), Vector(a, sizes))}, 0);
  }
  return {{"Out", {Unsqueeze(y, {0})}}, {"Length", {NumberOfRows(a, x)}}};
}

// The first rows of the only sequence of a batch.
Expr SequenceUnpad(PaddleArgs& a) {
  const Expr x = a.X(), length = a.X("Length").To(DType::kInt64);
  RequireOneOf(a, x);
  const Expr rows = Slice(Squeeze(x, {0}), 0, 0, Size(Reshape(length, std::vector<int64_t>{})));
  return a.Rank(x) == 2 ? Unsqueeze(rows, {1}) : rows;
}

Expr SequenceConcat(PaddleArgs& a) {
  a.Require(a.Level("X") <= 1, "sequences of sequences");
  return Concat(a, a.List("X"), 0).Op("identity");
}

Expr SequenceSlice(PaddleArgs& a) {
  const Expr x = Sequence(a);
  const auto number = [&](std::string_view slot) {
    return Reshape(a.X(slot).To(DType::kInt64), std::vector<int64_t>{});
  };
  const Expr start = number("Offset"), length = number("Length");
  return Slice(x, 0, Size(start), Size(start + length));
}

Expr SequenceReshape(PaddleArgs& a) {
  const Expr x = Sequence(a);
  const int64_t width = a.Int("new_dim", 1);
  a.Require(width > 0, "rows of that size");
  return ReshapeTo(x, {Size(-1), Size(width)});
}

// Every row with the rows that follow it; after the end the value is pad_value.
Expr SequenceEnumerate(PaddleArgs& a) {
  const Expr x = Reshape(Sequence(a), std::vector<int64_t>{-1, 1});
  const int64_t count = a.Int("win_size", 2), pad = a.Int("pad_value", 0);
  a.Require(count >= 1 && count <= 4096, "a window");
  const Expr padded = x.Op(
      "pad", {a.b().Ints({0, count - 1}), x.Number(static_cast<double>(pad)), a.b().Ints({0})});
  std::vector<Value*> columns;
  for (int64_t i = 0; i < count; ++i) {
    columns.push_back(Slice(padded, 0, i, Plus(a, SizeAt(x, 0), i)));
  }
  return Concat(a, columns, 1).Op("identity");
}

// Without the rows that are one of the tokens.
Expr SequenceErase(PaddleArgs& a) {
  const Expr x = Sequence(a);
  const std::vector<int64_t> tokens = a.Ints("tokens");
  if (tokens.empty()) return x.Op("identity");
  Expr kept = nullptr;
  for (const int64_t token : tokens) {
    const Expr other = Not(Flat(x) == x.Number(static_cast<double>(token)));
    kept = kept.value() ? kept & other : other;
  }
  return x.Op("compress", {kept}, {{"axis", 0}});
}

// Updates are added to a row, at the columns that Ids names.
Expr SequenceScatter(PaddleArgs& a) {
  const Expr x = a.X(), ids = Flat(Sequence(a, "Ids")), updates = Flat(a.X("Updates"));
  RequireOneOf(a, x);
  const Expr row = ScatterElements(Squeeze(x, {0}), 0, ids.To(DType::kInt64), updates, "add");
  return Unsqueeze(row, {0});
}

// The same rows as sequences by other borders: those of one sequence.
Expr LodReset(PaddleArgs& a) {
  const Expr x = a.X(), y = a.Opt("Y");
  const std::vector<int64_t> target = a.Ints("target_lod");
  a.Require(!a.Bool("append", false), "sequences of sequences");
  if (!y.value()) {
    a.Require(target.empty() || target.size() == 2, "borders of more than one sequence");
  } else if (a.Level("Y") == 0) {
    const Dim borders = DimAt(y, 0);
    a.Require(borders.is_static() && borders.value() == 2,
              "borders that are not known to be those of one sequence");
  } else {
    a.Require(a.Level("Y") == 1, "sequences of sequences");
  }
  return x.Op("identity");
}

// --- Windows of images as sequences --------------------------------------------------------------

// A row for each place of the window, with its elements channel by channel.
Expr ImageToSequence(PaddleArgs& a) {
  const Expr x = a.X();
  a.Require(!a.Has("Y"), "images of sizes of their own");
  RequireOneOf(a, x);
  const std::vector<int64_t> window = a.Ints("kernels"), strides = a.Ints("strides", {1, 1}),
                             pads = a.Ints("paddings", {0, 0, 0, 0});
  a.Ints("out_stride", {1, 1});
  if (window.size() != 2 || strides.size() != 2 || pads.size() != 4) {
    a.Fail(Invalid("windows of other axes than two"));
  }
  const Expr padded = x.Op("pad", {a.b().Ints(pads), x.Number(0), a.b().Ints({2, 3})});
  const Expr columns = AsTorch(a, "aten::im2col.default",
                               {{"self", padded},
                                {"kernel_size", Attribute(window)},
                                {"dilation", Attribute(std::vector<int64_t>{1, 1})},
                                {"padding", Attribute(std::vector<int64_t>{0, 0})},
                                {"stride", Attribute(strides)}},
                               x.dtype());
  return Squeeze(Transpose(columns, {0, 2, 1}), {0});
}

// --- Labels out of classes -----------------------------------------------------------------------

// Removes repetitions and blanks. The labels that are kept come first, then padding_value. A
// sequence of LoD has no padding: an empty result is one -1.
PaddleResults CtcAlign(PaddleArgs& a) {
  const Expr input = a.X("Input"), lengths = a.Opt("InputLength");
  const int64_t blank = a.Int("blank", 0), padding = a.Int("padding_value", 0);
  const bool merged = a.Bool("merge_repeated", true);
  const bool padded = lengths.value() != nullptr;
  Expr x = input;
  if (!padded) x = Reshape(Sequence(a, "Input"), std::vector<int64_t>{1, -1});
  const Expr count = SizeOf(x, 1);
  Expr kept = Not(x == x.Number(static_cast<double>(blank)));
  if (merged) {
    // The first of a row repeats nothing.
    const Expr before = Slice(x, 1, 0, -1), behind = Slice(x, 1, 1, kToEnd);
    const Expr fresh = Not(before == behind).To(DType::kInt32);
    const Expr all = fresh.Op("pad", {a.b().Ints({1, 0}), fresh.Number(1), a.b().Ints({1})});
    kept = kept & IsTrue(all);
  }
  if (!padded) {
    const Expr labels = Flat(x).Op("compress", {Flat(kept)}, {{"axis", 0}});
    const Expr column = Unsqueeze(labels, {1});
    // An empty result is one -1: it is appended, and cut off if there is a label.
    const Expr more = Concat(a, {column, NumbersAs(a, x.dtype(), {1, 1}, {-1})}, 0);
    return {{"Output", {Slice(more, 0, 0, Size(Max(SizeOf(labels, 0), Int(a, 1))))}}};
  }
  const Expr steps = Unsqueeze(Iota(count), {0});
  kept = kept & (steps < Reshape(lengths.To(DType::kInt64), std::vector<int64_t>{-1, 1}));
  // Those that stay in order, then the others.
  const Expr keys = Where(kept, steps, steps + count);
  const Expr order = Sort(keys, 1, false).indices;
  const Expr totals = Sum(kept.To(DType::kInt64), 1, true);
  const Expr labels = GatherElements(x, order, 1);
  return {{"Output", {Where(steps < totals, labels, static_cast<double>(padding))}},
          {"OutputLength", {totals}}};
}

Expr EmptyArray(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  return a.Op("sequence_empty", {}, {{"dtype", std::string(Name(type))}});
}

Expr Position(PaddleArgs& a, std::string_view slot) {
  const Expr i = a.X(slot).To(DType::kInt64);
  return i->shape() && i->shape()->rank() == 0
             ? i
             : i.Op("reshape", {a.b().Ints({})}, {{"allowzero", 1}});
}

// The element is appended, or replaces the one at that index.
Expr WriteToArray(PaddleArgs& a) {
  const Expr x = a.X(), array = a.X("Array"), i = Position(a, "I");
  const Expr length = array.Op("sequence_length");
  // An element at an index past the end is appended: programs count up.
  const Node* empty = array.value()->producer();
  if (empty && empty->Is("sequence_empty")) return a.Op("sequence_construct", {x});
  const auto branch = [&](bool replaces) {
    auto graph = std::make_shared<Graph>(replaces ? "replace" : "append");
    Builder b(*graph, nullptr);
    Value* rest = array;
    std::vector<Value*> operands = {rest, x};
    if (replaces) {
      rest = b.Op("sequence_erase", {array, i});
      operands = {rest, x, i};
    }
    AddResults(b, {b.Op("sequence_insert", operands)});
    return graph;
  };
  return {a.b(), a.b().Ops("if", {i < length},
                           {{"then_branch", branch(true)}, {"else_branch", branch(false)}}, 1)[0]};
}

Expr ReadFromArray(PaddleArgs& a) {
  const Expr array = a.X();
  return array.Op("sequence_at", {Position(a, "I")});
}

Expr ArrayLength(PaddleArgs& a) {
  return Reshape(a.X().Op("sequence_length"), std::vector<int64_t>{1});
}

PaddleResults ArrayToTensor(PaddleArgs& a) {
  const Expr array = a.X();
  const int64_t axis = a.Int("axis", 0);
  const bool stacks = a.Bool("use_stack", false);
  return {{"Out", {array.Op("concat_from_sequence", {}, {{"axis", axis}, {"new_axis", stacks}})}}};
}

}  // namespace

Expr Sequence(PaddleArgs& a, std::string_view slot) {
  a.Require(a.Level(slot) <= 1, "sequences of sequences");
  return a.X(slot);
}

Expr RowsReversed(const Expr& x) {
  Builder& b = x.builder();
  return x.Op("slice", {b.Ints({-1}), b.Ints({INT64_MIN + 1}), b.Ints({0}), b.Ints({-1})});
}

X2IR_PADDLE(reduce_mean).From("sequence_pool", SequencePool);
X2IR_PADDLE(softmax).From("sequence_softmax", SequenceSoftmax);
X2IR_PADDLE(expand).From({{"sequence_expand", SequenceExpand},
                          {"sequence_expand_as", SequenceExpand}});
X2IR_PADDLE(matmul).From({{"sequence_conv", SequenceConv},
                          {"fusion_seqconv_eltadd_relu", SequenceConvRelu}});
X2IR_PADDLE(slice).From({{"sequence_reverse", SequenceReverse},
                         {"sequence_unpad", SequenceUnpad},
                         {"sequence_slice", SequenceSlice}});
X2IR_PADDLE(unsqueeze).From("sequence_pad", SequencePad);
X2IR_PADDLE(concat).From({{"sequence_concat", SequenceConcat},
                          {"sequence_enumerate", SequenceEnumerate},
                          {"fusion_seqpool_concat", SequencePoolConcat}});
X2IR_PADDLE(reshape).From("sequence_reshape", SequenceReshape);
X2IR_PADDLE(compress).From({{"sequence_erase", SequenceErase}, {"ctc_align", CtcAlign}});
X2IR_PADDLE(scatter_elements).From("sequence_scatter", SequenceScatter);
X2IR_PADDLE(identity).From("lod_reset", LodReset);
X2IR_PADDLE(gather).From("im2sequence", ImageToSequence);
X2IR_PADDLE(sequence_empty).From("create_array", EmptyArray);
X2IR_PADDLE(sequence_insert).From("write_to_array", WriteToArray);
X2IR_PADDLE(sequence_at).From("read_from_array", ReadFromArray);
X2IR_PADDLE(sequence_length).From("lod_array_length", ArrayLength);
X2IR_PADDLE(concat_from_sequence).From("tensor_array_to_tensor", ArrayToTensor);

}  // namespace x2ir
