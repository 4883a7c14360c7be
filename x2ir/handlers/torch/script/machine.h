// Runs TorchScript while it is read: what is known is computed, and operators of tensors are
// written into the graph, as IR, one after another. Calls are inlined. Where the code asks what
// only data can tell, both branches are run, each into a graph of its own, and what they change
// becomes the results of an `if`; loops of an unknown number of rounds become `loop` in the same
// way. Nothing is executed but that: no operator computes a tensor, no code of the file is native.
#ifndef X2IR_HANDLERS_TORCH_SCRIPT_MACHINE_H_
#define X2IR_HANDLERS_TORCH_SCRIPT_MACHINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/import_step.h"
#include "x2ir/formats/torch/enums.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/handlers/torch/script/value.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/splice.h"

namespace X2IR_API x2ir {
namespace torch_script {

inline constexpr size_t kMaxItems = 1'000'000;  // of a list, or characters of a text

// Thrown to end the run: the status says what cannot be converted, or is malformed.
struct Stopped {
  absl::Status status;
};
// Thrown to run again, with an input of this type.
struct Guess {
  std::string input;
  Type type;
  std::string why;
};
// Thrown where the code raises an exception of its own.
struct Raised {
  std::string message;
};

// The arguments of a call, as they are written.
struct Args {
  std::vector<Val> positional;
  std::vector<std::pair<std::string_view, Val>> named;

  size_t size() const { return positional.size() + named.size(); }
  const Val* Named(std::string_view name) const;
  // The argument in place i, or of that name; null: not given.
  const Val* Get(size_t i, std::string_view name) const;
  bool has_tensor() const;  // among them, or in their lists and tuples
};

class Machine {
 public:
  // The model's graph has the inputs of `forward`, in the order of its tensors. `steps`: how many
  // were made, of this and of others for the same model.
  Machine(Model& model, const Program& program, std::vector<std::string>& warnings, int64_t& steps);
  // Throws a Guess where it needs one.
  absl::Status Run();

  // --- For the files of builtins -----------------------------------------------------------------

  [[noreturn]] void Stop(absl::Status status);
  template <typename... T>
  [[noreturn]] void Refuse(const T&... parts) {
    Stop(Unsupported(StrCat(parts...)));
  }
  Graph& graph() { return *graph_; }
  Graph& root() { return *model_.graph; }
  const Program& program() const { return program_; }
  void Warn(std::string text);
  // Work that the code asks for; too much of it is an error.
  void CountSteps(int64_t steps);
  void CountStep() { CountSteps(1); }
  // Whether there is, or was, any quantized tensor, any packed sequence: else none is looked for.
  bool quantizes = false, packs = false;
  // "layer1.0", the module whose code runs.
  const std::string& path() const { return frames_.back().path; }

  // Calls `aten::add` or the like with these arguments. `wanted`: how many results the code takes
  // apart, where it does.
  Val Call(std::string_view op, const Args& args, int64_t wanted = -1);
  Val CallFunction(const FunctionDef& function, Args args, const std::string& path);
  Val CallMethod(const Val& object, std::string_view name, Args args);
  bool HasMethod(const Val& object, std::string_view name) const;

  // Tensors. Reading gives what the tensor holds now.
  Value* Read(const Val& tensor);
  Val Fresh(Value* value);
  void Write(TensorHeap& tensor, Value* value);
  // Records the state of what will change.
  void Change(Heap& heap);
  // From now on it must not be changed.
  void Freeze(Heap& heap, std::string_view why);
  // A call of a schema's operator into the graph. `declared`: the element type of the results,
  // where it is not what PyTorch's rule says; undefined: the rule's.
  std::vector<Value*> Emit(const TorchCallRecord& call, size_t outputs,
                           DType declared = DType::kUndefined);
  // A call with arguments that are known to suit: {"self", x}, {"dim", 1}.
  using Named = std::vector<std::pair<std::string_view, Val>>;
  Val CallWith(std::string_view op, const Named& arguments);
  // An IR op in the graph at hand.
  Value* Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {});
  // A constant in the graph at hand, under this name or one like it.
  Value* Constant(std::string_view name, Tensor tensor);
  // What `make` makes with a builder, in the graph at hand.
  void Build(Symbol hint, const std::function<void(Builder&)>& make);
  // Numbers as values of the graph: rank 0, int64, float64 or bool.
  Value* ValueOf(const Val& number);
  // A value of rank 0 as a number, known where it is.
  Val NumberOf(Val::Kind kind, Value* value);
  // Of a list or tuple of known length.
  const std::vector<Val>& Items(const Val& v, std::string_view what);
  bool Truth(const Val& v);  // must be known
  int64_t KnownInt(const Val& v, std::string_view what);
  Val GetAttribute(const Val& object, std::string_view name);
  void SetAttribute(const Val& object, std::string_view name, Val value);
  std::string Format(const Val& v, int depth = 0);
  void GuessRank(const Value* input);
  // Whether the tensor's elements are in memory in the order of its axes.
  Val IsInOrder(const Val& tensor);

