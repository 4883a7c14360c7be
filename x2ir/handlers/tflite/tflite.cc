// What handlers of TFLite's operators share.
#include "x2ir/handlers/tflite/tflite.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/handlers/tflite/finish.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/prepare.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered = RegisterDialect({.name = std::string(tflite::kDialect),
                                                           .layout = "channels_last",
                                                           .holds_any_ops = false,
                                                           .check = CheckTfliteNode,
                                                           .after_read = PrepareTflite,
                                                           .before_passes = ReadyForTflite,
                                                           .before_write = FinishTflite});

// The default of an operator's attribute, where it has such a one.
std::optional<Attribute> DefaultOf(std::string_view op, std::string_view attr) {
  const tflite::Options* options = tflite::OptionsOf(op);
  if (!options) return std::nullopt;
  for (const tflite::Field& field : options->fields) {
    if (field.name == attr) return tflite::DefaultOf(field);
  }
  return std::nullopt;
}

class OtherOptionsLens : public LensImpl {
 public:
  explicit OtherOptionsLens(std::string_view op) : op_(op) {}
  absl::Status Import(Draft& draft) const override {
    for (const auto& [name, attr] : draft.node().attrs()) {
      if (draft.IsTaken(name) || draft.def().FindAttr(name)) continue;
      if (IsMeaninglessTfliteAttr(name.view()) || DefaultOf(op_, name.view()) == attr) {
        draft.TakeAttr(name);
      }
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    for (const auto& [name, attr] : draft.node().attrs()) {
      if (draft.IsTaken(name)) continue;
      if (const auto fallback = DefaultOf(op_, name.view())) {
        // The IR's default is not the option's.
        if (*fallback != attr) draft.SetAttr(name, attr);
        draft.TakeAttr(name);
        continue;
      }
      const AttrDef* own = draft.def().FindAttr(name);
      if (!own || !own->default_value || *own->default_value != attr) {
        return CannotExpress("attribute '", name.str(), "' = ", attr.ToString(),
                             " cannot be expressed by ", op_);
      }
      draft.TakeAttr(name);
    }
    return absl::OkStatus();
  }

 private:
  const std::string op_;
};

}  // namespace

Lens TfliteDialect::OtherAttributes(std::string_view op) {
  return std::make_shared<OtherOptionsLens>(op);
}

bool IsMeaninglessTfliteAttr(std::string_view name) {
  static constexpr std::string_view kNames[] = {"asymmetric_quantize_inputs",
                                                "pot_scale_int16",
                                                "quantized_bias_type",
                                                "num_splits",
                                                "values_count",
                                                "validate_indices",
                                                "in_data_type"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

DType TfliteArgs::TensorType(Symbol name, DType fallback) {
  const std::string text = String(name, "");
  if (text.empty()) return fallback;
  const DType type = tflite::ToDType(text);
  Require(type != DType::kUndefined, StrCat("type ", text));
  return type;
}

absl::Status TfliteDialect::Finish(TfliteArgs& args) {
  for (const auto& [name, attr] : args.attrs()) {
    if (IsMeaninglessTfliteAttr(name.view()) || DefaultOf(args.op(), name.view()) == attr) {
      args.Ignore(name);
    }
  }
  return args.CheckAllTaken();
}

// --- TensorFlow ----------------------------------------------------------------------------------

TfliteFn SameAsTf(std::string op, std::vector<std::string> names) {
  return [op = std::move(op), names = std::move(names)](TfliteArgs& a) -> absl::StatusOr<Values> {
    AttributeMap attrs;
    for (const std::string& name : names) {
      a.Ignore(name);
      if (const Attribute* attr = a.attrs().Find(name)) attrs.Set(name, *attr);
    }
    return AsTf(a, op, a.inputs(), std::move(attrs));
  };
}

// --- Writing -------------------------------------------------------------------------------------

Values TfliteWriter::TfliteAll(std::string_view op, std::vector<Value*> operands,
                               AttributeMap attrs, const std::vector<bool>& wanted,
                               const std::vector<x2ir::Type>& results) {
  return Make(tflite::kDialect, op, std::move(operands), std::move(attrs), wanted, results);
}

Value* TfliteWriter::Tflite(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                            x2ir::Type result) {
  return TfliteAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

absl::Status TfliteWriter::TryOn(Node& made,
                                 const std::function<absl::StatusOr<Values>(TfliteWriter&)>& form) {
  Builder trial(*made.graph(), &made);
  Rewrite r{made, trial, r_.dialect, r_.opset, r_.target};
  TfliteWriter inner(r);
  absl::Status status = WriteNode(r, [&] { return form(inner); }).status();
  for (const Node* node : trial.made()) {
    if (!status.ok() || node->is_ir()) continue;
    if (const auto problems = CheckTfliteNode(*node); !problems.empty()) {
      status = CannotExpress(node->op().str(), ": ", problems[0]);
    }
  }
  trial.Rollback();
  return status;
}

}  // namespace x2ir
