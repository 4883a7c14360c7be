// TensorFlow: numbers of axes and of elements, and rows that are put at such numbers.
#include "x2ir/handlers/tf/indices.h"

#include <string>
#include <string_view>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir {

absl::StatusOr<std::vector<Value*>> Elements(TfArgs& a, Value* v) {
  if (!v->shape() || v->shape()->rank() != 1 || !(*v->shape())[0].is_static()) {
    return Unimplemented("the number of axes is not known");
  }
  const int64_t count = (*v->shape())[0].value();
  if (count < 1 || count > 254) return Invalid("a tensor of ", count, " axes");
  std::vector<Value*> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(Gather({a, v}, a.b().Int(i), 0));
  return elements;
}

namespace {

// Column k: the indices, on all axes, of element number k.
absl::StatusOr<Value*> UnravelIndex(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> sizes, Elements(a, a.in(1)));
  return Stack(a, Unraveled(a.in(0), sizes), 0);
}

// --- Layouts ----------------------------------------------------------------------------------

struct Formats {
  std::string from, to;
};
absl::StatusOr<Formats> TakeFormats(TfArgs& a) {
  Formats f{a.String("src_format", "NHWC"), a.String("dst_format", "NCHW")};
  bool same = f.from.size() == f.to.size() && !f.from.empty() && f.from.size() <= 8;
  for (size_t i = 0; same && i < f.from.size(); ++i) {
    same = f.from.find(f.from[i]) == i && f.to.find(f.from[i]) != std::string::npos;
  }
  if (!same) return Invalid("layouts '", f.from, "' and '", f.to, "'");
  return f;
}

// Numbers of axes in the one layout as those in the other.
absl::StatusOr<Value*> DataFormatDimMap(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Formats f, TakeFormats(a));
  std::vector<int64_t> places;
  for (const char axis : f.from) places.push_back(static_cast<int64_t>(f.to.find(axis)));
  Value* map = a.Cast(a.b().Ints(places), a.in(0)->dtype());
  return Gather({a, map}, a.in(0), 0);
}

// What there is for each axis in the other layout's order; without batch and channels too.
absl::StatusOr<Value*> DataFormatVecPermute(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Formats f, TakeFormats(a));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1 || !(*a.shape(0))[0].is_static()) {
    return Unimplemented("the number of axes is not known");
  }
  const auto count = static_cast<size_t>((*a.shape(0))[0].value());
  if (count + 2 == f.from.size()) {
    for (std::string* format : {&f.from, &f.to})
      std::erase_if(*format, [](char c) { return c == 'N' || c == 'C'; });
  }
  if (count != f.from.size()) return Invalid("expected ", f.from.size(), " axes, got ", count);
  std::vector<int64_t> order;
  for (const char axis : f.to) order.push_back(static_cast<int64_t>(f.from.find(axis)));
  return Gather(a.in(0), a.b().Ints(order), 0);
}

// --- Rows at numbers ------------------------------------------------------------------------

enum class InplaceKind { kUpdate, kAdd, kSub };
template <InplaceKind kHow>
absl::StatusOr<Value*> Inplace(TfArgs& a) {
  Value* rows = a.in(2);
  if (kHow == InplaceKind::kSub) rows = a.Op("neg", {rows});
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank != 1) return Invalid("expected numbers of rank 1, got ", rank);
  return ScatterNd(a.in(0), Unsqueeze(a.in(1), {1}), rows,
                   kHow == InplaceKind::kUpdate ? "none" : "add");
}

}  // namespace

X2IR_TF(mod).From("UnravelIndex", UnravelIndex);
X2IR_TF(gather).From({{"DataFormatDimMap", DataFormatDimMap},
                      {"DataFormatVecPermute", DataFormatVecPermute}});
X2IR_TF(scatter_nd)
    .From({{"InplaceUpdate", Inplace<InplaceKind::kUpdate>},
           {"InplaceAdd", Inplace<InplaceKind::kAdd>},
           {"InplaceSub", Inplace<InplaceKind::kSub>},
           {"AliasInplaceUpdate", Inplace<InplaceKind::kUpdate>},
           {"AliasInplaceAdd", Inplace<InplaceKind::kAdd>},
           {"AliasInplaceSub", Inplace<InplaceKind::kSub>}});

}  // namespace x2ir
