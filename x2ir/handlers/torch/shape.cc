// Shapes, axes and padding.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/slice.h"

namespace x2ir {
namespace {

// Begins, then ends, of the last n axes in order.
std::vector<Size> InOrder(const std::vector<Size>& pairs) {
  const size_t n = pairs.size() / 2;
  std::vector<Size> pads(2 * n);
  for (size_t i = 0; i < n; ++i) {
    pads[n - 1 - i] = pairs[2 * i];
    pads[2 * n - 1 - i] = pairs[2 * i + 1];
  }
  return pads;
}

Value* Pad(TorchCall& c, Value* x, const std::vector<Size>& pairs, std::string_view mode,
           Value* with = nullptr) {
  const int64_t n = static_cast<int64_t>(pairs.size() / 2);
  if (pairs.size() % 2 != 0 || n > c.Rank(x)) {
    c.Fail(Invalid("pad: ", pairs.size(), " numbers for an input of rank ", c.Rank(x)));
    return x;
  }
  if (n == 0) return c.Op("identity", {x});
  const std::vector<int64_t> axes = CountedFrom(c.Rank(x) - n, n);
  std::vector<Size> pads = InOrder(pairs);
  if (mode == "wrap") {
    // Of a batch of nothing, which runtimes refuse.
    const auto dims = c.out_shape() ? c.out_shape()->Static() : std::nullopt;
    if (dims && std::find(dims->begin(), dims->end(), 0) != dims->end()) {
      return c.b().Constant(x2ir::Tensor::Zeros(x->dtype(), *dims));
    }
  }
  if (mode == "constant") {
    return c.Op("pad", {x, Vector(c, pads), with, Ints(c, axes)}, {{"mode", "constant"}});
  }
  // Negative numbers cut off. What is cut off does not come around, but it is reflected, and the
  // edge is that of the whole.
  std::vector<int64_t> cut;
  bool some = false, more = false;
  for (Size& pad : pads) {
    if (!pad.number && mode == "wrap") {
      c.Fail(Unimplemented("circular padding that is not known"));
      return x;
    }
    cut.push_back(std::min<int64_t>(pad.number.value_or(0), 0));
    some |= cut.back() < 0;
    if (pad.number) pad.number = std::max<int64_t>(*pad.number, 0);
    more |= !pad.number || *pad.number > 0;
  }
  const auto without = [&](Value* v) -> Value* {
    if (!some) return v;
    return c.Op("pad", {v, Ints(c, cut), c.Constant(v->dtype(), 0), Ints(c, axes)});
  };
  const auto filled = [&](Value* v) -> Value* {
    if (!more && some) return v;
    return c.Op("pad", {v, Vector(c, pads), nullptr, Ints(c, axes)}, {{"mode", std::string(mode)}});
  };
  return mode == "wrap" ? filled(without(x)) : without(filled(x));
}

Value* PadConstant(TorchCall& c, Value* x, const std::vector<Size>& pairs) {
  const std::optional<TorchNumber> value = c.OptNumber("value");
  Value* with = value ? c.Constant(x->dtype(), *value) : c.Constant(x->dtype(), 0);
  return Pad(c, x, pairs, "constant", with);
}

constexpr std::pair<std::string_view, std::string_view> kModes[] = {
    {"reflect", "reflect"}, {"replicate", "edge"}, {"circular", "wrap"}};

Values PadOf(TorchCall& c) {
  Value* x = c.Tensor("self");
  const std::vector<Size> pairs = c.Sizes("pad");
  const std::string mode = c.String("mode", "constant");
  if (mode == "constant") return {PadConstant(c, x, pairs)};
  c.Ignore({"value"});
  for (const auto& [name, ours] : kModes) {
    if (name == mode) return {Pad(c, x, pairs, ours)};
  }
  return c.Fail(
      Invalid("mode: expected constant, reflect, replicate or circular, got '", mode, "'"));
}

TorchHandler PadHandler(std::string_view argument, std::string_view mode) {
  return
      [=](TorchCall& c) -> Values { return {Pad(c, c.Tensor("self"), c.Sizes(argument), mode)}; };
}

X2IR_TORCH(pad)
    .From("aten::pad.default", PadOf)
    .From("aten::constant_pad_nd.default",
          [](TorchCall& c) -> Values { return {PadConstant(c, c.Tensor("self"), c.Sizes("pad"))}; })
    .From({"aten::reflection_pad1d.default", "aten::reflection_pad2d.default",
           "aten::reflection_pad3d.default"},
          PadHandler("padding", "reflect"))
    .From({"aten::replication_pad1d.default", "aten::replication_pad2d.default",
           "aten::replication_pad3d.default"},
          PadHandler("padding", "edge"))
    .From("aten::_pad_circular.default", PadHandler("pad", "wrap"))
    .From("aten::_pad_enum.default", [](TorchCall& c) -> Values {
      Value* x = c.Tensor("self");
      const std::vector<Size> pairs = c.Sizes("pad");
      const int64_t mode = c.Int("mode");
      if (mode == 0) return {PadConstant(c, x, pairs)};
      c.Ignore({"value"});
      if (mode < 1 || mode > 3) return c.Fail(Invalid("mode: ", mode));
      return {Pad(c, x, pairs, kModes[mode - 1].second)};
    });

Value* WriteReshapeTo(TorchWriter& w, Value* x, std::vector<TorchScalar> sizes) {
  return w.Call("aten::reshape.default", {{"self", x}, {"shape", std::move(sizes)}});
}

// Whether a size that is only known when the program runs may say 0. One that comes from a shape
// says what it says.
bool MayHoldZeros(TorchWriter& w, const std::vector<TorchScalar>& sizes) {
  const auto* elements = w.in(1)->elements();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (std::holds_alternative<int64_t>(sizes[i].value)) continue;
    if (!elements || i >= elements->size() || (*elements)[i].is_unknown()) return true;
  }
  return false;
}

// The result's shape, where it is known; else a size of 0 means the operand's size.
absl::StatusOr<Value*> WriteReshape(TorchWriter& w) {
  const Shape* out = w.out_type().shape();
  if (const auto dims = out ? out->Static() : std::nullopt) {
    return WriteReshapeTo(w, w.in(0), TorchWriter::Numbers(*dims));
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(1)));
  for (size_t i = 0; i < sizes.size() && w.Int("allowzero") == 0; ++i) {
    const int64_t* number = std::get_if<int64_t>(&sizes[i].value);
    if (number && *number == 0) sizes[i] = w.Size(w.in(0), static_cast<int64_t>(i));
  }
  if (w.Int("allowzero") == 0 && MayHoldZeros(w, sizes)) {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    const auto count = static_cast<int64_t>(sizes.size());
    Value* own = w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", std::min(rank, count)}});
    if (count > rank) {
      const std::vector<int64_t> more(static_cast<size_t>(count - rank), 0);
      own = w.Op("concat", {own, w.b().Ints(more)}, {{"axis", 0}});
    }
    Value* is_zero = w.Op("equal", {w.in(1), w.b().Int(0)});
    X2IR_ASSIGN_OR_RETURN(sizes, w.Sizes(w.Op("where", {is_zero, own, w.in(1)})));
  }
  return WriteReshapeTo(w, w.in(0), std::move(sizes));
}

