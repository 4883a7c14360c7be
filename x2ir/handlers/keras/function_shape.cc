// Functions in models of Keras: elements in other places, and tensors of other shapes.
#include <algorithm>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/functions.h"

namespace x2ir {
namespace {

// x[key]: a number, a slice, an ellipsis, None for a new axis, or several of them.
class Subscript {
 public:
  explicit Subscript(KerasCall& c) : c_(c) {}

  Value* Run(const Expr& x, const Json& key) {
    if (key.is_array()) {
      for (const Json& item : key.items()) Add(item);
    } else {
      Add(key);
    }
    if (strides_.size() > 30) c_.Fail(Invalid("a subscript of ", strides_.size(), " parts"));
    const auto vector = [&](const std::vector<Json>& of) {
      std::vector<Size> sizes;
      for (const Json& json : of) sizes.push_back(SizeOf(json));
      return Vector(c_, sizes);
    };
    return c_.AsTf("StridedSlice", {x, vector(begins_), vector(ends_), Ints(c_, strides_)},
                   {{"begin_mask", begin_mask_},
                    {"end_mask", end_mask_},
                    {"ellipsis_mask", ellipsis_mask_},
                    {"new_axis_mask", new_axis_mask_},
                    {"shrink_axis_mask", shrink_mask_}});
  }

 private:
  Size SizeOf(const Json& json) {
    if (json.kind() == Json::Kind::kInt) return json.Int();
    if (json.is_null()) return 0;
    const Expr value = c_.ValueOf(json, DType::kInt64).To(DType::kInt64);
    if (value.rank() > 0) c_.Fail(Unimplemented("a tensor of indices in a subscript"));
    return value;
  }

  void Add(const Json& part) {
    const int64_t bit = int64_t{1} << std::min<size_t>(strides_.size(), 40);
    const std::string& c = part["class_name"].text();
    const bool sliced = c == "__slice__" || part.Has("start") || part.Has("stop") ||
                        part.Has("step") || (part.is_object() && c.empty() && !part.Has("tensor"));
    Json begin, end;
    int64_t stride = 1;
    if (part.is_null()) {
      new_axis_mask_ |= bit;
    } else if (c == "__ellipsis__" || part.text() == "...") {
      ellipsis_mask_ |= bit;
    } else if (sliced) {
      const Json& slice = c == "__slice__" ? part["config"] : part;
      begin = slice["start"];
      end = slice["stop"];
      if (begin.is_null()) begin_mask_ |= bit;
      if (end.is_null()) end_mask_ |= bit;
      const Json& step = slice["step"];
      if (!step.is_null() && step.kind() != Json::Kind::kInt) {
        c_.Fail(Unimplemented("a step that is computed"));
      }
      stride = step.Int(1);
    } else {
      if (part.is_array() || part.is_string() || part.kind() == Json::Kind::kBool) {
        c_.Fail(Unimplemented("the subscript ", part.ToString().substr(0, 60)));
      }
      begin = end = part;
      shrink_mask_ |= bit;
    }
    begins_.push_back(std::move(begin));
    ends_.push_back(std::move(end));
    strides_.push_back(stride);
  }

