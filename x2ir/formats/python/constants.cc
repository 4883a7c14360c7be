// What calls make of constants by moving their elements: weights in the order that PyTorch's layers
// have them.
#include <algorithm>
#include <cstring>

#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {
namespace {

constexpr int kMaxMoves = 256;  // that make one constant
constexpr std::string_view kMoves[] = {
    "aten::permute.default",   "aten::reshape.default", "aten::select.int",
    "aten::slice.Tensor",      "aten::cat.default",     "aten::split_with_sizes.default",
    "aten::unsqueeze.default", "aten::squeeze.dims",    "aten::clone.default",
    "aten::stack.default",     "aten::squeeze.default", "aten::flatten.using_ints"};

size_t BytesPerElement(const Tensor& t) { return static_cast<size_t>(BitWidth(t.dtype())) / 8; }

std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Elements of `from` at a place and with strides of their own, in a new tensor of these dims.
Tensor Strided(const Tensor& from, const std::vector<int64_t>& dims,
               const std::vector<int64_t>& strides, int64_t offset) {
  Tensor to = Tensor::Zeros(from.dtype(), dims);
  const size_t width = BytesPerElement(from);
  std::byte* out = to.mutable_bytes().data();
  const std::byte* in = from.bytes().data();
  std::vector<int64_t> at(dims.size(), 0);
  int64_t place = offset;
  for (int64_t n = 0; n < to.num_elements(); ++n) {
    std::memcpy(out, in + static_cast<size_t>(place) * width, width);
    out += width;
    for (size_t i = dims.size(); i-- > 0;) {
      place += strides[i];
      if (++at[i] < dims[i]) break;
      place -= strides[i] * dims[i];
      at[i] = 0;
    }
  }
  return to;
}

std::optional<size_t> AxisOf(int64_t axis, const Tensor& x) {
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis >= x.rank()) return std::nullopt;
  return static_cast<size_t>(axis);
}

Tensor Range(const Tensor& x, size_t axis, int64_t begin, int64_t end) {
  std::vector<int64_t> dims = x.dims();
  const std::vector<int64_t> strides = StridesOf(dims);
  dims[axis] = end - begin;
  return Strided(x, dims, strides, begin * strides[axis]);
}

std::optional<Tensor> Joined(const std::vector<Tensor>& parts, int64_t dim) {
  const auto axis = AxisOf(dim, parts[0]);
  if (!axis) return std::nullopt;
  std::vector<int64_t> dims = parts[0].dims();
  dims[*axis] = 0;
  for (const Tensor& part : parts) {
    if (part.dtype() != parts[0].dtype() || part.rank() != parts[0].rank()) return std::nullopt;
    dims[*axis] += part.dims()[*axis];
  }
  Tensor to = Tensor::Zeros(parts[0].dtype(), dims);
  std::byte* out = to.mutable_bytes().data();
  int64_t outer = 1;
  for (size_t i = 0; i < *axis; ++i) outer *= dims[i];
  for (int64_t n = 0; n < outer; ++n) {
    for (const Tensor& part : parts) {
      const size_t bytes = part.nbytes() / static_cast<size_t>(outer);
      std::memcpy(out, part.bytes().data() + static_cast<size_t>(n) * bytes, bytes);
      out += bytes;
    }
  }
  return to;
}

