// The manifest of weights: which bytes of which files they are.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "x2ir/formats/tfjs/tfjs_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tfjs {
namespace {

using keras::StoredWeight;

// Files one after the other.
class Shards {
 public:
  absl::Status Add(BlobPtr file) {
    if (file->size() > std::numeric_limits<uint64_t>::max() / 4 - size_) {
      return DataLoss("files of weights that are too large");
    }
    begins_.push_back(size_);
    size_ += file->size();
    files_.push_back(std::move(file));
    return absl::OkStatus();
  }
  uint64_t size() const { return size_; }

  // Bytes that one file has: a view; else a copy.
  absl::StatusOr<Tensor> Bytes(DType dtype, std::vector<int64_t> dims, uint64_t begin,
                               uint64_t nbytes) const {
    for (size_t i = 0; i < files_.size(); ++i) {
      const uint64_t end = begins_[i] + files_[i]->size();
      if (begin >= begins_[i] && begin + nbytes <= end) {
        return TensorOf(dtype, std::move(dims), files_[i], begin - begins_[i], nbytes);
      }
    }
    auto joined = std::make_shared<std::string>();
    joined->reserve(nbytes);
    for (size_t i = 0; i < files_.size(); ++i) {
      const uint64_t first = begins_[i], end = first + files_[i]->size();
      const uint64_t from = std::max(begin, first), to = std::min(begin + nbytes, end);
      if (from < to) joined->append(files_[i]->view().substr(from - first, to - from));
    }
    const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(joined->data()),
                                            joined->size());
    return Tensor::View(dtype, std::move(dims), bytes, joined);
  }

  std::string Text(uint64_t begin, uint64_t nbytes) const {
    const auto tensor = Bytes(DType::kUInt8, {static_cast<int64_t>(nbytes)}, begin, nbytes);
    if (!tensor.ok()) return "";
    return {reinterpret_cast<const char*>(tensor->bytes().data()), tensor->bytes().size()};
  }

 private:
  std::vector<BlobPtr> files_;
  std::vector<uint64_t> begins_;
  uint64_t size_ = 0;
};

// q * scale + min for each of these bytes.
template <typename Q>
Tensor Dequantized(const Tensor& stored, DType dtype, double scale, double least) {
  Tensor result = Tensor::Zeros(dtype, stored.dims());
  const std::byte* from = stored.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  for (int64_t i = 0; i < stored.num_elements(); ++i) {
    const auto q = LoadNumber<Q>(from + static_cast<size_t>(i) * sizeof(Q));
    // As JavaScript does: in double, then rounded to the array's type.
    const double value = static_cast<double>(q) * scale + least;
    if (dtype == DType::kInt32) {
      const double rounded = std::floor(value + 0.5);
      const auto number =
          static_cast<int32_t>(std::min(std::max(rounded, -2147483648.0), 2147483647.0));
      std::memcpy(to + static_cast<size_t>(i) * 4, &number, 4);
    } else {
      const auto number = static_cast<float>(value);
      std::memcpy(to + static_cast<size_t>(i) * 4, &number, 4);
    }
  }
  return result;
}

Tensor FromHalves(const Tensor& halves) {
  Tensor result = Tensor::Zeros(DType::kFloat32, halves.dims());
  std::byte* to = result.mutable_bytes().data();
  for (int64_t i = 0; i < halves.num_elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    const float number = HalfToFloat({LoadNumber<uint16_t>(halves.bytes().data() + at * 2)});
    std::memcpy(to + at * 4, &number, 4);
  }
  return result;
}

class ManifestReader {
 public:
  ManifestReader(const Shards& shards, std::vector<StoredWeight>* into)
      : shards_(shards), into_(into) {}

  absl::Status Read(const Json& spec) {
    const std::string& name = spec["name"].text();
    absl::StatusOr<Tensor> tensor = One(spec);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("weight '", name, "'"));
    into_->push_back({name, *std::move(tensor)});
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Tensor> One(const Json& spec) {
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (const Json& size : spec["shape"].items()) {
      dims.push_back(size.Int(-1));
      if (dims.back() < 0 || __builtin_mul_overflow(count, dims.back(), &count)) {
        return DataLoss("an impossible shape");
      }
    }
    const std::string& type = spec["dtype"].text();
    if (type == "string") return Strings(std::move(dims), count);
    const auto dtype = type == "bool" ? std::optional(DType::kBool) : ParseDType(type);
    if (!dtype) return Unimplemented("elements of type '", type, "'");
    const Json& quantization = spec["quantization"];
    if (!quantization.is_object()) return Plain(*dtype, std::move(dims), count);
    const std::string& stored = quantization["dtype"].text();
    if (stored == "float16") {
      X2IR_ASSIGN_OR_RETURN(const Tensor half, Plain(DType::kFloat16, std::move(dims), count));
      return FromHalves(half);
    }
    if (*dtype != DType::kFloat32 && *dtype != DType::kInt32) {
      return Unimplemented("quantized elements of type '", type, "'");
    }
    const double scale = quantization["scale"].Number(), least = quantization["min"].Number();
    if (stored == "uint8") {
      X2IR_ASSIGN_OR_RETURN(const Tensor q, Plain(DType::kUInt8, std::move(dims), count));
      return Dequantized<uint8_t>(q, *dtype, scale, least);
    }
    if (stored == "uint16") {
      X2IR_ASSIGN_OR_RETURN(const Tensor q, Plain(DType::kUInt16, std::move(dims), count));
      return Dequantized<uint16_t>(q, *dtype, scale, least);
    }
    return Unimplemented("elements that are quantized as '", stored, "'");
  }

