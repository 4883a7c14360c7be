#include "x2ir/builder/node_reader.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

// --- Operands -----------------------------------------------------------------------------------

size_t NodeReader::SpatialAxes() const {
  const std::string_view name = op();
  for (size_t i = 1; i < name.size(); ++i) {
    const char axes = name[i - 1];
    if (axes >= '1' && axes <= '3' && (name[i] == 'd' || name[i] == 'D')) {
      return static_cast<size_t>(axes - '0');
    }
  }
  return 2;
}

Expr NodeReader::in(size_t i) {
  if (!has(i)) Fail(Invalid("operand ", i, " is missing"));
  return {b(), node().input(i)};
}

std::vector<Value*> NodeReader::inputs(size_t from) const {
  std::vector<Value*> values = node().inputs();
  values.erase(values.begin(),
               values.begin() + static_cast<ptrdiff_t>(std::min(from, values.size())));
  return values;
}

absl::StatusOr<int64_t> NodeReader::Rank(size_t i) {
  in(i);
  if (rank(i) < 0) return Unimplemented("operand ", i, " is of unknown rank");
  return rank(i);
}

std::optional<std::vector<int64_t>> NodeReader::Ints(size_t i) const {
  // Frozen variables are read through an identity.
  const Value* value = node().input(i);
  while (value && !value->constant() && value->producer() && value->producer()->Is("identity")) {
    value = value->producer()->input(0);
  }
  return x2ir::KnownInts(value);
}

absl::StatusOr<std::vector<int64_t>> NodeReader::KnownInts(size_t i, std::string_view what) {
  in(i);
  std::optional<std::vector<int64_t>> ints = Ints(i);
  if (!ints) return Unimplemented("operand ", i, " (", what, ") is computed; expected a constant");
  return *std::move(ints);
}

absl::StatusOr<int64_t> NodeReader::KnownInt(size_t i, std::string_view what) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, KnownInts(i, what));
  if (ints.size() != 1) return Invalid("operand ", i, " (", what, "): expected one number");
  return ints[0];
}

// --- Attributes ---------------------------------------------------------------------------------

template <typename T>
const T* NodeReader::Take(Symbol name, std::string_view kind) {
  taken_.insert(name);
  const Attribute* attr = attrs().Find(name);
  const T* value = attr ? attr->get<T>() : nullptr;
  if (attr && !value) {
    Fail(Invalid("attribute '", name.view(), "': expected ", kind, ", got ", attr->ToString()));
  }
  return value;
}

template <typename T>
const T* NodeReader::TakeList(Symbol name, std::string_view kind) {
  const Attribute* attr = attrs().Find(name);
  const auto* ints = attr ? attr->get<Attribute::Ints>() : nullptr;
  if (!ints || !ints->empty()) return Take<T>(name, kind);
  static const T* const empty = new T;
  taken_.insert(name);
  return empty;
}

int64_t NodeReader::Int(Symbol name, int64_t fallback) {
  const auto* value = Take<int64_t>(name, "a number");
  return value ? *value : fallback;
}

float NodeReader::Float(Symbol name, float fallback) {
  const auto* value = Take<float>(name, "a float");
  return value ? *value : fallback;
}

std::string NodeReader::String(Symbol name, std::string_view fallback) {
  const auto* value = Take<std::string>(name, "a string");
  return value ? *value : std::string(fallback);
}

DType NodeReader::Type(Symbol name, DType fallback) {
  const auto* value = Take<x2ir::Type>(name, "a type");
  if (!value) return fallback;
  if (!value->is_tensor() || value->dtype() == DType::kUndefined) {
    Fail(Unimplemented(
        "attribute '", name.view(), "' is ",
        value->kind() == x2ir::Type::kOpaque ? value->opaque_name() : value->ToString(),
        ", which has no counterpart"));
  }
  return value->dtype();
}

std::vector<int64_t> NodeReader::IntList(Symbol name, std::vector<int64_t> fallback) {
  const auto* value = Take<Attribute::Ints>(name, "a list of numbers");
  return value ? *value : std::move(fallback);
}

std::vector<float> NodeReader::FloatList(Symbol name, std::vector<float> fallback) {
  const auto* value = TakeList<Attribute::Floats>(name, "a list of floats");
  return value ? *value : std::move(fallback);
}

std::vector<std::string> NodeReader::StringList(Symbol name) {
  const auto* value = TakeList<Attribute::Strings>(name, "a list of strings");
  return value ? *value : Attribute::Strings();
}

std::vector<DType> NodeReader::TypeList(Symbol name) {
  const auto* value = TakeList<std::vector<x2ir::Type>>(name, "a list of types");
  std::vector<DType> types;
  if (value) {
    for (const x2ir::Type& type : *value) types.push_back(type.dtype());
  }
  return types;
}

std::optional<Shape> NodeReader::ShapeAttr(Symbol name) {
  const auto* value = Take<x2ir::Type>(name, "a shape");
  if (!value || !value->shape()) return std::nullopt;
  return *value->shape();
}

std::shared_ptr<Graph> NodeReader::SubGraph(Symbol name) {
  const auto* value = Take<Attribute::GraphPtr>(name, "a function");
  if (!value) Fail(Invalid("attribute '", name.view(), "' is missing"));
  return *value;
}

std::vector<std::shared_ptr<Graph>> NodeReader::SubGraphs(Symbol name) {
  const auto* value = TakeList<std::vector<Attribute::GraphPtr>>(name, "a list of functions");
  return value ? *value : std::vector<Attribute::GraphPtr>();
}

int64_t NodeReader::RankOf(size_t i) {
  Require(in(i)->shape() != nullptr, "an operand of unknown rank");
  return rank(i);
}
int64_t NodeReader::AxisOf(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) Fail(Invalid("axis ", axis, " of a tensor of rank ", rank));
  return axis < 0 ? axis + rank : axis;
}
Expr NodeReader::Op(Symbol op, Builder::Operands operands, AttributeMap attrs) {
  return {b(), b().Op(op, operands, std::move(attrs))};
}

Values NodeReader::Fail(absl::Status status) {
  b().Fail(std::move(status));
  return {};
}

void NodeReader::Require(bool holds, std::string_view what) {
  if (!holds) Fail(Unimplemented(what));
}

void NodeReader::IgnoreAll(bool (*which)(std::string_view name)) {
  for (const auto& [name, attr] : attrs()) {
    if (which(name.view())) Ignore(name);
  }
}

absl::Status NodeReader::CheckAllTaken() const {
  for (const auto& [name, attr] : attrs()) {
    if (!IsTaken(name)) {
      return Unimplemented("attribute '", name.view(), "' = ", attr.ToString(), " is not known");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> ReadNode(Rewrite& r, const std::function<absl::StatusOr<Values>()>& form) {
  absl::StatusOr<Values> values = Values();
  r.b.set_stops(true);
  try {
    values = form();
  } catch (const Builder::Stopped&) {
  }
  r.b.set_stops(false);
  X2IR_RETURN_IF_ERROR(r.b.status());
  X2IR_RETURN_IF_ERROR(values.status());
  const size_t count = r.num_outputs();
  if (values->size() < count) {
    return Invalid("the op has ", values->size(), " outputs, but output ", count - 1, " is used");
  }
  for (size_t i = 0; i < count; ++i) {
    if (r.node.output(i) && !(*values)[i]) {
      return Unimplemented("output ", i, " is used, which has no counterpart");
    }
  }
  values->resize(count);
  return values;
}

}  // namespace x2ir
