// Weights of ML Programs that are stored compressed.
#include <bit>
#include <cstring>

#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

absl::StatusOr<const Tensor*> Need(const Constexpr& c, std::string_view name) {
  const Tensor* tensor = c.argument(name);
  if (!tensor || tensor->is_string()) return Invalid("argument '", name, "' is missing");
  return tensor;
}

absl::StatusOr<std::vector<int64_t>> ShapeArgument(const Constexpr& c) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* shape, Need(c, "shape"));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, shape->ToInts());
  for (const int64_t dim : dims) {
    if (dim < 0) return DataLoss("a size of ", dim);
  }
  return dims;
}

// Elements of `table` by number, as they are.
absl::StatusOr<Tensor> Picked(const Tensor& table, absl::Span<const uint8_t> places,
                              std::vector<int64_t> dims) {
  const auto width = static_cast<size_t>(BitWidth(table.dtype()) / 8);
  if (width == 0) return Unimplemented("a table of ", Name(table.dtype()));
  Tensor result = Tensor::Zeros(table.dtype(), std::move(dims));
  const auto out = result.mutable_bytes();
  const auto in = table.bytes();
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= table.num_elements()) return DataLoss("an index beyond the end of the table");
    std::memcpy(out.data() + i * width, in.data() + places[i] * width, width);
  }
  return result;
}

absl::StatusOr<Tensor> PackedTable(const Constexpr& c) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* indices, Need(c, "indices"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* table, Need(c, "lut"));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeArgument(c));
  const int64_t size = table->num_elements();
  if (size < 2 || size > 256 || !std::has_single_bit(static_cast<uint64_t>(size))) {
    return Invalid("a table of ", size, " elements");
  }
  X2IR_ASSIGN_OR_RETURN(
      const Tensor places,
      UnpackLowFirst(indices->bytes(), std::countr_zero(static_cast<uint64_t>(size)), dims));
  return Picked(*table, places.span<uint8_t>(), std::move(dims));
}

// Small unsigned numbers, one byte each.
Tensor AsBytes(const Tensor& tensor) {
  if (tensor.dtype() == DType::kUInt8 || tensor.dtype() == DType::kBool) {
    return tensor.dtype() == DType::kUInt8 ? tensor : tensor.Reinterpreted(DType::kUInt8);
  }
  Tensor bytes = Tensor::Zeros(DType::kUInt8, tensor.dims());
  const absl::Span<uint8_t> out = bytes.mutable_span<uint8_t>();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint8_t>(tensor.AsInt(static_cast<int64_t>(i)));
  }
  return bytes;
}

// The index of an element of `dims` in a tensor whose sizes divide these.
size_t BlockOf(absl::Span<const int64_t> index, absl::Span<const int64_t> dims,
               absl::Span<const int64_t> blocks) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    at = at * blocks[i] + (dims[i] == 0 ? 0 : index[i] / (dims[i] / blocks[i]));
  }
  return static_cast<size_t>(at);
}

absl::Status CheckBlocks(absl::Span<const int64_t> dims, absl::Span<const int64_t> blocks) {
  if (dims.size() != blocks.size()) return Invalid("blocks of another rank");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (blocks[i] < 1 || dims[i] % blocks[i] != 0) {
      return Invalid(blocks[i], " blocks of ", dims[i], " elements");
    }
  }
  return absl::OkStatus();
}

bool NextPlace(absl::Span<const int64_t> dims, std::vector<int64_t>& index) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

