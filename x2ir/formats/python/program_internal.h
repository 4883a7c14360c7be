// A graph of PyTorch's calls during the conversion to Python: steps, their modules, weights.
#ifndef X2IR_FORMATS_PYTHON_PROGRAM_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_PROGRAM_INTERNAL_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/module_path.h"
#include "x2ir/formats/python/calls_internal.h"
#include "x2ir/formats/python/text_internal.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::python {

// A place in the tree of modules: {"encoder", "layer", "0"}.
using Path = ModulePath;
std::string KeyOf(const Path& path);          // another one for each
bool IsListNumber(std::string_view segment);  // of a child of a list: "0", "12"

struct Framework;
struct Module;
struct Step;

// A tensor of the state dict.
struct Weight {
  const Value* source = nullptr;  // the constant whose name it has, if it has one's
  Tensor tensor;
  bool transposed = false;  // the file has it as the source has it, the module the other way round
  bool buffer = false;      // not trained
  std::string code;         // that makes it; empty: it lies in the file
  Path path;                // of the module, and the name in it
  std::string attribute;    // what the module calls it
  std::string key;          // in the state dict
  Module* home = nullptr;
  bool used_outside = false;  // by a forward other than its home's
};

// A known layer: nn.Conv2d(3, 16, kernel_size=3).
struct Layer {
  std::string type;       // "nn.Conv2d"
  std::string arguments;  // of the constructor; numbers in Hole()s
  std::vector<std::pair<std::string, Weight*>> weights;
  std::vector<Item> inputs;
  int stacked = 1;   // recurrent layers in one
  std::string name;  // what it is called where nothing else names it: "conv"
  Path path;
  std::vector<const Value*> constants;  // that its weights are
  Step* first = nullptr;  // the call of the same layer that was before; then it has all but inputs
  bool shared = false;    // it is called again
};

// What a branch or a round does: calls of their own, that also see the values around them.
struct Block {
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<const Value*> inputs, outputs;
};

// A call.
struct Step {
  Call call;
  const Node* node = nullptr;
  std::vector<const Value*> results;  // null: unused
  Path scope;
  std::unique_ptr<Layer> layer;
  std::vector<Block>
      blocks;                // of `if` and `while`; what they use of outside is among the arguments
  size_t index = 0;          // in the program's order
  Module* module = nullptr;  // the module whose forward has it
  Module* layer_module = nullptr;  // that the layer is
};

// A module of the tree. One that has a forward is a class, or an nn.Sequential.
struct Module {
  Module* parent = nullptr;
  std::string segment;    // of the path
  std::string attribute;  // what its parent calls it: an identifier, or a number in a list
  std::vector<Module*> children;
  Step* layer = nullptr;  // a known layer, at the end of a path
  std::vector<Weight*> weights;
  bool has_forward = false;
  bool is_list = false;        // its children are numbered, it has nothing else
  bool is_sequential = false;  // a chain of its children
  // What happens in its forward, in order: calls, and forwards of modules below.
  struct Item {
    Step* step = nullptr;
    Module* module = nullptr;
  };
  std::vector<Item> items;
  std::vector<const Value*> inputs, outputs;  // of its forward
  size_t depth = 0;
};

class Program {
 public:
  // Steps in the order of the graph, without unused ones, with known layers found.
  static absl::StatusOr<std::unique_ptr<Program>> Read(const Graph& graph,
                                                       const Framework& framework);
  // Makes the tree of modules, and gives every step its place.
  absl::Status Arrange();

  const Graph& graph() const { return *graph_; }
  const Framework& framework() const { return *framework_; }  // that the code is for
  // The graph's outputs, each as the value that it is.
  const std::vector<const Value*>& outputs() const { return outputs_; }
  const std::vector<std::unique_ptr<Step>>& steps() const { return steps_; }
  Module& root() { return *root_; }
  const std::deque<Weight>& weights() const { return weights_; }
  // The weight that a constant is; null where it is none (or was made something else of).
  Weight* WeightOf(const Value* value) const;
  // The source of a name in a size: an axis of a value.
  struct SizeSource {
    const Value* value = nullptr;
    int64_t axis = 0;
  };
  std::optional<SizeSource> FindSize(const std::string& name) const;
  const Step* ProducerOf(const Value* value) const;
  // What the source calls the class of a module; empty where it does not say.
  std::string ClassOfModule(const Module& module) const;

