// Building blocks for EvalFns. Two views of a tensor's elements keep evaluation small:
//
//  * Numbers<T>: for arithmetic. T is a *compute type*: float (float32 and every smaller
//    float), double (float64), int64_t (signed integers), uint64_t (unsigned integers and
//    bool), std::complex<float>, std::complex<double>. Integers wrap when stored, as they
//    do in two's complement; floats round to nearest even when stored.
//  * Cells: for data movement. Elements are opaque cells of 1, 2, 4, 8 or 16 bytes; packed
//    sub-byte types are unpacked to one byte each, strings are pointers.
#ifndef X2IR_OPS_EVAL_UTIL_H_
#define X2IR_OPS_EVAL_UTIL_H_

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"

namespace X2IR_API x2ir {

// --- Numbers --------------------------------------------------------------------------------

enum class ComputeType { kNone, kFloat, kDouble, kInt, kUInt, kComplexFloat, kComplexDouble };
ComputeType ComputeTypeOf(DType t);  // kNone for strings and undefined

// The elements of a tensor as T: a view where the tensor already holds T, else converted
// (exactly where T is ComputeTypeOf(dtype); else as a C++ cast does, which serves code that
// wants, say, any numeric operand as double).
template <typename T>
class Numbers {
 public:
  explicit Numbers(const Tensor& tensor);
  Numbers(Numbers&&) = default;
  Numbers& operator=(Numbers&&) = default;
  absl::Span<const T> span() const { return span_; }
  T operator[](int64_t i) const { return span_[i]; }
  const T* data() const { return span_.data(); }
  int64_t size() const { return static_cast<int64_t>(span_.size()); }

 private:
  Tensor keep_;
  std::vector<T> converted_;
  absl::Span<const T> span_;
};

// A tensor of dtype from compute-type values (see above for rounding and wrapping).
// T is float, double, int64_t, uint64_t or a complex type, any dtype but string.
template <typename T>
Tensor FromNumbers(DType dtype, std::vector<int64_t> dims, absl::Span<const T> values);
template <typename T>
Tensor FromNumbers(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  return FromNumbers<T>(dtype, std::move(dims), absl::Span<const T>(values));
}

// A tensor of dtype being made out of compute-type values (see FromNumbers), without a copy
// where the dtype is T itself. Starts as zeros.
template <typename T>
class NumbersOut {
 public:
  NumbersOut(DType dtype, std::vector<int64_t> dims);
  NumbersOut(NumbersOut&&) = default;
  NumbersOut& operator=(NumbersOut&&) = default;
  T* data() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  int64_t size() const { return tensor_.num_elements(); }
  Tensor Finish();

 private:
  Tensor tensor_;
  std::vector<T> values_;  // empty when data_ is the tensor's own
  T* data_;
};

// Towards zero, without undefined behaviour: NaN and values out of the range of int64 give its
// minimum (as conversions of x86 do).
int64_t TruncateToInt64(double v);

// Calls f(T{}) with the compute type of dtype: DispatchReal for float/double/int64/uint64;
// DispatchFloat for float/double only. Unimplemented (naming the dtype) otherwise.
template <typename F>
absl::Status DispatchReal(DType dtype, F&& f) {
  switch (ComputeTypeOf(dtype)) {
    case ComputeType::kFloat: return f(float{});
    case ComputeType::kDouble: return f(double{});
    case ComputeType::kInt: return f(int64_t{});
    case ComputeType::kUInt: return f(uint64_t{});
    default: return Unimplemented("evaluation of ", Name(dtype));
  }
}
template <typename F>
absl::Status DispatchFloat(DType dtype, F&& f) {
  switch (ComputeTypeOf(dtype)) {
    case ComputeType::kFloat: return f(float{});
    case ComputeType::kDouble: return f(double{});
    default: return Unimplemented("evaluation of ", Name(dtype));
  }
}

// --- Cells ----------------------------------------------------------------------------------

// Elements as opaque cells.
class Cells {
 public:
  explicit Cells(const Tensor& tensor);
  Cells(Cells&&) = default;
  Cells& operator=(Cells&&) = default;
  int size() const { return size_; }  // bytes of a cell
  const std::byte* data() const { return data_; }
  template <typename C>
  const C* as() const {
    return reinterpret_cast<const C*>(data_);
  }

