// Imports nodes one by one, for dialects whose programs make their next node by the types of those
// before: TorchScript runs its code while it is read.
#ifndef X2IR_CORE_IMPORT_STEP_H_
#define X2IR_CORE_IMPORT_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

class ImportStep {
 public:
  // `model` must outlive it.
  ImportStep(Model& model, const std::string& dialect);
  ~ImportStep();
  // Replaces the node, which may be in a nested graph, by what its form makes of it, and gives the
  // values that replace its outputs (null for those that it leaves out). On an error the node is
  // left as it is. The form is that of version 1 of the operator's domain.
  absl::StatusOr<std::vector<Value*>> Convert(Node* node);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace x2ir

#endif  // X2IR_CORE_IMPORT_STEP_H_
