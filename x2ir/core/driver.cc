// The conversion driver. One pass over the nodes; each costs what it costs.
#include "x2ir/core/driver.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/functions.h"
#include "x2ir/core/spec.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/retype.h"

namespace x2ir {
namespace {

// A lowering's result may need lowering itself, and so on; more than this is a loop.
constexpr int kMaxLoweringDepth = 16;
constexpr int64_t kProgressEvery = 4096;
// The domain of IR ops that stand in a model of another dialect.
constexpr std::string_view kIrDomain = "x2ir";

class Driver {
 public:
  Driver(Model& model, const std::string& dialect, const ProgressFn& progress, Report& report)
      : model_(model),
        dialect_(dialect),
        known_(FindDialect(dialect)),
        functions_(model),
        model_scope_{&model.opset_imports, {}, {}, ""},
        progress_(progress),
        total_(static_cast<int64_t>(model.graph->TotalNodes())),
        report_(report),
        node_names_(*model.graph) {}

 protected:
  // Where nodes come from, the model or one of its functions, says by the opsets that it imports
  // what they mean.
  struct Scope {
    const std::vector<OpsetImport>* imports;
    absl::flat_hash_map<Symbol, int> opsets;
    absl::flat_hash_map<Symbol, const Form*> forms;
    std::string function;  // its name; empty for the model
  };

  // The opset of the op's domain, as the scope imports it; 0 when it does not.
  static int OpsetOf(Symbol op, Scope& scope) {
    auto [it, fresh] = scope.opsets.try_emplace(op, 0);
    if (fresh) {
      const std::string_view domain = SplitOp(op.view()).first;
      for (const std::string_view name : {domain, std::string_view("ai.onnx")}) {
        for (const OpsetImport& import : *scope.imports) {
          if (import.domain == name && it->second == 0)
            it->second = static_cast<int>(import.version);
        }
        if (!domain.empty()) break;
      }
    }
    return it->second;
  }
  int OpsetOf(Symbol op) { return OpsetOf(op, model_scope_); }

  const OpSchema* SchemaOf(Symbol op, int opset) const {
    return known_ && known_->schema ? known_->schema(op, opset) : nullptr;
  }

  // Runs a handler; what it made is taken back when it fails.
  absl::StatusOr<Values> Try(const Handler& handler, Rewrite& r) {
    absl::StatusOr<Values> values = handler(r);
    if (values.ok() && !r.b.status().ok()) values = r.b.status();
    if (values.ok() && values->size() < r.node.num_outputs()) {
      values = Internal("the handler gives ", values->size(), " results; expected ",
                        r.node.num_outputs());
    }
    for (size_t i = 0; values.ok() && i < r.node.num_outputs(); ++i) {
      if (r.node.output(i) && !(*values)[i]) {
        values = Internal("the handler leaves out output ", i, ", which is used");
      }
    }
    if (!values.ok()) {
      r.b.Rollback();
      const_cast<Node&>(r.node).ReclaimSubgraphs();
    }
    return values;
  }

  // Values of a nested graph get names where they have none, and others where an outer value is
  // called the same: files say by name which one is meant.
  static void NameApart(Graph& graph) {
    const Graph* outer = graph.parent();
    if (!outer) return;
    const auto name = [&](Value* value) {
      if (!value || (!value->name().empty() && !outer->FindInScope(value->name()))) return;
      graph.Rename(value, graph.UniqueName(value->name()));
    };
    for (Value* input : graph.inputs()) name(input);
    for (Value* constant : graph.constants()) name(constant);
    for (Node* node : graph.nodes()) {
      for (Value* output : node->outputs()) name(output);
    }
  }

  void Tick() {
    if (progress_ && ++done_ % kProgressEvery == 0) progress_(done_, std::max(total_, done_));
  }

  static std::string NameOf(const Node& node) {
    if (!node.name().empty()) return node.name();
    for (const Value* output : node.outputs()) {
      if (output) return output->name();
    }
    return "";
  }

