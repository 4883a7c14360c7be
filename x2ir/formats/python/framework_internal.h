// What the code for one framework and for another differs in: PyTorch, and OneFlow, whose Python
// mirrors it. All else is written for both in PyTorch's names.
#ifndef X2IR_FORMATS_PYTHON_FRAMEWORK_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_FRAMEWORK_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/formats/python/call_text_internal.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::python {

// A helper function of the written file, which has it only if it is called. "?a,b|" before a line
// and "{a,b|text}" in one are included only if some call passes one of these arguments.
struct Helper {
  std::string_view name;
  std::string_view text;
};

// Of lists, in all frameworks.
inline constexpr std::string_view kInserted = R"(

def inserted(sequence, element, position):
    """The list with an element before a position."""
    sequence = list(sequence)
    sequence.insert(position, element)
    return sequence
)";

inline constexpr std::string_view kErased = R"(

def erased(sequence, position=-1):
    """The list without the element at a position."""
    sequence = list(sequence)
    del sequence[position]
    return sequence
)";

struct Framework {
  std::string_view name;     // "PyTorch"
  std::string_view module;   // of Python: "torch"
  std::string_view package;  // what the code calls that
  // Calls that have another spelling than usual (call_text.cc).
  absl::Span<const CallText> rows;
  absl::Span<const CallForm> forms;
  absl::Span<const Helper> helpers;
  std::string_view standard_imports, other_imports;  // that the next needs
  std::string_view load_file;                        // the function that reads the weights
  std::string_view transposed;                       // a method: of weights that lie transposed
  std::string_view set_weights;  // the lines that give `model` the dictionary `weights`
  std::string_view freeze;       // lines after which no weight of `model` is trained
  // The argument names of a function ("torch.nn.functional.pad", "torch.Tensor.sum"); null where
  // there is none. Where it is null itself there are all of PyTorch's.
  struct Arguments {
    bool known = false;
    std::vector<std::string_view> names;
  };
  const Arguments* (*find)(std::string_view name) = nullptr;

  bool Has(std::string_view function) const { return !find || find(function); }
  // "torch.float32"; empty where there is no such type.
  std::string TypeName(DType t) const;
};

const Framework& PyTorch();
const Framework& OneFlow();

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_FRAMEWORK_INTERNAL_H_
