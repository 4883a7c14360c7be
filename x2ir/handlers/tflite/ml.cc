// TFLite: classical machine learning.

#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {

X2IR_TFLITE(label_encoder).From("HASHTABLE_FIND", SameAsTf("LookupTableFindV2"));

}  // namespace x2ir
