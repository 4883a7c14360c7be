// Weights as Keras's files have them.
#ifndef X2IR_FORMATS_KERAS_STORES_INTERNAL_H_
#define X2IR_FORMATS_KERAS_STORES_INTERNAL_H_

#include <memory>

#include "x2ir/formats/keras/hdf5_internal.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir::keras {

// Of an HDF5 file: groups of layers with lists of names (Keras 1, 2 and tf.keras), or variables by
// paths (Keras 3). DataLoss where it is neither.
absl::StatusOr<std::unique_ptr<WeightStore>> OpenWeights(Hdf5File& file);

// Whether the file has weights as one of the two.
bool HasWeights(Hdf5File& file);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_STORES_INTERNAL_H_
