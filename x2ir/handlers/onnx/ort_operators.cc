// What files of ONNX Runtime say of operators, from their schemas (formats/ort/ort.h).
#include <algorithm>
#include <string_view>

#include "x2ir/formats/ort/ort.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/onnx/schema_table.h"

namespace x2ir {
namespace {

// Operators of ONNX Runtime's own schemas, as files that ONNX Runtime 1.23 saved have them: the
// names of the parameters' types.
struct OwnOperator {
  std::string_view domain, op, inputs, outputs;
};
constexpr std::string_view kOrtDomain = "com.microsoft";
constexpr OwnOperator kOwnOperators[] = {
    {"", "Affine", "T", "T"},
    {"", "Crop", "T", "T"},
    {"", "DynamicSlice", "T Tind Tind Tind", "T"},
    {"", "ImageScaler", "T", "T"},
    {"", "LayerNormalization", "T V V", "V U U"},
    {"", "MeanVarianceNormalization", "T", "T"},
    {"", "ParametricSoftplus", "T", "T"},
    {"", "Scale", "T", "T"},
    {"", "ScaledTanh", "T", "T"},
    {"", "SimplifiedLayerNormalization", "T V", "V U"},
    {"", "ThresholdedRelu", "T", "T"},
    {"com.microsoft", "Attention", "T T T M T T M", "T T"},
    {"com.microsoft", "BiasGelu", "T T", "T"},
    {"com.microsoft", "EmbedLayerNormalization", "T1 T1 T T T T T T1 T1", "T T1 T"},
    {"com.microsoft", "FastGelu", "T T", "T"},
    {"com.microsoft", "FusedConv", "T T T T", "T"},
    {"com.microsoft", "FusedGemm", "T T T", "T"},
    {"com.microsoft", "FusedMatMul", "T T", "T"},
    {"com.microsoft", "GatherBlockQuantized", "T1 Tind T2 T1", "T2"},
    {"com.microsoft", "Gelu", "T", "T"},
    {"com.microsoft", "GroupQueryAttention",
     "T T T T_CACHE T_CACHE M M T T position_ids T T T_KV_SCALE T_KV_SCALE T T",
     "T T_CACHE T_CACHE T"},
    {"com.microsoft", "Inverse", "T", "T"},
    {"com.microsoft", "MatMulNBits", "T1 T2 T1 T3 T4 T1", "T1"},
    {"com.microsoft", "MultiHeadAttention", "T T T T M T T T M M", "T T T QK"},
    {"com.microsoft", "QLinearAdd", "T A_scale T T B_scale T C_scale T", "T"},
    {"com.microsoft", "QLinearGlobalAveragePool", "T x_scale T y_scale T", "T"},
    {"com.microsoft", "QLinearMul", "T A_scale T T B_scale T C_scale T", "T"},
    {"com.microsoft", "QLinearSoftmax", "T X_scale T y_scale T", "T"},
    {"com.microsoft", "QMoE", "T T T1 T2 T T1 T2 T T1 T2 T T1 T1 T1 T T4 T4 T4 T4 T2 T2", "T"},
    {"com.microsoft", "QuickGelu", "T", "T"},
    {"com.microsoft", "RotaryEmbedding", "T M T T", "T"},
    {"com.microsoft", "SkipLayerNormalization", "T T T T T", "T U U T"},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", "T T T T", "T U U T"},
};

std::vector<std::string> OrtTypeNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

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
  for (const OwnOperator& own : kOwnOperators) {
    if (own.domain == domain && own.op == op) {
      return OrtOperator{1, OrtTypeNames(own.inputs), OrtTypeNames(own.outputs)};
    }
  }
  if (domain == kOrtDomain || domain.starts_with(StrCat(kOrtDomain, "."))) {
    return CannotExpress("x2ir does not know what files of ONNX Runtime say of the types of ",
                         domain, "::", op, "; an .onnx file can hold it");
  }
  return std::nullopt;
}

[[maybe_unused]] const bool kOrtRegistered =
    RegisterOrtOperators({OrtSinceVersion, FindOrtOperator});

}  // namespace
}  // namespace x2ir