// Tables for blocks of the tensor; an entry may be a vector along an axis.
absl::StatusOr<Tensor> BlockTable(const Constexpr& c) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* indices, Need(c, "indices"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* table, Need(c, "lut"));
  const auto rank = static_cast<size_t>(indices->rank());
  if (rank == 0 || table->dims().size() != rank + 2) return Invalid("a table of another rank");
  const absl::Span<const int64_t> blocks(table->dims().data(), rank);
  X2IR_RETURN_IF_ERROR(CheckBlocks(indices->dims(), blocks));
  const int64_t entries = table->dim(static_cast<int64_t>(rank));
  const int64_t length = table->dim(static_cast<int64_t>(rank) + 1);
  int64_t axis = 0;
  if (const Tensor* given = c.argument("vector_axis")) {
    axis = given->num_elements() == 1 ? given->AsInt(0) : -indices->rank() - 1;
    if (axis < 0) axis += indices->rank();
    if (axis < 0 || axis >= indices->rank()) return Invalid("an axis that is out of range");
  } else if (length != 1) {
    return Invalid("vectors without an axis");
  }
  const auto width = static_cast<size_t>(BitWidth(table->dtype()) / 8);
  // Longer ones would make more weights than the file has bytes for.
  if (length > 256) return Unimplemented("vectors of ", length, " weights");
  if (width == 0 || length < 1) return Unimplemented("a table of ", Name(table->dtype()));
  std::vector<int64_t> dims = indices->dims();
  const int64_t own = dims[static_cast<size_t>(axis)];
  // No more than the table times the indices, both of which the file has; overflow is refused.
  int64_t count = 0, bytes = 0;
  if (__builtin_mul_overflow(indices->num_elements(), length, &count) ||
      __builtin_mul_overflow(count, static_cast<int64_t>(width), &bytes)) {
    return DataLoss("weights that are too large");
  }
  dims[static_cast<size_t>(axis)] = own * length;
  const Tensor places = AsBytes(*indices);
  const absl::Span<const uint8_t> numbers = places.span<uint8_t>();
  Tensor result = Tensor::Zeros(table->dtype(), dims);
  const auto out = result.mutable_bytes();
  int64_t inner = 1;  // elements after the axis
  for (size_t i = static_cast<size_t>(axis) + 1; i < rank; ++i) inner *= dims[i];
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= entries) return DataLoss("an index beyond the end of the table");
    const size_t block = BlockOf(index, indices->dims(), blocks);
    const auto place = static_cast<int64_t>(i);
    const int64_t after = place % inner, before = place / inner / own, at = place / inner % own;
    for (int64_t k = 0; k < length; ++k) {
      const int64_t to = (before * own * length + at * length + k) * inner + after;
      const size_t from =
          (block * static_cast<size_t>(entries) + numbers[i]) * static_cast<size_t>(length) +
          static_cast<size_t>(k);
      std::memcpy(out.data() + static_cast<size_t>(to) * width,
                  table->bytes().data() + from * width, width);
    }
    NextPlace(indices->dims(), index);
  }
  return result;
}

// A byte for each element: whether it is there.
absl::StatusOr<Tensor> MaskOf(const Constexpr& c, std::string_view name) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* mask, Need(c, name));
  if (!c.argument("shape")) return AsBytes(*mask);
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ShapeArgument(c));
  return UnpackLowFirst(mask->bytes(), 1, std::move(dims));
}

absl::StatusOr<Tensor> Dense(const Tensor& mask, const Tensor& values) {
  const auto width = static_cast<size_t>(BitWidth(values.dtype()) / 8);
  if (width == 0) return Unimplemented("weights of ", Name(values.dtype()));
  Tensor result = Tensor::Zeros(values.dtype(), mask.dims());
  const auto out = result.mutable_bytes();
  int64_t next = 0;
  const absl::Span<const uint8_t> there = mask.span<uint8_t>();
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i] == 0) continue;
    if (next >= values.num_elements()) return DataLoss("fewer weights than the mask has");
    std::memcpy(out.data() + i * width, values.bytes().data() + static_cast<size_t>(next) * width,
                width);
    ++next;
  }
  if (next != values.num_elements()) return DataLoss("more weights than the mask has");
  return result;
}

