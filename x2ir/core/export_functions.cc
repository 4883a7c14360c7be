// Export's part of kept_functions.h: instances as functions of the target.
#include <algorithm>
#include <cctype>

#include "x2ir/core/derived_dialect.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/functions.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// What files of all targets take, as an identifier.
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    plain += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '_';
  }
  const bool begins_well =
      !plain.empty() && plain[0] != '.' && !std::isdigit(static_cast<unsigned char>(plain[0]));
  return begins_well ? plain : StrCat("_", plain);
}

class FunctionExport {
 public:
  FunctionExport(Model& model, const std::string& dialect, Report& report)
      : model_(model),
        report_(report),
        nodes_(DialectOfNodes(Symbol(dialect))),
        files_(FindFunctionFiles(dialect)),
        functions_(model) {}

  absl::Status Run(const std::function<absl::Status(Model& part)>& write,
                   std::string_view why_not) {
    if (!files_) why_not = "the target's files hold no functions";
    std::vector<const Function*> order;
    X2IR_RETURN_IF_ERROR(functions_.Check(&order));
    for (const auto& function : model_.functions) {
      if (IsInstance(*function)) continue;
      if (files_ && function->domain == files_->domain) names_.insert(function->name);
    }
    InlinedFunctions inlined;
    for (const Function* function : order) {
      if (IsInstance(*function) && !function->body) {
        return Invalid("function '", function->name, "' has no body");
      }
    }
    for (const Function* function : order) {
      if (!IsInstance(*function)) continue;
      X2IR_RETURN_IF_ERROR(Resolve(*function->body));
      X2IR_RETURN_IF_ERROR(function->body->Sort());
      Model part;
      absl::Status status;
      if (why_not.empty()) {
        part.graph = function->body->Clone();
        status = write(part);
      }
      if (absl::IsCancelled(status)) return status;
      if (!status.ok()) {
        inlined.emplace_back(function->name, std::string(status.message()));
      } else if (why_not.empty()) {
        Write(*function, std::move(part));
      }
    }
    X2IR_RETURN_IF_ERROR(Resolve(*model_.graph));
    for (auto& function : model_.functions) {
      if (const auto it = written_.find(function.get()); it != written_.end())
        function = it->second;
    }
    model_.functions.erase(
        std::remove_if(model_.functions.begin(), model_.functions.end(),
                       [](const auto& function) { return IsInstance(*function); }),
        model_.functions.end());
    WarnOfInlined(inlined, report_);
    if (!why_not.empty()) {
      report_.warnings.push_back(StrCat("all functions are inlined: ", why_not));
    }
    return absl::OkStatus();
  }

 private:
  void Write(const Function& function, Model part) {
    auto made = std::make_shared<Function>();
    made->domain = files_->domain;
    const std::string base = PlainName(function.name);
    made->name = base;
    for (int i = 1; !names_.insert(made->name).second; ++i) made->name = StrCat(base, "_", i);
    made->annotations.CopyFrom(function.annotations);
    made->opset_imports = std::move(part.opset_imports);
    made->body = std::move(part.graph);
    if (files_->any_types) ForgetTypes(*made->body);
    written_[&function] = std::move(made);
  }

  // Files of these dialects need not have the types of a function's values, and older ones cannot.
  static void ForgetTypes(Graph& body) {
    for (Value* input : body.inputs()) input->set_type(Type());
    for (Node* node : body.nodes()) {
      for (Value* output : node->outputs()) {
        if (output) output->set_type(Type());
      }
    }
  }

  // Calls of instances become calls of what is written of them, or are inlined.
  absl::Status Resolve(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(Resolve(*inner));
      const Annotations* notes = node->annotations().get();
      if (notes && notes->extra.contains(kMadeForTarget)) continue;
      const Function* function = functions_.Called(*node);
      if (!function || !IsInstance(*function)) continue;
      if (const auto it = written_.find(function); it != written_.end()) {
        X2IR_RETURN_IF_ERROR(CheckCallOf(*function, *node));
        node->set_op(nodes_, StrCat(it->second->domain, "::", it->second->name));
        node->annotations().GetOrMake().extra[kMadeForTarget] = "";
        ++report_.ops[node->op().str()].foreign;
        continue;
      }
      const std::string name = node->name().empty() ? function->name : node->name();
      X2IR_ASSIGN_OR_RETURN(const std::vector<Node*> body,
                            functions_.Inline(*function, node, name));
      for (Node* made : body) {
        if (!made->name().empty()) made->set_name(NameInside(name, made->name()));
      }
    }
    return absl::OkStatus();
  }

  Model& model_;
  Report& report_;
  const Symbol nodes_;
  const FunctionFiles* const files_;  // null: the target has none
  Functions functions_;               // as they were
  absl::flat_hash_map<const Function*, std::shared_ptr<Function>> written_;
  absl::flat_hash_set<std::string> names_ = {"main"};
};

}  // namespace

absl::Status ExportFunctions(Model& model, const std::string& dialect,
                             const std::function<absl::Status(Model& part)>& write,
                             std::string_view why_not, Report& report) {
  if (std::none_of(model.functions.begin(), model.functions.end(),
                   [](const auto& function) { return IsInstance(*function); })) {
    return absl::OkStatus();
  }
  return FunctionExport(model, dialect, report).Run(write, why_not);
}

}  // namespace x2ir
