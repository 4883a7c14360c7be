// Local functions: the functions that a model brings along, and how a call of one becomes its
// body. A local function takes precedence over an op of the same name in the dialect.
#ifndef X2IR_CORE_FUNCTIONS_H_
#define X2IR_CORE_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// The op of the nodes that call a function: "domain::name".
Symbol OpOf(const Function& function);

class Functions {
 public:
  explicit Functions(const Model& model);

  // InvalidArgument when one calls itself, directly or through others. `callees_first`: gets all
  // functions, each after those that it calls.
  absl::Status Check(std::vector<const Function*>* callees_first = nullptr) const;

  // The function that a node of the model's dialect calls, or null.
  const Function* Called(const Node& node) const;

  // Puts the body of `function` in the place of `call`, in the order that it runs, and gives its
  // nodes. They are in the source's dialect still, at the function's own opsets; the graphs that
  // the call hands over as attributes must be IR already, since they are at the caller's. The
  // call's results keep their names; names inside of the body begin with `prefix`. When it fails
  // nothing has changed.
  absl::StatusOr<std::vector<Node*>> Inline(const Function& function, Node* call,
                                            std::string_view prefix);

  // The functions that the nodes of `graph` call, directly or through others, in the model's order.
  std::vector<std::shared_ptr<Function>> UsedBy(const Graph& graph) const;

 private:
  const Function* Find(Symbol op, std::string_view overload) const;

  std::shared_ptr<const Graph> root_;
  std::vector<std::shared_ptr<Function>> all_;
  absl::flat_hash_map<Symbol, std::vector<const Function*>> by_op_;  // its overloads
  int64_t WrittenOut(const Function& function);

  absl::flat_hash_map<const Function*, int64_t> sizes_;        // of bodies, as they were asked for
  absl::flat_hash_map<const Function*, int64_t> written_out_;  // with all that they call
  int64_t most_ = 0;     // bytes that may be written out; 0: not known yet
  int64_t inlined_ = 0;  // bytes, roughly
};

// The type without the names of sizes, which mean something in the function alone.
Type WithoutSymbols(Type type);

// The name of what is called `name` inside of something called `prefix`. Bounded: functions in
// functions make no name longer and longer.
std::string NameInside(std::string_view prefix, std::string_view name);

}  // namespace x2ir

#endif  // X2IR_CORE_FUNCTIONS_H_