std::optional<Tensor> Move(const Call& call, const Value* value) {
  if (call.op == "aten::cat.default" || call.op == "aten::stack.default") {
    const Argument* tensors = call.Find("tensors");
    std::vector<Tensor> parts;
    for (const Item& item : tensors->items) {
      const Operand* operand = std::get_if<Operand>(&item);
      auto part = operand ? MovedConstant(operand->value) : std::nullopt;
      if (!part) return std::nullopt;
      if (call.op == "aten::stack.default") {
        std::vector<int64_t> dims = part->dims();
        const int64_t axis = call.Int("dim", 0);
        if (axis < 0 || axis > part->rank()) return std::nullopt;
        dims.insert(dims.begin() + axis, 1);
        part = part->Reshaped(dims);
      }
      parts.push_back(*std::move(part));
    }
    if (parts.empty()) return std::nullopt;
    return Joined(parts, call.Int("dim", 0));
  }
  const auto x = MovedConstant(call.Tensor("self"));
  if (!x) return std::nullopt;
  if (call.op == "aten::permute.default") {
    const std::vector<int64_t> perm = call.Ints("dims"), strides = StridesOf(x->dims());
    if (perm.size() != x->dims().size()) return std::nullopt;
    std::vector<int64_t> dims, moved;
    for (const int64_t axis : perm) {
      const auto i = AxisOf(axis, *x);
      if (!i) return std::nullopt;
      dims.push_back(x->dims()[*i]);
      moved.push_back(strides[*i]);
    }
    return Strided(*x, dims, moved, 0);
  }
  const int64_t dim = call.Int("dim", 0);
  if (call.op == "aten::select.int" || call.op == "aten::slice.Tensor" ||
      call.op == "aten::split_with_sizes.default") {
    const auto axis = AxisOf(dim, *x);
    if (!axis) return std::nullopt;
    const int64_t size = x->dims()[*axis];
    const auto bound = [&](int64_t i) {
      return std::clamp(i < 0 ? i + size : i, int64_t{0}, size);
    };
    if (call.op == "aten::select.int") {
      int64_t at = call.Int("index", size);
      if (at < 0) at += size;
      if (at < 0 || at >= size) return std::nullopt;
      std::vector<int64_t> dims = x->dims();
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(*axis));
      return Range(*x, *axis, at, at + 1).Reshaped(dims);
    }
    if (call.op == "aten::slice.Tensor") {
      if (call.Int("step", 1) != 1) return std::nullopt;
      const int64_t begin = bound(call.Int("start", 0));
      return Range(*x, *axis, begin, std::max(begin, bound(call.Int("end", size))));
    }
    const std::vector<int64_t> sizes = call.Ints("split_sizes");
    int64_t begin = 0;
    for (size_t i = 0; i < value->output_index() && i < sizes.size(); ++i) begin += sizes[i];
    if (value->output_index() >= sizes.size()) return std::nullopt;
    const int64_t end = begin + sizes[value->output_index()];
    if (end > size) return std::nullopt;
    return Range(*x, *axis, begin, end);
  }
  // The same elements under another shape.
  const auto dims = value->shape() ? value->shape()->Static() : std::nullopt;
  const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
  if (!count || *count != x->num_elements()) return std::nullopt;
  return x->Reshaped(*dims);
}

bool IsPlain(const Tensor* tensor) {
  return tensor && !tensor->is_string() && !tensor->is_sparse() && BitWidth(tensor->dtype()) >= 8;
}

}  // namespace

namespace {

// `budget`: how many calls may still be looked at.
bool IsMoved(const Value* value, int& budget) {
  if (!value || --budget < 0) return false;
  if (const Tensor* tensor = value->fixed_constant()) return IsPlain(tensor);
  const Node* node = value->producer();
  if (!node || node->num_inputs() == 0 ||
      std::find(std::begin(kMoves), std::end(kMoves), node->op().view()) == std::end(kMoves)) {
    return false;
  }
  for (size_t i = 0; i < node->num_inputs(); ++i) {
    if (!IsMoved(node->input(i), budget)) return false;
  }
  return true;
}

}  // namespace

bool IsMovedConstant(const Value* value) {
  int budget = kMaxMoves;
  return IsMoved(value, budget);
}

bool IsZero(const Value* value) {
  if (!value) return false;
  if (const Tensor* tensor = value->fixed_constant()) {
    const auto bytes = tensor->bytes();
    return IsPlain(tensor) && bytes.size() <= (1 << 20) &&
           std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  const Node* node = value->producer();
  return node && node->op() == "aten::expand.default" && node->num_inputs() > 0 &&
         node->input(0)->fixed_constant() && IsZero(node->input(0));
}

std::optional<Tensor> MovedConstant(const Value* value) {
  if (!value) return std::nullopt;
  if (const Tensor* tensor = value->fixed_constant()) {
    return IsPlain(tensor) ? std::optional(*tensor) : std::nullopt;
  }
  if (!IsMovedConstant(value)) return std::nullopt;
  const auto call = ReadCall(*value->producer());
  if (!call.ok()) return std::nullopt;
  return Move(*call, value);
}

}  // namespace x2ir::python
