// The changes that a conversion makes to inputs and outputs: names, orders of axes, element types,
// constants. The report of a conversion has them. Tools that compare the two models read them there
// (or from options) and give the converted model the inputs and outputs of the source.
//
// A file does not say it itself: its metadata go through other tools and conversions and are then
// no longer true, and a file that is to be checked shall not say how.
#ifndef X2IR_CORE_EDIT_INTERFACE_H_
#define X2IR_CORE_EDIT_INTERFACE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// An input or an output.
struct InterfaceChange {
  std::string source, name;   // in the source, and in the result; no name: it became a constant
  Type source_type, type;     // `type` with the result's own order of axes; unknown: not said
  std::vector<int64_t> perm;  // axis i of the result is axis perm[i] of the source; empty: the same
  std::string constant;       // what an input became: a .npy file, or a number
};

struct Interface {
  bool known = false;  // whether it says all; what is said by hand need not
  std::vector<InterfaceChange> inputs, outputs;  // in the source's order

  // {"inputs": [{"source": "x", "name": "image", "perm": [0,2,3,1], "source_type": "float32[...]",
  // "type": ...}], ...}; what is not said is left out.
  std::string ToJson() const;
};

// --- On the way through a conversion ---------------------------------------------------------
// The inputs and outputs that a graph has, under the names and types that it has now.
Interface InterfaceOf(const Graph& graph);
// Names and types are now those of the graph, whose inputs and outputs are in the same order as
// before; inputs after the known ones are new and have defaults. If their number differs, the
// interface becomes unknown.
void Update(const Graph& graph, Interface& interface);
// An input, by its name in the source, became a constant.
void NoteConstant(const std::string& file_or_number, const std::string& name,
                  std::vector<InterfaceChange>& inputs);
// The types of the graph are those of the source file, except for element types of inputs that an
// option changes (the types of outputs are then not known).
void NoteTypes(const Graph& graph, bool but_elements, Interface& interface);
// This input or output, as it is called now, has another order of axes.
void NotePerm(const std::vector<int64_t>& perm, const std::string& name,
              std::vector<InterfaceChange>& ports);

// --- For comparing models --------------------------------------------------------------------
// From texts: the path of a report (JSON), or descriptions of ports,
// SOURCE=NAME[:nchw|:nhwc][:TYPE] or SOURCE==NUMBER or SOURCE==FILE.npy for an input that became a
// constant. An option error
// ("map").
absl::StatusOr<Interface> ReadInterface(const std::vector<std::string>& texts, const Graph* source,
                                        const Graph& result);

// The source as the conversion used it: cut at the same values, and with constants in place of the
// inputs that became constants; these remain as unused inputs. IR; an option error ("map") if the
// interface does not belong to this model. Types of the source's outputs that the interface does
// not say are in it afterwards.
absl::Status AsConverted(Graph& source, Interface& interface);
// The result with the inputs and outputs of the source: their names, order, axes and element types.
// IR; an option error ("map") if the interface does not belong to this model.
absl::Status AsSource(Graph& result, const Interface& interface);

// The --map values with which `result` gets the inputs and outputs of `source`: {"x=image:nchw"};
// empty: none are needed, or they are not known.
std::vector<std::string> MissingMap(const Graph& source, const Graph& result);

}  // namespace x2ir

#endif  // X2IR_CORE_EDIT_INTERFACE_H_
