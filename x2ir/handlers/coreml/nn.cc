#include "x2ir/handlers/coreml/nn.h"

#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

NnArgs::NnArgs(Rewrite& r) : NodeReader(r) {
  names_ = StringList(coreml::kWeightNames);
  count_ = num_inputs() - std::min(names_.size(), num_inputs());
}

Expr NnArgs::X(size_t i) {
  if (i >= count_) {
    Fail(Invalid("operand ", i, " is missing"));
    return nullptr;
  }
  return in(i);
}

std::vector<Value*> NnArgs::all(size_t from) {
  std::vector<Value*> values;
  for (size_t i = from; i < count_; ++i) values.push_back(X(i));
  return values;
}

Expr NnArgs::Whole(size_t i) { return X(i).To(DType::kInt64); }
Expr NnArgs::Holds(size_t i) { return IsTrue(X(i)); }

absl::StatusOr<std::vector<int64_t>> NnArgs::Known(size_t i, std::string_view what) {
  const auto known = x2ir::KnownInts(Whole(i));
  if (!known) return Unimplemented("a computed ", what);
  return *known;
}

Expr NnArgs::Weights(std::string_view path, const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] != path) continue;
    const Value* operand = in(count_ + i);
    const Tensor* tensor = operand->fixed_constant();
    if (!tensor) {
      Fail(Invalid("weights ", path, " are no constant"));
      return nullptr;
    }
    if (dims.empty()) return in(count_ + i).To(DType::kFloat32);
    int64_t elements = 1;
    for (const int64_t dim : dims) {
      if (dim < 0 || (dim > 0 && elements > tensor->num_elements() / dim + 1)) elements = -1;
      if (elements >= 0) elements *= dim;
      if (elements < 0) break;
    }
    if (elements != tensor->num_elements()) {
      Fail(Invalid("weights ", path, " have ", tensor->num_elements(), " elements"));
      return nullptr;
    }
    const Expr shaped = {b(), b().Constant(tensor->Reshaped(dims), operand->name())};
    return shaped.To(DType::kFloat32);
  }
  return nullptr;
}

Expr NnArgs::NeedWeights(std::string_view path, const std::vector<int64_t>& dims) {
  const Expr weights = Weights(path, dims);
  if (!weights.value()) Fail(Invalid("weights ", path, " are missing"));
  return weights;
}

int64_t NnArgs::Int(Symbol name, int64_t fallback) {
  const int64_t number = NodeReader::Int(name, 0);
  return number == 0 ? fallback : number;
}

double NnArgs::Number(Symbol name, double fallback) {
  const Attribute* attr = attrs().Find(name);
  const double* wide = attr ? attr->get<double>() : nullptr;
  if (wide) Ignore(name);
  const double number = wide ? *wide : NodeReader::Float(name, 0);
  return number == 0 ? fallback : number;
}

std::vector<int64_t> NnArgs::List(Symbol name, std::vector<int64_t> fallback) {
  std::vector<int64_t> list = IntList(name, {});
  return list.empty() ? fallback : list;
}

std::string NnArgs::Enum(Symbol name, std::string_view first) { return String(name, first); }

bool NnArgs::Given(std::string_view path) {
  if (std::find(names_.begin(), names_.end(), path) != names_.end()) return true;
  const std::string inner = StrCat(path, ".");
  bool given = false;
  for (const std::string& name : names_) given |= name.compare(0, inner.size(), inner) == 0;
  for (const auto& [name, attr] : attrs()) {
    const std::string_view text = name.view();
    if (text == path) {
      Ignore(name);
      given = true;
    }
    given |= text.substr(0, inner.size()) == inner;
  }
  return given;
}

Expr OnImages(NnArgs& a, const Expr& x, const std::function<Expr(const Expr&)>& fn) {
  const int64_t rank = x.rank();
  a.Require(rank >= 3, StrCat("images of rank ", rank));
  if (rank == 4) return fn(x);
  if (rank == 3) return Squeeze(fn(Unsqueeze(x, {0})), {0});
  const Expr y = fn(FlattenFront(x, rank - 3));
  std::vector<Size> sizes = SizesAt(x, 0, rank - 3);
  for (const Size& size : SizesAt(y, 1, 4)) sizes.push_back(size);
  return ReshapeTo(y, sizes);
}

Expr AsNumber(const Expr& x) { return x.To(DType::kFloat32); }

Expr AtLeastOneAxis(const Expr& x) {
  return x.value()->shape() && x.rank() == 0 ? Reshape(x, {1}) : x;
}

std::vector<int64_t> BordersOf(NnArgs& a, std::string_view path) {
  const std::string at = StrCat(path, ".borderAmounts.");
  const std::vector<int64_t> begins = a.List(Symbol(StrCat(at, "startEdgeSize")), {0, 0}),
                             ends = a.List(Symbol(StrCat(at, "endEdgeSize")), {0, 0});
  a.Given(path);
  a.Given(StrCat(path, ".borderAmounts"));
  a.Require(begins.size() == 2 && ends.size() == 2, "borders of other axes");
  return {begins[0], ends[0], begins[1], ends[1]};
}

}  // namespace x2ir
