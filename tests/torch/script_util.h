// Archives of torch.jit.save made by hand: code as text, and a pickle of the module and its
// attributes. Tensors in text: "[2,2] 1 2 3 4" is of float32, "int64[] 3" of rank 0.
#ifndef X2IR_TESTS_TORCH_SCRIPT_UTIL_H_
#define X2IR_TESTS_TORCH_SCRIPT_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

// Values of a pickle, as its bytes.
class ScriptPickle {
 public:
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  static std::string None() { return "N"; }
  static std::string Bool(bool value) { return value ? "\x88" : "\x89"; }
  static std::string Int(int64_t value);
  static std::string Float(double value);
  static std::string Text(std::string_view value);
  static std::string List(const std::vector<std::string>& items);
  static std::string Tuple(const std::vector<std::string>& items);
  static std::string Dict(const std::vector<std::pair<std::string, std::string>>& items);
  static std::string Ints(const std::vector<int64_t>& items);  // of type List[int]
  // `class_name`: "M", or "__torch__.a.M".
  static std::string Object(std::string_view class_name, const Attributes& attributes);
  // Whole: what data.pkl holds.
  static std::string Whole(std::string_view value);

  // In text. What it holds lies in the archive beside the pickle.
  std::string Tensor(std::string_view text);
  const std::vector<std::string>& storages() const { return storages_; }

 private:
  std::vector<std::string> storages_;
};

struct ScriptFile {
  std::string path, text;  // "__torch__.py"
};

// A stored zip of an object of class __torch__.M with these attributes.
std::string ScriptArchive(const std::vector<ScriptFile>& code,
                          const ScriptPickle::Attributes& attributes = {},
                          const ScriptPickle& pickle = {},
                          const std::vector<std::string>& constants = {});
// With these pickles, whatever they hold.
std::string ScriptArchiveOf(const std::vector<ScriptFile>& code, const std::string& data,
                            const std::string& constants,
                            const std::vector<std::string>& storages = {});
// Of the lite interpreter, without code.
std::string LiteArchiveOf(const std::string& data, const std::string& bytecode,
                          const std::vector<std::string>& storages = {});

// The code of a class M whose `forward` has that body, its lines not indented; with functions and
// classes before it.
std::string ScriptModule(std::string_view body, std::string_view parameters = "x: Tensor",
                         std::string_view before = "", std::string_view fields = "");

Tensor TensorOfText(std::string_view text);
std::vector<Tensor> TensorsOfText(std::string_view text);  // between ";"
std::string TextOfTensor(const Tensor& tensor);

// An archive as an IR model, for inputs of these types; where `shapes` says so ("n,3"; between ";")
// their dims are other ones, and "?" are not said.
absl::StatusOr<Model> ImportScript(const std::string& archive, const std::vector<Tensor>& inputs,
                                   std::string_view shapes = "",
                                   const std::vector<std::string>& arguments = {});
// What the model gives: "[2] 1 2; int64[] 3"; or "error: ...".
std::string RunModel(const Model& model, const std::vector<Tensor>& inputs);
// Both.
std::string RunScript(const std::string& archive, std::string_view inputs,
                      std::string_view shapes = "");

}  // namespace x2ir

#endif  // X2IR_TESTS_TORCH_SCRIPT_UTIL_H_
