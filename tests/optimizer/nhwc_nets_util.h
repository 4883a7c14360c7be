// Networks as a naive exporter writes those of a framework that has channels last: each
// convolution, pool and normalization stands between transposes of its own.
#ifndef X2IR_TESTS_OPTIMIZER_NHWC_NETS_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_NHWC_NETS_UTIL_H_

#include <string>
#include <vector>

namespace x2ir {

struct NhwcNet {
  std::string name;
  std::string lines;  // of an IR graph with the input x: float32[N,side,side,3] and the output y
  int side = 0;
};

// ResNet-50, a squeeze-and-excite net with HardSwish, U-Net, a net with channel shuffles; with
// their blocks, but few channels.
std::vector<NhwcNet> NhwcNets();

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_NHWC_NETS_UTIL_H_
