// See value_util.h.
#include "tests/conformance/value_util.h"

#include <filesystem>
#include <utility>

#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Old cases write bfloat16 as its bits, for want of a numpy type.
Datum AsDatum(const OnnxValue& value, const Type& type) {
  if (value.kind == OnnxValue::kNothing) return Datum();
  if (value.kind == OnnxValue::kTensor) {
    const bool bits = value.tensor.dtype() == DType::kUInt16 && type.dtype() == DType::kBFloat16;
    return bits ? value.tensor.Reinterpreted(DType::kBFloat16) : value.tensor;
  }
  DatumSequence sequence;
  for (const OnnxValue& element : value.elements) {
    sequence.push_back(AsDatum(element, type.element()));
  }
  return Datum(std::move(sequence));
}

const char* Kind(const Datum& datum) {
  if (datum.tensor()) return "a tensor";
  if (datum.sequence()) return "a sequence";
  return datum.has_value() ? "something else" : "nothing";
}

}  // namespace

absl::StatusOr<std::vector<Datum>> ReadDatums(const std::string& folder, const std::string& stem,
                                              absl::Span<const Value* const> values) {
  std::vector<Datum> datums;
  for (size_t i = 0;; ++i) {
    const std::string path = StrCat(folder, "/", stem, "_", i, ".pb");
    if (!std::filesystem::exists(path)) return datums;
    const Type type = i < values.size() ? values[i]->type() : Type();
    auto value = ReadOnnxValue(path, type);
    // The value that an optional holds may stand there bare.
    if ((!value.ok() || value->kind == OnnxValue::kNothing) && type.kind() == Type::kOptional) {
      if (auto bare = ReadOnnxValue(path, type.element()); bare.ok()) value = std::move(bare);
    }
    if (!value.ok()) return value.status();
    datums.push_back(AsDatum(*value, type));
  }
}

std::optional<NodeCase> ReadNodeCase(const std::filesystem::path& folder) {
  absl::StatusOr<Model> ir = Import((folder / "model.onnx").string());
  if (!ir.ok()) return std::nullopt;
  const Graph& graph = *ir->graph;
  const auto data = ReadDatums((folder / "test_data_set_0").string(), "input", graph.inputs());
  std::vector<Tensor> inputs;
  for (const Datum& datum : data.ok() ? *data : std::vector<Datum>()) {
    if (const Tensor* tensor = datum.tensor()) inputs.push_back(*tensor);
  }
  const bool has_all = inputs.size() == graph.inputs().size();
  return NodeCase{*std::move(ir), std::move(inputs), has_all};
}

std::string DatumDifference(
    const Datum& got, const Datum& want,
    const std::function<std::string(const Tensor&, const Tensor&)>& difference) {
  if (got.tensor() && want.tensor()) return difference(*got.tensor(), *want.tensor());
  if (!got.sequence() || !want.sequence()) {
    if (!got.has_value() && !want.has_value()) return "";
    return StrCat("expected ", Kind(want), ", got ", Kind(got));
  }
  const DatumSequence &a = *got.sequence(), &b = *want.sequence();
  if (a.size() != b.size()) return StrCat("expected ", b.size(), " elements, got ", a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string inner = DatumDifference(a[i], b[i], difference);
    if (!inner.empty()) return StrCat("of the sequence ", i, ": ", inner);
  }
  return "";
}

std::string NotOfType(const Datum& datum, const Type& type) {
  if (!type.is_known()) return "";
  if (type.kind() == Type::kOptional) {
    return datum.has_value() ? NotOfType(datum, type.element()) : "";
  }
  if (const Tensor* tensor = datum.tensor()) {
    return type.is_tensor() && MergeTypes(tensor->type(), type).ok() ? ""
                                                                     : tensor->type().ToString();
  }
  if (!datum.sequence() || type.kind() != Type::kSequence) return Kind(datum);
  for (const Datum& element : *datum.sequence()) {
    const std::string inner = NotOfType(element, type.element());
    if (!inner.empty()) return StrCat("a sequence with ", inner);
  }
  return "";
}

}  // namespace x2ir
