// StableHLO: reductions of whole axes.
#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Bodies that are reductions of the IR.
std::string_view ReductionOf(std::string_view body) {
  if (body == "add") return "reduce_sum";
  if (body == "multiply") return "reduce_prod";
  if (body == "maximum") return "reduce_max";
  return body == "minimum" ? "reduce_min" : "";
}

// nullopt where the IR has no reduction of that kind.
std::optional<Expr> ReducedBy(std::string_view body, const Expr& x,
                              const std::vector<int64_t>& axes) {
  const DType t = x.dtype();
  if (t == DType::kBool) {
    if (body == "or" || body == "maximum" || body == "add") return Any(x, axes);
    if (body == "and" || body == "minimum" || body == "multiply") return All(x, axes);
    return std::nullopt;
  }
  const std::string_view op = ReductionOf(body);
  if (op.empty() || (IsComplex(t) && body != "add")) return std::nullopt;
  return Reduce(x, op, axes);
}

// --- Argmax and argmin
// ----------------------------------------------------------------------------

// A test of arguments: "GT" of x and y and the like.
bool IsTest(const Graph& g, const Value* value, std::string_view direction, const Value* x,
            const Value* y) {
  if (OpOf(g, value) != "compare") return false;
  const Node& node = *value->producer();
  return node.input(0) == x && node.input(1) == y &&
         node.attrs().String("comparison_direction", "") == direction;
}

// The parts of a node of two operands of that operation.
bool PartsOfNode(const Graph& g, const Value* value, std::string_view op, const Value** x,
                 const Value** y) {
  if (OpOf(g, value) != op || value->producer()->num_inputs() != 2) return false;
  *x = value->producer()->input(0);
  *y = value->producer()->input(1);
  return true;
}

// The operands of a selection.
bool IsChoice(const Graph& g, const Value* value, const Value** test, const Value* x,
              const Value* y) {
  if (OpOf(g, value) != "select" || value->producer()->num_inputs() != 3) return false;
  const Node& node = *value->producer();
  *test = node.input(0);
  return node.input(1) == x && node.input(2) == y;
}

// Whether the value is the test that x goes first: it is greater (or less), or NaN.
bool IsFirst(const Graph& g, const Value* value, std::string_view direction, const Value* x,
             const Value* y) {
  if (IsTest(g, value, direction, x, y)) return true;
  const Value *one = nullptr, *other = nullptr;
  if (!PartsOfNode(g, value, "or", &one, &other)) return false;
  return (IsTest(g, one, direction, x, y) && IsTest(g, other, "NE", x, x)) ||
         (IsTest(g, other, direction, x, y) && IsTest(g, one, "NE", x, x));
}

// A body over (x, i), (y, j) that keeps the greater (or less) number, of equal ones the one of the
// lesser index: "GT" or "LT"; "" for any other. A NaN wins, or its place is left open.
std::string_view ArgReduction(const Graph& g) {
  if (g.inputs().size() != 4 || g.outputs().size() != 2) return "";
  const Value *x = g.inputs()[0], *i = g.inputs()[1], *y = g.inputs()[2], *j = g.inputs()[3];
  const Value *test = nullptr, *pick = nullptr;
  if (!IsChoice(g, g.outputs()[0], &test, x, y) || !IsChoice(g, g.outputs()[1], &pick, i, j)) {
    return "";
  }
  for (const std::string_view direction : {"GT", "LT"}) {
    if (!IsFirst(g, test, direction, x, y)) continue;
    const Value *one = nullptr, *other = nullptr, *equal = nullptr, *earlier = nullptr;
    if (!PartsOfNode(g, pick, "or", &one, &other)) continue;
    if (one != test) std::swap(one, other);
    if (one != test || !PartsOfNode(g, other, "and", &equal, &earlier)) continue;
    if (IsTest(g, earlier, "EQ", x, y)) std::swap(equal, earlier);
    if (IsTest(g, equal, "EQ", x, y) && IsTest(g, earlier, "LT", i, j)) return direction;
  }
  return "";
}

