// Building blocks of reference evaluation: elements as numbers and as cells, strides, and
// copies by strides. Conversions between element types are in cast_tensor.cc.
#include "x2ir/ops/eval_util.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/ops/number_convert_internal.h"

namespace x2ir {
namespace {

// Bytes of one tensor: no more than the machine has, since a system that promises more kills who
// believes it, and than addresses can tell apart.
int64_t MaxAllocation() {
  static constexpr auto kLimit = static_cast<int64_t>(
      std::min<uint64_t>(uint64_t{16} << 30, std::numeric_limits<size_t>::max()));
  static const int64_t most = [] {
    const int64_t pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? std::min(kLimit, pages * size) : kLimit;
  }();
  return most;
}

std::string ShapeText(absl::Span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(&text, i == 0 ? "" : ",", dims[i]);
  return text + "]";
}

// Bytes of a cell of that type.
int CellSize(DType t) {
  if (t == DType::kString) return sizeof(const std::string*);
  return std::max(1, BitWidth(t) / 8);
}

template <typename From, typename To>
void ConvertNative(const Tensor& in, To* out) {
  // Not through span(): a bool's byte in a file may hold anything.
  const auto* from = reinterpret_cast<const From*>(in.bytes().data());
  const int64_t n = in.num_elements();
  for (int64_t i = 0; i < n; ++i) out[i] = ConvertNumber<To>(from[i]);
}

template <typename To>
void ConvertSmallFloats(const Tensor& in, To* out) {
  const int64_t n = in.num_elements();
  const int bits = BitWidth(in.dtype());
  To table[256];
  const bool use_table = n >= 256;
  if (use_table) {
    for (int v = 0; v < 1 << bits; ++v) {
      table[v] = ConvertNumber<To>(DecodeSmallFloat(in.dtype(), static_cast<uint32_t>(v)));
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t v = GetPacked(in.bytes().data(), i, bits);
    out[i] = use_table ? table[v] : ConvertNumber<To>(DecodeSmallFloat(in.dtype(), v));
  }
}

template <typename To>
void ConvertPackedInts(const Tensor& in, To* out) {
  const int bits = BitWidth(in.dtype());
  const int64_t sign = IsSignedInt(in.dtype()) ? int64_t{1} << (bits - 1) : 0;
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const int64_t v = GetPacked(in.bytes().data(), i, bits);
    out[i] = ConvertNumber<To>((v ^ sign) - sign);
  }
}

// `in` must be aligned.
template <typename To>
void ConvertTo(const Tensor& in, To* out) {
  switch (in.dtype()) {
    case DType::kFloat32: return ConvertNative<float>(in, out);
    case DType::kFloat64: return ConvertNative<double>(in, out);
    case DType::kInt8: return ConvertNative<int8_t>(in, out);
    case DType::kInt16: return ConvertNative<int16_t>(in, out);
    case DType::kInt32: return ConvertNative<int32_t>(in, out);
    case DType::kInt64: return ConvertNative<int64_t>(in, out);
    case DType::kUInt8: return ConvertNative<uint8_t>(in, out);
    case DType::kUInt16: return ConvertNative<uint16_t>(in, out);
    case DType::kUInt32: return ConvertNative<uint32_t>(in, out);
    case DType::kUInt64: return ConvertNative<uint64_t>(in, out);
    case DType::kComplex64: return ConvertNative<std::complex<float>>(in, out);
    case DType::kComplex128: return ConvertNative<std::complex<double>>(in, out);
    case DType::kFloat16: return ConvertNative<Half>(in, out);
    case DType::kBFloat16: return ConvertNative<BFloat16>(in, out);
    case DType::kBool: return ConvertNative<BoolByte>(in, out);
    case DType::kInt2:
    case DType::kInt4:
    case DType::kUInt2:
    case DType::kUInt4: return ConvertPackedInts(in, out);
    default:
      X2IR_CHECK(IsSmallFloat(in.dtype()), StrCat("no numbers in a tensor of ", Name(in.dtype())));
      return ConvertSmallFloats(in, out);
  }
}

}  // namespace

// --- Numbers --------------------------------------------------------------------------------

ComputeType ComputeTypeOf(DType t) {
  if (t == DType::kFloat64) return ComputeType::kDouble;
  if (IsFloating(t)) return ComputeType::kFloat;
  if (IsSignedInt(t)) return ComputeType::kInt;
  if (IsUnsignedInt(t) || t == DType::kBool) return ComputeType::kUInt;
  if (t == DType::kComplex64) return ComputeType::kComplexFloat;
  if (t == DType::kComplex128) return ComputeType::kComplexDouble;
  return ComputeType::kNone;
}

template <typename T>
Numbers<T>::Numbers(const Tensor& tensor) : keep_(tensor.AlignedCopyIfNeeded()) {
  if (keep_.dtype() == DTypeOf<T>::value) {
    span_ = keep_.template span<T>();
    return;
  }
  X2IR_CHECK(!keep_.is_sparse(), "a sparse tensor has no plain elements");
  converted_.resize(static_cast<size_t>(keep_.num_elements()));
  ConvertTo(keep_, converted_.data());
  span_ = converted_;
}

template <typename T>
Tensor FromNumbers(DType dtype, std::vector<int64_t> dims, absl::Span<const T> values) {
  return StoreNumbers<T>(dtype, std::move(dims), values, StoreOptions());
}

template <typename T>
NumbersOut<T>::NumbersOut(DType dtype, std::vector<int64_t> dims)
    : tensor_(Tensor::Zeros(dtype, std::move(dims))) {
  if (dtype == DTypeOf<T>::value) {
    data_ = tensor_.template mutable_span<T>().data();
  } else {
    values_.resize(static_cast<size_t>(tensor_.num_elements()));
    data_ = values_.data();
  }
}

template <typename T>
Tensor NumbersOut<T>::Finish() {
  if (tensor_.dtype() == DTypeOf<T>::value) return std::move(tensor_);
  return FromNumbers<T>(tensor_.dtype(), tensor_.dims(), values_);
}

#define X2IR_INSTANTIATE_(T)    \
  template class Numbers<T>;    \
  template class NumbersOut<T>; \
  template Tensor FromNumbers<T>(DType, std::vector<int64_t>, absl::Span<const T> values);
X2IR_INSTANTIATE_(float)
X2IR_INSTANTIATE_(double)
X2IR_INSTANTIATE_(int64_t)
X2IR_INSTANTIATE_(uint64_t)
X2IR_INSTANTIATE_(std::complex<float>)
X2IR_INSTANTIATE_(std::complex<double>)
#undef X2IR_INSTANTIATE_

// --- Cells ----------------------------------------------------------------------------------

Cells::Cells(const Tensor& tensor)
    : keep_(tensor.AlignedCopyIfNeeded()), size_(CellSize(tensor.dtype())) {
  X2IR_CHECK(!keep_.is_sparse(), "a sparse tensor has no plain elements");
  const int64_t n = keep_.num_elements();
  if (keep_.is_string()) {
    unpacked_.resize(static_cast<size_t>(n) * size_);
    auto** pointers = reinterpret_cast<const std::string**>(unpacked_.data());
    for (int64_t i = 0; i < n; ++i) pointers[i] = &keep_.strings()[i];
    data_ = unpacked_.data();
  } else if (const int bits = BitWidth(keep_.dtype()); bits < 8) {
    unpacked_.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      unpacked_[i] = static_cast<std::byte>(GetPacked(keep_.bytes().data(), i, bits));
    }
    data_ = unpacked_.data();
  } else {
    data_ = keep_.bytes().data();
  }
}