absl::StatusOr<Value*> WriteFlatten(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  int64_t axis = w.Int("axis");
  if (axis < 0) axis += rank;
  const Shape* out = w.out_type().shape();
  if (const auto dims = out ? out->Static() : std::nullopt) {
    return WriteReshapeTo(w, w.in(0), TorchWriter::Numbers(*dims));
  }
  if (axis == 1 && rank > 1) {
    return w.Call("aten::flatten.using_ints",
                  {{"self", w.in(0)}, {"start_dim", 1}, {"end_dim", -1}});
  }
  // If one side is known, the other is -1.
  for (const int64_t side : {0, 1}) {
    if (!out || !(*out)[side].is_static() || (*out)[side].value() == 0) continue;
    std::vector<TorchScalar> sizes = {{int64_t{-1}}, {int64_t{-1}}};
    sizes[static_cast<size_t>(side)] = {(*out)[side].value()};
    return WriteReshapeTo(w, w.in(0), std::move(sizes));
  }
  return CannotExpress("a matrix of unknown sizes");
}

Value* WriteTranspose(TorchWriter& w) {
  const int64_t rank = w.in(0)->shape() ? w.in(0)->shape()->rank() : 0;
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  return w.Call("aten::permute.default",
                {{"self", w.in(0)}, {"dims", w.attrs().Ints("perm", std::move(backwards))}});
}

