// Jobs in MLIR (formats/mlir/), as far as OneFlow writes them.
#ifndef X2IR_FORMATS_ONEFLOW_MLIR_INTERNAL_H_
#define X2IR_FORMATS_ONEFLOW_MLIR_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::oneflow {

struct MlirType {
  Type type{};              // unknown where it is nothing that we know
  bool maybe_bool = false;  // OneFlow writes int8 and bool alike
};

struct MlirAttr {
  enum Kind : uint8_t { kUnit, kBool, kInt, kFloat, kString, kArray, kOther } kind = kUnit;
  int64_t i = 0;  // of kBool and kInt
  double f = 0;   // of kFloat
  std::string s{};
  std::vector<MlirAttr> items{};
};

struct MlirOp {
  std::string name;                  // "oneflow.conv2d"
  std::vector<std::string> results;  // "%0", "%1#2"
  std::vector<std::string> operands;
  std::vector<std::pair<std::string, MlirAttr>> attrs;
  std::vector<MlirType> types;  // of results
  const MlirAttr* Find(std::string_view attr) const;
};

struct MlirJob {
  std::string name;
  std::vector<std::pair<std::string, MlirType>> arguments;  // "%arg0"
  std::vector<MlirOp> ops;
  std::vector<std::string> returns;
};

// DataLoss says line and column.
absl::StatusOr<std::vector<MlirJob>> ParseMlir(std::string_view text);

}  // namespace x2ir::oneflow

#endif  // X2IR_FORMATS_ONEFLOW_MLIR_INTERNAL_H_
