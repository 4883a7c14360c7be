#include "x2ir/builder/layers/split_conv.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/relaid.h"
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
  operands[1] = RelaidConstant(w.b(), w.in(1), std::move(wide));
  AttributeMap attrs = w.attrs();
  attrs.Set("dilations", std::vector<int64_t>(dilations.size(), 1));
  return Values{w.Op(w.node().op(), std::move(operands), std::move(attrs))};
}

}  // namespace x2ir
