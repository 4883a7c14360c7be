#include "x2ir/handlers/oneflow/windows.h"

#include "x2ir/builder/shapes.h"

namespace x2ir {

bool TakeChannelsLast(OneflowArgs& a) {
  const std::string format = a.String("data_format");
  if (format == "channels_last" || format == "NHWC" || format == "NDHWC") return true;
  a.Require(format.empty() || format == "channels_first" || format == "NCHW" || format == "NCDHW",
            StrCat("data_format ", format));
  return false;
}

std::vector<int64_t> PerAxis(OneflowArgs& a, Symbol attr, size_t spatial, int64_t fallback) {
  std::vector<int64_t> numbers = a.Ints(attr);
  if (numbers.empty()) numbers = {fallback};
  if (numbers.size() == 1) numbers.resize(spatial, numbers[0]);
  a.Require(numbers.size() == spatial, StrCat("attribute '", attr.view(), "' of other axes"));
  return numbers;
}

namespace {

// With the channels' axis elsewhere; of images, which have three axes at least.
Expr Moved(const Expr& x, bool channels_last, bool to_the_end) {
  if (!channels_last) return x;
  const int64_t rank = x.rank();
  if (rank < 3) {
    x.builder().Fail(Unimplemented("channels of a tensor of rank ", rank));
    return x;
  }
  return to_the_end ? MoveAxis(x, 1, rank - 1) : MoveAxis(x, rank - 1, 1);
}

}  // namespace

Expr ChannelsFirst(const Expr& x, bool channels_last) { return Moved(x, channels_last, false); }
Expr ChannelsBack(const Expr& x, bool channels_last) { return Moved(x, channels_last, true); }

absl::StatusOr<PlacedWindow> PlacedOver(OneflowWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  // What auto_pad says of sizes is not rounded up (OutputDim).
  window.ceil_mode = window.ceil_mode && window.auto_pad == AutoPad::kNotSet;
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)->type()));
  if (dims.size() != window.rank() + 2) return CannotExpress("windows over other axes");
  const int64_t* first = dims.data() + window.axis(0);
  return PlaceWindow(std::move(window), {first, dims.size() - 2});
}

Value* PaddedEvenly(OneflowWriter& w, PlacedWindow& placed, double number) {
  if (placed.window.even()) return w.in(0);
  const std::vector<int64_t> pads = TensorPads(placed.window);
  placed.window.pads.assign(placed.window.pads.size(), 0);
  return w.Op("pad", {w.in(0), w.Ints(pads), w.Number(w.dtype(), number)});
}

}  // namespace x2ir
