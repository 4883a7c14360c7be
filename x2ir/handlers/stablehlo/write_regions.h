// Regions that are written, as graphs of the IR, which are converted in turn.
#ifndef X2IR_HANDLERS_STABLEHLO_WRITE_REGIONS_H_
#define X2IR_HANDLERS_STABLEHLO_WRITE_REGIONS_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

// A region over arguments of these types.
using RegionBody = std::function<std::vector<Expr>(const std::vector<Expr>& arguments)>;
absl::StatusOr<std::shared_ptr<Graph>> RegionOf(const std::vector<Type>& arguments,
                                                const RegionBody& body);

// A region of two numbers of that type: their sum ("add"), product ("multiply"), "maximum",
// "minimum", or the second one ("second"). Of bools it is logic.
absl::StatusOr<std::shared_ptr<Graph>> BodyOf(std::string_view op, DType t);

// What a reduction by it starts with: of a sum 0, as everyone has it.
Expr InitOf(Builder& b, std::string_view op, DType t);

// A tensor reduced along axes, which are gone, by an operation of BodyOf.
absl::StatusOr<Value*> ReduceHlo(StablehloWriter& w, Value* x, std::string_view op,
                                 const std::vector<int64_t>& axes);

// Windows of these sizes that move over x in steps of 1, each combined by an operation of BodyOf
// that starts with `init`. The result has the type of x. `padding`: the begin and the end of each
// axis.
absl::StatusOr<Value*> SlideHlo(StablehloWriter& w, Value* x, Value* init, std::string_view op,
                                const std::vector<int64_t>& window,
                                const std::vector<int64_t>& padding);

// The type of x without these axes, or with other sizes.
Type WithoutAxes(const Type& x, const std::vector<int64_t>& axes);
Type WithDims(const Type& x, std::vector<Dim> dims);

// 0, 1, ... along an axis of a tensor of the sizes of `like`.
Value* IotaHlo(StablehloWriter& w, DType t, const Expr& like, int64_t axis);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_WRITE_REGIONS_H_
