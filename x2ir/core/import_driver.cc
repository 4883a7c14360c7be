// The conversion driver, from a dialect to IR.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "x2ir/core/composites.h"
#include "x2ir/core/driver_internal.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/complex_parts.h"

namespace x2ir {
namespace {

std::atomic<RewriteObserver> g_observer = nullptr;

class Importer : public Driver {
 public:
  Importer(Model& model, const std::string& dialect, const ForeignPolicy& policy,
           bool keep_functions, const ProgressFn& progress, Report& report)
      : Driver(model, dialect, progress, report),
        policy_(policy),
        keep_functions_(keep_functions),
        is_composite_(policy.target == dialect ? FindComposites(dialect) : nullptr),
        keep_as_they_are_(keep_functions && FunctionsStayAsTheyAre(dialect, policy.target)),
        instances_(model) {}

  absl::Status Run() {
    X2IR_RETURN_IF_ERROR(functions_.Check());
    Run(*model_.graph);
    X2IR_RETURN_IF_ERROR(CheckCancelled());
    if (!keep_functions_) {
      model_.functions = functions_.UsedBy(*model_.graph);
    } else if (!keep_as_they_are_) {
      model_.functions = instances_.UsedBy(*model_.graph);
      WarnOfInlined(instances_.inlined(), report_);
      return CheckCallTypes(model_);
    }
    return absl::OkStatus();
  }

 private:
  void Run(Graph& graph, bool keep_interface = false) {
    NameApart(graph, keep_interface);
    for (Node* node : graph.nodes()) {
      if (cancelled_) return;
      Visit(graph, node);
    }
  }

  void Visit(Graph& graph, Node* node) {
    ++report_.nodes_read;
    if (node->is_ir()) {  // a mixed graph: infer it, so that types flow on
      const Types declared = node->has_subgraphs() ? TypesOf(*node) : Types();
      if (absl::Status s = InferNode(*node); !s.ok()) Fail(*node, s);
      if (node->has_subgraphs()) Settle({node}, declared);
      return;
    }
    Tick();
    ConvertOrInline(graph, node);
  }

  void ConvertOrInline(Graph& graph, Node* node) {
    const Function* function = node->dialect() == dialect_ ? functions_.Called(*node) : nullptr;
    if (!function) {
      Convert(graph, node);
    } else {
      // Graphs that are handed over are of the caller's opsets.
      for (Graph* inner : node->subgraphs()) Run(*inner);
      if (keep_as_they_are_) {
        ++CountOf(node->op()).foreign;
      } else if (!keep_functions_ || !KeepCall(node, *function)) {
        Inline(graph, node, *function, NameOf(*node).empty() ? function->name : NameOf(*node));
      }
    }
  }

  // The call becomes one of an instance of the function, which is converted if it is new. False:
  // the call was not changed, and is to be inlined.
  bool KeepCall(Node* node, const Function& function) {
    // A conversion that fails fails with what all calls are, inlined.
    if (!report_.failures.empty()) return false;
    if (node->has_subgraphs()) {
      instances_.NoteInlined(function, "it is handed graphs that use values of its caller");
      return false;
    }
    const Symbol op = node->op();
    const auto [instance, fresh] = instances_.Of(function, *node);
    if (fresh) {
      const std::string why = ConvertInstance(function, *instance->function->body);
      if (why.empty()) {
        instances_.Keep(*instance);
      } else {
        instances_.GiveUp(*instance, function, why);
      }
    }
    if (!instance->function || cancelled_) return false;
    ++CountOf(op).foreign;
    instances_.Replace(node, *instance);
    return true;
  }

  // `body`: a call of the function alone. Gives why it cannot be an instance; empty: it is one.
  std::string ConvertInstance(const Function& function, Graph& body) {
    Inline(body, body.first(), function, "");
    if (cancelled_) return "";
    std::string why;
    if (!report_.failures.empty()) {
      const Failure& failure = report_.failures[0];
      why = StrCat(failure.op, ": ", failure.reason);
      // Inlined, it may be converted; else that says what is wrong.
      report_.ClearFailures();
      hinted_.clear();
      return why;
    }
    const auto is_complex = [](const Value* value) { return IsComplex(value->dtype()); };
    const auto is_unknown = [](const Value* value) { return !value->type().is_known(); };
    const auto &inputs = body.inputs(), &outputs = body.outputs();
    if (std::any_of(inputs.begin(), inputs.end(), is_complex) ||
        std::any_of(outputs.begin(), outputs.end(), is_complex)) {
      return "it takes or gives complex numbers";
    }
    if (std::any_of(outputs.begin(), outputs.end(), is_unknown)) {
      return "the type of a result is not known";
    }
    return std::string(SplitComplexNumbers(body).message());
  }

