// The conversion driver. One pass over the nodes; each costs what it costs.
#include "x2ir/core/driver.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

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
        progress_(progress),
        total_(static_cast<int64_t>(model.graph->TotalNodes())),
        report_(report) {}

 protected:
  // The opset of the node's domain, as the model imports it.
  int OpsetOf(Symbol op) {
    auto [it, fresh] = opsets_.try_emplace(op, 0);
    if (fresh) {
      std::string_view domain = SplitOp(op.view()).first;
      it->second = static_cast<int>(model_.Opset(domain));
      if (it->second == 0 && domain.empty()) it->second = static_cast<int>(model_.Opset("ai.onnx"));
    }
    return it->second;
  }

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

  // Puts `results` in the place of the node's outputs, names what is new, erases the node.
  void Splice(Graph& graph, Node* node, const Values& results, const Builder& b) {
    Node* main = nullptr;  // the new node that stands for the old one
    std::vector<Value*> old(node->outputs().begin(), node->outputs().end());
    std::string hint;
    for (const Value* output : old) {
      if (output) {
        hint = output->name();
        break;
      }
    }
    absl::flat_hash_map<Value*, Value*> adopted;  // fresh -> the value that it became
    for (size_t i = 0; i < old.size(); ++i) {
      Value* from = old[i];
      Value* to = results[i];
      if (!from) continue;
      if (auto it = adopted.find(to); it != adopted.end()) {
        graph.ReplaceAllUsesKeepingOutputNames(from, it->second);
        continue;
      }
      if (to->producer() && to->name().empty() && to->graph() == &graph) {
        if (!main) main = to->producer();
        Type inferred = to->type();
        graph.AdoptOutput(to, from);
        SetInferredType(*from, std::move(inferred));
        adopted[to] = from;
      } else if (b.MadeConstant(to) && !adopted.contains(to)) {
        graph.SwapNames(from, to);
        to->annotations().MergeFrom(from->annotations());
        graph.ReplaceAllUses(from, to);
        adopted[to] = to;
      } else {
        graph.ReplaceAllUsesKeepingOutputNames(from, to);
      }
    }
    for (Node* made : b.made()) {
      if (made == main) {
        made->set_name(node->name());
        made->annotations().CopyFrom(node->annotations());
      } else if (!node->name().empty()) {
        made->set_name(UniqueNodeName(StrCat(node->name(), "/", made->op().str())));
      }
      graph.NameValues(made, StrCat(hint, "_", made->op().str()));
    }
    Erase(graph, node);
  }

  // Erases a node that nobody uses any more, and the constants that only it used.
  static void Erase(Graph& graph, Node* node) {
    const std::vector<Value*> operands = node->inputs();
    graph.EraseUnused(node);
    for (size_t i = 0; i < operands.size(); ++i) {
      Value* value = operands[i];
      if (!value ||
          std::find(operands.begin(), operands.begin() + i, value) != operands.begin() + i) {
        continue;
      }
      if (value->fixed_constant() && value->is_unused()) value->graph()->RemoveConstant(value);
    }
  }

  // Runtimes want the names of nodes to be unique, so the new ones are.
  std::string UniqueNodeName(const std::string& base) {
    if (!node_names_) {
      node_names_.emplace();
      CollectNodeNames(*model_.graph);
    }
    std::string name = base;
    for (int i = 2; !node_names_->insert(name).second; ++i) name = StrCat(base, "_", i);
    return name;
  }

  void CollectNodeNames(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      if (!node->name().empty()) node_names_->insert(node->name());
      for (const Graph* inner : node->subgraphs()) CollectNodeNames(*inner);
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
  const ProgressFn& progress_;
  int64_t done_ = 0;
  const int64_t total_;
  Report& report_;
  absl::flat_hash_map<Symbol, int> opsets_;
  absl::flat_hash_map<Symbol, const Form*> forms_;
  std::optional<StringSet> node_names_;  // of the whole model, once a new one is needed
};