  absl::StatusOr<Tensor> Plain(DType dtype, std::vector<int64_t> dims, int64_t count) {
    const auto nbytes = ByteSize(dtype, count);
    if (!nbytes || static_cast<uint64_t>(*nbytes) > shards_.size() - place_) {
      return DataLoss("the weight files end inside of it");
    }
    const uint64_t begin = place_;
    place_ += static_cast<uint64_t>(*nbytes);
    return shards_.Bytes(dtype, std::move(dims), begin, static_cast<uint64_t>(*nbytes));
  }

  // A number of bytes before each.
  absl::StatusOr<Tensor> Strings(std::vector<int64_t> dims, int64_t count) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < count; ++i) {
      if (shards_.size() - place_ < 4) return DataLoss("the weight files end inside of it");
      const std::string head = shards_.Text(place_, 4);
      const uint64_t size = LoadNumber<uint32_t>(reinterpret_cast<const std::byte*>(head.data()));
      place_ += 4;
      if (size > shards_.size() - place_) return DataLoss("the weight files end inside of it");
      texts.push_back(shards_.Text(place_, size));
      place_ += size;
    }
    return Tensor::Strings(std::move(dims), std::move(texts));
  }

  const Shards& shards_;
  std::vector<StoredWeight>* into_;
  uint64_t place_ = 0;
};

}  // namespace

absl::StatusOr<Tensor> OfType(const Tensor& weight, DType dtype) {
  if (weight.dtype() == dtype || dtype == DType::kUndefined) return weight;
  const auto as = [&](auto convert) {
    Tensor made = Tensor::Zeros(dtype, weight.dims());
    std::byte* to = made.mutable_bytes().data();
    for (int64_t i = 0; i < weight.num_elements(); ++i) {
      const auto number = convert(i);
      std::memcpy(to + static_cast<size_t>(i) * sizeof(number), &number, sizeof(number));
    }
    return made;
  };
  if (weight.dtype() == DType::kInt32 && dtype == DType::kInt64) {
    return as([&](int64_t i) { return weight.AsInt(i); });
  }
  if (weight.dtype() == DType::kFloat32 && dtype == DType::kFloat64) {
    return as([&](int64_t i) { return weight.AsDouble(i); });
  }
  if (weight.dtype() == DType::kFloat32 && dtype == DType::kFloat16) {
    return as([&](int64_t i) { return FloatToHalf(static_cast<float>(weight.AsDouble(i))).bits; });
  }
  if (weight.dtype() == DType::kInt32 && (dtype == DType::kInt8 || dtype == DType::kUInt8)) {
    const int64_t least = dtype == DType::kInt8 ? -128 : 0;
    for (int64_t i = 0; i < weight.num_elements(); ++i) {
      if (weight.AsInt(i) < least || weight.AsInt(i) > least + 255) {
        return Invalid("an element is ", weight.AsInt(i), ", and ", Name(dtype), " in the graph");
      }
    }
    return as([&](int64_t i) { return static_cast<uint8_t>(weight.AsInt(i)); });
  }
  return Invalid("elements are ", Name(weight.dtype()), ", and ", Name(dtype), " in the graph");
}

absl::StatusOr<std::vector<StoredWeight>> ReadManifest(const Json& manifest,
                                                       const OpenShard& open) {
  std::vector<StoredWeight> weights;
  for (const Json& group : manifest.items()) {
    Shards shards;
    for (const Json& path : group["paths"].items()) {
      X2IR_ASSIGN_OR_RETURN(BlobPtr file, open(path.text()));
      X2IR_RETURN_IF_ERROR(shards.Add(std::move(file)));
    }
    ManifestReader reader(shards, &weights);
    for (const Json& spec : group["weights"].items()) X2IR_RETURN_IF_ERROR(reader.Read(spec));
  }
  return weights;
}

}  // namespace x2ir::tfjs