 private:
  Tensor keep_;
  std::vector<std::byte> unpacked_;
  int size_;
  const std::byte* data_;
};

// A tensor being made out of cells of operands of the same dtype. Cells start as zeros
// (empty strings). The operands must outlive Finish().
class CellsOut {
 public:
  CellsOut(DType dtype, std::vector<int64_t> dims);
  int size() const { return size_; }
  std::byte* data() { return data_.data(); }
  template <typename C>
  C* as() {
    return reinterpret_cast<C*>(data_.data());
  }
  int64_t num_elements() const { return n_; }
  Tensor Finish();

 private:
  DType dtype_;
  std::vector<int64_t> dims_;
  int64_t n_;
  int size_;
  std::vector<std::byte> data_;
};

// Calls f(C{}) with an unsigned type (or struct) of that many bytes: 1, 2, 4, 8, 16.
struct Cell16 {
  uint64_t a, b;
};
template <typename F>
void DispatchCell(int size, F&& f) {
  switch (size) {
    case 1: f(uint8_t{}); break;
    case 2: f(uint16_t{}); break;
    case 4: f(uint32_t{}); break;
    case 8: f(uint64_t{}); break;
    default: f(Cell16{}); break;
  }
}

// --- Shapes ---------------------------------------------------------------------------------

// Row-major strides, in elements.
std::vector<int64_t> Strides(absl::Span<const int64_t> dims);
// Multidirectional broadcast of static shapes; InvalidArgument if impossible.
absl::StatusOr<std::vector<int64_t>> BroadcastDims(absl::Span<const int64_t> a,
                                                   absl::Span<const int64_t> b);
// Strides of a tensor of shape `from` read as if it had shape `to` (0 where broadcast).
// `from` must broadcast to `to` (CHECK).
std::vector<int64_t> BroadcastStrides(absl::Span<const int64_t> from, absl::Span<const int64_t> to);
// Gather by strides: element i of the result (row-major over dims) is
// in[offset + sum(index_k * strides[k])]. Moves any dtype. Strides may be 0 or negative.
// Serves transpose, expand, slice, diagonal, flip.
Tensor StridedCopy(const Tensor& in, std::vector<int64_t> dims, absl::Span<const int64_t> strides,
                   int64_t offset = 0);
Tensor BroadcastTo(const Tensor& in, std::vector<int64_t> dims);  // CHECK: must broadcast
Tensor TransposeTensor(const Tensor& in, absl::Span<const int64_t> perm);
// For a dense weight: neither the weight nor the result stays in memory (residency.h).
Tensor TransposeWeight(const Tensor& in, absl::Span<const int64_t> perm);

// Guards an allocation made from operand values: InvalidArgument when the element count
// overflows or the result would exceed the evaluator's bound (16 GiB).
absl::Status CheckAllocation(DType dtype, absl::Span<const int64_t> dims);

// Element-wise conversion as ONNX Cast (opset 24) defines it; `saturate` for float8,
// `round_mode` ("up", "down", "nearest") for float8e8m0. Cases that the specification leaves
// undefined are defined here as in PyTorch, NumPy and ONNX Runtime on x86-64: a float goes through
// int32 on its way to an integer type of up to 32 bits but uint32, else through int64 (or uint64,
// if it fits there and that is the target), and then wraps. Values that do not fit, and NaN, become
// the least int32 or int64 (TruncateToInt64). A string with a fraction becomes an integer towards
// zero. A string that is not a number is InvalidArgument, and so are casts between complex and
// other types, for which ONNX has no rule.
absl::StatusOr<Tensor> CastTensor(const Tensor& in, DType to, bool saturate = true,
                                  std::string_view round_mode = "up");

}  // namespace x2ir

#endif  // X2IR_OPS_EVAL_UTIL_H_
