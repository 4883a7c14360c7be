// Weights as Keras's files have them.
#ifndef X2IR_FORMATS_KERAS_STORES_INTERNAL_H_
#define X2IR_FORMATS_KERAS_STORES_INTERNAL_H_

#include <memory>

#include "x2ir/formats/hdf5/file_internal.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir::keras {

// Of an HDF5 file: groups of layers with lists of names (Keras 1, 2 and tf.keras), or variables by
// paths (Keras 3). DataLoss where it is neither.
absl::StatusOr<std::unique_ptr<WeightStore>> OpenWeights(hdf5::File& file);

// Whether the file has weights as one of the two.
absl::StatusOr<bool> HasWeights(hdf5::File& file);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_STORES_INTERNAL_H_
