#include "x2ir/formats/checkpoint/gguf_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::gguf {
namespace {

// `count` numbers of `size` bytes, each with its bytes the other way round.
void ReverseEach(std::byte* bytes, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i) std::reverse(bytes + i * size, bytes + (i + 1) * size);
}

// Little-endian bytes of a big-endian file.
absl::StatusOr<Tensor> Reordered(const Weight& weight) {
  const ggml::Type& type = *weight.type;
  if (type.halves[0] == -2) {
    return Unimplemented("blocks of ", type.name, " in a big-endian file are not read");
  }
  if (type.plain() ? type.bytes == 1 : type.halves[0] == -1) return weight.bytes;
  Tensor copy = Tensor::Zeros(weight.bytes.dtype(), weight.bytes.dims());
  std::byte* to = copy.mutable_bytes().data();
  std::copy(weight.bytes.bytes().begin(), weight.bytes.bytes().end(), to);
  const auto size = static_cast<size_t>(type.bytes);
  const size_t blocks = copy.nbytes() / size;
  if (type.plain()) {
    ReverseEach(to, blocks, size);
  } else {
    for (size_t i = 0; i < blocks; ++i) {
      for (const int16_t* half = type.halves; *half >= 0; ++half) {
        ReverseEach(to + i * size + *half, 1, 2);
      }
    }
  }
  DropPages(weight.bytes);
  return Spilled(std::move(copy));
}

}  // namespace

absl::StatusOr<Weight> Weight::Part(int64_t i) const {
  Weight part{{dims.begin() + 1, dims.end()}, type, {}};
  const size_t size = bytes.nbytes() / static_cast<size_t>(dims[0]);
  const size_t start = size * static_cast<size_t>(i);
  std::vector<int64_t> stored = type->plain() ? part.dims : std::vector{static_cast<int64_t>(size)};
  if (const auto range = bytes.file_range()) {
    X2IR_ASSIGN_OR_RETURN(part.bytes, Tensor::FromFile(bytes.dtype(), std::move(stored),
                                                       range->file, range->offset + start, size));
  } else {
    X2IR_ASSIGN_OR_RETURN(part.bytes, Tensor::View(bytes.dtype(), std::move(stored),
                                                   bytes.bytes().subspan(start, size),
                                                   std::make_shared<Tensor>(bytes)));
  }
  return part;
}

void Weight::MakeRow() {
  dims.insert(dims.begin(), 1);
  if (type->plain()) bytes = bytes.Reshaped(dims);
}

absl::Status Weight::AddTo(checkpoint::Program& program, std::string name) const {
  if (program.weights.tensors.contains(name) || program.blocks.contains(name)) {
    return DataLoss("two tensors are weight '", name, "'");
  }
  if (type->plain()) {
    program.weights.tensors.emplace(std::move(name), bytes);
  } else {
    program.blocks.emplace(std::move(name),
                           checkpoint::BlockWeight{static_cast<int>(type->number), dims, bytes});
  }
  return absl::OkStatus();
}

absl::StatusOr<Weight> WeightOf(const File& file, const TensorInfo& tensor) {
  if (!tensor.type->read) {
    return Unimplemented("its type ", tensor.type->name, " is not read");
  }
  Weight weight{tensor.dims, tensor.type, {}};
  const bool plain = tensor.type->plain();
  X2IR_ASSIGN_OR_RETURN(
      weight.bytes, TensorOf(plain ? tensor.type->dtype : DType::kUInt8,
                             plain ? tensor.dims : std::vector{static_cast<int64_t>(tensor.nbytes)},
                             file.blob, tensor.offset, tensor.nbytes));
  if (file.big_endian) {
    X2IR_ASSIGN_OR_RETURN(weight.bytes, Reordered(weight));
  }
  return weight;
}

}  // namespace x2ir::gguf
