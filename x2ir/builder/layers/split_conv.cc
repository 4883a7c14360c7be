#include "x2ir/builder/layers/split_conv.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

const Tensor* DenseWeight(const Value* v) {
  const Tensor* constant = v->fixed_constant();
  return constant && !constant->is_sparse() ? constant : nullptr;
}

}  // namespace

absl::StatusOr<Values> ConvOfGroups(NodeWriter& w) {
  constexpr int64_t kMaxGroups = 256;
  const int64_t groups = w.Int("group");
  if (groups > kMaxGroups) return CannotExpress(groups, " groups");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(w.attrs()));
  const int64_t axis = ChannelAxis(last, rank);
  // Parts of a constant are constants that share its memory.
  const auto parts = [&](size_t operand, int64_t along) -> absl::StatusOr<Values> {
    const Tensor* whole = DenseWeight(w.in(operand));
    if (!whole || along != 0 || whole->dim(0) % groups != 0) {
      return w.b().Ops("split", {w.in(operand)}, {{"axis", along}}, static_cast<size_t>(groups));
    }
    std::vector<int64_t> dims = whole->dims();
    dims[0] /= groups;
    const size_t size = whole->nbytes() / static_cast<size_t>(groups);
    Values all;
    for (size_t i = 0; i < static_cast<size_t>(groups); ++i) {
      X2IR_ASSIGN_OR_RETURN(
          Tensor part, Tensor::View(whole->dtype(), dims, whole->bytes().subspan(size * i, size),
                                    std::make_shared<const Tensor>(*whole)));
      all.push_back(w.b().Constant(std::move(part)));
    }
    return all;
  };
  AttributeMap attrs = w.attrs();
  attrs.Set("group", 1);
  X2IR_ASSIGN_OR_RETURN(const Values xs, parts(0, axis));
  X2IR_ASSIGN_OR_RETURN(const Values kernels, parts(1, 0));
  Values biases;
  if (w.has(2)) {
    X2IR_ASSIGN_OR_RETURN(biases, parts(2, 0));
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < static_cast<size_t>(groups); ++i) {
    std::vector<Value*> operands = {xs[i], kernels[i]};
    if (w.has(2)) operands.push_back(biases[i]);
    results.push_back(w.Op(w.node().op(), std::move(operands), attrs));
  }
  return Values{w.Op("concat", std::move(results), {{"axis", axis}})};
}

absl::StatusOr<Values> ConvWithZerosBetween(NodeWriter& w) {
  const std::vector<int64_t>& dilations = w.attrs().Ints("dilations");
  const Tensor* kernel = DenseWeight(w.in(1));
  if (!kernel || BitWidth(kernel->dtype()) < 8) return CannotExpress("dilations");
  std::vector<int64_t> dims = kernel->dims();
  for (size_t i = 0; i < dilations.size(); ++i) {
    dims[i + 2] = (dims[i + 2] - 1) * dilations[i] + 1;
  }
  constexpr int64_t kMaxElements = int64_t{1} << 24;
  const auto count = CheckedProduct(dims);
  if (!count || *count > kMaxElements) return CannotExpress("dilations");
  Tensor wide = Tensor::Zeros(kernel->dtype(), dims);
  const size_t width = static_cast<size_t>(BitWidth(kernel->dtype())) / 8;
  const auto from = kernel->bytes();
  const auto to = wide.mutable_bytes();
  std::vector<int64_t> index(dims.size());
  for (int64_t k = 0; k < kernel->num_elements(); ++k) {
    int64_t rest = k, at = 0, step = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int64_t place = rest % kernel->dim(static_cast<int64_t>(axis));
      rest /= kernel->dim(static_cast<int64_t>(axis));
      at += step * place * (axis < 2 ? 1 : dilations[axis - 2]);
      step *= dims[axis];
    }
    std::copy_n(from.data() + static_cast<size_t>(k) * width, width,
                to.data() + static_cast<size_t>(at) * width);
  }
  std::vector<Value*> operands = w.node().inputs();
  operands[1] = w.b().Constant(std::move(wide), w.in(1)->name());
  AttributeMap attrs = w.attrs();
  attrs.Set("dilations", std::vector<int64_t>(dilations.size(), 1));
  return Values{w.Op(w.node().op(), std::move(operands), std::move(attrs))};
}

