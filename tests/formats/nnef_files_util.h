// Files of models of NNEF, as text and bytes.
#ifndef X2IR_TESTS_FORMATS_NNEF_FILES_UTIL_H_
#define X2IR_TESTS_FORMATS_NNEF_FILES_UTIL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

// By their names in the folder.
using NnefFileMap = std::map<std::string, std::string>;
absl::StatusOr<Model> ReadNnefFiles(const NnefFileMap& files);

// A graph of one input x of that shape and the lines, which define y; `before` is in front of it.
std::string NnefText(std::string_view shape, std::string_view lines, std::string_view before = "");

// A text, its input, and what it gives.
struct NnefRow {
  std::string_view shape, lines, input, want, before = "";
};
void ExpectNnefRows(const std::vector<NnefRow>& rows);
// A text, and a part of the error.
struct NnefRefusal {
  std::string text, want;
};
void ExpectNnefRefusals(const std::vector<NnefRefusal>& rows);

// A tensor file: a header and the elements.
std::string NnefDat(uint16_t type, uint32_t bits, std::vector<uint32_t> dims,
                    std::string_view items);

}  // namespace x2ir

#endif  // X2IR_TESTS_FORMATS_NNEF_FILES_UTIL_H_