  KerasCall& c_;
  std::vector<Json> begins_, ends_;
  std::vector<int64_t> strides_;
  int64_t begin_mask_ = 0, end_mask_ = 0, ellipsis_mask_ = 0, new_axis_mask_ = 0, shrink_mask_ = 0;
};

Value* FunctionGetItem(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const Json& key = c.Arg("key");
  return Subscript(c).Run(x, key["class_name"].text() == "__tuple__" ? key["items"] : key);
}

Value* FunctionStridedSlice(KerasCall& c) {
  AttributeMap attrs;
  for (const char* mask :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    attrs.Set(mask, c.Integer(mask, 0));
  }
  const Expr begin = c.Sizes("begin");
  const Expr strides = c.Given("strides") ? c.Sizes("strides") : begin * 0.0 + 1.0;
  return c.AsTf("StridedSlice", {c.Tensor("x"), begin, c.Sizes("end"), strides}, attrs);
}

// Parts of a shape from places that may be computed.
Value* FunctionSlice(KerasCall& c) {
  return c.AsTf("Slice", {c.Tensor("x"), c.Sizes("start_indices"), c.Sizes("shape")});
}

Value* FunctionTranspose(KerasCall& c) {
  c.Require(!c.Flag("conjugate"), "a conjugate");
  const Expr x = c.Tensor("x");
  const auto perm = c.Integers("axes");
  std::vector<int64_t> order = CountedFrom(0, x.rank());
  std::reverse(order.begin(), order.end());
  if (perm) order = c.Axes("axes", x);
  if (static_cast<int64_t>(order.size()) != x.rank()) c.Fail(Invalid("not all axes"));
  return Transpose(x, order);
}

Value* FunctionSqueeze(KerasCall& c) {
  const Expr x = c.Tensor("x");
  std::vector<int64_t> axes;
  const auto given = c.Integers("axis");
  if (given && !given->empty()) {
    axes = c.Axes("axis", x);
  } else {
    for (int64_t i = 0; i < x.rank(); ++i) {
      const Dim size = DimAt(x, i);
      c.Require(size.is_static(), "axes of size 1 of a shape that is not known");
      if (size == Dim(1)) axes.push_back(i);
    }
  }
  return axes.empty() ? x.Op("identity") : Squeeze(x, axes);
}

Value* FunctionMoveAxis(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const std::vector<int64_t> from = c.Axes("source", x), to = c.Axes("destination", x);
  if (from.size() != to.size()) c.Fail(Invalid("axes of different numbers"));
  std::vector<int64_t> order(static_cast<size_t>(x.rank()), -1), rest;
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  int64_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    axis = next++;
  }
  return Transpose(x, order);
}

Value* FunctionSwapAxes(KerasCall& c) {
  const Expr x = c.Tensor("x");
  std::vector<int64_t> order = CountedFrom(0, x.rank());
  std::swap(order[static_cast<size_t>(c.AxisOf(c.Integer("axis1", 0), x.rank()))],
            order[static_cast<size_t>(c.AxisOf(c.Integer("axis2", 0), x.rank()))]);
  return Transpose(x, order);
}

Value* FunctionRavel(KerasCall& c) { return Flat(c.Tensor("x")); }

// Tensors of rank 0 are rows of one; those of rank 1 are rows, or of vstack columns of them.
template <bool kRows>
Value* FunctionStackTensors(KerasCall& c) {
  std::vector<Value*> parts;
  int64_t rank = 0;
  for (const Expr& x : c.Tensors("xs")) {
    Expr y = AtLeast1d(x);
    if (kRows && y.rank() == 1) y = Unsqueeze(y, {0});
    rank = y.rank();
    parts.push_back(y);
  }
  if (parts.empty()) c.Fail(Invalid("a concatenation of nothing"));
  return Concat(c, parts, kRows || rank == 1 ? 0 : 1);
}

// Equal parts of a number, or parts of sizes.
Values FunctionSplit(KerasCall& c) {
  c.Arg("num");
  const Expr x = c.Tensor("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", 0), x.rank());
  const auto sizes = c.Integers("sizes");
  const bool equal = !c.Arg("sizes").is_array();
  if (!sizes) c.Fail(Invalid("it does not say into what to split"));
  if (equal) return c.AllAsTf("Split", {Int(c, axis), x}, {{"num_split", (*sizes)[0]}});
  return c.AllAsTf("SplitV", {x, Ints(c, *sizes), Int(c, axis)},
                   {{"num_split", static_cast<int64_t>(sizes->size())}});
}

// Keras 3: equal parts of a number, or parts that begin at positions.
Values FunctionSplitAt(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", 0), x.rank());
  const auto at = c.Integers("at");
  if (!at) c.Fail(Invalid("it does not say into what to split"));
  if (!c.Arg("at").is_array()) {
    return c.AllAsTf("Split", {Int(c, axis), x}, {{"num_split", (*at)[0]}});
  }
  Values parts;
  for (size_t i = 0; i <= at->size(); ++i) {
    const Size from = i == 0 ? Size(0) : Size((*at)[i - 1]),
               to = i == at->size() ? Size(kToEnd) : Size((*at)[i]);
    parts.push_back(Slice(x, axis, from, to));
  }
  return parts;
}

Values FunctionUnstack(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", 0), x.rank());
  const Dim size = DimAt(x, axis);
  const int64_t count = c.Integer("num", size.is_static() ? size.value() : -1);
  c.Require(count >= 0, "parts of a number that is not known");
  return c.AllAsTf("Unpack", {x}, {{"num", count}, {"axis", axis}});
}

