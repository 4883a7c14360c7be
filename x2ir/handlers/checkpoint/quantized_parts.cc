// Parts of quantized matrices, and those that are not packed into words: float8 with scales, and
// bitsandbytes.
#include "x2ir/handlers/checkpoint/quantized_parts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/handlers/checkpoint/quantized_forms.h"

namespace x2ir::checkpoint {

const Tensor* StoredParts::Find(std::string_view part) {
  std::string name = StrCat(prefix_, part);
  const Tensor* tensor = weights_.Find(name);
  if (!tensor) return nullptr;
  if (tensor->is_string() || tensor->is_sparse()) Wrong(part, "is not of numbers");
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    names_.push_back(std::move(name));
  }
  return tensor;
}

const Tensor& StoredParts::At(std::string_view part) {
  const Tensor* tensor = Find(part);
  if (!tensor) Broken("weight '", prefix_, part, "' is missing");
  return *tensor;
}

const Tensor& StoredParts::Words(std::string_view part) {
  const Tensor& tensor = At(part);
  if (tensor.dtype() != DType::kInt32) {
    Refuse("weight '", prefix_, part, "': words of ", Name(tensor.dtype()), "; int32 is supported");
  }
  Expect(part, tensor, {-1, -1});
  return tensor;
}

const Tensor& StoredParts::Scales(std::string_view part) {
  const Tensor& tensor = At(part);
  if (!IsFloating(tensor.dtype()) || BitWidth(tensor.dtype()) < 8) {
    Wrong(part, "scales of ", Name(tensor.dtype()));
  }
  return tensor;
}

void StoredParts::Expect(std::string_view part, const Tensor& tensor,
                         const std::vector<int64_t>& dims) const {
  bool fits = tensor.dims().size() == dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = dims[i] < 0 || dims[i] == tensor.dims()[i];
  }
  if (fits) return;
  std::string expected;
  for (const int64_t d : dims) {
    StrAppend(&expected, expected.empty() ? "" : ",", d < 0 ? std::string("?") : StrCat(d));
  }
  Wrong(part, "is [", tensor.shape().ToString(), "]; expected [", expected, "]");
}

QuantizedWeight Float8Matrix(StoredParts& parts, int64_t block_rows, int64_t block_columns) {
  ScaledMatrix m;
  m.numbers = parts.At("weight");
  if (m.numbers.dtype() != DType::kFloat8E4M3FN && m.numbers.dtype() != DType::kFloat8E5M2) {
    Refuse("weight '", parts.prefix(), "weight': ", Name(m.numbers.dtype()),
           " with scales; float8e4m3fn and float8e5m2 are supported");
  }
  parts.Expect("weight", m.numbers, {-1, -1});
  const int64_t rows = m.numbers.dim(0), width = m.numbers.dim(1);
  if (rows < 1 || width < 1) parts.Wrong("weight", "[", rows, ",", width, "]");
  const char* name = parts.Find("weight_scale_inv") ? "weight_scale_inv" : "weight_scale";
  const Tensor& scales = parts.Scales(name);
  const int64_t count = scales.num_elements();
  if (block_rows > 0) {
    m.block_rows = block_rows;
    m.block_columns = block_columns;
    parts.Expect(
        name, scales,
        {(rows + block_rows - 1) / block_rows, (width + block_columns - 1) / block_columns});
    m.scales = scales;
  } else if (count == 1) {
    m.block_rows = rows;
    m.block_columns = width;
    m.scales = scales.Reshaped({1, 1});
  } else {
    if (scales.rank() > 2 || scales.dim(0) != rows || count != rows) {
      parts.Wrong(name, "is [", scales.shape().ToString(),
                  "]; expected one scale, or one for each ", "of ", rows, " rows");
    }
    m.block_columns = width;
    m.scales = scales.Reshaped({rows, 1});
  }
  QuantizedWeight weight{{rows, width}, parts.names(), {}, {}};
  weight.make = [m](Builder& b, std::string_view of) { return ScaledAsIr(b, m, of); };
  return weight;
}

// --- bitsandbytes --------------------------------------------------------------------------------

namespace {

int64_t BlockSize(const StoredParts& parts, std::string_view part, const Json& state,
                  const char* name) {
  const int64_t size = state[name].Int();
  if (size < 1 || size > (1 << 20)) parts.Wrong(part, "'", name, "' is ", state[name].ToString());
  return size;
}

std::vector<float> Floats(StoredParts& parts, std::string_view part, int64_t count) {
  const Tensor& tensor = parts.At(part);
  if (tensor.dtype() != DType::kFloat32) parts.Wrong(part, "numbers of ", Name(tensor.dtype()));
  parts.Expect(part, tensor, {count});
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(tensor.AsDouble(i)));
  return numbers;
}