absl::StatusOr<Value*> WriteSqueeze(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (!axes) return w.Call("aten::squeeze.default", {{"self", w.in(0)}});
  return w.Call("aten::squeeze.dims", {{"self", w.in(0)}, {"dim", *axes}});
}

// One axis at a time.
absl::StatusOr<Value*> WriteUnsqueeze(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Call("aten::unsqueeze.default", {{"self", rest.x}, {"dim", *rest.axis}});
}

// The shape whose sizes are the elements of an operand.
Shape ShapeOfOperand(TorchWriter& w, size_t operand) {
  const Value* x = w.in(operand);
  if (const auto* elements = x->elements()) return Shape(*elements);
  return Shape::UnknownDims((*x->shape())[0].value());
}

// A size of 1 that is asked for keeps the operand's.
absl::StatusOr<Value*> WriteExpand(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Shape* out = w.out_type().shape();
  if (const auto dims = out ? out->Static() : std::nullopt) {
    return w.Call("aten::expand.default",
                  {{"self", w.in(0)}, {"size", TorchWriter::Numbers(*dims)}});
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(1)));
  while (static_cast<int64_t>(sizes.size()) < rank) sizes.insert(sizes.begin(), {int64_t{1}});
  const size_t added = sizes.size() - static_cast<size_t>(rank);
  const std::vector<TorchScalar> asked = sizes;
  bool open = false;
  for (size_t i = added; i < sizes.size(); ++i) {
    const Dim& own = (*w.in(0)->shape())[static_cast<int64_t>(i - added)];
    const int64_t* number = std::get_if<int64_t>(&sizes[i].value);
    const Dim wanted = out && out->rank() == static_cast<int64_t>(sizes.size())
                           ? (*out)[static_cast<int64_t>(i)]
                           : Dim();
    const bool kept =
        number ? *number == 1
               : (own.is_static() && own.value() != 1) || (!own.is_unknown() && wanted == own);
    const bool one = own.is_static() && own.value() == 1;
    // A result of the size that is asked for.
    const auto* elements = w.in(1)->elements();
    const bool given = elements && elements->size() == sizes.size() && !wanted.is_unknown() &&
                       (*elements)[i] == wanted;
    if (kept) {
      sizes[i] = {int64_t{-1}};
    } else if (!number && !one && !given) {
      open = true;
    }
  }
  // Sizes of 1 that show only then: what has the shape that is asked for says the rest.
  if (open) {
    Value* nothing = w.Call("aten::expand.default",
                            {{"self", w.b().Scalar(DType::kBool, 0)}, {"size", std::move(asked)}},
                            Type::Tensor(DType::kBool, ShapeOfOperand(w, 1)));
    return w.Calls("aten::broadcast_tensors.default",
                   {{"tensors", std::vector<Value*>{w.in(0), nothing}}}, {true, false})[0];
  }
  return w.Call("aten::expand.default", {{"self", w.in(0)}, {"size", std::move(sizes)}});
}

absl::StatusOr<Value*> WriteTile(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> repeats, w.Sizes(w.in(1)));
  return w.Call("aten::repeat.default", {{"self", w.in(0)}, {"repeats", std::move(repeats)}});
}

absl::StatusOr<Values> WriteSplit(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.num_outputs() == 1) return Values{w.Op("identity", {w.in(0)})};
  std::vector<TorchScalar> sizes;
  if (w.has(1)) {
    X2IR_ASSIGN_OR_RETURN(sizes, w.Sizes(w.in(1)));
  } else {
    for (const Value* part : w.node().outputs()) {
      const Shape* shape = part ? part->shape() : nullptr;
      if (!shape || !(*shape)[axis].is_static()) return CannotExpress("parts of unknown sizes");
      sizes.push_back({(*shape)[axis].value()});
    }
  }
  return w.Calls("aten::split_with_sizes.default",
                 {{"self", w.in(0)}, {"split_sizes", std::move(sizes)}, {"dim", axis}});
}