CellsOut::CellsOut(DType dtype, std::vector<int64_t> dims)
    : dtype_(dtype), dims_(std::move(dims)), size_(CellSize(dtype)) {
  const std::optional<int64_t> n = CheckedProduct(dims_);
  X2IR_CHECK(n.has_value(), "bad shape " + ShapeText(dims_));
  n_ = *n;
  data_.resize(static_cast<size_t>(n_) * size_);
}

Tensor CellsOut::Finish() {
  if (dtype_ == DType::kString) {
    std::vector<std::string> strings(static_cast<size_t>(n_));
    const auto* pointers = as<const std::string*>();
    for (int64_t i = 0; i < n_; ++i) {
      if (pointers[i] != nullptr) strings[i] = *pointers[i];
    }
    return Tensor::Strings(std::move(dims_), std::move(strings));
  }
  if (const int bits = BitWidth(dtype_); bits < 8) {
    Tensor out = Tensor::Zeros(dtype_, std::move(dims_));
    std::byte* bytes = out.mutable_bytes().data();
    for (int64_t i = 0; i < n_; ++i) SetPacked(bytes, i, bits, static_cast<uint8_t>(data_[i]));
    return out;
  }
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(data_));
  auto view = Tensor::View(dtype_, std::move(dims_), *owner, owner);
  X2IR_CHECK(view.ok(), std::string(view.status().message()));
  return *std::move(view);
}