// Scales that are quantized, too: of a table of 256, by scales of their own, from a middle on.
std::vector<float> NestedScales(StoredParts& parts, std::string_view state_name, const Json& state,
                                const Tensor& codes) {
  const int64_t count = codes.num_elements();
  const int64_t block = BlockSize(parts, state_name, state, "nested_blocksize");
  const std::vector<float> table = Floats(parts, "weight.nested_quant_map", 256);
  const std::vector<float> of_blocks =
      Floats(parts, "weight.nested_absmax", (count + block - 1) / block);
  if (!state["nested_offset"].is_number()) parts.Wrong(state_name, "'nested_offset' is missing");
  const auto offset = static_cast<float>(state["nested_offset"].Number());
  std::vector<float> scales;
  for (int64_t i = 0; i < count; ++i) {
    const float product = table[codes.AsInt(i)] * of_blocks[i / block];
    scales.push_back(product + offset);
  }
  return scales;
}

}  // namespace

QuantizedWeight TableOf16Matrix(StoredParts& parts, std::string_view state_name) {
  const Tensor& stored_state = parts.At(state_name);
  if (stored_state.dtype() != DType::kUInt8) parts.Wrong(state_name, "is not a text");
  const absl::StatusOr<Json> state = Json::Parse(
      {reinterpret_cast<const char*>(stored_state.bytes().data()), stored_state.nbytes()});
  if (!state.ok()) parts.Wrong(state_name, std::string(state.status().message()));
  TableMatrix m;
  for (const Json& size : (*state)["shape"].items()) m.dims.push_back(size.Int());
  const Tensor& stored = parts.At("weight");
  // Stored under whatever type: bytes are meant.
  const int64_t bytes = static_cast<int64_t>(stored.nbytes());
  const std::optional<int64_t> count = CheckedProduct(m.dims);
  if (m.dims.size() != 2 || m.dims[0] < 1 || m.dims[1] < 1 || !count) {
    parts.Wrong(state_name, "'shape' is ", (*state)["shape"].ToString().substr(0, 100));
  }
  if (*count % 2 != 0) {
    Refuse("weight '", parts.prefix(), "weight': an odd number of numbers, two to a byte");
  }
  if (bytes != *count / 2) {
    parts.Wrong("weight", bytes, " bytes of [", Shape::FromInts(m.dims).ToString(), "]");
  }
  const auto range = stored.file_range();
  absl::StatusOr<Tensor> view = range ? Tensor::FromFile(DType::kUInt8, {bytes}, range->file,
                                                         range->offset, static_cast<size_t>(bytes))
                                      : Tensor::View(DType::kUInt8, {bytes}, stored.bytes(),
                                                     std::make_shared<const Tensor>(stored));
  if (!view.ok()) throw Refusal{view.status()};
  m.bytes = *std::move(view);
  m.block = BlockSize(parts, state_name, *state, "blocksize");
  m.table = Floats(parts, "weight.quant_map", 16);
  const int64_t blocks = (*count + m.block - 1) / m.block;
  const Tensor& scales = parts.At("weight.absmax");
  parts.Expect("weight.absmax", scales, {blocks});
  m.scales = scales.dtype() == DType::kUInt8 ? NestedScales(parts, state_name, *state, scales)
                                             : Floats(parts, "weight.absmax", blocks);
  QuantizedWeight weight{m.dims, parts.names(), {}, {}};
  const auto shared = std::make_shared<const TableMatrix>(std::move(m));
  weight.make = [shared](Builder& b, std::string_view name) { return TableAsIr(b, *shared, name); };
  return weight;
}

QuantizedWeight RowwiseInt8Matrix(StoredParts& parts) {
  ScaledMatrix m;
  m.numbers = parts.At("weight");
  if (m.numbers.dtype() != DType::kInt8) {
    parts.Wrong("weight", "numbers of ", Name(m.numbers.dtype()));
  }
  parts.Expect("weight", m.numbers, {-1, -1});
  const int64_t rows = m.numbers.dim(0), width = m.numbers.dim(1);
  if (rows < 1 || width < 1) parts.Wrong("weight", "[", rows, ",", width, "]");
  const Tensor& scales = parts.Scales("SCB");
  if (scales.num_elements() != rows) {
    parts.Wrong("SCB", scales.num_elements(), " scales of ", rows, " rows");
  }
  if (const Tensor* format = parts.Find("weight_format")) {
    if (format->num_elements() != 1 || !IsInteger(format->dtype()) || format->AsInt(0) != 0) {
      Refuse("weight '", parts.prefix(), "weight_format': only rows one after another (0) are ",
             "supported");
    }
  }
  m.block_columns = width;
  m.scales = scales.Reshaped({rows, 1});
  QuantizedWeight weight{{rows, width}, parts.names(), {}, {}};
  // The library multiplies by the scale first, and then by this number for 1 / 127.
  weight.make = [m](Builder& b, std::string_view name) {
    return ScaledAsIr(b, m, name) * static_cast<double>(7.874015718698502e-3F);
  };
  return weight;
}

}  // namespace x2ir::checkpoint
