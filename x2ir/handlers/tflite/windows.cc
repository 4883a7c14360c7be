// TFLite: reductions of windows over all axes, and sums of looked up rows.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxPlaces = 1024;  // of a window, each a slice

struct Windows {
  std::vector<int64_t> sizes, strides, base_dilations, dilations;
  std::vector<int64_t> low, high;  // padding
};

// The elements of each window put together by an op: a slice for each place in the window. `first`
// fills up what is padded and between dilated elements.
absl::StatusOr<Value*> ReduceWindows(TfliteArgs& a, Expr x, const Expr& first, Symbol op,
                                     const Windows& w) {
  const std::optional<std::vector<int64_t>> known = KnownSizes(x);
  if (!known) return Unimplemented("an operand of sizes that are not known");
  const auto rank = static_cast<int64_t>(known->size());
  for (const auto* list :
       {&w.sizes, &w.strides, &w.base_dilations, &w.dilations, &w.low, &w.high}) {
    if (static_cast<int64_t>(list->size()) != rank)
      return Invalid("a number for each axis expected");
  }
  const auto places = CheckedProduct(w.sizes);
  if (!places || *places < 1 || *places > kMaxPlaces) return Unimplemented("windows so large");
  std::vector<int64_t> pads, counts(known->size());
  for (size_t i = 0; i < known->size(); ++i) {
    if (w.strides[i] < 1 || w.dilations[i] < 1 || w.base_dilations[i] < 1 || w.low[i] < 0 ||
        w.high[i] < 0) {
      return Unimplemented("steps or paddings below nothing");
    }
    if (w.base_dilations[i] != 1) return Unimplemented("dilations of the operand");
    const int64_t size = (*known)[i] + w.low[i] + w.high[i];
    const int64_t extent = (w.sizes[i] - 1) * w.dilations[i] + 1;
    counts[i] = size < extent ? 0 : (size - extent) / w.strides[i] + 1;
  }
  pads.insert(pads.end(), w.low.begin(), w.low.end());
  pads.insert(pads.end(), w.high.begin(), w.high.end());
  x = a.Op("pad", {x, Ints(a, pads), first});
  Expr all = first;
  std::vector<int64_t> place(known->size());
  for (int64_t k = 0; k < *places; ++k) {
    std::vector<int64_t> starts(known->size()), ends(known->size());
    for (size_t i = 0; i < place.size(); ++i) {
      starts[i] = place[i] * w.dilations[i];
      ends[i] = counts[i] == 0 ? starts[i] : starts[i] + (counts[i] - 1) * w.strides[i] + 1;
    }
    const Expr part = x.Op("slice", {Ints(a, starts), Ints(a, ends), Ints(a, CountedFrom(0, rank)),
                                     Ints(a, w.strides)});
    all = all.Op(op, {part});
    for (size_t i = place.size(); i-- > 0;) {
      if (++place[i] < w.sizes[i]) break;
      place[i] = 0;
    }
  }
  return all;
}

// By the name that TFLite has for what is done, "" for others.
std::string_view CombinerOf(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"ADD", "add"},     {"MUL", "mul"}, {"MULTIPLY", "mul"}, {"MINIMUM", "min"},
      {"MAXIMUM", "max"}, {"ALL", "and"}, {"AND", "and"},      {"LOGICAL_AND", "and"},
      {"ANY", "or"},      {"OR", "or"},   {"LOGICAL_OR", "or"}};
  if (name.starts_with("STABLEHLO_")) name.remove_prefix(10);
  for (const auto& [from, to] : kNames) {
    if (from == name) return to;
  }
  return "";
}

// Operands: x, what a window begins with, sizes, steps, dilations of x and of the window.
absl::StatusOr<Value*> ReduceWindow(TfliteArgs& a) {
  const std::string function = a.String("reduce_function", "UNSUPPORTED");
  const std::string_view op = CombinerOf(function);
  if (op.empty()) return Unimplemented("windows that are reduced by ", function);
  Windows w;
  X2IR_ASSIGN_OR_RETURN(w.sizes, a.KnownInts(2, "sizes"));
  X2IR_ASSIGN_OR_RETURN(w.strides, a.KnownInts(3, "steps"));
  X2IR_ASSIGN_OR_RETURN(w.base_dilations, a.KnownInts(4, "dilations"));
  X2IR_ASSIGN_OR_RETURN(w.dilations, a.KnownInts(5, "dilations"));
  w.low.resize(w.sizes.size());
  w.high.resize(w.sizes.size());
  return ReduceWindows(a, a.in(0), a.in(1), op, w);
}

