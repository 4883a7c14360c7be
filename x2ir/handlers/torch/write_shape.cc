// Shapes, order of axes, parts and wholes, written as calls.
#include <algorithm>
#include <limits>
#include <numeric>

#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/slice.h"

namespace x2ir {
namespace {

// --- The same elements ----------------------------------------------------------------------

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

// What the result's shape is, where it is known; a size of 0 stands for the operand's.
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
X2IR_TORCH(reshape).To("aten::reshape.default", WriteReshape);

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
  // What is left over has one side, if the other is known.
  for (const int64_t side : {0, 1}) {
    if (!out || !(*out)[side].is_static() || (*out)[side].value() == 0) continue;
    std::vector<TorchScalar> sizes = {{int64_t{-1}}, {int64_t{-1}}};
    sizes[static_cast<size_t>(side)] = {(*out)[side].value()};
    return WriteReshapeTo(w, w.in(0), std::move(sizes));
  }
  return CannotExpress("a matrix of unknown sizes");
}
X2IR_TORCH(flatten).To("aten::flatten.using_ints", WriteFlatten);

Value* WriteTranspose(TorchWriter& w) {
  const int64_t rank = w.in(0)->shape() ? w.in(0)->shape()->rank() : 0;
  std::vector<int64_t> backwards(static_cast<size_t>(rank));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  return w.Call("aten::permute.default",
                {{"self", w.in(0)}, {"dims", w.attrs().Ints("perm", std::move(backwards))}});
}
X2IR_TORCH(transpose).To("aten::permute.default", WriteTranspose);

absl::StatusOr<Value*> WriteSqueeze(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, w.KnownInts(1, "axes"));
  if (!axes) return w.Call("aten::squeeze.default", {{"self", w.in(0)}});
  return w.Call("aten::squeeze.dims", {{"self", w.in(0)}, {"dim", *axes}});
}
X2IR_TORCH(squeeze).To("aten::squeeze.dims", WriteSqueeze);

// One axis at a time.
absl::StatusOr<Value*> WriteUnsqueeze(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto rest, w.UnsqueezedButLast());
  if (!rest.axis) return w.Op("identity", {rest.x});
  return w.Call("aten::unsqueeze.default", {{"self", rest.x}, {"dim", *rest.axis}});
}
X2IR_TORCH(unsqueeze).To("aten::unsqueeze.default", WriteUnsqueeze);

// --- Repeating ------------------------------------------------------------------------------

// The shape whose sizes are the elements of an operand.
Shape ShapeOf(TorchWriter& w, size_t operand) {
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
                            Type::Tensor(DType::kBool, ShapeOf(w, 1)));
    return w.Calls("aten::broadcast_tensors.default",
                   {{"tensors", std::vector<Value*>{w.in(0), nothing}}}, {true, false})[0];
  }
  return w.Call("aten::expand.default", {{"self", w.in(0)}, {"size", std::move(sizes)}});
}
X2IR_TORCH(expand).To("aten::expand.default", WriteExpand);

absl::StatusOr<Value*> WriteTile(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> repeats, w.Sizes(w.in(1)));
  return w.Call("aten::repeat.default", {{"self", w.in(0)}, {"repeats", std::move(repeats)}});
}
X2IR_TORCH(tile).To("aten::repeat.default", WriteTile);

// --- Parts and wholes -----------------------------------------------------------------------