// --- To IR ------------------------------------------------------------------------------

class Importer : public Driver {
 public:
  Importer(Model& model, const std::string& dialect, const ForeignPolicy& policy,
           const ProgressFn& progress, Report& report)
      : Driver(model, dialect, progress, report), policy_(policy) {}

  void Run(Graph& graph) {
    for (Node* node : graph.nodes()) {
      if (node->is_ir()) {  // a mixed graph: infer it, so that types flow on
        if (absl::Status s = InferNode(*node); !s.ok()) Fail(*node, s);
        continue;
      }
      ++report_.nodes_read;
      Tick();
      for (Graph* inner : node->subgraphs()) Run(*inner);
      Convert(graph, node);
    }
  }

 private:
  void Convert(Graph& graph, Node* node) {
    const Symbol op = node->op();
    const int opset = OpsetOf(op);
    OpCount& count = CountOf(op);
    auto [it, fresh] = forms_.try_emplace(op, nullptr);
    if (fresh) it->second = FindImportForm(dialect_, op, opset);
    const Form* form = it->second;
    absl::Status status;
    if (node->dialect() != dialect_) {
      status = NotFound("is a foreign op of ", node->dialect().str());
    } else if (const auto [domain, name] = SplitOp(op.view());
               domain == kIrDomain && FindOp(name)) {
      // An IR op that an export kept as it was (see Exporter::Fail).
      node->set_op(kIrDialect, name);
      status = InferNode(*node);
      if (status.ok()) {
        ++count.mapped;
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
        Splice(graph, node, *values, builder);
        ++count.mapped;
        return;
      }
      status = values.status();
    }
    if (Allowed(op)) {
      ++count.foreign;
      return;
    }
    Fail(*node, status);
  }