// The elements where the mask is set, in order.
absl::StatusOr<Tensor> Kept(const Tensor& mask, const Tensor& dense) {
  const auto width = static_cast<size_t>(BitWidth(dense.dtype()) / 8);
  std::vector<std::byte> bytes;
  const absl::Span<const uint8_t> there = mask.span<uint8_t>();
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i] == 0) continue;
    const auto* from = dense.bytes().data() + i * width;
    bytes.insert(bytes.end(), from, from + width);
  }
  Tensor result = Tensor::Zeros(dense.dtype(), {static_cast<int64_t>(bytes.size() / width)});
  if (!bytes.empty()) std::memcpy(result.mutable_bytes().data(), bytes.data(), bytes.size());
  return result;
}

Tensor RealNumbers(DType dtype, const std::vector<int64_t>& dims,
                   const std::vector<float>& numbers) {
  if (dtype == DType::kFloat32) return Tensor::Of<float>(dims, numbers);
  Tensor result = Tensor::Zeros(DType::kFloat16, dims);
  const absl::Span<Half> out = result.mutable_span<Half>();
  for (size_t i = 0; i < numbers.size(); ++i) out[i] = FloatToHalf(numbers[i]);
  return result;
}

absl::Status CheckReal(const Tensor& scale) {
  if (scale.dtype() == DType::kFloat32 || scale.dtype() == DType::kFloat16) return absl::OkStatus();
  return Unimplemented("scales of ", Name(scale.dtype()));
}

// scale * (data - offset) with numbers of one for each block.
absl::StatusOr<Tensor> Shifted(const Tensor& data, const Tensor& scale, const Tensor* offset) {
  X2IR_RETURN_IF_ERROR(CheckReal(scale));
  X2IR_RETURN_IF_ERROR(CheckBlocks(data.dims(), scale.dims()));
  if (offset && offset->dims() != scale.dims()) return Invalid("offsets of another shape");
  std::vector<float> numbers(static_cast<size_t>(data.num_elements()));
  std::vector<int64_t> index(data.dims().size(), 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto block = static_cast<int64_t>(BlockOf(index, data.dims(), scale.dims()));
    const double shift = offset ? offset->AsDouble(block) : 0;
    numbers[i] = static_cast<float>(scale.AsDouble(block)) *
                 static_cast<float>(data.AsDouble(static_cast<int64_t>(i)) - shift);
    NextPlace(data.dims(), index);
  }
  return RealNumbers(scale.dtype(), data.dims(), numbers);
}

absl::StatusOr<std::vector<Tensor>> One(absl::StatusOr<Tensor> tensor) {
  if (!tensor.ok()) return tensor.status();
  return std::vector<Tensor>{*std::move(tensor)};
}

absl::StatusOr<Tensor> Wide(const Constexpr& c) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* x, Need(c, "source_val"));
  if (x->dtype() != DType::kFloat16) return Unimplemented("casts of ", Name(x->dtype()));
  std::vector<float> numbers;
  for (int64_t i = 0; i < x->num_elements(); ++i) {
    numbers.push_back(static_cast<float>(x->AsDouble(i)));
  }
  return Tensor::Of<float>(x->dims(), numbers);
}