X2IR_TORCH(concat).To("aten::cat.default", {{"axis", "dim"}});

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
X2IR_TORCH(split).To("aten::split_with_sizes.default", WriteSplit);

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
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (steps[i] < 0) {
      const int64_t last = size.is_static() ? size.value() - 1 : kMost;
      const int64_t before = size.is_static() ? -size.value() - 1 : -kMost;
      if (steps[i] != -1 || !start || !end || !(*start == -1 || *start >= last) || *end > before) {
        return CannotExpress("negative steps but of the whole axis backwards");
      }
      flipped.push_back(axis);
      continue;
    }
    if (start && end && steps[i] == 1 && *start == 0 &&
        (*end == kMost || (size.is_static() && *end >= size.value()))) {
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
X2IR_TORCH(slice).To("aten::slice.Tensor", WriteSlice);

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
    // PyTorch cuts off what it has reflected, IR reflects what is left.
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
    // Whole images, of a batch and channels. It comes around once, and not behind a cut.
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
    // One to three axes behind channels, or behind a batch and channels.
    const int64_t count = std::max({padded, rank - 2, int64_t{1}});
    if (count > 3 || rank <= count) return CannotExpress("mode ", mode, " of those axes");
    first = rank - count;
  } else if (const Shape* out = w.out_type().shape(); out && out->rank() == rank) {
    // PyTorch 1.13 leaves nothing only where it does nothing but cut off.
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
X2IR_TORCH(pad).To("aten::constant_pad_nd.default", WritePad);

// --- Sizes as tensors -----------------------------------------------------------------------

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
X2IR_TORCH(shape).To("aten::sym_size.int", WriteShape);

Value* WriteNumberOfElements(TorchWriter& w) {
  Value* count =
      w.Call("aten::sym_numel.default", {{"self", w.in(0)}}, Type::Tensor(DType::kInt64, Shape()));
  return WriteSizeTensor(w, {count});
}
X2IR_TORCH(size).To("aten::sym_numel.default", WriteNumberOfElements);

// --- From nothing ---------------------------------------------------------------------------

absl::StatusOr<Value*> WriteConstantOfShape(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> sizes, w.Sizes(w.in(0)));
  const Attribute* value = w.attrs().Find("value");
  const Tensor* tensor = value ? value->get<Tensor>() : nullptr;
  if (!tensor || tensor->is_string()) return CannotExpress("elements that are no numbers");
  const DType t = tensor->dtype();
  TorchScalar number{tensor->AsDouble(0)};
  if (t == DType::kBool) number = {tensor->AsInt(0) != 0};
  if (IsInteger(t)) number = {tensor->AsInt(0)};
  return w.Call("aten::full.default",
                {{"size", std::move(sizes)}, {"fill_value", number}, {"dtype", t}});
}
X2IR_TORCH(constant_of_shape).To("aten::full.default", WriteConstantOfShape);

// Whether the limit is known to lie where the steps go, or at the start. Sizes do not lie below 0.
bool IsAhead(TorchWriter& w) {
  const auto start = KnownTensor(*w.in(0)), limit = KnownTensor(*w.in(1)),
             step = KnownTensor(*w.in(2));
  if (!step || step->num_elements() != 1) return false;
  const double by = step->AsDouble(0);
  if (start && limit) return (limit->AsDouble(0) - start->AsDouble(0)) * by >= 0;
  return IsInteger(w.dtype(0)) && start && start->AsDouble(0) <= 0 && by > 0 &&
         w.out_type().shape() && !(*w.out_type().shape())[0].is_unknown();
}

// PyTorch refuses a limit that lies behind the start; here such a range is empty.
Value* WriteRange(TorchWriter& w) {
  Value* limit = w.in(1);
  if (!IsAhead(w)) {
    const auto step = KnownTensor(*w.in(2));
    const auto bound = [&](Symbol op) { return w.Op(op, {w.in(1), w.in(0)}); };
    if (step && step->num_elements() == 1) {
      limit = bound(step->AsDouble(0) > 0 ? "max" : "min");
    } else {
      Value* up = w.Op("less", {w.Number(w.dtype(2), 0), w.in(2)});
      limit = w.Op("where", {up, bound("max"), bound("min")});
    }
  }
  return w.Call("aten::arange.start_step", {{"start", w.Scalar(w.in(0))},
                                            {"end", w.Scalar(limit)},
                                            {"step", w.Scalar(w.in(2))},
                                            {"dtype", w.dtype()}});
}
X2IR_TORCH(range).To("aten::arange.start_step", WriteRange);

absl::StatusOr<Value*> WriteTrilu(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto k, w.KnownInts(1, "diagonal"));
  return w.Call(w.Int("upper") != 0 ? "aten::triu.default" : "aten::tril.default",
                {{"self", w.in(0)}, {"diagonal", k && !k->empty() ? (*k)[0] : int64_t{0}}});
}
X2IR_TORCH(trilu).To("aten::tril.default", WriteTrilu);

}  // namespace
}  // namespace x2ir
