// Lowering of depth_to_space: mode CRD, for targets that have DCR alone (ONNX before opset 11).
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

// The two modes differ in the order of channels, so CRD is DCR of reordered channels.
absl::StatusOr<Values> ColumnsFirstAsReorder(Rewrite& r) {
  if (r.attrs().String("mode") != "CRD") return CannotExpress("no lowering of mode DCR");
  if (r.attrs().String("layout") != "channels_first") {
    return CannotExpress("depth_to_space with channels last");
  }
  const Shape* x = r.in(0) ? r.in(0)->shape() : nullptr;
  const int64_t block = r.attrs().Int("blocksize");
  if (x == nullptr || x->rank() != 4 || !(*x)[1].is_static()) {
    return CannotExpress("mode CRD of a number of channels that is not known",
                         r.target.Later(Fact::Says("depth_to_space", "mode", "CRD")));
  }
  const int64_t channels = (*x)[1].value();
  if (block < 1 || block > 4096 || channels > (int64_t{1} << 24)) {
    return CannotExpress("mode CRD with blocks of ", block);
  }
  const int64_t places = block * block, left = channels / places;
  std::vector<int64_t> order;  // DCR's channel (place, c) is CRD's (c, place)
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t c = 0; c < left; ++c) order.push_back(c * places + place);
  }
  Value* reordered = r.b.Op("gather", {r.in(0), r.b.Ints(order, "order")}, {{"axis", 1}});
  AttributeMap attrs = r.attrs();
  attrs.Set("mode", "DCR");
  return Values{r.b.Op("depth_to_space", {reordered}, std::move(attrs))};
}
X2IR_LOWERING(depth_to_space, ColumnsFirstAsReorder);

}  // namespace
}  // namespace x2ir
