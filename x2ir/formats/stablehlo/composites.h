// Composites: calls of a function that say which operation it is the decomposition of. A graph has
// calls of the function; metadata of the function keep the rest, so that it survives in files of
// other formats, and calls of it are composites again when StableHLO is written.
#ifndef X2IR_FORMATS_STABLEHLO_COMPOSITES_H_
#define X2IR_FORMATS_STABLEHLO_COMPOSITES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/mlir/module.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace stablehlo {

// Metadata of functions: name, version and attributes, as a dictionary of MLIR.
inline constexpr char kComposite[] = "stablehlo.composite";

// What a module's calls say of its functions.
class CompositeCalls {
 public:
  explicit CompositeCalls(const mlir::Module& module) : module_(module) {}
  // `op`: func.call or stablehlo.composite of the function.
  void Add(const mlir::Op& op, const std::string& function);
  // Notes it on the functions of which all calls say the same. Not of composites with regions, or
  // with operands or results that are no plain tensors: calls in a graph have others.
  void NoteOn(Model& model) const;

 private:
  const mlir::Module& module_;
  absl::flat_hash_map<std::string, std::string> of_;  // by function; empty: it is none
};

// The attributes of a composite operation that calls the function, without the decomposition; empty
// where the function has no such metadata, or others than NoteOn makes.
mlir::AttrList CompositeOf(const Function& function);

}  // namespace stablehlo
}  // namespace x2ir

#endif  // X2IR_FORMATS_STABLEHLO_COMPOSITES_H_