 private:
  struct Frame {
    const FunctionDef* function = nullptr;
    const ParsedFile* file = nullptr;
    std::string path;
    uint32_t offset = 0;  // of the statement at hand
    absl::flat_hash_map<std::string_view, Val> vars;
    Val result;
  };
  enum class Flow : uint8_t { kNext, kReturn, kBreak, kContinue };
  using Block = std::vector<const Statement*>;

  std::shared_ptr<const Tensor> KnownValue(Value* value, int depth = 0);
  absl::Status Unsupported(std::string text) const;
  std::string PlaceText() const;

  // --- statements.cc
  Flow Execute(const Block& block);
  Flow Execute(const Statement& s);
  void Assign(const Expr& target, const Val& value);

  // --- branches.cc: what only data can tell
  struct Level {
    absl::flat_hash_map<Heap*, std::pair<std::shared_ptr<Heap>, std::shared_ptr<Heap>>> saved;
    // Of which strides_ and known_ tell, and which may end with the graph of the level.
    std::vector<const Value*> values;
  };
  // What a branch or a round left in its graph: variables, and contents of what it changed.
  struct Outcome {
    std::shared_ptr<Graph> graph;
    absl::flat_hash_map<std::string_view, Val> vars;
    absl::flat_hash_map<const Heap*, std::pair<std::shared_ptr<Heap>, std::shared_ptr<Heap>>> heaps;
    Val result;
    Flow flow = Flow::kNext;
    bool raised = false;
    std::string message;
    // The contents of what a value shares, as the branch left them.
    template <typename T>
    const T& ContentOf(const T& heap) const {
      const auto it = heaps.find(&heap);
      return it == heaps.end() ? heap : static_cast<const T&>(*it->second.second);
    }
  };
  // Why a tensor's contents are not known: memory that it may share was written. Empty: they are.
  std::string StaleText(const TensorHeap& tensor, const Outcome* outcome) const;
  struct Merge;
  struct Layout;
  struct Slot;
  Outcome Try(const std::shared_ptr<Graph>& graph, const std::function<Flow()>& run);
  // What it is where the condition holds, or does not: the condition itself, or its opposite, is
  // known there, and what it says is None, or not.
  static Val Where(const Val& v, const Val& condition, bool holds);
  // The tensors in it are what they hold now.
  void Settle(const Val& v, int depth = 0);
  Flow If(const Statement& s);
  Flow Branch(const Val& condition, const std::function<Flow()>& yes,
              const std::function<Flow()>& no);
  bool OtherRanks(const Outcome& a, const Outcome& b) const;
  Val Choose(const Val& condition, const Expr& yes, const Expr& no);
  Val ChooseOf(const Val& condition, const std::function<Val(bool)>& run);
  Val Merged(Merge& merge, const Val& a, const Val& b, int depth = 0);
  void NoteMemory(Merge& merge, const Val& a, const Val& b, const Val& merged);
  void NoteContainers(Merge& merge, const Val& a, const Val& b, const Val& merged);
  Val MergedNew(Merge& merge, const Val& a, const Val& b, int depth);
  bool IsHeld(const Heap& heap);
  Val StandIn(const Val& like, const Outcome& outcome, Graph& graph);
  Val MergedLists(Merge& merge, const Val& a, const Val& b, int depth);
  void MergeHeaps(Merge& merge);

  // --- loops.cc
  Flow While(const Statement& s);
  Flow For(const Statement& s);
  // Rounds whose number only data can tell: `count` of them, or as long as `condition` holds. A
  // round of a `for` assigns start + i * step, or item i of `over`, to `target`.
  struct Rounds {
    std::optional<Val> count = {}, over = {};
    std::optional<Val> first = {};  // the condition before the first round
    const Expr* condition = nullptr;
    const Expr* target = nullptr;
    Val start = {}, step = Val::Int(1);
    const Block* body = nullptr;
  };
  void Loop(const Rounds& rounds);
  Layout LayoutOf(const Val& before, const Val& after, const Outcome& outcome, int depth = 0);
  bool Widen(Layout& layout, const Val& after, const Outcome& outcome);
  void AddLeaves(const Layout& layout, const Val& v, const Outcome* outcome, Graph& graph,
                 std::vector<Value*>& leaves);
  void AddTensors(const Layout& layout, const Val& v, const Outcome* outcome,
                  std::vector<TensorHeap*>& tensors);
  Val Bound(const Layout& layout, const std::vector<Value*>& values, size_t& next);
  void Bind(Slot& slot, const std::vector<Value*>& values, size_t& next);

