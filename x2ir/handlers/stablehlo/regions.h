// What regions of StableHLO compute: bodies of reductions, comparators, updates of scatters. Their
// arguments are of rank 0; here a region is run on whole tensors at once, element by element, so
// that no graph is nested for it.
#ifndef X2IR_HANDLERS_STABLEHLO_REGIONS_H_
#define X2IR_HANDLERS_STABLEHLO_REGIONS_H_

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

// --- A region as it is --------------------------------------------------------------------------

// Fails unless the region has so many arguments, each of rank 0, and so many results.
void CheckRegion(StablehloArgs& a, const Graph& region, size_t arguments, size_t results);

// The operation that gives a value, "" for arguments and what comes from outside.
std::string_view OpOf(const Graph& region, const Value* value);
// Whether the value is that operation of arguments `first` and `second`, in this order, or in any
// where the operation commutes.
bool IsOf(const Graph& region, const Value* value, std::string_view op, const Value* first,
          const Value* second);

// The operation of arguments i and i + n that gives result i of n: "add", "multiply", "minimum",
// "maximum", "and", "or", "xor", "subtract"; "first" or "second", where it is an argument itself;
// "" for any other body.
std::string_view KnownBody(const Graph& region, size_t i = 0);

// --- A region of whole tensors ------------------------------------------------------------------

// The region's results for arguments of one shape (or of rank 0). Fails for operations that are
// not by element.
std::vector<Expr> RunRegion(StablehloArgs& a, const Graph& region,
                            const std::vector<Expr>& arguments);
// The values of the region that are asked for.
std::vector<Expr> RunRegionTo(StablehloArgs& a, const Graph& region,
                              const std::vector<Expr>& arguments,
                              absl::Span<const Value* const> wanted);

// The region as a function of two lists of operands of equal length.
using Combine =
    std::function<std::vector<Expr>(const std::vector<Expr>& x, const std::vector<Expr>& y)>;
Combine CombineBy(StablehloArgs& a, const Graph& region);

// --- Identities ---------------------------------------------------------------------------------

// Whether a value is known to be what the operation of KnownBody leaves other operands as they are
// with: 0 of "add", the least number of "maximum".
bool IsNeutral(std::string_view op, const Value* value);
// That number, rank 0.
Expr NeutralOf(Builder& b, std::string_view op, DType t);
// The operation by element.
Expr Combined(std::string_view op, const Expr& x, const Expr& y);

// --- Complex numbers in loops -------------------------------------------------------------------

// Nested graphs hold no complex numbers: what a loop carries is their parts.
std::vector<Expr> PartsOf(const std::vector<Expr>& values);
std::vector<Expr> FromParts(const std::vector<Expr>& parts, const std::vector<DType>& types);

// Round by round: x = body(i, x), where body gives the next values.
std::vector<Expr> Repeat(
    const Expr& count, const std::vector<Expr>& first,
    const std::function<std::vector<Expr>(const Expr& i, const std::vector<Expr>& carried)>& body);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_REGIONS_H_
