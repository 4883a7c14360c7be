// Where rows are: files of handlers are named after families of IR ops.
#ifndef X2IR_TESTS_LAWS_FAMILIES_UTIL_H_
#define X2IR_TESTS_LAWS_FAMILIES_UTIL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/ops/op.h"

namespace x2ir {

// A family: the name of its files in handlers/, and the files of ops/ whose ops are of it.
struct RowFamily {
  std::string_view name;                // "conv"
  std::vector<std::string_view> files;  // "conv", "deform_conv"
};
const std::vector<RowFamily>& RowFamilies();

// "conv" of an op that is defined in x2ir/ops/deform_conv.cc; "" where no family has that file.
std::string FamilyFileOf(const OpDef& op);

// The file of a row below x2ir/handlers/.
struct RowFile {
  std::string folder;  // "torch"
  std::string stem;    // "conv" of torch/conv.cc
  std::string ToString() const { return folder + "/" + stem + ".cc"; }
};
// Nothing for rows that are registered elsewhere.
std::optional<RowFile> RowFileOf(const Form& form);
// conv.cc is of the family "conv", and so are nn_conv.cc and contrib_conv.cc: a dialect may keep
// the rows of a second set of operators (Core ML's NeuralNetwork, ONNX Runtime's com.microsoft)
// apart, or its writers where they are long (write_conv.cc). Of a family that has several files of
// ops/, a file of handlers/ may be named after one of these: deform_conv.cc.
bool IsInFamily(const RowFile& file, std::string_view family);

}  // namespace x2ir

#endif  // X2IR_TESTS_LAWS_FAMILIES_UTIL_H_
