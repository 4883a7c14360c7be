// What files of ONNX Runtime say of operators, from their schemas (formats/ort/ort.h).
#include <algorithm>

#include "x2ir/formats/ort/ort.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/contrib_schemas.h"
#include "x2ir/handlers/onnx/schema_table.h"

namespace x2ir {
namespace {

const OnnxSchema* SchemaFor(std::string_view domain, std::string_view op, int64_t opset) {
  return FindOnnxSchema(domain, op, static_cast<int>(std::min<int64_t>(opset, INT32_MAX)));
}

int64_t OrtSinceVersion(std::string_view domain, std::string_view op, int64_t opset) {
  const OnnxSchema* schema = SchemaFor(domain, op, opset);
  return schema ? schema->since : 0;
}

std::vector<std::string> TypeNamesOf(const OnnxSchema& schema,
                                     absl::Span<const SchemaOperand> operands) {
  std::vector<std::string> names;
  for (const SchemaOperand& operand : operands) {
    const bool variable =
        std::any_of(schema.types().begin(), schema.types().end(),
                    [&](const SchemaType& type) { return type.name() == operand.type().name(); });
    names.emplace_back(variable ? operand.type().name() : operand.name());
  }
  return names;
}

absl::StatusOr<std::optional<OrtOperator>> FindOrtOperator(std::string_view domain,
                                                           std::string_view op, int64_t opset) {
  if (const OnnxSchema* schema = SchemaFor(domain, op, opset)) {
    return OrtOperator{schema->since, TypeNamesOf(*schema, schema->inputs()),
                       TypeNamesOf(*schema, schema->outputs())};
  }
  return std::nullopt;
}

[[maybe_unused]] const bool kOrtRegistered =
    RegisterOrtOperators({OrtSinceVersion, FindOrtOperator});

}  // namespace
}  // namespace x2ir
