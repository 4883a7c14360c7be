#include "x2ir/formats/stablehlo/checks.h"

#include <string_view>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

std::string_view TargetOf(const mlir::Op& op) {
  const mlir::Attr* target = op.Find("call_target_name");
  return target == nullptr ? std::string_view() : std::string_view(target->s);
}

double NumberOf(const mlir::Attr* attr, double fallback) {
  if (attr == nullptr) return fallback;
  if (attr->kind == mlir::Attr::kTensor && attr->tensor.num_elements() == 1) {
    return attr->tensor.AsDouble(0);
  }
  return attr->kind == mlir::Attr::kFloat ? attr->f : static_cast<double>(attr->i);
}

uint64_t Ulps(const mlir::Attr* attr, uint64_t fallback) {
  return attr == nullptr ? fallback : static_cast<uint64_t>(attr->i);
}

// An attribute of the operation, or of a custom call's configuration.
const mlir::Attr* Setting(const mlir::Op& op, Symbol name) {
  if (const mlir::Attr* attr = op.Find(name)) return attr;
  for (const char* dictionary : {"backend_config", "check.config"}) {
    const mlir::Attr* config = op.Find(dictionary);
    if (config == nullptr) continue;
    if (const mlir::Attr* attr = config->Find(name)) return attr;
  }
  return nullptr;
}

}  // namespace

bool IsCheckCall(const mlir::Op& op) {
  return op.name == "stablehlo.custom_call" && TargetOf(op).starts_with("check.");
}

absl::Status CheckReader::Add(const mlir::Op& op, const std::vector<Value*>& operands,
                              Graph& graph) {
  const std::string_view name = IsCheckCall(op) ? TargetOf(op) : op.name.view();
  ResultCheck check;
  check.line = op.line;
  // Calls allow more than the operations of the same name: what the project's interpreter allows.
  const bool is_call = IsCheckCall(op);
  const bool of_floats =
      !operands.empty() && !IsInteger(operands[0]->dtype()) && operands[0]->dtype() != DType::kBool;
  if (name == "check.expect_eq" || name == "check.expect_eq_const" ||
      (name == "check.eq" && !of_floats)) {
    check.kind = ResultCheck::kEqual;
  } else if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const" ||
             name == "check.eq") {
    check.kind = ResultCheck::kNear;
    const bool loose = is_call && name == "check.expect_almost_eq";
    check.tolerance = NumberOf(Setting(op, "tolerance"), loose ? 1e-3 : 1e-4);
  } else if (name == "check.expect_close") {
    check.kind = ResultCheck::kClose;
    check.min_ulps = Ulps(Setting(op, "min_ulp_difference"), 0);
    check.max_ulps = Ulps(Setting(op, "max_ulp_difference"), is_call ? 3 : 1);
  } else {
    return Unimplemented("this check is not known");
  }
  std::vector<Value*> pair = operands;
  if (const mlir::Attr* value = op.Find("value"); value != nullptr && pair.size() == 1) {
    if (value->kind != mlir::Attr::kTensor) return Unimplemented("its value is no tensor of ours");
    Tensor tensor = value->tensor;
    if (value->splat) {  // compared with every element
      const auto dims =
          value->type->type.shape() ? value->type->type.shape()->Static() : std::nullopt;
      const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
      if (!count || *count > (int64_t{1} << 24)) return Invalid("its value is too large");
      X2IR_ASSIGN_OR_RETURN(tensor, mlir::ExpandSplat(tensor, *dims));
    }
    pair.push_back(graph.AddConstant(graph.UniqueName("expected"), std::move(tensor)));
  }
  if (pair.size() != 2) return Invalid("a check compares two values");
  check.actual = values_.size();
  check.expected = values_.size() + 1;
  values_.insert(values_.end(), pair.begin(), pair.end());
  checks_.push_back(check);
  return absl::OkStatus();
}

void CheckReader::StoreIn(Model& model) {
  if (left_out_ != 0) StoreChecksLeftOut(model, left_out_);
  if (checks_.empty()) return;
  const size_t first = model.graph->outputs().size() - values_.size();
  for (ResultCheck& check : checks_) {
    check.actual += first;
    check.expected += first;
  }
  StoreChecks(model, checks_);
}

}  // namespace stablehlo
}  // namespace x2ir
