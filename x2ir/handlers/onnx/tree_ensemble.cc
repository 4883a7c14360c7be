// ONNX: ensembles of decision trees, domain ai.onnx.ml.
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

// A list of floats, or from version 3 on a tensor of doubles whose name ends in "_as_tensor".
// The IR has the one tensor.
class FloatsOrTensor : public LensImpl {
 public:
  explicit FloatsOrTensor(std::string_view name) : name_(name), tensor_(name_ + "_as_tensor") {}

  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> floats = draft.TakeAttr(name_);
    const std::optional<Attribute> tensor = draft.TakeAttr(tensor_);
    const auto* list = floats ? floats->get<Attribute::Floats>() : nullptr;
    const auto* dense = tensor ? tensor->get<Tensor>() : nullptr;
    if ((floats && !list) || (tensor && !dense)) {
      return Invalid("attribute '", name_, "' is of another kind");
    }
    const bool both = list && !list->empty() && dense && dense->num_elements() > 0;
    if (both) return Invalid("both ", name_, " and ", tensor_, " are given");
    if (list && !list->empty()) {
      draft.SetAttr(name_, Tensor::Of<float>({static_cast<int64_t>(list->size())}, *list));
    } else if (dense && dense->num_elements() > 0) {
      if (dense->dtype() != DType::kFloat32 && dense->dtype() != DType::kFloat64) {
        return Invalid(tensor_, ": expected float64, got ", Name(dense->dtype()));
      }
      if (dense->rank() != 1) return Invalid(tensor_, ": expected rank 1, got ", dense->rank());
      draft.SetAttr(name_, *dense);
    }
    return absl::OkStatus();
  }

  absl::Status Export(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    const Tensor* tensor = attr->get<Tensor>();
    if (!tensor) return Invalid("attribute '", name_, "' is no tensor");
    X2IR_ASSIGN_OR_RETURN(Tensor dense, tensor->ToDense());
    if (dense.dtype() == DType::kFloat32) {
      dense = dense.AlignedCopyIfNeeded();
      const auto values = dense.span<float>();
      draft.SetAttr(name_, Attribute::Floats(values.begin(), values.end()));
    } else if (draft.opset() >= 3) {
      draft.SetAttr(tensor_, std::move(dense));
    } else {
      return CannotExpress("attribute '", name_, "' of type ", Name(dense.dtype()),
                           "; version 3 of ai.onnx.ml has it");
    }
    return absl::OkStatus();
  }

  // The versions before the third have no tensors; these lists do not depend on the version.
  Strings IrAttrs() const override { return {name_}; }
  Strings ForeignAttrs() const override { return {name_, tensor_}; }

 private:
  std::string name_, tensor_;
};

Lens Floats(std::string_view name) { return std::make_shared<FloatsOrTensor>(name); }

X2IR_ONNX(tree_ensemble_regressor)
    .Is("ai.onnx.ml::TreeEnsembleRegressor", In(1, 4), Floats("base_values"),
        Floats("nodes_hitrates"), Floats("nodes_values"), Floats("target_weights"));
X2IR_ONNX(tree_ensemble_classifier)
    .Is("ai.onnx.ml::TreeEnsembleClassifier", In(1, 4), Floats("base_values"),
        Floats("nodes_hitrates"), Floats("nodes_values"), Floats("class_weights"));

// --- TreeEnsemble ---------------------------------------------------------------------------

// Its enumerations are numbers; the position is the number.
const Strings& Modes() {
  static const auto* names = new Strings{"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};
  return *names;
}
const Strings& AggregateFunctions() {
  static const auto* names = new Strings{"AVERAGE", "SUM", "MIN", "MAX"};
  return *names;
}
const Strings& PostTransforms() {
  static const auto* names = new Strings{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  return *names;
}

absl::StatusOr<std::string> NameAt(const Strings& names, int64_t number, std::string_view attr) {
  if (number >= 0 && number < static_cast<int64_t>(names.size())) return names[number];
  return Invalid(attr, ": ", number);
}

absl::StatusOr<int64_t> NumberOf(const Strings& names, const std::string& name,
                                 std::string_view attr) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<int64_t>(i);
  }
  return Invalid(attr, ": '", name, "'");
}

absl::StatusOr<Values> FromTreeEnsemble(Rewrite& r) {
  AttributeMap attrs = r.attrs();
  X2IR_ASSIGN_OR_RETURN(
      std::string aggregate,
      NameAt(AggregateFunctions(), attrs.Int("aggregate_function", 1), "aggregate_function"));
  X2IR_ASSIGN_OR_RETURN(std::string transform,
                        NameAt(PostTransforms(), attrs.Int("post_transform", 0), "post_transform"));
  const Attribute* attr = attrs.Find("nodes_modes");
  const Tensor* numbers = attr ? attr->get<Tensor>() : nullptr;
  if (!numbers || numbers->dtype() != DType::kUInt8 || numbers->rank() != 1) {
    return Invalid("nodes_modes: expected uint8 of rank 1");
  }
  X2IR_ASSIGN_OR_RETURN(const Tensor dense, numbers->ToDense());
  Strings modes;
  for (int64_t i = 0; i < dense.num_elements(); ++i) {
    X2IR_ASSIGN_OR_RETURN(std::string mode, NameAt(Modes(), dense.AsInt(i), "nodes_modes"));
    modes.push_back(std::move(mode));
  }
  attrs.Set("aggregate_function", std::move(aggregate));
  attrs.Set("post_transform", std::move(transform));
  attrs.Set("nodes_modes", std::move(modes));
  return Values{r.b.Op("tree_ensemble", {r.in(0)}, std::move(attrs))};
}

absl::StatusOr<Values> ToTreeEnsemble(Rewrite& r) {
  AttributeMap attrs = r.attrs();
  X2IR_ASSIGN_OR_RETURN(
      const int64_t aggregate,
      NumberOf(AggregateFunctions(), attrs.String("aggregate_function"), "aggregate_function"));
  X2IR_ASSIGN_OR_RETURN(
      const int64_t transform,
      NumberOf(PostTransforms(), attrs.String("post_transform"), "post_transform"));
  std::vector<uint8_t> modes;
  for (const std::string& name : *attrs.Find("nodes_modes")->get<Strings>()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t mode, NumberOf(Modes(), name, "nodes_modes"));
    modes.push_back(static_cast<uint8_t>(mode));
  }
  attrs.Set("nodes_modes", Tensor::Of<uint8_t>({static_cast<int64_t>(modes.size())}, modes));
  attrs.Erase("aggregate_function");
  attrs.Erase("post_transform");
  if (aggregate != 1) attrs.Set("aggregate_function", aggregate);
  if (transform != 0) attrs.Set("post_transform", transform);
  return r.b.Node(r.dialect, "ai.onnx.ml::TreeEnsemble", {r.in(0)}, std::move(attrs), {true});
}

X2IR_ONNX(tree_ensemble)
    .Is("ai.onnx.ml::TreeEnsemble", Since(5), Code{FromTreeEnsemble, ToTreeEnsemble});

}  // namespace
}  // namespace x2ir
