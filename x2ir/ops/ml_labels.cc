// Ops that replace labels: label_encoder and category_mapper.
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// For each element of x its position in `keys`, or -1; of a key that is there twice, the first
// (or the last). NaN is found as NaN, and -0 as 0.
absl::StatusOr<std::vector<int64_t>> Positions(const Tensor& x, const Tensor& keys, bool last) {
  if (x.dtype() != keys.dtype()) {
    return Invalid("keys are of type ", Name(keys.dtype()), ", the operand of ", Name(x.dtype()));
  }
  std::vector<int64_t> positions(x.num_elements(), -1);
  auto look_up = [&](auto key_at, auto value_at) {
    using Key = decltype(key_at(int64_t{}));
    absl::flat_hash_map<Key, int64_t> table;
    int64_t nan = -1;
    auto is_nan = [](const Key& key) {
      if constexpr (std::is_floating_point_v<Key>) return std::isnan(key);
      return false;
    };
    for (int64_t i = 0; i < keys.num_elements(); ++i) {
      int64_t& position = is_nan(key_at(i)) ? nan : table.try_emplace(key_at(i), -1).first->second;
      if (last || position < 0) position = i;
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      const Key value = value_at(static_cast<int64_t>(i));
      if (is_nan(value)) {
        positions[i] = nan;
      } else if (auto it = table.find(value); it != table.end()) {
        positions[i] = it->second;
      }
    }
  };
  if (x.is_string()) {
    auto at = [](const Tensor& t) { return [&t](int64_t i) { return t.strings()[i]; }; };
    look_up(at(keys), at(x));
    return positions;
  }
  X2IR_RETURN_IF_ERROR(DispatchReal(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> key_numbers(keys), numbers(x);
    look_up([&](int64_t i) { return key_numbers[i]; }, [&](int64_t i) { return numbers[i]; });
    return absl::OkStatus();
  }));
  return positions;
}

// values[p] for each position, `otherwise` (one element of the same type) for -1.
Tensor Pick(const Tensor& values, const Tensor& otherwise, absl::Span<const int64_t> positions,
            const std::vector<int64_t>& dims) {
  const Cells from(values), other(otherwise);
  CellsOut out(values.dtype(), dims);
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    for (size_t i = 0; i < positions.size(); ++i) {
      out.as<C>()[i] = positions[i] < 0 ? other.as<C>()[0] : from.as<C>()[positions[i]];
    }
  });
  return out.Finish();
}

// --- label_encoder --------------------------------------------------------------------------

struct Encoding {
  Tensor keys, values, otherwise;
};

absl::StatusOr<Encoding> EncodingOf(const AttributeMap& attrs) {
  Encoding e;
  for (auto [tensor, name] : {std::pair(&e.keys, "keys"), std::pair(&e.values, "values"),
                              std::pair(&e.otherwise, "default")}) {
    X2IR_ASSIGN_OR_RETURN(const Tensor dense, attrs.Find(name)->get<Tensor>()->ToDense());
    *tensor = dense.AlignedCopyIfNeeded();
  }
  if (e.keys.num_elements() != e.values.num_elements()) {
    return Invalid(e.keys.num_elements(), " keys for ", e.values.num_elements(), " values");
  }
  if (e.otherwise.num_elements() != 1 || e.otherwise.dtype() != e.values.dtype()) {
    return Invalid("the default must be one ", Name(e.values.dtype()), ", got ",
                   e.otherwise.type().ToString());
  }
  return e;
}

absl::Status InferLabelEncoder(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Encoding e, EncodingOf(ctx.attrs()));
  if (ctx.dtype(0) != DType::kUndefined && ctx.dtype(0) != e.keys.dtype()) {
    return Invalid("keys are of type ", Name(e.keys.dtype()), ", the operand of ",
                   Name(ctx.dtype(0)));
  }
  Type type = ctx.type(0).is_tensor() ? ctx.type(0) : Type::Tensor(e.values.dtype());
  type.set_dtype(e.values.dtype());
  return ctx.Return(std::move(type));
}

absl::Status EvalLabelEncoder(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Encoding e, EncodingOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> positions,
                        Positions(ctx.input(0), e.keys, /*last=*/false));
  X2IR_RETURN_IF_ERROR(CheckAllocation(e.values.dtype(), ctx.dims(0)));
  return ctx.Return(Pick(e.values, e.otherwise, positions, ctx.dims(0)));
}

X2IR_OP(label_encoder)
    .Signature("x -> y")
    .Attrs("keys: tensor, values: tensor, default: tensor")
    .Functions(InferLabelEncoder, EvalLabelEncoder)
    .With(ClassicOp)
    .Doc(
        "Each element replaced by the value of the (first) equal key, or by the default. NaN "
        "equals NaN.");

// --- category_mapper ------------------------------------------------------------------------

absl::Status CheckMapper(const AttributeMap& attrs, DType dtype) {
  const size_t strings = ListAttr<std::string>(attrs, "cats_strings").size();
  const size_t ints = ListAttr<int64_t>(attrs, "cats_int64s").size();
  if (strings != ints && strings != 0 && ints != 0) {
    return Invalid(strings, " cats_strings for ", ints, " cats_int64s");
  }
  if (dtype == DType::kUndefined || dtype == DType::kString || dtype == DType::kInt64) {
    return absl::OkStatus();
  }
  return Invalid("expected strings or int64, got ", Name(dtype));
}

absl::Status InferMapper(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckMapper(ctx.attrs(), ctx.dtype(0)));
  Type type = ctx.type(0).is_tensor() ? ctx.type(0) : Type::Tensor(DType::kUndefined);
  type.set_dtype(ctx.dtype(0) == DType::kUndefined ? DType::kUndefined
                 : ctx.dtype(0) == DType::kString  ? DType::kInt64
                                                   : DType::kString);
  return ctx.Return(std::move(type));
}

absl::Status EvalMapper(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckMapper(ctx.attrs(), x.dtype()));
  const auto& strings = ListAttr<std::string>(ctx.attrs(), "cats_strings");
  const auto& ints = ListAttr<int64_t>(ctx.attrs(), "cats_int64s");
  if (strings.size() != ints.size()) {
    return Invalid(strings.size(), " cats_strings for ", ints.size(), " cats_int64s");
  }
  const std::vector<int64_t> dims = {static_cast<int64_t>(ints.size())};
  const Tensor names = Tensor::Strings(dims, strings), numbers = Tensor::Of<int64_t>(dims, ints);
  const Tensor& keys = x.is_string() ? names : numbers;
  const Tensor& values = x.is_string() ? numbers : names;
  const Tensor otherwise = x.is_string()
                               ? Tensor::Scalar<int64_t>(ctx.attrs().Int("default_int64"))
                               : Tensor::Strings({}, {ctx.attrs().String("default_string")});
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> positions, Positions(x, keys, /*last=*/true));
  X2IR_RETURN_IF_ERROR(CheckAllocation(values.dtype(), x.dims()));
  return ctx.Return(Pick(values, otherwise, positions, x.dims()));
}

X2IR_OP(category_mapper)
    .Signature("x -> y")
    .Attrs(
        "cats_int64s: ints?, cats_strings: strings?, default_int64 = -1, default_string = "
        "'_Unused'")
    .Functions(InferMapper, EvalMapper)
    .Opaque()
    .Doc(
        "Strings replaced by the integer at the same place of the two lists, integers by the "
        "string; by the default where there is none. Of one that is there twice the last counts.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