// Keras 3: numbers of the last axes, or of more axes than there are.
Value* FunctionTile(KerasCall& c) {
  Expr x = c.Tensor("x");
  auto times = c.Integers("repeats");
  if (!times) c.Fail(Invalid("it does not say how often"));
  const auto rank = static_cast<size_t>(x.rank());
  if (times->size() < rank) times->insert(times->begin(), rank - times->size(), 1);
  if (times->size() > rank) {
    x = Unsqueeze(x, CountedFrom(0, static_cast<int64_t>(times->size() - rank)));
  }
  return c.AsTf("Tile", {x, Ints(c, *times)});
}

Value* FunctionPad(KerasCall& c) {
  const Expr x = c.Tensor("x");
  std::string mode = c.Text("mode", "CONSTANT");
  for (char& letter : mode) letter = static_cast<char>(std::toupper(letter));
  Expr pads = c.Sizes("paddings");
  // Keras 3: one number, or two, for all axes.
  if (c.promotes() && pads.rank() < 2) {
    pads = Expand(pads, c.b().Ints({x.rank(), 2}));
  } else if (c.promotes() && DimAt(pads, 0) == Dim(1)) {
    pads = Expand(pads, c.b().Ints({x.rank(), 2}));
  }
  if (mode == "CONSTANT") {
    if (!c.Given("constant_values")) return c.AsTf("Pad", {x, pads});
    return c.AsTf("PadV2", {x, pads, c.Tensor("constant_values", x.dtype())});
  }
  c.Arg("constant_values");
  if (c.promotes() && mode != "REFLECT" && mode != "SYMMETRIC") {
    c.Fail(Unimplemented("a pad of mode '", mode, "'"));
  }
  return c.AsTf("MirrorPad", {x, pads}, {{"mode", mode}});
}

Value* FunctionFlip(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return c.AsTf("ReverseV2", {x, Ints(c, c.Axes("axis", x))});
}

// Images [height, width, channels], perhaps several.
template <int64_t kAxis>
Value* FunctionFlipImage(KerasCall& c) {
  const Expr x = c.Tensor("x");
  if (x.rank() != 3 && x.rank() != 4) c.Fail(Invalid("images of rank ", x.rank()));
  return c.AsTf("ReverseV2", {x, Ints(c, {x.rank() + kAxis})});
}

// Keras 3: all elements as one row where there is no axis.
Value* FunctionRoll(KerasCall& c) {
  const Expr x = c.Tensor("x");
  if (c.Given("axis")) return c.AsTf("Roll", {x, c.Sizes("shift"), c.Sizes("axis")});
  const Expr y = c.AsTf("Roll", {Flat(x), c.Sizes("shift"), Int(c, 0)});
  return ReshapeTo(y, ShapeOf(x));
}

template <bool kUpper>
Value* FunctionTriangle(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return x.Op("trilu", {c.b().Int(c.Integer("k", 0))}, {{"upper", kUpper}});
}

template <int kNumber>
Value* FunctionLike(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const DType type = c.TypeOf("dtype", x.dtype());
  const Expr value = {c, c.b().Scalar(type, kNumber)};
  return Expand(value, ShapeOf(x));
}

Value* FunctionFullLike(KerasCall& c) {
  const Expr x = c.Tensor("x");
  const DType type = c.TypeOf("dtype", x.dtype());
  return Expand(c.Tensor("fill_value", type).To(type), ShapeOf(x));
}

template <int kNumber>
Value* FunctionFilled(KerasCall& c) {
  const Expr value = {c, c.b().Scalar(c.TypeOf("dtype", DType::kFloat32), kNumber)};
  return Expand(value, c.Sizes("shape"));
}

// From 0 to start where there is no limit.
Value* FunctionRange(KerasCall& c) {
  const bool to = c.Given("limit");
  const DType together = c.CommonType({"start", "limit", "delta"});
  const DType type = c.TypeOf("dtype", together);
  const Expr start = c.Tensor("start", type).To(type);
  const Expr step = c.Given("delta") ? c.Tensor("delta", type).To(type) : start.Number(1);
  if (!to) return c.AsTf("Range", {start.Number(0), start, step});
  return c.AsTf("Range", {start, c.Tensor("limit", type).To(type), step});
}