  // While it lives, nodes are made in another graph.
  struct GraphScope {
    GraphScope(Machine& m, Graph& graph) : at(m.graph_), outer(std::exchange(at, &graph)) {}
    ~GraphScope() { at = outer; }
    GraphScope(const GraphScope&) = delete;
    GraphScope& operator=(const GraphScope&) = delete;
    Graph*& at;
    Graph* outer;
  };
  Value* InGraph(Graph& graph, const Val& v, const Outcome* outcome);
  // A result of a nested graph is a value of its own.
  static void AddOwnOutput(Graph& graph, Value* value, std::string_view name);
  Value* Collected(Graph& graph, const ListHeap& list, Val::Kind element, DType dtype,
                   const Outcome* outcome);

  // --- expressions.cc
  Val Evaluate(const Expr& e, int64_t wanted = -1);
  Val EvaluateName(const Expr& e);
  Val EvaluateCall(const Expr& e, int64_t wanted);
  Val EvaluateIndex(const Expr& e);
  Val EvaluateBinary(const Expr& e);
  Val EvaluateListOf(const Expr& e);
  Val Resolve(std::string_view dotted);
  std::string DottedName(const Expr& e) const;
  Val CallValue(const Val& callee, Args args, int64_t wanted);
  Val Instantiate(std::string_view class_name, Args args);
  Val Convert(const Val& v, std::string_view type);
  Val Annotated(const Expr& type, const Val& v, bool cast);
  bool IsInstance(const Val& v, const Expr& type);
  std::string TypeText(const Expr& type) const;
  std::vector<Val> Iterate(const Val& v);

  // --- objects.cc
  Val Load(const PickleValue& saved, const std::string& path, int depth = 0);
  Val LoadTensor(const PickleValue& saved, const std::string& path);

  // --- run.cc
  Val InputOf(const InputLayout& layout);
  void AddOutputs(const Val& v, const std::string& name, int depth = 0);
  void SweepUnused(Graph& graph);

  // --- guesses.cc
  void GuessInputs(const TorchCallRecord& call);

  // --- calls.cc
  std::optional<TorchCallRecord> Bind(const TorchSchema& schema, const Args& args, bool loose);
  bool Fits(const TorchParameter& p, const Val& v, bool loose, int depth = 0);
  void AddArgument(const TorchParameter& p, const Val& v, TorchCallRecord& call);
  int64_t CountOfList(std::string_view name, const TorchCallRecord& call, int64_t wanted);
  Val CallSchema(std::string_view op, const Args& args, int64_t wanted);
  Val CallUnknown(std::string_view op, const Args& args, int64_t wanted);
  Args AsOfVersion(std::string_view name, const Args& args);
  void TakeConstantAsNumber(std::string& op, Args& args);
  void SetStrides(const Value* value, Shape strides);
  void NoteStrides(const TorchCallRecord& call, std::string_view stem, Value* result);
  void TellOfTraining(const TorchCallRecord& call, std::string_view stem);
  void CheckStack();

  HeapScope heaps_;
  Model& model_;
  const Program& program_;
  std::vector<std::string>& warnings_;
  absl::flat_hash_set<std::string> warned_;
  ImportStep step_;
  NodeNames node_names_;
  Graph* graph_;
  std::vector<Frame> frames_;
  std::vector<Level> levels_;
  int64_t& steps_;
  const char* stack_ = nullptr;  // where it was when the machine began
  bool writes_ = false;          // some code writes to tensors in place
  absl::flat_hash_map<const PickleValue*, Val> loaded_;
  uint64_t loaded_ids_ = 0;
  StringMap<Value*> weights_;  // by TorchTensor::Identity
  // Results of KnownValue; null: not known.
  absl::flat_hash_map<const Value*, std::shared_ptr<const Tensor>> known_;
  std::vector<std::string> failures_;                 // of nodes that stay, the first few
  absl::flat_hash_map<const Value*, Shape> strides_;  // where they are known
};

// Functions of numbers, texts and containers: "aten::len", "prim::max". Nullopt: it is none of
// these, or it is called with tensors.
std::optional<Val> CallBuiltin(Machine& m, std::string_view op, const Args& args, int64_t wanted);
// Operators of quantized tensors, and of any tensors where one is quantized.
std::optional<Val> CallQuantized(Machine& m, std::string_view op, const Args& args);
// Operators of packed sequences.
std::optional<Val> CallPacked(Machine& m, std::string_view op, const Args& args);
// Operators of two numbers ("add", "floordiv", "lt"), and "neg" of one.
Val Arithmetic(Machine& m, std::string_view op, const Val& a, const Val& b);
// a / b of ints, rounded up.
Val CeilDivide(Machine& m, const Val& a, const Val& b);
// Functions of one number: "floor", "sqrt", "abs". Nullopt: it is none.
std::optional<Val> UnaryNumber(Machine& m, std::string_view op, const Val& v);

}  // namespace torch_script
}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SCRIPT_MACHINE_H_
