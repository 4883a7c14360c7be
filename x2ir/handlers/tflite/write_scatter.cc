// TFLite: what is put into places, written. LiteRT scatters into zeros, and adds what comes to one
// place.
#include <algorithm>
#include <numeric>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/prepare.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool IsAllZeros(const Value* v) {
  const auto known = KnownTensor(*v);
  if (!known || known->is_sparse() || known->is_string()) return false;
  const auto bytes = known->bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Elements that are replaced are counted: a place where something comes has the sum, which is one
// update, since an index that comes twice has no meaning then.
absl::StatusOr<Value*> ToScatterNd(TfliteWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("updates by ", how);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t of_indices, w.Rank(1));
  const Dim depth = of_indices > 0 ? (*w.shape(1))[of_indices - 1] : Dim();
  if (rank < 1 || !depth.is_static() || depth.value() < 1 || depth.value() > rank) {
    return CannotExpress("tuples of unknown length");
  }
  const int64_t k = depth.value();
  Value* tuples = w.in(1);
  if (!IsMarkedFromTheFront(w.node())) {
    X2IR_ASSIGN_OR_RETURN(tuples, TuplesFromTheFront(w));
  }
  tuples = w.Cast(tuples, DType::kInt32);
  const auto dims = w.shape()->Static();
  Value* shape = dims ? w.Int32s(*dims) : w.Cast(w.Op("shape", {w.in(0)}), DType::kInt32);
  Value* put =
      w.Tflite("SCATTER_ND", {tuples, w.in(2), shape}, {}, Type::Tensor(w.dtype(), *w.shape()));
  if (IsAllZeros(w.in(0))) return put;
  if (how == "add") {
    if (w.dtype() == DType::kBool) return CannotExpress("sums of bools");
    return w.Op("add", {w.in(0), put});
  }
  // Which places of the axes that tuples are of something comes to.
  Value* many = w.Op("shape", {w.in(1)}, {{"start", 0}, {"end", of_indices - 1}});
  const auto all = Shape(std::vector<Dim>(w.shape(1)->begin(), w.shape(1)->end() - 1)).Static();
  constexpr int64_t kMaxOnes = 4096;
  Value* ones = nullptr;
  if (all && CheckedProduct(*all).value_or(kMaxOnes) < kMaxOnes) {
    Tensor tensor = Tensor::Zeros(DType::kInt32, *all);
    for (int32_t& one : tensor.mutable_span<int32_t>()) one = 1;
    ones = w.b().Constant(std::move(tensor));
  } else {
    ones = w.Op("expand", {w.Int32(1), many});
  }
  Shape places(std::vector<Dim>(w.shape()->begin(), w.shape()->begin() + k));
  const auto known = places.Static();
  Value* size = known ? w.Int32s(*known)
                      : w.Cast(w.Op("shape", {w.in(0)}, {{"start", 0}, {"end", k}}), DType::kInt32);
  Value* count =
      w.Tflite("SCATTER_ND", {tuples, ones, size}, {}, Type::Tensor(DType::kInt32, places));
  Value* comes = w.Op("greater", {count, w.Int32(0)});
  if (k < rank) {
    std::vector<int64_t> rest(static_cast<size_t>(rank - k));
    std::iota(rest.begin(), rest.end(), k);
    comes = w.Op("unsqueeze", {comes, w.Ints(rest)});
  }
  return w.Op("where", {comes, put, w.in(0)});
}

// What SCATTER_ND has not either would come back here as elements.
absl::StatusOr<Value*> ToScatterElements(TfliteWriter& w) {
  const std::string& how = w.String("reduction");
  if (how != "none" && how != "add") return CannotExpress("updates by ", how);
  if (!HasTfliteKernel("SCATTER_ND", w.dtype())) {
    return CannotExpress("SCATTER_ND: no kernel for ", Name(w.dtype()));
  }
  return ScatterElementsByTuples(w);
}

// 1 at the first of the largest elements.
absl::StatusOr<Value*> ToHardmax(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.dtype() != DType::kFloat32) return CannotExpress("elements of ", Name(w.dtype()));
  const Dim& size = (*w.shape())[axis];
  if (!size.is_static()) return CannotExpress("an axis of unknown size");
  Value* first =
      w.Op("arg_max", {w.in(0)}, {{"axis", axis}, {"keepdims", 0}, {"select_last_index", 0}});
  return w.Tflite("ONE_HOT",
                  {first, w.Int32(size.value()), w.Number(w.dtype(), 1), w.Number(w.dtype(), 0)},
                  {{"axis", axis}});
}

}  // namespace

X2IR_TFLITE(hardmax).To("ONE_HOT", ToHardmax);
X2IR_TFLITE(scatter_elements).To("SCATTER_ND", ToScatterElements);
X2IR_TFLITE(scatter_nd).To("SCATTER_ND", ToScatterNd);

}  // namespace x2ir
