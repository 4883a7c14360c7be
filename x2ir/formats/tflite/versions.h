// Which version of an operator a node is, and which LiteRT runs it. Versions are the least that do:
// older runtimes refuse newer ones. The facts are those of TensorFlow's op_version.cc and
// runtime_version.cc.
#ifndef X2IR_FORMATS_TFLITE_VERSIONS_H_
#define X2IR_FORMATS_TFLITE_VERSIONS_H_

#include <string_view>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {
namespace tflite {

// Of a node of dialect "tflite" whose values have types.
int OperatorVersion(const Node& node);
// The oldest release that has this version of the operator ("2.3.0"); "" where that is not known.
std::string_view RuntimeOf(std::string_view op, int version);
// Whether release `a` is before `b`.
bool IsOlder(std::string_view a, std::string_view b);

}  // namespace tflite
}  // namespace x2ir

#endif  // X2IR_FORMATS_TFLITE_VERSIONS_H_