// PyTorch's pads go from the last axis on. Modes other than constant are for the last axes alone.
absl::StatusOr<Value*> WritePad(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const std::vector<TorchScalar> pads, w.Sizes(w.in(1)));
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(3, "axes"));
  const size_t n = pads.size() / 2;
  std::vector<TorchScalar> begins(static_cast<size_t>(rank), {int64_t{0}}), ends = begins;
  if (given && given->size() != n) return Invalid("other counts");
  const auto is_zero = [](const TorchScalar& s) {
    const int64_t* number = std::get_if<int64_t>(&s.value);
    return number && *number == 0;
  };
  int64_t first = rank;
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = given ? (*given)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    begins[static_cast<size_t>(axis)] = pads[i];
    ends[static_cast<size_t>(axis)] = pads[n + i];
    if (!is_zero(pads[i]) || !is_zero(pads[n + i])) first = std::min(first, axis);
  }
  if (first == rank) return w.Op("identity", {w.in(0)});
  const std::string& mode = w.String("mode");
  if (PadsBeyond(w.node())) return CannotExpress("padding with more than there is");
  if (mode == "reflect") {
    // PyTorch crops after it reflects, IR reflects the cropped tensor.
    std::vector<int64_t> cut(2 * n, 0), more(2 * n, 0);
    bool some = false, mixed = false;
    for (size_t i = 0; i < 2 * n; ++i) {
      const int64_t* number = std::get_if<int64_t>(&pads[i].value);
      if (!number) continue;
      (*number < 0 ? cut : more)[i] = *number;
      some |= *number < 0;
    }
    for (size_t i = 0; i < 2 * n; ++i) {
      const int64_t* other = std::get_if<int64_t>(&pads[(i + n) % (2 * n)].value);
      mixed |= cut[i] < 0 && (!other || *other > 0);
      if (some && !std::holds_alternative<int64_t>(pads[i].value)) {
        return CannotExpress("a reflection that cuts off beside a size that is not known");
      }
    }
    if (mixed) {
      const auto padded_by = [&](Value* x, const std::vector<int64_t>& by, std::string_view how) {
        std::vector<Value*> operands = {x, w.b().Ints(by)};
        if (w.has(3)) operands.insert(operands.end(), {nullptr, w.in(3)});
        return w.Op("pad", operands, {{"mode", std::string(how)}});
      };
      return padded_by(padded_by(w.in(0), cut, "constant"), more, "reflect");
    }
  }
  const int64_t padded = rank - first;
  if (mode == "wrap") {
    // Whole images, of a batch and channels. It wraps around once at most, and nothing is cut off.
    if (rank < 3 || rank > 5 || padded > rank - 2) return CannotExpress("mode wrap of those axes");
    const auto comes_around_once = [&](const TorchScalar& begin, const TorchScalar& end,
                                       const Dim& size) {
      const int64_t *low = std::get_if<int64_t>(&begin.value),
                    *high = std::get_if<int64_t>(&end.value);
      if (!low || !high) return true;
      if (*low < 0 || *high < 0) return false;
      return !size.is_static() || std::max(*low, *high) <= size.value();
    };
    for (int64_t i = first; i < rank; ++i) {
      const auto at = static_cast<size_t>(i);
      if (!comes_around_once(begins[at], ends[at], (*w.in(0)->shape())[i])) {
        return CannotExpress("mode wrap that cuts off, or comes around twice");
      }
    }
    first = 2;
  } else if (mode != "constant") {
    // One to three axes after the channels, or after a batch and channels.
    const int64_t count = std::max({padded, rank - 2, int64_t{1}});
    if (count > 3 || rank <= count) return CannotExpress("mode ", mode, " of those axes");
    first = rank - count;
  } else if (const Shape* out = w.out_type().shape(); out && out->rank() == rank) {
    // PyTorch 1.13 gives an empty result only if nothing is added.
    const auto adds = [&](const TorchScalar& pad) {
      const int64_t* number = std::get_if<int64_t>(&pad.value);
      return !number || *number > 0;
    };
    const bool empty =
        std::any_of(out->begin() + first, out->end(), [](const Dim& dim) { return dim == Dim(0); });
    if (empty && std::any_of(pads.begin(), pads.end(), adds)) {
      return CannotExpress("padding of what is cut off to nothing");
    }
  }
  std::vector<TorchScalar> pairs;
  for (int64_t i = rank; i-- > first;) {
    pairs.push_back(begins[static_cast<size_t>(i)]);
    pairs.push_back(ends[static_cast<size_t>(i)]);
  }
  if (mode == "constant") {
    TorchArguments arguments = {{"self", w.in(0)}, {"pad", std::move(pairs)}};
    if (w.has(2)) {
      if (!KnownTensor(*w.in(2))) return CannotExpress("a value that is computed");
      arguments.emplace_back("value", w.Scalar(w.in(2)));
    }
    return w.Call("aten::constant_pad_nd.default", std::move(arguments));
  }
  return w.Call("aten::pad.default", {{"self", w.in(0)},
                                      {"pad", std::move(pairs)},
                                      {"mode", mode == "edge"   ? "replicate"
                                               : mode == "wrap" ? "circular"
                                                                : "reflect"}});
}

