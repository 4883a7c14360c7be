#include "x2ir/core/import_step.h"

#include "x2ir/core/driver_internal.h"

namespace x2ir {

class ImportStep::Impl : public Driver {
 public:
  Impl(Model& model, const std::string& dialect)
      : Driver(model, dialect, no_progress_, no_report_) {}

  absl::StatusOr<std::vector<Value*>> Convert(Node* node) {
    const auto [it, fresh] = forms_.try_emplace(node->op());
    if (fresh) it->second = FindImportForm(dialect_, node->op(), 1);
    const Form* form = it->second;
    if (!form) return Unimplemented("no mapping to IR");
    Builder builder(*node->graph(), node);
    for (const Value* output : node->outputs()) {
      if (!output) continue;
      builder.set_name_hint(output->name());
      break;
    }
    Rewrite r{*node, builder, dialect_, 1};
    absl::StatusOr<Values> values = Try(
        [&](Rewrite& rewrite) -> absl::StatusOr<Values> {
          X2IR_ASSIGN_OR_RETURN(Values results, RunImport(*form, rewrite));
          for (size_t i = 0; i < node->num_outputs() && i < results.size(); ++i) {
            const Value* output = node->output(i);
            if (!output || !results[i] || output->dtype() == DType::kUndefined) continue;
            const DType given = results[i]->dtype();
            if (given == DType::kUndefined || given == output->dtype()) continue;
            return Invalid("the result is ", Name(given), ", not ", Name(output->dtype()));
          }
          return results;
        },
        r);
    if (!values.ok()) return values.status();
    std::vector<Value*> replaced = Splice(node, *values, builder, node_names_);
    ObserveRewrite(*form, builder.made());
    return replaced;
  }

 private:
  inline static const ProgressFn no_progress_{};
  Report no_report_;
  absl::flat_hash_map<Symbol, const Form*> forms_;
};

ImportStep::ImportStep(Model& model, const std::string& dialect)
    : impl_(std::make_unique<Impl>(model, dialect)) {}
ImportStep::~ImportStep() = default;

absl::StatusOr<std::vector<Value*>> ImportStep::Convert(Node* node) { return impl_->Convert(node); }

}  // namespace x2ir