// --- Shapes ---------------------------------------------------------------------------------

std::vector<int64_t> Strides(absl::Span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  uint64_t step = 1;  // unsigned: the strides of an empty tensor may overflow, and are unused
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

absl::StatusOr<std::vector<int64_t>> BroadcastDims(absl::Span<const int64_t> a,
                                                   absl::Span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<int64_t> out(a.begin(), a.end());
  const size_t skip = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& dim = out[skip + i];
    if (dim == 1) {
      dim = b[i];
    } else if (b[i] != 1 && b[i] != dim) {
      return Invalid("shapes ", ShapeText(a), " and ", ShapeText(b), " cannot be broadcast");
    }
  }
  return out;
}

std::vector<int64_t> BroadcastStrides(absl::Span<const int64_t> from,
                                      absl::Span<const int64_t> to) {
  X2IR_CHECK(from.size() <= to.size(), ShapeText(from) + " does not broadcast to " + ShapeText(to));
  const size_t skip = to.size() - from.size();
  const std::vector<int64_t> own = Strides(from);
  std::vector<int64_t> strides(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[skip + i]) {
      strides[skip + i] = own[i];
    } else {
      X2IR_CHECK(from[i] == 1, ShapeText(from) + " does not broadcast to " + ShapeText(to));
    }
  }
  return strides;
}

Tensor StridedCopy(const Tensor& in, std::vector<int64_t> dims, absl::Span<const int64_t> strides,
                   int64_t offset) {
  X2IR_CHECK(dims.size() == strides.size(), "a stride is needed for each axis");
  const Cells cells(in);
  CellsOut out(in.dtype(), dims);
  if (out.num_elements() == 0) return out.Finish();
  const size_t rank = dims.size();
  const int64_t inner = rank == 0 ? 1 : dims[rank - 1];
  const int64_t step = rank == 0 ? 1 : strides[rank - 1];
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    const C* from = cells.as<C>();
    C* to = out.as<C>();
    std::vector<int64_t> index(rank, 0);
    int64_t at = offset;
    for (int64_t rows = out.num_elements() / inner; rows > 0; --rows) {
      if (step == 1) {
        std::copy_n(from + at, inner, to);
      } else {
        for (int64_t i = 0; i < inner; ++i) to[i] = from[at + i * step];
      }
      to += inner;
      // The next row, like an odometer.
      for (size_t k = rank < 2 ? 0 : rank - 1; k-- > 0;) {
        at += strides[k];
        if (++index[k] < dims[k]) break;
        at -= strides[k] * dims[k];
        index[k] = 0;
      }
    }
  });
  return out.Finish();
}

Tensor BroadcastTo(const Tensor& in, std::vector<int64_t> dims) {
  if (in.dims() == dims) return in;
  const std::vector<int64_t> strides = BroadcastStrides(in.dims(), dims);
  return StridedCopy(in, std::move(dims), strides);
}

namespace {

// An axis of a transposed tensor: its size, and how far apart its elements are in and out.
struct Axis {
  int64_t size, in, out;
};

// Cells along two axes, of which one is dense in and the other dense out: a strip at a time, so
// that what a cache line holds is used while it is there. Where a file has cells they need not be
// aligned.
template <typename C>
void CopyPlane(const std::byte* from, C* to, const Axis& dense_in, const Axis& dense_out) {
  constexpr int64_t kStrip = 16;
  for (int64_t begin = 0; begin < dense_in.size; begin += kStrip) {
    const int64_t end = std::min(dense_in.size, begin + kStrip);
    for (int64_t l = 0; l < dense_out.size; ++l) {
      const std::byte* row = from + l * dense_out.in * static_cast<int64_t>(sizeof(C));
      for (int64_t j = begin; j < end; ++j) {
        std::memcpy(&to[j * dense_in.out + l], row + j * static_cast<int64_t>(sizeof(C)),
                    sizeof(C));
      }
    }
  }
}

}  // namespace