Value* WriteSizeTensor(TorchWriter& w, const TorchScalar& size) {
  if (const int64_t* number = std::get_if<int64_t>(&size.value)) return w.b().Int(*number);
  return w.Call("aten::scalar_tensor.default", {{"s", size}, {"dtype", DType::kInt64}},
                Type::Tensor(DType::kInt64, Shape()));
}

absl::StatusOr<Value*> WriteShape(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const auto bound = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t start = bound(w.Int("start")), end = bound(w.attrs().Int("end", rank));
  if (start >= end) return w.b().Ints({});
  std::vector<int64_t> known;
  for (int64_t i = start; i < end && (*w.in(0)->shape())[i].is_static(); ++i) {
    known.push_back((*w.in(0)->shape())[i].value());
  }
  if (static_cast<int64_t>(known.size()) == end - start) return w.b().Ints(known);
  std::vector<Value*> sizes;
  for (int64_t i = start; i < end; ++i) sizes.push_back(WriteSizeTensor(w, w.Size(w.in(0), i)));
  return w.Call("aten::stack.default", {{"tensors", std::move(sizes)}, {"dim", 0}});
}

Value* WriteNumberOfElements(TorchWriter& w) {
  Value* count =
      w.Call("aten::sym_numel.default", {{"self", w.in(0)}}, Type::Tensor(DType::kInt64, Shape()));
  return WriteSizeTensor(w, {count});
}

absl::StatusOr<Value*> WriteCol2Im(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> image, w.Sizes(w.in(1)));
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> block, w.Sizes(w.in(2)));
  if (image.size() != 2 || block.size() != 2) return CannotExpress("other than two axes");
  const std::vector<int64_t> pads = w.attrs().Ints("pads", {0, 0, 0, 0});
  if (pads[0] != pads[2] || pads[1] != pads[3]) return CannotExpress("other padding at the end");
  return w.Call("aten::col2im.default", {{"self", w.in(0)},
                                         {"output_size", std::move(image)},
                                         {"kernel_size", std::move(block)},
                                         {"dilation", w.attrs().Ints("dilations", {1, 1})},
                                         {"padding", std::vector<int64_t>{pads[0], pads[1]}},
                                         {"stride", w.attrs().Ints("strides", {1, 1})}});
}

}  // namespace

X2IR_TORCH(reshape).To("aten::reshape.default", WriteReshape);
X2IR_TORCH(flatten).To("aten::flatten.using_ints", WriteFlatten);
X2IR_TORCH(transpose).To("aten::permute.default", WriteTranspose);
X2IR_TORCH(squeeze).To("aten::squeeze.dims", WriteSqueeze);
X2IR_TORCH(unsqueeze).To("aten::unsqueeze.default", WriteUnsqueeze);
X2IR_TORCH(expand).To("aten::expand.default", WriteExpand);
X2IR_TORCH(tile).To("aten::repeat.default", WriteTile);
X2IR_TORCH(concat).To("aten::cat.default", {{"axis", "dim"}});
X2IR_TORCH(split).To("aten::split_with_sizes.default", WriteSplit);
X2IR_TORCH(pad).To("aten::constant_pad_nd.default", WritePad);
X2IR_TORCH(shape).To("aten::sym_size.int", WriteShape);
X2IR_TORCH(size).To("aten::sym_numel.default", WriteNumberOfElements);
X2IR_TORCH(col2im).To("aten::col2im.default", WriteCol2Im);

}  // namespace x2ir
