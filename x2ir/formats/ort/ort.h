// Files of ONNX Runtime's own format (.ort): a FlatBuffer of an ONNX graph, most often after passes
// of ONNX Runtime. The dialect is "onnx". The schema is facts/ort-schema.json; what the fields mean
// is what onnxruntime/core/graph of ONNX Runtime does with them.
#ifndef X2IR_FORMATS_ORT_ORT_H_
#define X2IR_FORMATS_ORT_ORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Of a model whose file has saved runtime optimizations: how many.
inline constexpr char kOrtOptimizationsNote[] = "ort.runtime_optimizations";

// Versions 1 to 6 of the format. Nodes are as the file has them, weights stay mapped, and types of
// values inside of graphs are those of the file. External data is read from NAME.ort.data.
// Errors: DataLoss where the file is damaged or incomplete, Unimplemented for other versions and
// for nodes that are compiled for a device, InvalidArgument for an invalid model.
absl::StatusOr<Model> ReadOrt(const Source& source);

// Writes version 5, or 6 where a type needs it; docs/ort.md says why. FailedPrecondition for what
// files of ONNX Runtime cannot hold: local functions, optional types, more than 2 GB.
absl::Status WriteOrt(const Model& model, const Sink& sink);

bool LooksLikeOrt(absl::Span<const std::byte> head);

// What files say of operators.
struct OrtOperator {
  int64_t since_version = 1;
  // A formal parameter each, with the name that kernels know its type by: the type's variable
  // ("T"), else the parameter's own name. A variadic parameter is the last.
  std::vector<std::string> inputs, outputs;
};

// Knows the operators; formats know none. Registered by the dialect.
struct OrtOperators {
  // The version of an operator at an opset of its domain ("": ONNX's own); 0: it is not known.
  int64_t (*since_version)(std::string_view domain, std::string_view op, int64_t opset);
  // FailedPrecondition for an operator that ONNX Runtime knows and whose parameters are not known
  // here; nullopt: it is a custom operator.
  absl::StatusOr<std::optional<OrtOperator>> (*find)(std::string_view domain, std::string_view op,
                                                     int64_t opset);
};
bool RegisterOrtOperators(OrtOperators operators);

}  // namespace x2ir

#endif  // X2IR_FORMATS_ORT_ORT_H_
