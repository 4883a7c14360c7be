// Access to the generated tables. See schema_table.h.
#include "x2ir/handlers/onnx/schema_table.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "x2ir/handlers/onnx/schema_hash_internal.h"

namespace x2ir {
namespace {

// Which IR version and opset of ai.onnx.ml go with an opset of ai.onnx.
struct OpsetRow {
  int16_t opset, ir_version, ml_opset;
};

// One operator: its versions in kSchemas, oldest first.
struct IndexSlot {
  SchemaRows versions;  // size 0: the slot is free
};

#include "x2ir_onnx_schema_data.inc"

template <typename T, size_t n>
absl::Span<const T> Rows(const T (&table)[n], SchemaRows rows) {
  return absl::MakeConstSpan(table + rows.begin, rows.size);
}

// The first row for an opset that is at least this one. kOpsets goes from 1 up without gaps.
const OpsetRow& RowFor(int opset) {
  constexpr int n = static_cast<int>(std::size(kOpsets));
  return kOpsets[std::clamp(opset, 1, n) - 1];
}

}  // namespace

std::string_view SchemaText::view() const { return std::string_view(kText + begin, size); }

absl::Span<const SchemaText> SchemaType::allowed() const { return Rows(kStrings, allowed_); }

const SchemaType& SchemaOperand::type() const { return kTypes[type_]; }

std::string_view Name(SchemaAttrKind kind) {
  switch (kind) {
    case SchemaAttrKind::kFloat: return "float";
    case SchemaAttrKind::kInt: return "int";
    case SchemaAttrKind::kString: return "string";
    case SchemaAttrKind::kTensor: return "tensor";
    case SchemaAttrKind::kGraph: return "graph";
    case SchemaAttrKind::kFloats: return "floats";
    case SchemaAttrKind::kInts: return "ints";
    case SchemaAttrKind::kStrings: return "strings";
    case SchemaAttrKind::kTensors: return "tensors";
    case SchemaAttrKind::kGraphs: return "graphs";
    case SchemaAttrKind::kSparseTensor: return "sparse_tensor";
    case SchemaAttrKind::kSparseTensors: return "sparse_tensors";
    case SchemaAttrKind::kTypeProto: return "type_proto";
    case SchemaAttrKind::kTypeProtos: return "type_protos";
  }
  return "unknown";
}

absl::Span<const float> SchemaAttr::floats() const {
  if (kind != SchemaAttrKind::kFloats) return {};
  return Rows(kFloats, list_);
}

absl::Span<const int64_t> SchemaAttr::ints() const {
  if (kind != SchemaAttrKind::kInts) return {};
  return Rows(kInts, list_);
}

absl::Span<const SchemaText> SchemaAttr::strings() const {
  if (kind != SchemaAttrKind::kStrings) return {};
  return Rows(kStrings, list_);
}

absl::Span<const SchemaOperand> OnnxSchema::inputs() const { return Rows(kOperands, inputs_); }
absl::Span<const SchemaOperand> OnnxSchema::outputs() const { return Rows(kOperands, outputs_); }
absl::Span<const SchemaAttr> OnnxSchema::attrs() const { return Rows(kAttrs, attrs_); }
absl::Span<const SchemaType> OnnxSchema::types() const { return Rows(kTypes, types_); }

const SchemaAttr* OnnxSchema::FindAttr(std::string_view name) const {
  for (const SchemaAttr& attr : attrs()) {
    if (attr.name() == name) return &attr;
  }
  return nullptr;
}

absl::Span<const OnnxSchema> OnnxSchemaVersions(std::string_view domain, std::string_view op) {
  if (domain == "ai.onnx") domain = "";
  constexpr size_t mask = std::size(kIndex) - 1;
  static_assert((std::size(kIndex) & mask) == 0, "the index's size is a power of two");
  // The generator leaves at least half of the slots free, so the walk ends.
  for (size_t slot = OnnxSchemaHash(domain, op) & mask;; slot = (slot + 1) & mask) {
    const SchemaRows versions = kIndex[slot].versions;
    if (versions.size == 0) return {};
    const OnnxSchema& first = kSchemas[versions.begin];
    if (first.name() == op && first.domain() == domain) return Rows(kSchemas, versions);
  }
}

const OnnxSchema* FindOnnxSchema(std::string_view domain, std::string_view op, int opset) {
  const OnnxSchema* found = nullptr;
  for (const OnnxSchema& schema : OnnxSchemaVersions(domain, op)) {
    if (schema.since > opset) break;
    found = &schema;
  }
  return found;
}

absl::Span<const OnnxSchema> AllOnnxSchemas() { return kSchemas; }

int LatestOnnxOpset() { return static_cast<int>(std::size(kOpsets)); }
int OldestIrVersionForOpset(int opset) { return RowFor(opset).ir_version; }
int MlOpsetFor(int opset) { return RowFor(opset).ml_opset; }

}  // namespace x2ir