// Whether the elements are their own positions along that axis.
bool CountsAlong(const Value* value, int64_t axis) {
  const std::optional<Tensor> known = KnownTensor(*value);
  if (known) {
    const std::vector<int64_t>& dims = known->dims();
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
    const int64_t size = dims[static_cast<size_t>(axis)];
    for (int64_t i = 0; i < known->num_elements(); ++i) {
      if (known->AsInt(i) != i / inner % size) return false;
    }
    return true;
  }
  // A range that was broadcast.
  const Node* node = value->producer();
  if (!node || !value->shape()) return false;
  const int64_t rank = value->shape()->rank();
  if (node->Is("cast")) return CountsAlong(node->input(0), axis);
  if (node->Is("expand")) {
    const Value* from = node->input(0);
    const Shape* shape = from->shape();
    if (!shape) return false;
    const int64_t own = axis - (rank - shape->rank());
    return own >= 0 && ProvablyEqual((*shape)[own], (*value->shape())[axis]) &&
           CountsAlong(from, own);
  }
  if (node->Is("reshape") || node->Is("unsqueeze")) {
    // A vector among axes of size 1.
    const Value* from = node->input(0);
    if (!from->shape() || from->shape()->rank() != 1) return false;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis && !((*value->shape())[i] == Dim(1))) return false;
    }
    return CountsAlong(from, 0);
  }
  if (!node->Is("range") || rank != 1) return false;
  const auto start = KnownInts(node->input(0)), step = KnownInts(node->input(2));
  return start && step && start->size() == 1 && step->size() == 1 && (*start)[0] == 0 &&
         (*step)[0] == 1;
}

// Where the numbers are, the least of all; where they are, 0: what a body of ArgReduction leaves as
// it is, given that no element is less.
bool StartsArg(std::string_view direction, const Value* init) {
  return IsNeutral(direction == "GT" ? "maximum" : "minimum", init);
}

std::optional<Values> AsArgReduction(StablehloArgs& a, const Graph& body,
                                     const std::vector<Expr>& x, const std::vector<Expr>& inits,
                                     const std::vector<int64_t>& axes) {
  if (axes.size() != 1 || x.size() != 2 || IsComplex(x[0].dtype())) return std::nullopt;
  const std::string_view direction = ArgReduction(body);
  const Dim size = DimAt(x[0], axes[0]);
  if (direction.empty() || !StartsArg(direction, inits[0]) ||
      (size.is_static() && size.value() == 0) || !CountsAlong(x[1], axes[0])) {
    return std::nullopt;
  }
  // The first index is the least of all, so it wins where all numbers are as small as `init`.
  const auto first = KnownInts(inits[1].value());
  if (!first || first->size() != 1 || (*first)[0] != 0) return std::nullopt;
  const bool greatest = direction == "GT";
  const DType wide = x[0].dtype() == DType::kBool ? DType::kInt32 : x[0].dtype();
  Values results(2, nullptr);
  if (a.wants(0)) {
    results[0] = x[0].dtype() == DType::kBool
                     ? *ReducedBy(greatest ? "maximum" : "minimum", x[0], axes)
                     : Reduce(x[0], greatest ? "reduce_max" : "reduce_min", axes);
  }
  if (a.wants(1)) {
    results[1] = x[0].To(wide)
                     .Op(greatest ? "arg_max" : "arg_min", {},
                         {{"axis", axes[0]}, {"keepdims", 0}, {"select_last_index", 0}})
                     .To(x[1].dtype());
  }
  return results;
}

// --- Any body
// -------------------------------------------------------------------------------------

// Reduced axes together as the first one.
Expr WithReducedFirst(const Expr& x, const std::vector<int64_t>& axes,
                      const std::vector<int64_t>& kept) {
  std::vector<int64_t> perm = axes;
  perm.insert(perm.end(), kept.begin(), kept.end());
  if (axes.size() == 1 && axes[0] == 0) return x;
  std::vector<Size> count, sizes = {1};
  for (const int64_t axis : axes) count.push_back(SizeAt(x, axis));
  for (const int64_t axis : kept) sizes.push_back(SizeAt(x, axis));
  sizes[0] = Product(x.builder(), count);
  const Expr ordered = Transpose(x, perm);
  return axes.size() == 1 ? ordered : ReshapeTo(ordered, sizes);
}