  Model& model_;
  const Symbol dialect_;
  const Dialect* const known_;
  Functions functions_;
  Scope model_scope_;
  const ProgressFn& progress_;
  int64_t done_ = 0;
  const int64_t total_;
  Report& report_;
  NodeNames node_names_;
};

// --- To IR ------------------------------------------------------------------------------

class Importer : public Driver {
 public:
  Importer(Model& model, const std::string& dialect, const ForeignPolicy& policy,
           bool keep_functions, const ProgressFn& progress, Report& report)
      : Driver(model, dialect, progress, report),
        policy_(policy),
        keep_functions_(keep_functions) {}

  absl::Status Run() {
    X2IR_RETURN_IF_ERROR(functions_.Check());
    Run(*model_.graph);
    if (!keep_functions_) model_.functions = functions_.UsedBy(*model_.graph);
    return absl::OkStatus();
  }

 private:
  void Run(Graph& graph) {
    NameApart(graph);
    for (Node* node : graph.nodes()) Visit(graph, node);
  }

  void Visit(Graph& graph, Node* node) {
    if (node->is_ir()) {  // a mixed graph: infer it, so that types flow on
      const Types declared = node->has_subgraphs() ? TypesOf(*node) : Types();
      if (absl::Status s = InferNode(*node); !s.ok()) Fail(*node, s);
      if (node->has_subgraphs()) Settle({node}, declared);
      return;
    }
    ++report_.nodes_read;
    Tick();
    const Function* function = node->dialect() == dialect_ ? functions_.Called(*node) : nullptr;
    if (!function) {
      Convert(graph, node);
    } else {
      // Graphs that are handed over are of the caller's opsets.
      for (Graph* inner : node->subgraphs()) Run(*inner);
      if (keep_functions_) {
        ++CountOf(node->op()).foreign;
      } else {
        Inline(graph, node, *function);
      }
    }
  }

  void Inline(Graph& graph, Node* node, const Function& function) {
    OpCount& count = CountOf(node->op());
    std::string name = NameOf(*node);
    if (name.empty()) name = function.name;
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
      if (!node->is_ir()) {  // out of a nested graph that stood in the node's place
        Convert(*node->graph(), node);
        continue;
      }
      for (Graph* inner : node->subgraphs()) Run(*inner);
      for (Value* output : node->outputs()) {
        if (output) output->set_type(declared_type(output));
      }
      absl::Status status = InferNode(*node);
      for (const Value* output : node->outputs()) {
        if (!status.ok() || !output) continue;
        status = CheckDeclared(*output, declared_type(output).dtype(), output->dtype());
      }
      if (!status.ok()) Fail(*node, status);
    }
  }
  static bool NeedSettling(const std::vector<Node*>& made) {
    return std::any_of(made.begin(), made.end(),
                       [](const Node* node) { return node->has_subgraphs() || !node->is_ir(); });
  }

  void Convert(Graph& graph, Node* node) {
    const Symbol op = node->op();
    const int opset = OpsetOf(op, *scope_);
    OpCount& count = CountOf(op);
    auto [it, fresh] = scope_->forms.try_emplace(op, nullptr);
    if (fresh && !TooNew(op, opset)) it->second = FindImportForm(dialect_, op, opset);
    const Form* form = it->second;
    absl::Status status;
    if (node->dialect() != dialect_) {
      status = NotFound("is a foreign op of ", node->dialect().str());
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
          [&](Rewrite& rewrite) -> absl::StatusOr<Values> {
            X2IR_RETURN_IF_ERROR(CheckSource(*node, SchemaOf(op, opset)));
            X2IR_ASSIGN_OR_RETURN(Values results, RunImport(*form, rewrite));
            X2IR_RETURN_IF_ERROR(CheckDeclared(*node, results));
            return results;
          },
          r);
      if (values.ok()) {
        ++count.mapped;
        const bool nested = NeedSettling(builder.made());
        const Types declared = nested ? TypesOf(*node) : Types();
        Splice(node, *values, builder, node_names_);
        if (nested) Settle(builder.made(), declared);
        return;
      }
      status = values.status();
    }
    for (Graph* inner : node->subgraphs()) Run(*inner);
    if (Allowed(op)) {
      status = KeepAtModelsOpset(op, opset);
      if (status.ok()) {
        ++count.foreign;
        return;
      }
    }
    Fail(*node, status);
  }