  // `name`: the beginning of names inside.
  void Inline(Graph& graph, Node* node, const Function& function, const std::string& name) {
    OpCount& count = CountOf(node->op());
    absl::StatusOr<std::vector<Node*>> body = BodyOf(function, node, name);
    if (!body.ok()) {
      if (Allowed(node->op()) && KeepAtModelsOpset(node->op(), OpsetOf(node->op(), *scope_)).ok()) {
        ++count.foreign;
      } else {
        Fail(*node, body.status());
      }
      return;
    }
    ++count.mapped;
    for (Node* made : *body) {
      if (!made->name().empty()) made->set_name(node_names_.Unique(NameInside(name, made->name())));
    }
    Scope* const caller = scope_;
    std::unique_ptr<Scope>& scope = scopes_[&function];
    if (!scope) scope.reset(new Scope{&function.opset_imports, {}, {}, function.name});
    scope_ = scope.get();
    for (Node* made : *body) Visit(graph, made);
    scope_ = caller;
  }

  absl::StatusOr<std::vector<Node*>> BodyOf(const Function& function, Node* call,
                                            const std::string& name) {
    for (const OpsetImport& import : function.opset_imports) {
      const bool is_default = import.domain.empty() || import.domain == "ai.onnx";
      if (is_default && known_ && known_->schema && import.version > known_->latest_opset) {
        return Unimplemented("the function is of opset ", import.version, " of ", known_->name,
                             "; the newest that is known is ", known_->latest_opset);
      }
    }
    return functions_.Inline(function, call, name);
  }

  using Types = std::vector<std::pair<const Value*, Type>>;
  static Types TypesOf(const Node& node) {
    Types types;
    for (const Value* output : node.outputs()) {
      if (output) types.emplace_back(output, output->type());
    }
    return types;
  }

  // A node comes before its nested graphs: inference of what it became tells their inputs' types.
  // When they are converted it tells what they give, and the first guess is forgotten.
  void Settle(const std::vector<Node*>& made, const Types& declared) {
    const auto declared_type = [&](const Value* output) {  // `declared` may name what is gone
      auto it = std::find_if(declared.begin(), declared.end(),
                             [&](const auto& entry) { return entry.first == output; });
      return it == declared.end() ? Type() : it->second;
    };
    for (Node* node : made) {
      if (!node->is_ir()) {  // out of a nested graph that was inlined in the node's place
        ConvertOrInline(*node->graph(), node);
        continue;
      }
      absl::Status status = RunNested(node, [&] {
        for (Value* output : node->outputs()) {
          if (output) output->set_type(declared_type(output));
        }
        return InferNode(*node);
      });
      for (const Value* output : node->outputs()) {
        if (!status.ok() || !output) continue;
        status = CheckDeclared(*output, declared_type(output).dtype(), output->dtype());
      }
      if (!status.ok()) Fail(*node, status);
    }
  }
  // Nested graphs, and then the node again. What a loop carries has no known type before its body
  // is converted; where ops hang on the types of operands, those of the first round are tried. If
  // the body does not keep them, a copy is converted with what all rounds are known to have in
  // common, and if it does not keep that, one that knows nothing.
  template <typename Infer>
  absl::Status RunNested(Node* node, const Infer& infer) {
    std::vector<std::pair<size_t, Type>> tried;
    if (node->Is("loop") && !HasSchemas()) {
      const Graph& body = *node->subgraphs()[0];
      for (size_t i = 2; i < node->num_inputs() && i < body.inputs().size(); ++i) {
        const Value* input = body.inputs()[i];
        const Value* first = node->input(i);
        if (!first || !first->shape() || !input->type().is_tensor() || input->shape()) continue;
        tried.emplace_back(i, first->type());
      }
    }
    constexpr int kMaxTries = 2;
    for (int attempt = 0; attempt < kMaxTries && !tried.empty(); ++attempt) {
      Graph& body = *node->subgraphs()[0];
      const std::shared_ptr<Graph> copy = body.Clone();
      for (const auto& [i, type] : tried) body.inputs()[i]->set_type(type);
      for (Graph* inner : node->subgraphs()) Run(*inner);
      const absl::Status status = infer();
      bool kept = status.ok();
      for (auto& [i, type] : tried) {
        const Type& found = body.inputs()[i]->type();
        kept = kept && found == type;
        type = found;
      }
      if (kept) return status;
      node->SetAttr("body", copy);
      if (!status.ok()) break;
    }
    for (Graph* inner : node->subgraphs()) Run(*inner);
    return infer();
  }

