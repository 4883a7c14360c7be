// The table of IR ops and the foreign ops that they go to and come from, read from the
// registry: there is no list to keep up to date.
#ifndef X2IR_CORE_OPS_TABLE_H_
#define X2IR_CORE_OPS_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct OpRow {
  std::string op;
  std::string doc;
  struct Mapping {
    std::string foreign;  // "onnx.Clip"
    int first = 1;
    int last = 0;  // the dialect's latest opset where there is no end
    bool open_ended = false;
    bool imports = false;
    bool exports = false;
  };
  std::vector<Mapping> mappings;
  std::vector<std::string> lowerings;  // names
  bool evaluates = false;
};

// One op of a dialect. Opsets are those of the op's own domain.
struct ForeignOpRow {
  std::string op;                      // "Clip", "ai.onnx.ml::Scaler"
  std::vector<std::string> ir_ops;     // what it is in IR, at any opset
  std::string exists;                  // opsets: "6-10, 11+"
  std::string imports, exports;        // "" : at none
  std::vector<std::string> lowerings;  // how older opsets say it with other ops
  // Ops of dialects that are only read and become the same IR ops: "torch.aten::add", without
  // overloads.
  std::vector<std::string> others;
  bool evaluates = false;
};

struct OpsTable {
  std::vector<OpRow> rows;  // by op
  // With a dialect: its ops; then this is what is printed. Of one that has no schemas and is only
  // read: what is read of it, without opsets.
  std::vector<ForeignOpRow> foreign_rows;

  std::string ToText() const;
  std::string ToJson() const;
  std::string ToMarkdown() const;
};

// All IR ops, or all ops of a dialect. `dialect`: mappings of that one only ("": all); `opset`:
// those that hold there. InvalidArgument for a dialect that nobody registered, or an opset that it
// has not.
absl::StatusOr<OpsTable> MakeOpsTable(const std::string& dialect, std::optional<int> opset);

}  // namespace x2ir

#endif  // X2IR_CORE_OPS_TABLE_H_