Tensor TransposeTensor(const Tensor& in, absl::Span<const int64_t> perm) {
  X2IR_CHECK(static_cast<int64_t>(perm.size()) == in.rank(), "perm has another rank");
  const std::vector<int64_t> own = Strides(in.dims());
  std::vector<int64_t> dims(perm.size()), strides(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    X2IR_CHECK(perm[i] >= 0 && perm[i] < in.rank(), "perm names no axis");
    dims[i] = in.dim(perm[i]);
    strides[i] = own[perm[i]];
  }
  // Axes of one element say nothing, and axes that stay side by side are one.
  const std::vector<int64_t> out_strides = Strides(dims);
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!axes.empty() && axes.back().in == strides[i] * dims[i]) {
      axes.back() = {axes.back().size * dims[i], strides[i], out_strides[i]};
    } else {
      axes.push_back({dims[i], strides[i], out_strides[i]});
    }
  }
  // What only moves axes of one element has the same bytes.
  if (axes.size() <= 1 && !in.is_sparse()) return in.Reshaped(std::move(dims));
  const auto dense =
      std::find_if(axes.begin(), axes.end(), [](const Axis& a) { return a.in == 1; });
  if (in.num_elements() == 0 || axes.size() < 2 || dense == axes.end() || dense + 1 == axes.end()) {
    return StridedCopy(in, std::move(dims), strides);
  }
  const Axis dense_in = *dense, dense_out = axes.back();
  axes.pop_back();
  axes.erase(dense);
  // A large tensor of whole bytes is read where it lies.
  const bool whole = !in.is_sparse() && !in.is_string() && BitWidth(in.dtype()) >= 8;
  const std::optional<Cells> cells = whole ? std::nullopt : std::optional<Cells>(in);
  const std::byte* from = whole ? in.bytes().data() : cells->data();
  CellsOut out(in.dtype(), std::move(dims));
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    C* to = out.as<C>();
    std::vector<int64_t> index(axes.size(), 0);
    int64_t at = 0, to_at = 0;
    for (size_t k = axes.size() + 1; k != 0;) {
      CopyPlane(from + at * static_cast<int64_t>(sizeof(C)), to + to_at, dense_in, dense_out);
      // The next plane, like an odometer; it stops where the first axis has wrapped around.
      for (k = axes.size(); k != 0; --k) {
        const Axis& axis = axes[k - 1];
        at += axis.in;
        to_at += axis.out;
        if (++index[k - 1] < axis.size) break;
        at -= axis.in * axis.size;
        to_at -= axis.out * axis.size;
        index[k - 1] = 0;
      }
    }
  });
  return out.Finish();
}

Tensor TransposeWeight(const Tensor& in, absl::Span<const int64_t> perm) {
  const auto in_parts = [&] {
    std::vector<int64_t> dims(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) dims[i] = in.dim(perm[i]);
    const size_t entry = in.nbytes() / static_cast<size_t>(in.dim(0));
    const auto owner = std::make_shared<const Tensor>(in);
    return SpilledInParts(in.dtype(), dims, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> own = in.dims();
      own[0] = end - begin;
      const auto count = static_cast<size_t>(own[0]);
      const auto bytes = in.bytes().subspan(static_cast<size_t>(begin) * entry, count * entry);
      auto some = Tensor::View(in.dtype(), std::move(own), bytes, owner);
      X2IR_CHECK(some.ok(), "a part has the size of its entries");
      return TransposeTensor(*some, perm);
    });
  };
  // Where axes of one element alone move, the bytes stay where they are.
  std::vector<int64_t> longer;
  for (const int64_t axis : perm) {
    if (in.dim(axis) != 1) longer.push_back(axis);
  }
  const bool has_parts = !perm.empty() && perm[0] == 0 && in.num_elements() > 0 &&
                         !in.is_sparse() && !in.is_string() && BitWidth(in.dtype()) >= 8 &&
                         !std::is_sorted(longer.begin(), longer.end());
  Tensor made = has_parts ? in_parts() : Spilled(TransposeTensor(in, perm));
  DropPages(in);
  return made;
}

absl::Status CheckAllocation(DType dtype, absl::Span<const int64_t> dims) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  if (!n) return Invalid("a tensor cannot have shape ", ShapeText(dims));
  std::optional<int64_t> bytes = ByteSize(dtype, *n);
  if (dtype == DType::kString) bytes = ByteSize(DType::kComplex128, *n);  // 16 bytes at least
  if (!bytes || *bytes > MaxAllocation()) {
    return Invalid(
        "a tensor of ", Name(dtype), ShapeText(dims), " is too large to be evaluated",
        bytes ? StrCat(": it takes ", *bytes, " bytes, and may take ", MaxAllocation()) : "");
  }
  return absl::OkStatus();
}

}  // namespace x2ir