  bool HasSchemas() const { return !known_ || (known_->schema && !known_->reads_without_schemas); }

  static bool NeedSettling(const std::vector<Node*>& made) {
    return std::any_of(made.begin(), made.end(),
                       [](const Node* node) { return node->has_subgraphs() || !node->is_ir(); });
  }

  void Convert(Graph& graph, Node* node) {
    const Symbol op = node->op();
    const int imported = OpsetOf(op, *scope_);
    const int opset = imported != 0 ? imported : VersionMeant(*node);
    OpCount& count = CountOf(op);
    KnownForm known;
    if (imported != 0) {
      auto [it, fresh] = scope_->forms.try_emplace(op);
      if (fresh) it->second = FormAt(op, opset);
      known = it->second;
    } else if (opset != 0) {
      known = {FindImportForm(dialect_, op, opset), SchemaOf(op, opset)};
    }
    const auto [form, schema] = known;
    absl::Status status;
    if (node->dialect() != dialect_) {
      status = Unimplemented("is a foreign op of ", node->dialect().str());
    } else if (const auto [domain, name] = SplitOp(op.view());
               domain == kIrDomain && FindOp(name)) {
      // An IR op that an export kept as it was (see Exporter::Fail).
      node->set_op(kIrDialect, name);
      const Types declared = TypesOf(*node);
      status = InferNode(*node);
      if (status.ok()) {
        ++count.mapped;
        if (node->has_subgraphs()) Settle({node}, declared);
        return;
      }
      node->set_op(dialect_, op);
    } else if (!form) {
      status = Missing(op, opset);
    } else if (schema && ConvertInPlace(*node, *form, *schema)) {
      ++count.mapped;
      return;
    } else {
      Builder builder(graph, node);
      for (const Value* output : node->outputs()) {
        if (output) {
          builder.set_name_hint(output->name());
          break;
        }
      }
      Rewrite r{*node, builder, dialect_, opset};
      auto values = Try(
          [&, schema = schema](Rewrite& rewrite) -> absl::StatusOr<Values> {
            DropUnknownAttrs(*node, schema);
            X2IR_RETURN_IF_ERROR(CheckSource(*node, schema));
            X2IR_ASSIGN_OR_RETURN(Values results, RunImport(*form, rewrite));
            X2IR_RETURN_IF_ERROR(CheckDeclared(*node, results));
            return results;
          },
          r);
      if (values.ok()) {
        ++count.mapped;
        if (is_composite_ && Stays(*node, *values, builder)) {
          for (size_t i = 0; i < node->num_outputs(); ++i) {
            if (Value* output = node->output(i)) output->set_type((*values)[i]->type());
          }
          builder.Rollback();
          return;
        }
        const bool nested = NeedSettling(builder.made());
        const Types declared = nested ? TypesOf(*node) : Types();
        Splice(node, *values, builder, node_names_);
        if (nested) Settle(builder.made(), declared);
        ObserveRewrite(*form, builder.made());
        return;
      }
      status = values.status();
      // Without schemas everything depends on the types of operands. The types of a failed node are
      // not known; the failure of this node gives no new information.
      const bool has_schemas = HasSchemas();
      if (!has_schemas && !Allowed(op) && !report_.failures.empty() && TakesForeign(*node)) return;
    }
    for (Graph* inner : node->subgraphs()) Run(*inner, /*keep_interface=*/true);
    if (Allowed(op)) {
      status = KeepAtModelsOpset(op, opset);
      if (status.ok() && imported == 0 && opset != 0) ImportVersion(op, opset);
      if (status.ok()) {
        ++count.foreign;
        return;
      }
    }
    Fail(*node, status);
  }

