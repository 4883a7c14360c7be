// Constants: views of the file, strings, and sparse tensors made dense.
#include <algorithm>
#include <cstring>
#include <utility>

#include "x2ir/formats/tflite/reader_internal.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tflite {
namespace {

absl::StatusOr<std::vector<int64_t>> DimsOf(const fb::Tensor& tensor) {
  std::vector<int64_t> dims;
  if (tensor.shape()) dims.assign(tensor.shape()->begin(), tensor.shape()->end());
  if (!CheckedProduct(dims)) return Invalid("its shape is invalid");
  return dims;
}

absl::Status Spend(File& file, std::optional<int64_t> bytes) {
  if (!bytes || *bytes > file.budget) {
    return Unimplemented("tensors that the file does not hold are too large when written out");
  }
  file.budget -= *bytes;
  return absl::OkStatus();
}

int32_t Int32At(std::string_view bytes, size_t index) {
  int32_t value;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

// Count, offsets of each and of the end, bytes.
absl::StatusOr<Tensor> ReadStrings(std::string_view bytes, std::vector<int64_t> dims) {
  const auto damaged = [] { return DataLoss("its string data is damaged"); };
  if (bytes.size() < 4) return damaged();
  const int64_t count = Int32At(bytes, 0);
  if (count < 0 || static_cast<uint64_t>(count) > bytes.size() / 4 ||
      bytes.size() < 4 * static_cast<size_t>(count + 2)) {
    return damaged();
  }
  std::vector<std::string> values;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = Int32At(bytes, static_cast<size_t>(i + 1));
    const int64_t to = Int32At(bytes, static_cast<size_t>(i + 2));
    if (from < 0 || to < from || static_cast<uint64_t>(to) > bytes.size()) return damaged();
    values.emplace_back(bytes.substr(static_cast<size_t>(from), static_cast<size_t>(to - from)));
  }
  if (CheckedProduct(dims) != count) {
    return Invalid("it has ", count, " strings, which its shape does not hold");
  }
  return Tensor::Strings(std::move(dims), std::move(values));
}

// --- Sparse ---------------------------------------------------------------------------------

std::vector<int64_t> IndicesOf(const fb::DimensionMetadata& dim, bool segments) {
  std::vector<int64_t> all;
  const auto take = [&](const auto* vector) {
    if (vector && vector->values()) all.assign(vector->values()->begin(), vector->values()->end());
  };
  if (segments) {
    take(dim.array_segments_as_Int32Vector());
    take(dim.array_segments_as_Uint16Vector());
    take(dim.array_segments_as_Uint8Vector());
  } else {
    take(dim.array_indices_as_Int32Vector());
    take(dim.array_indices_as_Uint16Vector());
    take(dim.array_indices_as_Uint8Vector());
  }
  return all;
}

// The levels of a sparse tensor: its axes in the order of traversal, then those of its blocks. Each
// says which positions of it are there.
class Densifier {
 public:
  Densifier(const fb::SparsityParameters& sparsity, std::vector<int64_t> dims, DType dtype)
      : sparsity_(sparsity), dims_(std::move(dims)), width_(BitWidth(dtype) / 8) {}

  absl::StatusOr<Tensor> Run(std::string_view bytes, DType dtype) {
    if (width_ == 0) return Unimplemented("sparse tensors of ", Name(dtype));
    X2IR_RETURN_IF_ERROR(ReadLevels());
    bytes_ = bytes;
    Tensor dense = Tensor::Zeros(dtype, dims_);
    out_ = dense.mutable_bytes();
    std::vector<int64_t> position(levels_.size());
    X2IR_RETURN_IF_ERROR(Visit(0, 0, &position));
    return dense;
  }

 private:
  struct Level {
    int64_t size = 0;  // how many positions it has
    bool dense = true;
    std::vector<int64_t> segments, indices;
  };

