// Conversions as text in, text out, for tests of handlers: a row holds a graph in the notation of
// x2ir/graph_wrapper/text.h and what it must become.
//
//   EXPECT_EQ(ToIrText("graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }", 13),
//             Canonical("graph g(x: float32[2]) -> (y: float32[2]) { y = relu(x) }"));
#ifndef X2IR_TESTS_CORE_CONVERT_UTIL_H_
#define X2IR_TESTS_CORE_CONVERT_UTIL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir {

struct ConvertTextOptions {
  std::string dialect = "onnx";
  std::vector<OpsetImport> extra_opsets;  // of other domains
  ForeignPolicy foreign;
  bool optimize = false;
  bool types = false;  // types of node outputs
  bool node_names = false;
  int64_t max_constant_elements = 64;
};

// A model with that graph; `dialect` "" makes an IR model. Opset 0: none is imported.
absl::StatusOr<Model> ModelFromText(std::string_view graph_text, std::string_view dialect,
                                    int opset, const std::vector<OpsetImport>& extra = {});

// FromIr, whose error also says which lowerings were tried (-v of the programs).
absl::Status FromIrSayingWhatWasTried(Model& model, const std::string& dialect,
                                      const ExportOptions& options);

// The graph of a dialect at that opset, converted to IR, as text; or "error: <status>".
std::string ToIrText(std::string_view graph_text, int opset,
                     const ConvertTextOptions& options = {});
// The IR graph converted to the dialect at that opset, as text; or "error: <status>".
std::string FromIrText(std::string_view ir_text, int opset, const ConvertTextOptions& options = {});
// There and back: dialect at `opset` -> IR -> dialect at `to_opset` (0: the same).
std::string ThereAndBackText(std::string_view graph_text, int opset, int to_opset = 0,
                             const ConvertTextOptions& options = {});

// A graph's text read and printed again with the same options, so that a row may be written with
// free spacing; or "error: <status>". Types of node outputs stand only where options.types.
std::string Canonical(std::string_view graph_text, const ConvertTextOptions& options = {});

// The lines between the braces, each without indentation, for rows that care for nothing else.
std::string Body(std::string_view graph_text);

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_CONVERT_UTIL_H_