  static bool HoldsKnownSizes(const Value& value) {
    const std::vector<Dim>* elements = value.elements();
    return elements && std::any_of(elements->begin(), elements->end(),
                                   [](const Dim& element) { return !element.is_unknown(); });
  }

  // Whether the operator stays a node of the source, though its row made `values` of it. What
  // follows is converted by the types of results alone, so these must tell all that is known.
  bool Stays(const Node& node, const Values& values, const Builder& builder) const {
    if (node.has_subgraphs() || !is_composite_(node, builder.made().size())) return false;
    const auto is_plain = [](const Value* value) {
      return !value || (value->type().is_tensor() && value->dtype() != DType::kUndefined &&
                        !IsComplex(value->dtype()));
    };
    const std::vector<Value*> operands = node.inputs();
    if (!std::all_of(operands.begin(), operands.end(), is_plain)) return false;
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (!node.output(i)) continue;
      const Value* result = i < values.size() ? values[i] : nullptr;
      if (!result || !is_plain(result) || !result->shape()) return false;
      if (result->constant() || HoldsKnownSizes(*result)) return false;
    }
    return true;
  }

  KnownForm FormAt(Symbol op, int opset) {
    KnownForm known{nullptr, SchemaOf(op, opset)};
    if (!TooNew(op, opset)) known.form = FindImportForm(dialect_, op, opset);
    if (known.form) WarnBefore(op, opset);
    return known;
  }

  // Many rows only rename; then the node becomes an IR node in place, with the same result as
  // RunImport and Splice. False: the node needs RunImport and Splice and was not changed.
  bool ConvertInPlace(Node& node, const Form& form, const OpSchema& schema) {
    if (!MayRename(node) || !CheckSource(node, &schema).ok()) return false;
    std::optional<AttributeMap> attrs = PlainImport(form, node, schema);
    if (!attrs) return false;
    const Symbol op = node.op();
    Value* y = node.output(0);
    const Type declared = y->type();
    const AttributeMap before = ReplaceAttrs(node, *std::move(attrs));
    node.set_op(kIrDialect, form.ir_op);
    bool done = false;
    try {
      done = InferNode(node).ok();
    } catch (const NoSuchAttribute&) {
    }
    if (done && declared.is_tensor() && y->type().is_tensor()) {
      done = CheckDeclared(*y, declared.dtype(), y->dtype()).ok();
    }
    if (done) return true;
    node.set_op(dialect_, op);
    ReplaceAttrs(node, before);
    y->set_type(declared);
    y->clear_elements();
    return false;
  }

  // The version of an op whose domain is not imported, though its ops are known: runtimes take what
  // they have. Of ONNX's own it is the newest one that the node can be of, of others the oldest,
  // which is 1 mostly. 0: none.
  int VersionMeant(const Node& node) {
    if (!known_ || !known_->schema || node.dialect() != dialect_) return 0;
    const std::string_view domain = SplitOp(node.op().view()).first;
    std::vector<const OpSchema*> versions;
    if (known_->versions) versions = known_->versions(node.op());
    if (versions.empty()) {
      if (const OpSchema* schema = SchemaOf(node.op(), 1)) versions.push_back(schema);
    }
    int meant = 0;
    for (const OpSchema* version : versions) {
      if (version->deprecated || !CheckNode(node, *version).empty()) continue;
      if (meant == 0 || domain.empty()) meant = version->since;
    }
    // One that no version allows: the first says why.
    if (meant == 0 && !versions.empty()) meant = versions[0]->since;
    if (meant != 0) {
      WarnOnce(StrCat("the ", What(), " imports no opset of domain '", domain,
                      "'; its ops are read as of ",
                      domain.empty() ? "the newest opset" : "version 1",
                      " that has them; add an import of it"));
    }
    return meant;
  }

