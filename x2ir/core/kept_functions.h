// Local functions that are kept (--keep-functions). docs/design.md, "Local functions".
//
// Import makes an instance of a function for each list of operand types and attributes that it is
// called with: a function whose body is IR. It is a Function without opset imports, and its calls
// are nodes of the source's dialect. Export writes each instance as a function of the target. What
// cannot be an instance, or cannot be written as a function, is inlined, and a warning says so.
#ifndef X2IR_CORE_KEPT_FUNCTIONS_H_
#define X2IR_CORE_KEPT_FUNCTIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/registry.h"

namespace X2IR_API x2ir {

// A dialect whose files hold functions.
struct FunctionFiles {
  std::string name;    // of the dialect
  std::string domain;  // of the functions that come from other dialects
  // A function takes operands of any types, and has attributes; its body is at opsets of its own.
  // Such functions are not made instances of for files of the same dialect: they are written back
  // as they were.
  bool any_types = false;
  std::vector<std::string> but_formats{};  // of the dialect, whose files hold none
};
bool RegisterFunctionFiles(FunctionFiles files, SourcePlace place = SourcePlace::Here());
// Null: the dialect's files hold no functions.
const FunctionFiles* FindFunctionFiles(std::string_view dialect);

// Why a file of that format (null: a model in memory) that is written with these options has no
// functions; empty: it may have them.
std::string WhyNoFunctions(const Format* target, const ExportOptions& options);
// Whether import has to inline functions that the file to be written cannot have; then a warning
// says why.
bool MustInline(const Model& model, const Format& target, const ExportOptions& options,
                Report& report);

// Whether functions of a model of `source` stay in that dialect when `target` is written (empty: IR
// or not known yet).
bool FunctionsStayAsTheyAre(std::string_view source, std::string_view target);

// Whether the function is an instance: its body is IR.
bool IsInstance(const Function& function);

// Functions that are inlined though functions are kept, and why.
using InlinedFunctions = std::vector<std::pair<std::string, std::string>>;
// One warning about all of them.
void WarnOfInlined(const InlinedFunctions& inlined, Report& report);

// The instances of a model's functions.
class FunctionInstances {
 public:
  struct Instance {
    std::shared_ptr<Function> function;  // null: its calls are inlined
    AttributeMap attrs;                  // of its calls
  };
  explicit FunctionInstances(const Model& model);

  // The instance that this call is of, and whether it is new. The body of a new one is a graph with
  // the call alone: body->first(), to be inlined there and converted. Its inputs are the operands
  // that the call has, its outputs all results of the function.
  std::pair<Instance*, bool> Of(const Function& function, const Node& call);
  // What became of a new instance: its body is IR now, or its calls are inlined, and why.
  void Keep(const Instance& instance);
  void GiveUp(Instance& instance, const Function& function, std::string why);
  void NoteInlined(const Function& function, std::string why);
  // Puts a call of the instance in the place of `call`, which is erased.
  void Replace(Node* call, const Instance& instance);

  // The instances that `graph` calls, directly or through others; what is called comes first.
  std::vector<std::shared_ptr<Function>> UsedBy(const Graph& graph) const;
  const InlinedFunctions& inlined() const { return inlined_; }

 private:
  void GiveName(const Function& function, Function& instance);

  absl::flat_hash_map<std::string, std::vector<std::unique_ptr<Instance>>> of_;
  std::vector<std::shared_ptr<Function>> made_;
  absl::flat_hash_set<Symbol> source_ops_, ops_;
  absl::flat_hash_map<Symbol, int> next_;  // the next suffix to try for an op
  InlinedFunctions inlined_;
  absl::flat_hash_set<const Function*> noted_;  // in it
};

// OK if the call has the operands of the instance, of the types that it was made for or of more
// specific ones.
absl::Status CheckCallOf(const Function& instance, const Node& call);
// The same for all calls of instances, in the graph and in the instances.
absl::Status CheckCallTypes(const Model& model);

// Makes the instances of an IR model functions of `dialect`, and their calls nodes of it. `write`
// converts one of them, a model whose graph is the body; where it fails, calls of the function are
// inlined. `why_not`: a reason to inline all; empty: none.
absl::Status ExportFunctions(Model& model, const std::string& dialect,
                             const std::function<absl::Status(Model& part)>& write,
                             std::string_view why_not, Report& report);

}  // namespace x2ir

#endif  // X2IR_CORE_KEPT_FUNCTIONS_H_