  // A foreign op of a function's body now stands in the model, where it means the same only if
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
    return CannotExpress("cannot be kept as it is: it stands in a function of opset ", opset,
                         ", and the model is of opset ", of_model);
  }

  // What the file has must be what its own opset allows.
  static absl::Status CheckSource(const Node& node, const OpSchema* schema) {
    for (const auto& [name, attr] : node.attrs()) {
      if (attr.kind() != AttrKind::kRef) continue;
      return Unimplemented("attribute '", name.str(), "' refers to one of an enclosing function");
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
      return NotFound("the ", scope_ == &model_scope_ ? "model" : "function",
                      " imports no opset of domain '", domain, "'");
    }
    if (!known_) return NotFound("no mapping to IR");
    const OpSchema* schema = SchemaOf(op, opset);
    if (schema && schema->deprecated) {
      return Invalid("is deprecated since opset ", schema->since, ", the ",
                     scope_ == &model_scope_ ? "model" : "function", " is of opset ", opset);
    }
    if (schema) {
      for (int later = opset + 1; later <= known_->latest_opset; ++later) {
        if (FindImportForm(dialect_, op, later)) {
          return NotFound("no mapping to IR at opset ", opset, "; there is one from opset ", later,
                          " on");
        }
      }
      return NotFound("no mapping to IR at opset ", opset);
    }
    const auto versions = known_->versions ? known_->versions(op) : std::vector<const OpSchema*>();
    if (!versions.empty()) {
      return Invalid("does not exist at opset ", opset, "; it does from opset ", versions[0]->since,
                     " on");
    }
    return domain.empty() ? NotFound("there is no such op in ", dialect_.str())
                          : NotFound("no mapping to IR");
  }

  bool Allowed(Symbol op) const {
    if (policy_.all) return true;
    const std::string_view domain = SplitOp(op.view()).first;
    return std::find(policy_.domains.begin(), policy_.domains.end(), domain) !=
           policy_.domains.end();
  }

  void Fail(const Node& node, const absl::Status& status) {
    const std::string op =
        node.is_ir() ? node.op().str() : StrCat(node.dialect().str(), ".", node.op().str());
    std::string hint;
    const std::string_view domain = SplitOp(node.op().view()).first;
    if (!domain.empty() && node.dialect() == dialect_) {
      hint = StrCat("--allow-foreign ", domain, " keeps it as it is");
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
  Scope* scope_ = &model_scope_;  // of the node at hand
  absl::flat_hash_map<const Function*, std::unique_ptr<Scope>> scopes_;
  absl::flat_hash_map<Symbol, OpCount*> counts_;
};

// --- From IR ----------------------------------------------------------------------------

class Exporter : public Driver {
 public:
  Exporter(Model& model, const std::string& dialect, const std::vector<OpsetImport>& source_opsets,
           bool keep_failed, const ProgressFn& progress, Report& report)
      : Driver(model, dialect, progress, report), keep_failed_(keep_failed) {
    source_.opset_imports = source_opsets;
  }

  void Run() {
    CheckFunctions();
    Run(*model_.graph);
    while (!pending_.empty()) Finish();
  }

 private:
  void Run(Graph& graph) {
    NameApart(graph);
    GiveOwnOutputs(graph);
    for (Node* node : graph.nodes()) {
      ++report_.nodes_read;
      Tick();
      const Symbol op = node->op();
      if (!node->is_ir()) {
        for (Graph* inner : node->subgraphs()) Run(*inner);
        CheckForeign(*node);
        continue;
      }
      Origin origin{op, NameOf(*node)};
      if (Convert(graph, node, origin, 0)) ++report_.ops[op.str()].mapped;
    }
  }

  // A nested graph gives values of its own: runtimes refuse outer ones as its outputs and a value
  // that is two of them, and write into the buffer of an input that is one.
  static void GiveOwnOutputs(Graph& graph) {
    if (!graph.parent()) return;
    const std::vector<Value*> outputs = graph.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* value = outputs[i];
      if (!value) continue;
      const bool again =
          std::find(outputs.begin(), outputs.begin() + i, value) != outputs.begin() + i;
      if (value->graph() == &graph && !value->is_input() && !again) continue;
      Builder builder(graph, nullptr);
      Value* own = builder.Op("identity", {value});
      graph.NameValues(own->producer(), value->name());
      graph.SetOutput(i, own);
    }
  }

  // The node of the IR graph that all this is about, however often it was lowered.
  struct Origin {
    Symbol op;
    std::string name;
  };

  struct Pending {
    Origin origin;
    absl::Status status;
    Node* node;
    bool was_used;
  };

  bool Convert(Graph& graph, Node* node, const Origin& origin, int depth) {
    const int opset = static_cast<int>(model_.Opset(""));
    absl::Status status;
    if (const Form* form = FormOf(node->op())) {
      Builder builder(graph, node);
      auto values = Write(*form, *node, builder);
      if (values.ok()) {
        ImportDomains(builder, opset);
        Splice(node, *values, builder, node_names_);
        // Not before, since lowerings are of IR, nested graphs and all.
        for (Node* made : builder.made()) {
          for (Graph* inner : made->subgraphs()) Run(*inner);
        }
        return true;
      }
      status = values.status();
    } else {
      status = Missing(node->op(), opset);
    }
    if (absl::IsInternal(status) || absl::IsInvalidArgument(status)) {
      pending_.push_back({origin, status, node, IsUsed(*node)});
      return false;
    }
    if (Retype(graph, node, origin, depth, opset)) return true;
    return Lower(graph, node, origin, depth, opset, status);
  }

  const Form* FormOf(Symbol op) {
    auto [it, fresh] = model_scope_.forms.try_emplace(op, nullptr);
    if (fresh) it->second = FindFormAt(op, static_cast<int>(model_.Opset("")));
    return it->second;
  }

  // The node as its form says it, made but not yet in its place.
  absl::StatusOr<Values> Write(const Form& form, const Node& node, Builder& builder) {
    builder.set_name_hint(HintOf(node));
    const std::string_view domain = SplitOp(form.op.view()).first;
    const int opset = DomainOpset(domain, static_cast<int>(model_.Opset("")));
    Rewrite r{node, builder, dialect_, opset};
    return Try(
        [&](Rewrite& rewrite) -> absl::StatusOr<Values> {
          X2IR_ASSIGN_OR_RETURN(Values results, RunExport(form, rewrite));
          X2IR_RETURN_IF_ERROR(CheckMade(rewrite.node, results, rewrite.b, opset));
          return results;
        },
        r);
  }

  // The node in another element type, if its form allows that one and the casts around it.
  bool Retype(Graph& graph, Node* node, const Origin& origin, int depth, int opset) {
    if (!FormOf(node->op())) return false;
    for (const DType type : StandInTypes(*node)) {
      Builder builder(graph, node);
      builder.set_name_hint(HintOf(*node));
      Rewrite r{*node, builder, dialect_, opset};
      const auto values = Try([&](Rewrite& rewrite) { return InStandInType(rewrite, type); }, r);
      if (!values.ok()) continue;
      bool ok = true;
      for (Node* made : builder.made()) {
        const Form* form = FormOf(made->op());
        Builder trial(graph, made);
        ok = ok && form && Write(*form, *made, trial).ok();
        trial.Rollback();
      }
      if (!ok) {
        builder.Rollback();
        continue;
      }
      ++report_.ops[origin.op.str()].lowered;
      Splice(node, *values, builder, node_names_);
      for (Node* made : builder.made()) ok = Convert(graph, made, origin, depth + 1) && ok;
      return ok;
    }
    return false;
  }

  // The opset that counts for a form is that of its own domain: what the model says, else what
  // came with the default domain's opset, else (of a domain that nobody knows) that opset itself.
  int DomainOpset(std::string_view domain, int opset) const {
    if (domain.empty()) return opset;
    if (const int64_t own = model_.Opset(domain)) return static_cast<int>(own);
    const int known = DomainVersion(known_, domain, opset);
    return known != 0 ? known : opset;
  }

  const Form* FindFormAt(Symbol op, int opset) const {
    return FindExportForm(dialect_, op,
                          [&](std::string_view domain) { return DomainOpset(domain, opset); });
  }

  // A domain that the model does not import yet is imported when the first of its ops is made.
  void ImportDomains(const Builder& b, int opset) {
    for (const Node* made : b.made()) {
      const std::string_view domain = SplitOp(made->op().view()).first;
      if (made->is_ir() || domain.empty() || model_.Opset(domain) != 0) continue;
      if (const int version = DomainVersion(known_, domain, opset)) {
        model_.SetOpset(domain, version);
      }
    }
  }

  bool Lower(Graph& graph, Node* node, const Origin& origin, int depth, int opset,
             absl::Status status) {
    if (depth >= kMaxLoweringDepth) {
      status = Internal("lowerings of ", node->op().str(), " do not end");
      pending_.push_back({origin, status, node, IsUsed(*node)});
      return false;
    }
    for (const Lowering& lowering : LoweringsOf(node->op())) {
      Builder builder(graph, node);
      builder.set_name_hint(HintOf(*node));
      Rewrite r{*node, builder, dialect_, opset};
      auto values = Try(lowering.run, r);
      if (!values.ok()) {
        status = absl::Status(status.code(), StrCat(std::string(status.message()), "; ",
                                                    std::string(values.status().message())));
        continue;
      }
      ++report_.ops[origin.op.str()].lowered;
      Splice(node, *values, builder, node_names_);
      bool ok = true;
      for (Node* made : builder.made()) {
        if (made->is_ir()) {
          ok = Convert(graph, made, origin, depth + 1) && ok;
        } else {
          for (Graph* inner : made->subgraphs()) Run(*inner);
          CheckForeign(*made);
        }
      }
      return ok;
    }
    pending_.push_back({origin, status, node, IsUsed(*node)});
    return false;
  }

  static bool IsUsed(const Node& node) {
    return std::any_of(node.outputs().begin(), node.outputs().end(),
                       [](const Value* output) { return output && !output->is_unused(); });
  }

  // What could not be expressed may have lost its uses to the lowerings of what used it (a
  // sequence whose elements alone are used): then it goes, else it is an error.
  void Finish() {
    std::vector<Pending> failed;
    for (std::vector<Pending> all = std::exchange(pending_, {}); !all.empty(); all.pop_back()) {
      Pending& last = all.back();
      if (last.was_used && !IsUsed(*last.node)) {
        ++report_.ops[last.origin.op.str()].lowered;
        EraseWithConstants(last.node);
      } else {
        failed.push_back(std::move(last));
      }
    }
    for (auto it = failed.rbegin(); it != failed.rend(); ++it) {
      for (Graph* inner : it->node->subgraphs()) Run(*inner);
      Fail(it->origin, it->status, *it->node);
    }
  }

  // What was made must be what the schema allows: element types above all.
  absl::Status CheckMade(const Node& node, const Values& results, const Builder& b, int opset) {
    for (const Node* made : b.made()) {
      if (made->is_ir()) continue;
      const OpSchema* schema = SchemaOf(made->op(), opset);
      if (!schema) continue;
      // Results take their types from the values that they will stand for.
      for (size_t i = 0; i < results.size() && i < node.num_outputs(); ++i) {
        if (results[i] && node.output(i) && results[i]->producer() == made) {
          results[i]->set_type(node.output(i)->type());
        }
      }
      const std::vector<std::string> problems = CheckNode(*made, *schema);
      if (problems.empty()) continue;
      std::string later;
      for (const OpSchema* version :
           known_->versions ? known_->versions(made->op()) : std::vector<const OpSchema*>()) {
        if (version->since > opset && CheckNode(*made, *version).empty()) {
          later = StrCat("; opset ", version->since, " allows it");
          break;
        }
      }
      return CannotExpress(made->op().str(), " (", dialect_.str(), " opset ", opset,
                           "): ", problems[0], later);
    }
    return absl::OkStatus();
  }

  absl::Status Missing(Symbol op, int opset) const {
    if (known_) {
      for (int later = opset + 1; later <= known_->latest_opset; ++later) {
        if (FindFormAt(op, later)) {
          return CannotExpress("cannot be expressed at opset ", opset, "; opset ", later,
                               " has it");
        }
      }
    }
    for (const Form* form : AllForms(dialect_)) {
      const std::string_view domain = SplitOp(form->op.view()).first;
      if (form->ir_op != op || !form->exports || domain.empty()) continue;
      return CannotExpress("cannot be expressed at version ", DomainOpset(domain, opset), " of ",
                           domain, "; version ", form->opsets.first, " has it");
    }
    return NotFound("no mapping to ", dialect_.str());
  }

  // A foreign op goes back as it was, if the target still has the op that it was.
  void CheckForeign(Node& node) {
    OpCount& count = report_.ops[StrCat(node.dialect().str(), ".", node.op().str())];
    const Origin origin{node.op(), NameOf(node)};
    if (node.dialect() != dialect_) {
      Fail(origin,
           NotFound("a foreign op of ", node.dialect().str(), " cannot be written to ",
                    dialect_.str()),
           node);
      return;
    }
    const int opset = OpsetOf(node.op());
    const int source_opset = static_cast<int>(source_.Opset(SplitOp(node.op().view()).first));
    if (!functions_.Called(node) && source_opset != 0 && opset != source_opset) {
      const OpSchema* then = SchemaOf(node.op(), source_opset);
      const OpSchema* now = SchemaOf(node.op(), opset);
      if (then != now) {
        Fail(origin,
             CannotExpress("was kept as it is at opset ", source_opset, "; at opset ", opset,
                           " that op is another"),
             node);
        return;
      }
    }
    ++count.foreign;
  }

  // Functions that were kept are written as they are. A runtime reads their nodes at the model's
  // opset as well as at their own, so both must mean the same.
  void CheckFunctions() {
    for (const auto& function : model_.functions) {
      const std::string op = StrCat(function->domain, "::", function->name);
      const auto fail = [&](const std::string& node, const absl::Status& status) {
        report_.AddFailure(op, node, status, "");
      };
      if (!function->body) {
        fail("", Invalid("the function has no body"));
        continue;
      }
      Scope scope{&function->opset_imports, {}, {}, function->name};
      CheckBody(*function->body, scope, fail);
    }
  }

  template <typename F>
  void CheckBody(Graph& graph, Scope& scope, const F& fail) {
    for (Node* node : graph.nodes()) {
      for (Graph* inner : node->subgraphs()) CheckBody(*inner, scope, fail);
      if (node->dialect() != dialect_) {
        fail(NameOf(*node), NotFound("a function that holds ", Describe(*node),
                                     " cannot be written to ", dialect_.str()));
        continue;
      }
      if (functions_.Called(*node)) continue;
      const int then = OpsetOf(node->op(), scope);
      const int now = OpsetOf(node->op());
      if (then == now || now == 0) continue;
      const OpSchema* schema = SchemaOf(node->op(), then);
      if (schema && schema == SchemaOf(node->op(), now)) continue;
      fail(NameOf(*node),
           CannotExpress("the function was kept as it is at opset ", then, "; at opset ", now,
                         " its ", node->op().str(), " is another"));
    }
  }

  // Reports a node that cannot be written. If it is to be kept all the same it becomes an op of
  // a domain of its own: "x2ir" for IR, else the dialect's name where the op names none.
  void Fail(const Origin& origin, const absl::Status& status, Node& node) {
    report_.AddFailure(
        origin.op.str(), origin.name,
        node.op() == origin.op ? status : Annotate(status, StrCat("as ", node.op().str())), "");
    if (!keep_failed_) return;
    if (node.dialect() != dialect_) {
      const auto [domain, name] = SplitOp(node.op().view());
      const std::string own(node.is_ir()     ? kIrDomain
                            : domain.empty() ? node.dialect().view()
                                             : domain);
      if (model_.Opset(own) == 0) model_.SetOpset(own, 1);
      node.set_op(dialect_, StrCat(own, "::", name));
    }
    ++report_.ops[origin.op.str()].foreign;
  }

  Model source_;  // its opsets alone
  const bool keep_failed_;
  std::vector<Pending> pending_;  // in order
};

}  // namespace

absl::Status RewriteToIr(Model& model, const std::string& dialect, const ForeignPolicy& policy,
                         bool keep_functions, const ProgressFn& progress, Report& report) {
  return Importer(model, dialect, policy, keep_functions, progress, report).Run();
}

absl::Status RewriteFromIr(Model& model, const std::string& dialect,
                           const std::vector<OpsetImport>& source_opsets, bool keep_failed,
                           const ProgressFn& progress, Report& report) {
  Exporter(model, dialect, source_opsets, keep_failed, progress, report).Run();
  return absl::OkStatus();
}

}  // namespace x2ir
