// Layers of Keras 1 as Keras 2 has them.
#ifndef X2IR_FORMATS_KERAS_KERAS1_INTERNAL_H_
#define X2IR_FORMATS_KERAS_KERAS1_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir::keras {

// The names of classes and settings. Meanings are those of Keras 2's own conversion.
absl::Status UpgradeLayer(std::string* class_name, Json* config);
// Gates of LSTM and GRU as one weight each, kernels with their channels last. `config` is upgraded.
absl::Status UpgradeWeights(const std::string& class_name, const Json& config,
                            std::vector<StoredWeight>* weights);

// The tensor with its axes in another order, copied; of plain elements.
Tensor Permuted(const Tensor& tensor, const std::vector<int64_t>& perm);
// Kernels [space..., in, out] turned round along the spatial axes.
Tensor FlippedKernel(const Tensor& tensor);
// Whether the layer's first weight is the kernel of a convolution that Theano turns round.
bool HasTheanoKernel(const std::string& class_name);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_KERAS1_INTERNAL_H_
