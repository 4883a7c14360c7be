#include "x2ir/handlers/ncnn/ncnn.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/ncnn/ncnn.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = ncnn::kDialect, .layout = "channels_first"});

}  // namespace

NcnnArgs::NcnnArgs(Rewrite& r) : NodeReader(r) {
  const auto all = static_cast<int64_t>(num_inputs());
  num_bottoms_ =
      static_cast<size_t>(std::clamp(NodeReader::Int(ncnn::kBottoms, all), int64_t{0}, all));
  bits_ = NodeReader::Int(ncnn::kBits, 0) != 0;
}

Expr NcnnArgs::weights(size_t i) {
  if (i >= num_weights()) Fail(Invalid("weights ", i, " of it are missing"));
  return in(num_bottoms_ + i).To(DType::kFloat32);
}

int64_t NcnnArgs::AxisOf(int64_t axis) { return NodeReader::AxisOf(axis, RankOf() - 1) + 1; }

int64_t NcnnArgs::Int(int64_t id, int64_t fallback) {
  const Symbol name(StrCat(id));
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* number = attr->get<int64_t>()) return *number;
  const auto* real = attr->get<float>();
  if (!real || !(std::fabs(*real) < 1e9f) || *real != std::floor(*real)) {
    Fail(Invalid("parameter ", id, " is no integer"));
    return fallback;
  }
  return static_cast<int64_t>(*real);
}

double NcnnArgs::Float(int64_t id, double fallback) {
  const Symbol name(StrCat(id));
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return fallback;
  if (const auto* real = attr->get<float>()) return *real;
  const auto* number = attr->get<int64_t>();
  if (!number) Fail(Invalid("parameter ", id, " is no number"));
  if (!number) return fallback;
  return bits_ ? static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(*number)))
               : static_cast<double>(*number);
}

std::vector<int64_t> NcnnArgs::Ints(int64_t id) {
  const Symbol name(StrCat(id));
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  if (!attr) return {};
  if (const auto* numbers = attr->get<Attribute::Ints>()) return *numbers;
  Fail(Invalid("parameter ", id, " is no list of integers"));
  return {};
}

std::vector<double> NcnnArgs::Floats(int64_t id) {
  const Symbol name(StrCat(id));
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  std::vector<double> list;
  if (!attr) return list;
  if (const auto* numbers = attr->get<Attribute::Floats>()) {
    list.assign(numbers->begin(), numbers->end());
  } else if (const auto* ints = attr->get<Attribute::Ints>()) {
    for (const int64_t n : *ints) {
      list.push_back(bits_ ? static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(n)))
                           : static_cast<double>(n));
    }
  } else {
    Fail(Invalid("parameter ", id, " is no list"));
  }
  return list;
}

void NcnnArgs::Drop(std::initializer_list<int64_t> ids) {
  for (const int64_t id : ids) Ignore(Symbol(StrCat(id)));
}

absl::Status NcnnDialect::Finish(NcnnArgs& args) {
  args.Drop({30, 31});  // shapes of results, which tools note
  return args.CheckAllTaken();
}

Expr NcnnQuantized(const Expr& x, const Expr& scale) {
  const Expr y = x * scale;
  const Expr whole = Sign(y) * RoundHalfUp(Abs(y));
  return Clip(whole, y.Number(-127), y.Number(127));
}

NcnnSteps NcnnQuantizedOver(const Expr& x, const std::vector<int64_t>& axes) {
  const Expr most = Reduce(Abs(x), "reduce_max", axes, true);
  const Expr scale = Where(most == 0.0, 1.0, 127.0 / most);
  return {NcnnQuantized(x, scale), scale};
}

absl::StatusOr<Expr> NcnnActivated(NcnnArgs& a, const Expr& x, int64_t id) {
  const int64_t kind = a.Int(id, 0);
  const std::vector<double> params = a.Floats(id + 1);
  const size_t needed = kind == 2 ? 1 : kind == 3 || kind == 6 ? 2 : 0;
  if (params.size() < needed) return Invalid("activation ", kind, " without its numbers");
  switch (kind) {
    case 0: return x;
    case 1: return x.Op("relu");
    case 2: return x.Op("leaky_relu", {}, {{"alpha", static_cast<float>(params[0])}});
    case 3: return Clip(x, x.Number(params[0]), x.Number(params[1]));
    case 4: return x.Op("sigmoid");
    case 5: return x.Op("mish");
    case 6: return x * Clip(Shifted(Scaled(x, params[0]), params[1]), x.Number(0), x.Number(1));
    default: return Unimplemented("activation ", kind);
  }
}

}  // namespace x2ir
