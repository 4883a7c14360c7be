// The parts of the graph maker: values of a running program, and what runs it.
#ifndef X2IR_FORMATS_RELAY_GRAPH_MAKER_INTERNAL_H_
#define X2IR_FORMATS_RELAY_GRAPH_MAKER_INTERNAL_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/relay/graph_maker.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {

struct Frame;

// A value while the program runs. Fields are owned by the maker.
struct RunValue {
  enum class Kind : uint8_t { kTensor, kTuple, kData, kFunction, kOp, kConstructor, kBuiltIn };
  Kind kind = Kind::kTensor;
  Value* tensor = nullptr;
  const std::vector<RunValue>* fields = nullptr;  // of tuples and data
  std::string_view name{};                        // of operators, constructors and data
  const RelayExpr* function = nullptr;
  const Frame* around = nullptr;    // of functions: where their free variables are
  const RelayExpr* self = nullptr;  // the variable of a function that a let binds
};

// What variables are, and what expressions gave so far, inside of a function that runs. Those of a
// nested graph are a frame of their own.
struct Frame {
  const Frame* parent = nullptr;
  absl::flat_hash_map<const RelayExpr*, RunValue> known{};

  const RunValue* Find(const RelayExpr* e) const {
    for (const Frame* f = this; f; f = f->parent) {
      const auto it = f->known.find(e);
      if (it != f->known.end()) return &it->second;
    }
    return nullptr;
  }
};

class GraphMaker {
 public:
  GraphMaker(const Program& program, const StringMap<Tensor>& params, Graph* graph)
      : program_(program), params_(params), graph_(graph), root_(graph) {}

  absl::Status Make();

 private:
  using ValueOr = absl::StatusOr<RunValue>;
  using Values = std::vector<Value*>;

  // --- Expressions (graph_maker.cc) ---
  absl::StatusOr<RunValue> Parameter(const RelayExpr& var);
  absl::StatusOr<RunValue> InputOf(const RelayType& type, const std::string& name, int depth);
  ValueOr Run(const RelayExpr* e, Frame* frame);
  ValueOr RunOne(const RelayExpr* e, Frame* frame);
  ValueOr RunLet(const RelayExpr* e, Frame* frame);
  // Binds the variables of lets in front of an expression and gives the expression.
  absl::StatusOr<const RelayExpr*> RunLets(const RelayExpr* e, Frame* frame);
  ValueOr Get(const RelayExpr* e, const Frame& frame) const;
  ValueOr CallOp(const RelayExpr& call, const std::vector<RunValue>& args);
  ValueOr Call(const RunValue& callee, std::vector<RunValue> args, const RelayExpr* call);
  ValueOr RunIf(const RelayExpr& e, Frame* frame);
  ValueOr RunMatch(const RelayExpr& e, Frame* frame);
  absl::StatusOr<bool> Matches(const Pattern& pattern, const RunValue& value, Frame* frame);
  absl::StatusOr<RunValue> BuiltIn(std::string_view name, const std::vector<RunValue>& args);
  RunValue Constant(const RelayExpr* e);

  // --- Loops (graph_loops.cc) ---
  bool CallsItself(const RunValue& function);
  ValueOr RunLoop(const RunValue& function, const std::vector<RunValue>& args);
  // The branches of a function's body after its lets, with a frame in which its parameters are
  // `args`; null: it does not end in a branch.
  absl::StatusOr<const RelayExpr*> RunToBranch(const RunValue& function,
                                               const std::vector<RunValue>& args, Frame* frame);

  // --- Values ---
  RunValue Tensor_(Value* value) const { return {.tensor = value}; }
  RunValue Tuple(std::vector<RunValue> fields, std::string_view data = {}) {
    fields_.push_back(std::move(fields));
    return {.kind = data.empty() ? RunValue::Kind::kTuple : RunValue::Kind::kData,
            .fields = &fields_.back(),
            .name = data};
  }
  // The tensors of a value in their order; Unimplemented for functions and data.
  absl::Status Flatten(const RunValue& value, Values* to, int depth = 0);
  // The same structure with other tensors, taken from `at` on.
  RunValue Rebuilt(const RunValue& like, const Values& from, size_t* at);
  Frame* NewFrame(const Frame* parent) {
    frames_.emplace_back();
    frames_.back().parent = parent;
    return &frames_.back();
  }
  Node* AddNode(std::string_view op, const Values& operands);
  Value* AddResult(Node* node, std::string_view name);
  // Makes values the results of a nested graph, as values of its own.
  void AddOutputs(Graph* graph, const Values& values);
  absl::Status Spend(int64_t steps) {
    if ((spent_ += steps) > kMaxSteps) {
      return Invalid("the program becomes too large when its functions are written out");
    }
    return absl::OkStatus();
  }

  static constexpr int64_t kMaxSteps = 4'000'000;
  // Of functions and branches inside of each other, each a few calls of this program.
  static constexpr int kMaxNesting = 300;
  // Of tuples in tuples.
  static constexpr int kMaxStructure = 64;

  const Program& program_;
  const StringMap<Tensor>& params_;
  Graph* graph_;  // that nodes go to
  Graph* root_;
  int64_t spent_ = 0;
  int nesting_ = 0;
  std::deque<Frame> frames_;
  std::deque<std::vector<RunValue>> fields_;
  std::vector<Node*> of_tuples_;  // nodes with several results
  absl::flat_hash_map<const RelayExpr*, bool> recursive_;
  absl::flat_hash_map<const RelayExpr*, Value*> constants_;
};

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_GRAPH_MAKER_INTERNAL_H_