  // ONNX Runtime has some ops at opsets at which ONNX has none; their schemas are known to it
  // alone.
  void WarnBefore(Symbol op, int opset) {
    if (!known_ || !known_->versions) return;
    const std::vector<const OpSchema*> versions = known_->versions(op);
    if (versions.empty() || versions[0]->since <= opset) return;
    WarnOnce(StrCat(op.view(), " does not exist at opset ", opset, " of the ", What(),
                    "; it is read as ONNX Runtime reads it (in ", known_->name,
                    " it is there from opset ", versions[0]->since, " on)"));
  }

  void WarnOnce(std::string text) {
    for (const std::string& warning : report_.warnings) {
      if (warning == text) return;
    }
    report_.warnings.push_back(std::move(text));
  }
  std::string_view What() const { return scope_ == &model_scope_ ? "model" : "function"; }

  // What is kept of a domain that nothing imports needs an import to be written.
  void ImportVersion(Symbol op, int version) {
    model_.SetOpset(SplitOp(op.view()).first, version);
    model_scope_.opsets.clear();
  }

  static bool TakesForeign(const Node& node) {
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* input = node.input(i);
      if (input && input->producer() && !input->producer()->is_ir()) return true;
    }
    return false;
  }

  // A foreign op of a function's body is now in the model, where it has the same meaning only if
  // the model imports the same opset.
  absl::Status KeepAtModelsOpset(Symbol op, int opset) {
    if (scope_ == &model_scope_) return absl::OkStatus();
    const int of_model = OpsetOf(op);
    if (of_model == 0 && opset != 0) {
      model_.SetOpset(SplitOp(op.view()).first, opset);
      model_scope_.opsets.clear();
      return absl::OkStatus();
    }
    const OpSchema* schema = SchemaOf(op, opset);
    if (of_model == opset || (schema && schema == SchemaOf(op, of_model))) return absl::OkStatus();
    return CannotExpress("cannot be kept unchanged: it is in a function of opset ", opset,
                         ", and the model is of opset ", of_model);
  }

  // Attributes that runtimes do not mind.
  void DropUnknownAttrs(Node& node, const OpSchema* schema) {
    if (!schema || !schema->lenient) return;
    std::vector<Symbol> unknown;
    for (const auto& [name, attr] : node.attrs()) {
      if (!schema->FindAttr(name)) unknown.push_back(name);
    }
    for (const Symbol name : unknown) {
      WarnOnce(StrCat(node.op().view(), " has no attribute '", name.view(),
                      "'; runtimes ignore it, and it is dropped"));
      node.EraseAttr(name);
    }
  }

  // What the file has must be what its own opset allows.
  static absl::Status CheckSource(const Node& node, const OpSchema* schema) {
    for (const auto& [name, attr] : node.attrs()) {
      if (attr.kind() != AttrKind::kRef) continue;
      return Unimplemented("attribute '", name.str(),
                           "' refers to an attribute of an enclosing function");
    }
    if (!schema || schema->deprecated) return absl::OkStatus();
    const std::vector<std::string> problems = CheckNode(node, *schema);
    if (problems.empty()) return absl::OkStatus();
    return Invalid(problems[0]);
  }

  // The element type that the file declares for a result must be the one that it has.
  static absl::Status CheckDeclared(const Node& node, const Values& results) {
    for (size_t i = 0; i < node.num_outputs() && i < results.size(); ++i) {
      const Value* declared = node.output(i);
      if (!declared || !results[i] || !declared->type().is_tensor() ||
          !results[i]->type().is_tensor()) {
        continue;
      }
      X2IR_RETURN_IF_ERROR(CheckDeclared(*declared, declared->dtype(), results[i]->dtype()));
    }
    return absl::OkStatus();
  }
  static absl::Status CheckDeclared(const Value& output, DType declared, DType got) {
    if (declared == DType::kUndefined || got == DType::kUndefined || declared == got) {
      return absl::OkStatus();
    }
    return Invalid("output '", output.name(), "' is declared as ", Name(declared),
                   ", but the op gives ", Name(got));
  }

  // Of the default domain that was asked before.
  bool TooNew(Symbol op, int opset) const {
    const std::string_view domain = SplitOp(op.view()).first;
    const int newest = known_ ? DomainVersion(known_, domain, known_->latest_opset) : 0;
    return !domain.empty() && newest != 0 && opset > newest;
  }

