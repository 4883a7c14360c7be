// Attributes of nodes as TensorFlow's files have them.
#ifndef X2IR_FORMATS_TENSORFLOW_ATTRIBUTES_H_
#define X2IR_FORMATS_TENSORFLOW_ATTRIBUTES_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Whether an attribute of this name is known to be an integer, or to be a truth value. Graphs have
// both as integers, files do not: an attribute that is not known is not written.
bool IsTfNumberKnown(std::string_view attr);

// Set by the reader where the condition of a branch or loop is of rank 0, whatever is known of its
// type: control flow of TensorFlow 1 takes no others.
inline constexpr std::string_view kTfScalarCondition = "scalar_cond";

}  // namespace x2ir

#endif  // X2IR_FORMATS_TENSORFLOW_ATTRIBUTES_H_
