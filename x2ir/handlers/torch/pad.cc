// Padding, whose numbers go from the last axis on.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

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

}  // namespace
}  // namespace x2ir