// The function is a subgraph of one operator.
absl::StatusOr<Value*> StablehloReduceWindow(TfliteArgs& a) {
  const auto body = a.SubGraph("body_subgraph");
  const Node* only = body->num_nodes() == 1 ? body->first() : nullptr;
  const std::string_view op = only ? CombinerOf(only->op().view()) : "";
  if (op.empty() || a.num_inputs() != 2) return Unimplemented("such a function of windows");
  Windows w;
  w.sizes = a.IntList("window_dimensions", {});
  const size_t rank = w.sizes.size();
  const auto ones = [&](const char* name) {
    std::vector<int64_t> list = a.IntList(name, {});
    if (list.empty()) list.assign(rank, 1);
    return list;
  };
  w.strides = ones("window_strides");
  w.base_dilations = ones("base_dilations");
  w.dilations = ones("window_dilations");
  std::vector<int64_t> padding = a.IntList("padding", {});
  if (padding.empty()) padding.assign(2 * rank, 0);
  if (padding.size() != 2 * rank) return Invalid("two paddings for each axis expected");
  for (size_t i = 0; i < rank; ++i) {
    w.low.push_back(padding[2 * i]);
    w.high.push_back(padding[2 * i + 1]);
  }
  const Expr first = a.rank(1) == 0 ? a.in(1) : Reshape(a.in(1), {});
  return ReduceWindows(a, a.in(0), first, op, w);
}

// Operands: ids, their places in a sparse tensor of ids, its shape, weights, the table. Rows of the
// last axis of that tensor are summed up; MEAN and SQRTN divide by the sum of weights, or by the
// root of that of their squares, where it is above 0.
absl::StatusOr<Value*> EmbeddingLookupSparse(TfliteArgs& a) {
  const std::string combiner = a.String("combiner", "SUM");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, a.KnownInts(2, "shape"));
  const std::optional<std::vector<int64_t>> table = KnownSizes(a.in(4));
  if (shape.empty() || !table || table->empty()) return Unimplemented("a table of unknown shape");
  std::vector<int64_t> dims(shape.begin(), shape.end() - 1);
  const auto count = CheckedProduct(dims);
  const auto width = CheckedProduct(absl::MakeConstSpan(*table).subspan(1));
  if (!count || !width) return Invalid("sizes that are none");
  Expr bucket = Int(a, 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Expr column = Gather({a, a.AsInt64(a.in(1))}, a.b().Int(static_cast<int64_t>(i)), 1);
    bucket = bucket * Int(a, dims[i]) + column;
  }
  if (dims.empty()) bucket = a.AsInt64(a.in(0)) * Int(a, 0);
  const Expr weights = Unsqueeze(a.in(3), {1});
  const Expr rows = Reshape(Gather(a.in(4), a.AsInt64(a.in(0)), 0), {-1, *width}) * weights;
  const auto summed = [&](const Expr& parts) {
    return CombineRows(parts, bucket, Int(a, *count), "add", parts.Number(0));
  };
  Expr sums = summed(rows);
  if (combiner != "SUM") {
    const bool root = combiner == "SQRTN";
    if (!root && combiner != "MEAN") return Unimplemented("combiner ", combiner);
    const Expr total = summed(root ? Square(weights) : weights);
    const Expr by = root ? Sqrt(total) : total;
    sums = Where(total > 0.0, sums / Where(total > 0.0, by, 1.0), sums);
  }
  dims.insert(dims.end(), table->begin() + 1, table->end());
  return Reshape(sums, dims);
}

}  // namespace

X2IR_TFLITE(reduce_max)
    .From({{"REDUCE_WINDOW", ReduceWindow}, {"STABLEHLO_REDUCE_WINDOW", StablehloReduceWindow}});
X2IR_TFLITE(gather).From("EMBEDDING_LOOKUP_SPARSE", EmbeddingLookupSparse);

}  // namespace x2ir