  absl::Status ReadLevels() {
    const auto* order = sparsity_.traversal_order();
    const auto* map = sparsity_.block_map();
    const auto* metadata = sparsity_.dim_metadata();
    const size_t rank = dims_.size(), blocks = map ? map->size() : 0;
    if (!order || !metadata || order->size() != rank + blocks ||
        metadata->size() != order->size()) {
      return Invalid("its sparsity does not fit its rank");
    }
    axes_.assign(order->begin(), order->end());
    std::vector<int64_t> sorted = axes_;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<int64_t>(i)) return Invalid("its traversal order is invalid");
    }
    block_of_.assign(rank, -1);
    for (size_t i = 0; i < blocks; ++i) {
      const int64_t axis = map->Get(static_cast<uint32_t>(i));
      if (axis < 0 || axis >= static_cast<int64_t>(rank) || block_of_[axis] >= 0) {
        return Invalid("its block map is invalid");
      }
      block_of_[axis] = static_cast<int64_t>(rank + i);
    }
    for (const fb::DimensionMetadata* dim : *metadata) {
      Level& level = levels_.emplace_back();
      level.dense = dim->format() == fb::DimensionType::DENSE;
      level.size = dim->dense_size();
      if (!level.dense) {
        level.segments = IndicesOf(*dim, true);
        level.indices = IndicesOf(*dim, false);
      }
      if (level.dense && level.size <= 0) return Invalid("a size of its sparsity is invalid");
    }
    // Sizes of blocks, by the axes of the order.
    size_of_.assign(order->size(), 1);
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i] >= static_cast<int64_t>(rank) && !levels_[i].dense) {
        return Invalid("a block of its sparsity is not dense");
      }
      size_of_[axes_[i]] = levels_[i].size;
    }
    return absl::OkStatus();
  }

  absl::Status Visit(size_t depth, int64_t parent, std::vector<int64_t>* position) {
    if (depth == levels_.size()) return Put(*position);
    const Level& level = levels_[depth];
    if (level.dense) {
      for (int64_t i = 0; i < level.size; ++i) {
        (*position)[axes_[depth]] = i;
        X2IR_RETURN_IF_ERROR(Visit(depth + 1, parent * level.size + i, position));
      }
      return absl::OkStatus();
    }
    if (parent + 1 >= static_cast<int64_t>(level.segments.size())) {
      return Invalid("its sparsity has too few segments");
    }
    const int64_t from = level.segments[parent], to = level.segments[parent + 1];
    if (from < 0 || to < from || to > static_cast<int64_t>(level.indices.size())) {
      return Invalid("a segment of its sparsity is invalid");
    }
    for (int64_t k = from; k < to; ++k) {
      (*position)[axes_[depth]] = level.indices[k];
      X2IR_RETURN_IF_ERROR(Visit(depth + 1, k, position));
    }
    return absl::OkStatus();
  }

  absl::Status Put(const std::vector<int64_t>& position) {
    int64_t at = 0;
    for (size_t i = 0; i < dims_.size(); ++i) {
      int64_t index = position[i];
      if (block_of_[i] >= 0) index = index * size_of_[block_of_[i]] + position[block_of_[i]];
      if (index < 0 || index >= dims_[i])
        return Invalid("an index of its sparsity is outside of its shape");
      at = at * dims_[i] + index;
    }
    if ((next_ + 1) * width_ > bytes_.size()) return DataLoss("it has fewer numbers than it says");
    std::memcpy(out_.data() + static_cast<size_t>(at) * width_, bytes_.data() + next_ * width_,
                width_);
    ++next_;
    return absl::OkStatus();
  }

  const fb::SparsityParameters& sparsity_;
  const std::vector<int64_t> dims_;
  const size_t width_;
  std::string_view bytes_;
  absl::Span<std::byte> out_;
  std::vector<Level> levels_;
  std::vector<int64_t> axes_, block_of_, size_of_;
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<Tensor> ReadZeros(File& file, const fb::Tensor& tensor) {
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(tensor));
  const DType dtype = ToDType(static_cast<int64_t>(tensor.type()));
  if (dtype == DType::kUndefined || dtype == DType::kString) {
    return Unimplemented("a variable of ", TensorTypeName(static_cast<int64_t>(tensor.type())));
  }
  X2IR_RETURN_IF_ERROR(Spend(file, ByteSize(dtype, *CheckedProduct(dims))));
  Tensor zeros = Tensor::Zeros(dtype, std::move(dims));
  const auto* q = tensor.quantization();
  const std::vector<int64_t> zero_points = Elements(q ? q->zero_point() : nullptr);
  if (dtype == DType::kInt8 && zero_points.size() == 1) {
    // The integer that represents 0.
    const absl::Span<int8_t> numbers = zeros.mutable_span<int8_t>();
    std::fill(numbers.begin(), numbers.end(), static_cast<int8_t>(zero_points[0]));
  }
  return zeros;
}

absl::StatusOr<std::optional<Tensor>> ReadConstant(File& file, const fb::Tensor& tensor) {
  X2IR_ASSIGN_OR_RETURN(auto range, file.Buffer(tensor.buffer()));
  if (!range) {
    X2IR_ASSIGN_OR_RETURN(range, file.External(tensor.external_buffer()));
  }
  const DType dtype = ToDType(static_cast<int64_t>(tensor.type()));
  if (!range) {
    // Nothing is all that a tensor without elements has.
    const auto* shape = tensor.shape();
    const bool empty = shape && std::count(shape->begin(), shape->end(), 0) != 0;
    const auto* signature = tensor.shape_signature();
    const bool varies = signature && std::count(signature->begin(), signature->end(), -1) != 0;
    if (!empty || varies || dtype == DType::kUndefined || dtype == DType::kString) {
      return std::nullopt;
    }
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(tensor));
    return Tensor::Zeros(dtype, std::move(dims));
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(tensor));
  if (dtype == DType::kUndefined) {
    return Unimplemented("a constant of ", TensorTypeName(static_cast<int64_t>(tensor.type())));
  }
  if (dtype == DType::kString) return ReadStrings(range->view(), std::move(dims));
  if (const fb::SparsityParameters* sparsity = tensor.sparsity();
      sparsity && sparsity->dim_metadata() && sparsity->dim_metadata()->size() != 0) {
    X2IR_RETURN_IF_ERROR(Spend(file, ByteSize(dtype, *CheckedProduct(dims))));
    return Densifier(*sparsity, std::move(dims), dtype).Run(range->view(), dtype);
  }
  const auto wanted = ByteSize(dtype, *CheckedProduct(dims));
  if (!wanted || static_cast<uint64_t>(*wanted) > range->size) {
    return DataLoss("it has ", range->size, " bytes, which its shape does not fit");
  }
  // Writers may align the end.
  if (range->size != static_cast<uint64_t>(*wanted)) {
    return DataLoss("it has ", range->size, " bytes instead of ", *wanted);
  }
  X2IR_ASSIGN_OR_RETURN(Tensor constant,
                        TensorOf(dtype, std::move(dims), range->blob, range->offset, range->size));
  return constant;
}

}  // namespace x2ir::tflite