// Steps with a zero point that is not an integer of the data's type.
absl::StatusOr<Tensor> AffineWithFloats(const Constexpr& c) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* data, Need(c, "quantized_data"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* scale, Need(c, "scale"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* zero, Need(c, "zero_point"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* at, Need(c, "axis"));
  if (at->num_elements() != 1 || data->rank() == 0) return Invalid("an axis that is out of range");
  const int64_t axis = at->AsInt(0) < 0 ? at->AsInt(0) + data->rank() : at->AsInt(0);
  if (axis < 0 || axis >= data->rank()) return Invalid("an axis that is out of range");
  const auto placed = [&](const Tensor& t) -> absl::StatusOr<Tensor> {
    std::vector<int64_t> dims(data->dims().size(), 1);
    if (t.num_elements() != 1) dims[static_cast<size_t>(axis)] = t.num_elements();
    if (t.num_elements() != 1 && t.num_elements() != data->dim(axis)) {
      return Invalid(t.num_elements(), " steps of ", data->dim(axis), " slices");
    }
    return t.Reshaped(dims);
  };
  X2IR_ASSIGN_OR_RETURN(const Tensor scales, placed(*scale));
  X2IR_ASSIGN_OR_RETURN(Tensor zeros, placed(*zero));
  if (zeros.dims() == scales.dims()) return Shifted(*data, scales, &zeros);
  if (zeros.num_elements() != 1) return Unimplemented("a different number of zero points");
  std::vector<float> same(static_cast<size_t>(scales.num_elements()),
                          static_cast<float>(zeros.AsDouble(0)));
  zeros = Tensor::Of<float>(scales.dims(), same);
  return Shifted(*data, scales, &zeros);
}

absl::StatusOr<std::vector<Tensor>> SparseBlocks(const Constexpr& c, bool table) {
  X2IR_ASSIGN_OR_RETURN(const Tensor mask, MaskOf(c, table ? "indices_mask" : "data_mask"));
  X2IR_ASSIGN_OR_RETURN(const Tensor* values,
                        Need(c, table ? "indices_nonzero_data" : "nonzero_data"));
  Tensor plain = *values;
  if (BitWidth(values->dtype()) < 8 && IsUnsignedInt(values->dtype())) plain = AsBytes(*values);
  X2IR_ASSIGN_OR_RETURN(const Tensor dense, Dense(mask, plain));
  Tensor real;
  if (table) {
    const auto argument = [&](std::string_view name) -> const Tensor* {
      return name == "indices" ? &dense : c.argument(name);
    };
    if (const Tensor* lut = c.argument("lut");
        lut && lut->rank() > 0 && lut->dim(lut->rank() - 1) != 1) {
      return Unimplemented("sparse vectors of a table");
    }
    X2IR_ASSIGN_OR_RETURN(real, BlockTable({c.op, argument}));
  } else {
    X2IR_ASSIGN_OR_RETURN(const Tensor* scale, Need(c, "scale"));
    X2IR_ASSIGN_OR_RETURN(real, Shifted(dense, *scale, c.argument("offset")));
  }
  X2IR_ASSIGN_OR_RETURN(Tensor kept, Kept(mask, real));
  return std::vector<Tensor>{mask, std::move(kept)};
}

}  // namespace

absl::StatusOr<std::optional<std::vector<Tensor>>> Decompress(const Constexpr& c) {
  absl::StatusOr<std::vector<Tensor>> results = std::vector<Tensor>();
  if (c.op == "constexpr_affine_dequantize") {
    const Tensor *data = c.argument("quantized_data"), *zero = c.argument("zero_point");
    if (data && zero && data->dtype() == zero->dtype()) return std::nullopt;
    results = One(AffineWithFloats(c));
  } else if (c.op == "constexpr_cast") {
    results = One(Wide(c));
  } else if (c.op == "constexpr_lut_to_dense") {
    results = One(c.argument("shape") ? PackedTable(c) : BlockTable(c));
  } else if (c.op == "constexpr_blockwise_shift_scale") {
    X2IR_ASSIGN_OR_RETURN(const Tensor* data, Need(c, "data"));
    X2IR_ASSIGN_OR_RETURN(const Tensor* scale, Need(c, "scale"));
    results = One(Shifted(*data, *scale, c.argument("offset")));
  } else if (c.op == "constexpr_sparse_to_dense") {
    X2IR_ASSIGN_OR_RETURN(const Tensor mask, MaskOf(c, "mask"));
    X2IR_ASSIGN_OR_RETURN(const Tensor* values, Need(c, "nonzero_data"));
    results = One(Dense(mask, *values));
  } else if (c.op == "constexpr_lut_to_sparse") {
    results = SparseBlocks(c, true);
  } else if (c.op == "constexpr_sparse_blockwise_shift_scale") {
    results = SparseBlocks(c, false);
  } else {
    return std::nullopt;
  }
  if (!results.ok()) return results.status();
  return std::optional<std::vector<Tensor>>(*std::move(results));
}

}  // namespace x2ir::coreml