absl::StatusOr<Values> ConvOverBlocks(NodeWriter& w, Window window) {
  const auto kernel = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  const std::optional<Window> padded = WithPads(std::move(window), w.shape());
  const auto is_one = [](int64_t stride) { return stride == 1; };
  if (!padded || !padded->channels_last || !kernel || !w.shape() ||
      !std::all_of(padded->strides.begin(), padded->strides.end(), is_one)) {
    return CannotExpress("dilations");
  }
  const size_t n = padded->rank();
  const Dim& channels = (*w.shape())[static_cast<int64_t>(n) + 1];
  if (!channels.is_static() || channels.value() < 1 || (*kernel)[0] < 1) {
    return CannotExpress("dilations");
  }
  // Each spatial axis as [blocks, places], padded to whole blocks. Places become a part of the
  // batch.
  std::vector<int64_t> pads = padded->pads, split = {-1}, blocks = {-1}, places = {-1};
  std::vector<int64_t> results = {-1}, merged = {-1}, ends, to_places = {0}, back = {0};
  const auto axes = CountedFrom(1, static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) {
    const Dim& size = (*w.shape())[padded->axis(i)];
    if (!size.is_static()) return CannotExpress("dilations");
    const int64_t step = padded->dilations[i];
    const int64_t all = size.value() + padded->pad_begin(i) + padded->pad_end(i);
    const int64_t count = (all + step - 1) / step, windows = count - (*kernel)[i + 2] + 1;
    ends.push_back(all - padded->extent(i) + 1);
    if (ends.back() < 1) return CannotExpress("dilations");
    pads[i + n] += count * step - all;
    split.insert(split.end(), {count, step});
    blocks.push_back(count);
    places.push_back(step);
    results.push_back(windows);
    merged.push_back(windows * step);
    to_places.push_back(static_cast<int64_t>(2 * i + 2));
    back.insert(back.end(), {static_cast<int64_t>(n + i + 1), static_cast<int64_t>(i + 1)});
  }
  for (size_t i = 0; i < n; ++i) to_places.push_back(static_cast<int64_t>(2 * i + 1));
  for (auto* perm : {&to_places, &back}) perm->push_back(static_cast<int64_t>(2 * n + 1));
  for (auto* dims : {&split, &blocks}) dims->push_back(channels.value());
  places.insert(places.end(), results.begin() + 1, results.end());
  for (auto* dims : {&places, &merged}) dims->push_back((*kernel)[0]);

  Value* x = w.Op("pad", {w.in(0), w.Ints(pads), w.Number(w.dtype(), 0), w.Ints(axes)});
  x = w.Op("transpose", {w.Reshape(x, split)}, {{"perm", to_places}});
  Window plain = *padded;
  plain.auto_pad = AutoPad::kNotSet;
  plain.dilations.assign(n, 1);
  plain.pads.assign(2 * n, 0);
  AttributeMap attrs = WindowAttrs(plain);
  attrs.Set("group", w.Int("group"));
  std::vector<Value*> operands = w.node().inputs();
  operands[0] = w.Reshape(x, blocks);
  Value* y = w.Op(w.node().op(), std::move(operands), std::move(attrs));
  y = w.Op("transpose", {w.Reshape(y, places)}, {{"perm", back}});
  y = w.Reshape(y, merged);
  return Values{w.Op("slice", {y, w.Ints(std::vector<int64_t>(n, 0)), w.Ints(ends), w.Ints(axes)})};
}

}  // namespace x2ir