  absl::Status Missing(Symbol op, int opset) const {
    const auto [domain, name] = SplitOp(op.view());
    if (TooNew(op, opset)) {
      return Unimplemented("the model is of version ", opset, " of ", domain,
                           "; the newest that is known is ",
                           DomainVersion(known_, domain, known_->latest_opset));
    }
    if (opset == 0) {
      return Unimplemented("the ", What(), " imports no opset of domain '", domain,
                           "'; add an opset_import of it with the version of its ops");
    }
    if (!known_ && !HasForms(dialect_)) return NoHandlers();
    if (!known_ || !known_->schema) return Unimplemented("no mapping to IR");
    const OpSchema* schema = SchemaOf(op, opset);
    if (schema && schema->deprecated) {
      return Invalid("is deprecated since opset ", schema->since, ", the ", What(), " is of opset ",
                     opset);
    }
    if (schema) {
      for (int later = opset + 1; later <= known_->latest_opset; ++later) {
        if (FindImportForm(dialect_, op, later)) {
          return Unimplemented("no mapping to IR at opset ", opset, "; there is one from opset ",
                               later, " on");
        }
      }
      return Unimplemented("no mapping to IR at opset ", opset);
    }
    const auto versions = known_->versions ? known_->versions(op) : std::vector<const OpSchema*>();
    if (!versions.empty()) {
      return Invalid("does not exist at opset ", opset, "; it does from opset ", versions[0]->since,
                     " on");
    }
    return domain.empty() ? Unimplemented("there is no such op in ", dialect_.str())
                          : Unimplemented("no mapping to IR");
  }

  bool Allowed(Symbol op) const {
    if (policy_.all) return true;
    const std::string_view domain = SplitOp(op.view()).first;
    return std::find(policy_.domains.begin(), policy_.domains.end(), domain) !=
           policy_.domains.end();
  }

  void Fail(const Node& node, const absl::Status& status) {
    const std::string op = QualifiedOp(node);
    std::string hint;
    const std::string_view domain = SplitOp(node.op().view()).first;
    if (!domain.empty() && node.dialect() == dialect_) {
      const Dialect* target = FindDialect(policy_.target);
      if (policy_.target.empty() || policy_.target == dialect_.view()) {
        hint = StrCat(OptionText("foreign"), " ", domain, " keeps it unchanged");
      } else if (!target || target->holds_any_ops) {
        hint = StrCat(OptionText("continue_on_error"), " writes it unchanged, as an op that no ",
                      "runtime of ", policy_.target, " supports");
      }
    } else {
      hint = WhatHelps(op, node, {status.message().data(), status.message().size()});
    }
    report_.AddFailure(op, NameOf(node),
                       scope_ == &model_scope_
                           ? status
                           : Annotate(status, StrCat("in function '", scope_->function, "'")),
                       hint);
  }

  OpCount& CountOf(Symbol op) {
    OpCount*& count = counts_[op];
    if (!count) count = &report_.ops[StrCat(dialect_.str(), ".", op.str())];
    return *count;
  }

  const ForeignPolicy& policy_;
  const bool keep_functions_;
  const IsCompositeFn is_composite_;  // null: no operator stays
  const bool keep_as_they_are_;       // functions stay in the source's dialect
  FunctionInstances instances_;
  Scope* scope_ = &model_scope_;  // of the node at hand
  absl::flat_hash_map<const Function*, std::unique_ptr<Scope>> scopes_;
  absl::flat_hash_map<Symbol, OpCount*> counts_;
};

}  // namespace

absl::Status RewriteToIr(Model& model, const std::string& dialect, const ForeignPolicy& policy,
                         bool keep_functions, const ProgressFn& progress, Report& report) {
  X2IR_RETURN_IF_ERROR(Driver::Check(model));
  return Importer(model, dialect, policy, keep_functions, progress, report).Run();
}

void ObserveRewrite(const Form& form, const std::vector<Node*>& made) {
  if (const RewriteObserver observe = g_observer.load(std::memory_order_relaxed)) {
    observe(form, made);
  }
}

void SetRewriteObserver(RewriteObserver observer) { g_observer = observer; }

}  // namespace x2ir
