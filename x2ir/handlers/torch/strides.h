// Where the elements of a program's tensors are in memory. PyTorch's metadata has that for every
// tensor; the reader of archives keeps it where it matters, as the attributes `self_strides` (the
// strides as the dims of a tensor type) and `self_offset` of the node that reads the tensor.
#ifndef X2IR_HANDLERS_TORCH_STRIDES_H_
#define X2IR_HANDLERS_TORCH_STRIDES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

inline constexpr std::string_view kSelfStrides = "self_strides", kSelfOffset = "self_offset",
                                  kSelfDevice = "self_device";

// The strides of operand 0; null where the program does not say them.
const Shape* SelfStrides(const Node& node);

// True or false where it is so in every run.
using Proof = std::optional<bool>;
// Whether elements are adjacent in memory, in the order of the axes. Strides of axes of size 1 do
// not matter.
Proof IsContiguous(const Shape& sizes, const Shape& strides);
// Whether a tensor can be seen under other sizes, of as many elements, without a copy.
Proof CanBeViewed(const Shape& sizes, const Shape& strides, const Shape& as);

// Of tensors whose elements are in memory in the order of the axes.
std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& sizes);
Shape ContiguousStrides(const Shape& sizes);
// The places offset + sum(i * stride) of the elements of a tensor, in order. As many strides as
// sizes.
std::vector<int64_t> PlacesOf(TorchCall& c, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& strides, int64_t offset);
// Elements of the call's argument `self`, by their numbers in the order of its axes, that a tensor
// of these sizes and strides over the same memory has; the offset is the call's argument
// `storage_offset`, or else self's own. Fail()s where the place of self is not known, or where
// memory is reached that is not self's.
std::vector<int64_t> ElementsAt(TorchCall& c, const Value* self, const std::vector<int64_t>& sizes,
                                const std::vector<int64_t>& strides);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_STRIDES_H_
