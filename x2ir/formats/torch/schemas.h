// The schemas of PyTorch's operators (facts/torch-ops.json), and what of a call they allow.
//
// The source is PyTorch's own registry: "aten::add.Tensor(Tensor self, Tensor other, *, Scalar
// alpha=1) -> Tensor". The overload "default" has none in the registry's names. Operators that
// write to an operand or give nothing are left out: no call that is written here does.
#ifndef X2IR_FORMATS_TORCH_SCHEMAS_H_
#define X2IR_FORMATS_TORCH_SCHEMAS_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

struct TorchParameter {
  std::string_view name;
  std::string_view type;           // "Tensor", "SymInt[2]", "float?"
  std::string_view default_value;  // "1", "[]", "None"; empty: the argument is required
  bool keyword_only = false;
  // The type without "?" and without the list: "int" of "int[1]?".
  std::string_view element() const;
  bool is_list() const { return type.find('[') != type.npos; }
  bool is_optional() const { return type.ends_with('?'); }
};

struct TorchSchema {
  std::string name;  // "aten::add.Tensor", "aten::relu.default"
  std::vector<TorchParameter> parameters;
  std::vector<std::string_view> results;  // types
  const TorchParameter* Find(std::string_view parameter) const;
};

// "aten::relu(Tensor self) -> Tensor" as a schema; the text must outlive it.
TorchSchema ParseTorchSchema(std::string_view text);
// Null when there is no such operator.
const TorchSchema* FindTorchSchema(std::string_view op);
// All of them, by name.
std::vector<const TorchSchema*> AllTorchSchemas();

// What a call (formats/torch/torch.h) does that its operator does not allow: arguments that are
// unknown, missing, given twice or of another kind, too many results, and element types of the
// first operand that PyTorch has no kernel for. An operator of "aten"
// that is unknown is a violation; nothing is known of other namespaces.
std::vector<std::string> CheckTorchCall(const Node& call);

// "size[1]:int" as a call writes it: the argument's name, its place in a list (-1: no list), and
// the kind of number ('i', 'f', 'b'; 0: a tensor).
struct TorchOperandName {
  std::string_view name;
  int64_t index = -1;
  char number = 0;
};
TorchOperandName ParseTorchOperandName(std::string_view text);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_SCHEMAS_H_