 private:
  friend class Reader;
  friend class Arranger;
  Weight* AddWeight(Weight weight) {
    weights_.push_back(std::move(weight));
    return &weights_.back();
  }
  Module* AddModule(Module* parent, std::string segment);
  // Takes modules that only wrap another one out of the paths (flatten.cc).
  void Flatten();
  // Whether a weight is at the place that its source's name gives, and must stay there:
  // "encoder.fc.bias".
  bool KeepsPath(const Weight& weight) const;

  const Graph* graph_ = nullptr;
  const Framework* framework_ = nullptr;
  std::vector<const Value*> outputs_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::deque<Weight> weights_;
  std::deque<Module> modules_;
  Module* root_ = nullptr;
  absl::flat_hash_map<const Value*, Weight*> weight_of_;
  absl::flat_hash_map<const Value*, Step*> producer_;
  StringMap<SizeSource> sizes_;
  StringMap<std::string> classes_;  // by KeyOf(path)
  bool knows_modules_ = false;      // the source has the modules of its calls
};

// --- Pieces of it -----------------------------------------------------------------------------

// Sizes: what integers of rank 0 and 1 are, where they come from shapes.
class SizeReader {
 public:
  // The elements of a value, in numbers and names; empty where they are not known.
  std::vector<Dim> Elements(const Value* value, int depth = 0);
  const StringMap<Program::SizeSource>& sources() const { return sources_; }

 private:
  Dim SizeOf(const Value* value, int64_t axis);
  absl::flat_hash_map<const Value*, std::vector<Dim>> known_;
  StringMap<Program::SizeSource> sources_;
};

// The tensor that calls make of constants by moving elements about; nullopt where they do more, or
// where some operand is not a constant.
bool IsZero(const Value* value);  // in every element
std::optional<Tensor> MovedConstant(const Value* value);
bool IsMovedConstant(const Value* value);

// The code that makes a tensor: torch.tensor([1, 2]), torch.zeros(1, 12), torch.arange(8); empty
// where that would be long. `is_given`: people may look for it among the weights.
std::string TensorCode(const Tensor& tensor, const Framework& framework, bool is_given);

// The layer that a call is, where it is a known one on constant weights; null where it is none.
struct WeightMaker {
  std::function<bool(const Value* constant)> is_free;   // no other layer has it
  std::function<bool(const Value* constant)> may_copy;  // else the layer can have one of its own
  // The call of a layer that is the same, on the same constants.
  std::function<Step*(const Layer& layer)> find_same;
  // A weight of a constant, or of what MovedConstant gives.
  std::function<Weight*(const Value* constant, bool transposed, bool buffer)> add;
};
std::unique_ptr<Layer> FindLayer(const Call& call, const WeightMaker& add);

// What a call that is not a layer after all is spelled as.
void SpellOut(Call& call);

// The module that an activation or a pool is: nn.ReLU(); null where there is none.
std::unique_ptr<Layer> FindActivation(const Call& call);

// Numbers that may become arguments of a class are marked in the text. `hint`: the name of the
// argument. If there is a default, `prefix` belongs to it, and both are left out if the number is
// the default.
std::string Hole(int64_t number, std::string_view hint);
std::string Hole(int64_t number, std::string_view hint, int64_t usual, std::string_view prefix);
inline constexpr char kHoleBegin = '\x01', kHoleEnd = '\x02';

// The name of a class of a model; "" of one of PyTorch's own.
std::string ClassOf(std::string_view type);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_PROGRAM_INTERNAL_H_
