// Operations on whole tensors: reductions, elements picked and put, numbers in order. An axis is
// counted from the end where it is negative.
#ifndef X2IR_BUILDER_ARRAYS_H_
#define X2IR_BUILDER_ARRAYS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// --- Types and constants ------------------------------------------------------------------------

// What halves and smaller floats are computed in: float32. Any other type stays.
DType AtLeastFloat32(DType t);
// A type that holds every value of `t` and that runtimes have kernels for: int32, int64, float32.
DType WideType(DType t);
// Fails for complex elements, which most of IR's arithmetic does not know.
void RequireReal(const Expr& x);

// A constant of rank 0 of an integer type, whose bits are the lowest ones of `bits`.
Expr IntegerOf(Builder& b, DType t, int64_t bits);
// The least or greatest value of a type, infinities included, or finite: rank 0.
Expr Extreme(Builder& b, DType t, bool greatest);
Expr FiniteExtreme(Builder& b, DType t, bool greatest);
// Zeros of these dims; fails where they, or the type, are nothing to allocate.
Expr Zeros(Builder& b, DType t, std::vector<int64_t> dims);
// Numbers rounded to the type.
Expr NumbersAs(Builder& b, DType t, std::vector<int64_t> dims, const std::vector<double>& values,
               std::string_view hint = "");
Expr Doubles(Builder& b, const std::vector<double>& values);  // float64, rank 1
Expr Iota(const Expr& n);  // 0, 1, .. n - 1 of an int64 of rank 0

// --- Selection ----------------------------------------------------------------------------------

// As Where; bools by logic, since few runtimes select among them.
Expr Select(const Expr& test, const Expr& x, const Expr& y);
Expr IsTrue(const Expr& x);  // x != 0

// --- Reductions ---------------------------------------------------------------------------------

// op: "reduce_sum", ...; no axes: of all of them.
Expr Reduce(const Expr& x, Symbol op, const std::vector<int64_t>& axes, bool keepdims = false);
Expr Sum(const Expr& x, int64_t axis, bool keepdims = false);
Expr SumAll(const Expr& x);
// Whether any or every element of a bool tensor is true. Of nothing: false, true.
Expr Any(const Expr& x, const std::vector<int64_t>& axes, bool keepdims = false);
Expr All(const Expr& x, const std::vector<int64_t>& axes, bool keepdims = false);
// How many elements the axes have together: int64, rank 0.
Expr CountOf(const Expr& x, const std::vector<int64_t>& axes);
// sum(|x|^p)^(1/p) and its limits.
Expr VectorNorm(const Expr& x, double p, const std::vector<int64_t>& axes, bool keepdims);
// Integers that runtimes have no kernels for, too.
Expr MatMul(const Expr& x, const Expr& y);

// --- In order -----------------------------------------------------------------------------------

Expr CumSum(const Expr& x, int64_t axis);
// Every element of an axis in order. NaN is the largest.
struct Sorted {
  Expr values, indices;
};
Sorted Sort(const Expr& x, int64_t axis, bool descending);
// The k (int64, one element of rank 1) largest or smallest elements of an axis in order. The type
// is one that the target has a kernel for.
Sorted TopOf(const Expr& x, Value* k, int64_t axis, bool largest = true);

// --- Picked and put -----------------------------------------------------------------------------

Expr Gather(const Expr& x, Value* index, int64_t axis);
Expr GatherElements(const Expr& x, Value* index, int64_t axis);
// data with updates put in, or combined ("add", "mul", "min", "max") where the reduction is not
// "none": at an index for each element, at an index of an axis (rank 1), at index tuples.
Expr ScatterElements(const Expr& data, int64_t axis, const Expr& index, const Expr& updates,
                     std::string_view reduction);
Expr ScatterSlices(const Expr& data, int64_t axis, const Expr& index, const Expr& updates,
                   std::string_view reduction);
Expr ScatterNd(const Expr& data, const Expr& indices, Value* updates, std::string_view reduction);
// [count, row...]: every row combined with those of its number, beginning with `first` (rank 0).
// Rows whose number is none of 0 .. count - 1 are left out.
Expr CombineRows(const Expr& rows, const Expr& numbers, const Expr& count,
                 std::string_view reduction, const Expr& first);
// The indices, axis by axis, of elements by their numbers. Sizes are of rank 0, and of one type
// with the numbers.
std::vector<Value*> Unraveled(const Expr& places, const std::vector<Value*>& sizes);

}  // namespace x2ir

#endif  // X2IR_BUILDER_ARRAYS_H_
