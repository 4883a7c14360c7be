// The table of IR ops and their foreign ops, read from the registry, so that no list must be kept
// up to date.
#ifndef X2IR_INSPECT_OPS_TABLE_H_
#define X2IR_INSPECT_OPS_TABLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct OpRow {
  std::string op;
  std::string doc;
  std::string_view family;  // OpFamily::title
  struct Operand {          // or result
    std::string name;
    std::string arity;  // "", "optional", "any number", "at least 1"
    // The element types of the IR op's operator in a dialect with schemas, at its newest opset;
    // empty if there is none.
    std::vector<std::string> types;
  };
  std::vector<Operand> operands, results;
  struct Attribute {
    std::string name;
    std::string kind;     // "int", "floats", ...
    std::string usually;  // the default, as graph text has it; empty: there is none
    bool required = false;
    std::string_view meaning;
  };
  std::vector<Attribute> attributes;
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
  std::vector<std::string> lowerings;  // lowerings for older opsets
  // Ops of dialects that are only read and become the same IR ops: "torch.aten::add", without
  // overloads.
  std::vector<std::string> others;
  bool evaluates = false;
};

struct OpsTable {
  std::vector<OpRow> rows;  // by op
  // With a dialect: its ops, which are printed instead. For a dialect without schemas: the ops of
  // its forms, without opsets.
  std::vector<ForeignOpRow> foreign_rows;

  std::string ToText() const;
  std::string ToJson() const;
  std::string ToMarkdown() const;
  // The full description of each op of the IR, one section per op: `x2ir ops NAME`; docs/ir_ops.md,
  // where sections have chapters.
  std::string ReferenceText() const;
  std::string ReferenceMarkdown() const;
};

// All IR ops, or all ops of a dialect. `dialect`: mappings of that one only ("": all); `opset`:
// those that hold there. InvalidArgument for an unknown dialect or opset. `only`: these ops of the
// IR instead of all; InvalidArgument for an unknown op.
absl::StatusOr<OpsTable> MakeOpsTable(const std::string& dialect, std::optional<int> opset,
                                      const std::vector<std::string>& only = {});

}  // namespace x2ir

#endif  // X2IR_INSPECT_OPS_TABLE_H_