  // What the file has must be what its own opset allows.
  static absl::Status CheckSource(const Node& node, const OpSchema* schema) {
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
      const DType want = declared->dtype();
      const DType got = results[i]->dtype();
      if (want != DType::kUndefined && got != DType::kUndefined && want != got) {
        return Invalid("output '", declared->name(), "' is declared as ", Name(want),
                       ", but the op gives ", Name(got));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Missing(Symbol op, int opset) const {
    const auto [domain, name] = SplitOp(op.view());
    if (opset == 0) {
      return NotFound("the model imports no opset of domain '", domain, "'");
    }
    if (!known_) return NotFound("no mapping to IR");
    const OpSchema* schema = SchemaOf(op, opset);
    if (schema && schema->deprecated) {
      return Invalid("is deprecated since opset ", schema->since, ", the model is of opset ",
                     opset);
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
    report_.AddFailure(op, NameOf(node), status, hint);
  }

  OpCount& CountOf(Symbol op) {
    OpCount*& count = counts_[op];
    if (!count) count = &report_.ops[StrCat(dialect_.str(), ".", op.str())];
    return *count;
  }

  const ForeignPolicy& policy_;
  absl::flat_hash_map<Symbol, OpCount*> counts_;
};

// --- From IR ----------------------------------------------------------------------------

class Exporter : public Driver {
 public:
  Exporter(Model& model, const std::string& dialect, int source_opset, bool keep_failed,
           const ProgressFn& progress, Report& report)
      : Driver(model, dialect, progress, report),
        source_opset_(source_opset),
        keep_failed_(keep_failed) {}

  void Run(Graph& graph) {
    for (Node* node : graph.nodes()) {
      ++report_.nodes_read;
      Tick();
      for (Graph* inner : node->subgraphs()) Run(*inner);
      const Symbol op = node->op();
      if (!node->is_ir()) {
        CheckForeign(*node);
        continue;
      }
      Origin origin{op, NameOf(*node)};
      if (Convert(graph, node, origin, 0)) ++report_.ops[op.str()].mapped;
    }
  }

 private:
  // The node of the IR graph that all this is about, however often it was lowered.
  struct Origin {
    Symbol op;
    std::string name;
  };

  bool Convert(Graph& graph, Node* node, const Origin& origin, int depth) {
    const Symbol op = node->op();
    const int opset = static_cast<int>(model_.Opset(""));
    auto [it, fresh] = forms_.try_emplace(op, nullptr);
    if (fresh) it->second = FindExportForm(dialect_, op, opset);
    absl::Status status;
    if (const Form* form = it->second) {
      Builder builder(graph, node);
      Hint(builder, *node);
      // The opset that counts is that of the foreign op's own domain.
      const int form_opset = OpsetOf(form->op) ? OpsetOf(form->op) : opset;
      Rewrite r{*node, builder, dialect_, form_opset};
      auto values = Try(
          [&](Rewrite& rewrite) -> absl::StatusOr<Values> {
            X2IR_ASSIGN_OR_RETURN(Values results, RunExport(*form, rewrite));
            X2IR_RETURN_IF_ERROR(CheckMade(rewrite.node, results, rewrite.b, form_opset));
            return results;
          },
          r);
      if (values.ok()) {
        Splice(graph, node, *values, builder);
        return true;
      }
      status = values.status();
    } else {
      status = Missing(op, opset);
    }
    if (absl::IsInternal(status) || absl::IsInvalidArgument(status)) {
      Fail(origin, status, *node);
      return false;
    }
    return Lower(graph, node, origin, depth, opset, status);
  }

  bool Lower(Graph& graph, Node* node, const Origin& origin, int depth, int opset,
             absl::Status status) {
    if (depth >= kMaxLoweringDepth) {
      Fail(origin, Internal("lowerings of ", node->op().str(), " do not end"), *node);
      return false;
    }
    for (const Lowering& lowering : LoweringsOf(node->op())) {
      Builder builder(graph, node);
      Hint(builder, *node);
      Rewrite r{*node, builder, dialect_, opset};
      auto values = Try(lowering.run, r);
      if (!values.ok()) {
        status = absl::Status(status.code(), StrCat(std::string(status.message()), "; ",
                                                    std::string(values.status().message())));
        continue;
      }
      ++report_.ops[origin.op.str()].lowered;
      Splice(graph, node, *values, builder);
      bool ok = true;
      for (Node* made : builder.made()) {
        for (Graph* inner : made->subgraphs()) Run(*inner);
        ok = Convert(graph, made, origin, depth + 1) && ok;
      }
      return ok;
    }
    Fail(origin, status, *node);
    return false;
  }

  static void Hint(Builder& builder, const Node& node) {
    for (const Value* output : node.outputs()) {
      if (!output) continue;
      builder.set_name_hint(output->name());
      return;
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
        if (FindExportForm(dialect_, op, later)) {
          return CannotExpress("cannot be expressed at opset ", opset, "; opset ", later,
                               " has it");
        }
      }
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
    if (SplitOp(node.op().view()).first.empty() && source_opset_ != 0 && opset != source_opset_) {
      const OpSchema* then = SchemaOf(node.op(), source_opset_);
      const OpSchema* now = SchemaOf(node.op(), opset);
      if (then != now) {
        Fail(origin,
             CannotExpress("was kept as it is at opset ", source_opset_, "; at opset ", opset,
                           " that op is another"),
             node);
        return;
      }
    }
    ++count.foreign;
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

  const int source_opset_;
  const bool keep_failed_;
};

}  // namespace

absl::Status RewriteToIr(Model& model, const std::string& dialect, const ForeignPolicy& policy,
                         const ProgressFn& progress, Report& report) {
  Importer(model, dialect, policy, progress, report).Run(*model.graph);
  return absl::OkStatus();
}

absl::Status RewriteFromIr(Model& model, const std::string& dialect, int source_opset,
                           bool keep_failed, const ProgressFn& progress, Report& report) {
  Exporter(model, dialect, source_opset, keep_failed, progress, report).Run(*model.graph);
  return absl::OkStatus();
}

}  // namespace x2ir
