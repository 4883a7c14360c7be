#include "x2ir/handlers/torch/layers.h"

#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Values FirstAlone(TorchCall& c, Value* first) {
  Values values(c.num_outputs(), nullptr);
  if (!values.empty()) values[0] = first;
  for (size_t i = 1; i < values.size(); ++i) {
    if (c.wants(i)) return c.Fail(Unimplemented("its result ", i, " has no mapping"));
  }
  return values;
}

void RequireFloat(TorchCall& c, const Value* x) {
  if (!IsFloating(x->dtype())) c.Fail(Unimplemented("of elements of type ", Name(x->dtype())));
}

Batched AddBatch(const Expr& x, int64_t spatial) {
  const int64_t rank = x.rank();
  if (rank == spatial + 1) return {Unsqueeze(x, {0}), true};
  if (rank != spatial + 2) {
    x.builder().Fail(
        Invalid("expected an input of rank ", spatial + 1, " or ", spatial + 2, ", got ", rank));
  }
  return {x, false};
}
Expr DropBatch(const Expr& y, const Batched& batched) {
  return batched.added ? Squeeze(y, {0}) : y;
}

// --- Windows --------------------------------------------------------------------------------

Expr PadEnds(const Expr& x, const std::vector<int64_t>& pads, Value* with) {
  bool none = true;
  for (const int64_t p : pads) none &= p == 0;
  if (none) return x;
  Builder& b = x.builder();
  const int64_t n = static_cast<int64_t>(pads.size() / 2);
  return x.Op("pad", {Ints(b, pads), with, Ints(b, CountedFrom(x.rank() - n, n))});
}

Expr Patches(const Expr& padded, const Window& window) {
  constexpr int64_t kMaxPieces = 1024;
  Builder& b = padded.builder();
  const int64_t n = static_cast<int64_t>(window.rank());
  const int64_t count = Product(window.kernel);
  if (count < 1 || count > kMaxPieces) {
    b.Fail(Unimplemented("a kernel of ", count, " elements, by slices"));
    return padded;
  }
  const std::vector<int64_t> axes = CountedFrom(2, n);
  std::vector<Value*> pieces;
  std::vector<int64_t> k(window.rank());
  do {
    std::vector<int64_t> starts, ends;
    for (size_t i = 0; i < window.rank(); ++i) {
      starts.push_back(k[i] * window.dilations[i]);
      const int64_t left = (window.kernel[i] - 1 - k[i]) * window.dilations[i];
      ends.push_back(left == 0 ? kToEnd : -left);
    }
    const Expr piece = padded.Op(
        "slice", {Ints(b, starts), Ints(b, ends), Ints(b, axes), Ints(b, window.strides)});
    pieces.push_back(Unsqueeze(piece, {2}));
  } while (NextIndex(window.kernel, k));
  return Concat(b, std::move(pieces), 2);
}

}  // namespace x2ir