// From `init` on, element by element in their order.
std::vector<Expr> Folded(StablehloArgs& a, const Graph& body, const std::vector<Expr>& x,
                         const std::vector<Expr>& inits, std::vector<int64_t> axes) {
  std::sort(axes.begin(), axes.end());
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < x[0].rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back(i);
  }
  Builder& b = a.b();
  std::vector<Size> sizes;
  for (const int64_t axis : kept) sizes.push_back(SizeAt(x[0], axis));
  std::vector<Expr> rows, folded;
  for (size_t i = 0; i < x.size(); ++i) {
    rows.push_back(WithReducedFirst(x[i], axes, kept));
    folded.push_back(kept.empty() ? inits[i] : Expand(inits[i], Vector(b, sizes)));
  }
  const Combine combine = CombineBy(a, body);
  const Size count = SizeAt(rows[0], 0);
  constexpr int64_t kFew = 8;
  if (count.number && *count.number <= kFew) {
    for (int64_t i = 0; i < *count.number; ++i) {
      std::vector<Expr> row;
      for (const Expr& each : rows) row.push_back(Gather(each, Int(b, i), 0));
      folded = combine(folded, row);
    }
    return folded;
  }
  // Complex numbers are taken apart outside: nested graphs hold none from there.
  const std::vector<Expr> parts = PartsOf(rows);
  std::vector<DType> types;
  for (const Expr& row : rows) types.push_back(row.dtype());
  return Repeat(Scalar(b, count), folded, [&](const Expr& i, const std::vector<Expr>& carried) {
    std::vector<Expr> row;
    for (const Expr& part : parts) row.push_back(Gather(part, i, 0));
    return combine(carried, FromParts(row, types));
  });
}

// --- reduce
// ---------------------------------------------------------------------------------------

absl::StatusOr<Values> FromReduce(StablehloArgs& a) {
  const std::shared_ptr<Graph> body = a.SubGraph("body");
  const size_t n = a.num_inputs() / 2;
  if (n == 0 || a.num_inputs() % 2 != 0) return Invalid("it has ", a.num_inputs(), " operands");
  CheckRegion(a, *body, 2 * n, n);
  const std::vector<int64_t> axes = a.Ints("dimensions");
  const int64_t rank = a.RankOf(0);
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= rank) return Invalid("axis ", axis, " of a tensor of rank ", rank);
  }
  std::vector<Expr> x, inits;
  for (size_t i = 0; i < n; ++i) {
    // What is reduced is of the body's types.
    const DType t =
        body->inputs()[i]->dtype() == DType::kUndefined ? a.dtype(i) : body->inputs()[i]->dtype();
    x.push_back(a.in(i).To(t));
    inits.push_back(a.in(n + i).To(t));
  }
  if (axes.empty()) {
    // Each element is reduced by itself, with `init`.
    Values results;
    std::vector<Expr> wide;
    for (size_t i = 0; i < n; ++i) wide.push_back(Expand(inits[i], ShapeOf(x[i])));
    for (const Expr& result : CombineBy(a, *body)(wide, x)) results.push_back(result);
    return results;
  }
  if (std::optional<Values> found = AsArgReduction(a, *body, x, inits, axes)) return *found;
  std::vector<Expr> known;
  for (size_t i = 0; i < n; ++i) {
    const std::string_view op = KnownBody(*body, i);
    std::optional<Expr> reduced = op.empty() ? std::nullopt : ReducedBy(op, x[i], axes);
    if (!reduced) break;
    // An empty maximum is not the same everywhere.
    known.push_back(IsNeutral(op, inits[i]) ? *reduced : Combined(op, inits[i], *reduced));
  }
  if (known.size() < n) known = Folded(a, *body, x, inits, axes);
  return Values(known.begin(), known.end());
}

}  // namespace

X2IR_STABLEHLO(reduce_sum).From("reduce", FromReduce);

}  // namespace x2ir