Value* FunctionOneHot(KerasCall& c) {
  c.Require(!c.Flag("sparse"), "sparse results");
  const Expr index = c.Tensor("x");
  // Without a type it is that of the values.
  const DType values = c.Given("on_value") || c.Given("off_value")
                           ? c.CommonType({"on_value", "off_value"})
                           : DType::kFloat32;
  const DType type = c.TypeOf("dtype", values);
  const Expr one = {c, c.b().Scalar(type, 1)};
  const Expr on = c.Given("on_value") ? c.Tensor("on_value", type) : one,
             off = c.Given("off_value") ? c.Tensor("off_value", type) : one.Number(0);
  return c.AsTf("OneHot", {index, c.Sizes("depth"), on, off}, {{"axis", c.Integer("axis", -1)}});
}

// The rank is known.
Value* FunctionNdim(KerasCall& c) {
  return c.b().Scalar(DType::kInt32, static_cast<double>(c.Tensor("x").rank()));
}

}  // namespace

X2IR_KERAS_FUNCTION(slice)
    .From("tf.__operators__.getitem ops.GetItem", "x|tensor key|slice_spec", FunctionGetItem)
    .From("tf.strided_slice",
          "x|input_|input begin end strides begin_mask end_mask ellipsis_mask new_axis_mask "
          "shrink_axis_mask",
          FunctionStridedSlice)
    .From("ops.Slice", "x|inputs start_indices shape", FunctionSlice)
    .From("ops.Flip", "x axis", FunctionFlip)
    .From("tf.image.flip_left_right", "x|image", FunctionFlipImage<-2>)
    .From("tf.image.flip_up_down", "x|image", FunctionFlipImage<-3>);
X2IR_KERAS_FUNCTION(transpose)
    .From("tf.transpose tf.compat.v1.transpose ops.Transpose", "x|a axes|perm conjugate",
          FunctionTranspose)
    .From("ops.Moveaxis", "x source destination", FunctionMoveAxis)
    .From("ops.Swapaxes", "x axis1 axis2", FunctionSwapAxes);
X2IR_KERAS_FUNCTION(squeeze).From("tf.squeeze tf.compat.v1.squeeze ops.Squeeze",
                                  "x|input axis|squeeze_dims", FunctionSqueeze);
X2IR_KERAS_FUNCTION(reshape).From("ops.Ravel", "x", FunctionRavel);
X2IR_KERAS_FUNCTION(concat)
    .From("ops.Hstack", "xs", FunctionStackTensors<false>)
    .From("ops.Vstack", "xs", FunctionStackTensors<true>)
    .From("ops.Roll", "x shift axis", FunctionRoll);
X2IR_KERAS_FUNCTION(split)
    .From("tf.split tf.compat.v1.split", "x|value sizes|num_or_size_splits axis num", FunctionSplit)
    .From("ops.Split", "x at|indices_or_sections axis", FunctionSplitAt)
    .From("tf.unstack tf.compat.v1.unstack ops.Unstack", "x|value num axis", FunctionUnstack);
X2IR_KERAS_FUNCTION(tile).From("ops.Tile", "x repeats", FunctionTile);
X2IR_KERAS_FUNCTION(pad).From("tf.pad tf.compat.v1.pad ops.Pad",
                              "x|tensor constant_values paddings|pad_width mode", FunctionPad);
X2IR_KERAS_FUNCTION(trilu)
    .From("ops.Tril", "x k", FunctionTriangle<false>)
    .From("ops.Triu", "x k", FunctionTriangle<true>);
X2IR_KERAS_FUNCTION(expand)
    .From("tf.zeros_like tf.compat.v1.zeros_like ops.ZerosLike", "x|input|tensor dtype",
          FunctionLike<0>)
    .From("tf.ones_like tf.compat.v1.ones_like ops.OnesLike", "x|input|tensor dtype",
          FunctionLike<1>)
    .From("ops.FullLike", "x fill_value dtype", FunctionFullLike)
    .From("tf.zeros tf.compat.v1.zeros", "shape dtype", FunctionFilled<0>)
    .From("tf.ones tf.compat.v1.ones", "shape dtype", FunctionFilled<1>);
X2IR_KERAS_FUNCTION(range).From("tf.range", "start limit delta dtype", FunctionRange);
X2IR_KERAS_FUNCTION(one_hot).From(
    "tf.one_hot ops.OneHot", "x|indices depth|num_classes on_value off_value axis dtype sparse",
    FunctionOneHot);
X2IR_KERAS_FUNCTION(size).From("ops.Ndim", "x", FunctionNdim);

}  // namespace x2ir
