// The conversion driver, from IR to a dialect.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/core/completion.h"
#include "x2ir/core/derived_dialect.h"
#include "x2ir/core/dialect_target.h"
#include "x2ir/core/driver_internal.h"
#include "x2ir/core/kernels.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"
#include "x2ir/optimizer/retype.h"

namespace x2ir {
namespace {

// A lowering's result may need lowering itself, and so on; more than this is a loop.
constexpr int kMaxLoweringDepth = 16;
// A lowering within its own result more often than this goes in a circle with others.
constexpr int kMaxSameLowering = 3;

// Elements of operands and results together that are computed with when a model is written; of ops
// that do more than a little for each element.
constexpr int64_t kMaxComputed = int64_t{1} << 26, kMaxHeavyComputed = int64_t{1} << 20;

class Exporter : public Driver {
 public:
  Exporter(Model& model, const std::string& dialect, const std::vector<OpsetImport>& source_opsets,
           bool keep_failed, const std::vector<std::string>& lacks_ops, const ProgressFn& progress,
           Report& report)
      : Driver(model, dialect, progress, report),
        target_(dialect, model.opset_imports, lacks_ops),
        nodes_(DialectOfNodes(dialect_)),
        keep_failed_(keep_failed),
        home_(model.source_dialect == dialect) {
    source_.opset_imports = source_opsets;
  }

  absl::Status Run() {
    FindForeign(*model_.graph);
    CheckFunctions();
    Run(*model_.graph);
    do {
      while (!pending_.empty() && !cancelled_) Finish();
    } while (!cancelled_ && (report_.failures.empty() || keep_failed_) &&
             ConvertWhatIsLeft(*model_.graph));
    WarnOfKept();
    return CheckCancelled();
  }

 private:
  void FindForeign(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      if (!node->is_ir()) foreign_.insert(node);
      for (const Graph* inner : node->subgraphs()) FindForeign(*inner);
    }
  }

  void Run(Graph& graph, bool keep_interface = false) {
    NameApart(graph, keep_interface);
    GiveOwnOutputs(graph);
    Lookahead ahead(graph);
    for (Node* node : graph.nodes()) {
      ahead.Step();
      Tick();
      if (cancelled_) return;
      const Symbol op = node->op();
      if (!node->is_ir()) {
        for (Graph* inner : node->subgraphs()) Run(*inner, /*keep_interface=*/true);
        CheckForeign(*node);
        continue;
      }
      if (Convert(graph, node, nullptr, 0)) ++report_.ops[op.str()].mapped;
    }
  }

  // IR nodes that were made where no walk comes by any more (a graph's output that is another value
  // now is a copy of it). Whether there were any.
  bool ConvertWhatIsLeft(Graph& graph) {
    bool any = false;
    for (Node* node : graph.nodes()) {
      for (Graph* inner : node->subgraphs()) any = ConvertWhatIsLeft(*inner) || any;
      if (!node->is_ir()) continue;
      any = true;
      Convert(graph, node, nullptr, 0);
    }
    return any;
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
    absl::Status refusal;     // why it could not be written as it is; OK: it could
    bool is_endless = false;  // its lowerings call each other: what is left of it is not lowered
  };
  using OriginPtr = std::shared_ptr<Origin>;

  struct Pending {
    OriginPtr origin;
    absl::Status status;
    std::vector<std::string> tried;  // its lowerings, and why they do not do
    Node* node;
    bool was_used;
    bool is_origin;  // the node itself, not what became of it
  };

  void AddPending(const OriginPtr& origin, absl::Status status, Node* node, int depth,
                  std::vector<std::string> tried = {}) {
    pending_.push_back(
        {origin, std::move(status), std::move(tried), node, IsUsed(*node), depth == 0});
  }

  // Whether inference knows the result, which then is a constant (the sizes of a static shape).
  bool TakeElements(Node& node) {
    const Value* result = node.output(0);
    if (!result || result->dtype() != DType::kInt64) return false;
    std::optional<Tensor> known = KnownTensor(*result);
    if (!known) return false;
    Builder builder(*node.graph(), &node);
    builder.set_name_hint(node);
    Splice(&node, {builder.Constant(*std::move(known))}, builder, node_names_);
    return true;
  }

  // Erases what was made of a computation of sizes that nothing uses: integers of up to one axis.
  // Nodes that are still to be decided stay.
  static void EraseUnusedSizes(const Node& of, const absl::flat_hash_set<const Node*>& pending) {
    constexpr int kDeepest = 32;
    const auto is_size = [](const Value* value) {
      return !value || (value->type().is_tensor() && IsInteger(value->dtype()) && value->shape() &&
                        value->shape()->rank() < 2);
    };
    absl::flat_hash_set<const Node*> seen;
    const std::function<void(const Node&, int)> erase = [&](const Node& node, int depth) {
      if (depth > kDeepest || !std::ranges::all_of(node.outputs(), is_size)) return;
      for (const Value* output : node.outputs()) {
        // A user that is erased takes others with it.
        const auto next = [&]() -> Node* {
          for (const Use& use : output ? output->uses() : absl::Span<const Use>()) {
            const bool own = use.node->graph() == node.graph() && !pending.contains(use.node);
            if (own && seen.insert(use.node).second) return use.node;
          }
          return nullptr;
        };
        while (Node* user = next()) {
          erase(*user, depth + 1);
          if (!IsUsed(*user)) EraseWithConstants(user);
        }
      }
    };
    erase(of, 0);
  }

  // Whether the node became constants, for a target that has no ops of constants alone.
  bool ComputeNow(Graph& graph, Node* node) {
    if (!known_ || !known_->needs_variables || node->num_inputs() == 0) return false;
    const OpDef* def = FindOp(node->op());
    if (!def || def->impure() || !node->subgraphs().empty()) return false;
    if (node->num_outputs() == 1 && TakeElements(*node)) return true;
    int64_t elements = 0;
    for (const Value* operand : node->inputs()) {
      const Tensor* tensor = operand ? operand->fixed_constant() : nullptr;
      if (operand && !tensor) return false;
      if (tensor) elements += tensor->num_elements();
    }
    for (const Value* output : node->outputs()) {
      if (output && !output->type().is_tensor()) return false;
      const Shape* shape = output ? output->shape() : nullptr;
      const Dim count = shape ? shape->NumElements() : Dim(0);
      if (output && (!shape || !count.is_static())) return false;
      elements += count.value();
    }
    if (elements > (def->heavy() ? kMaxHeavyComputed : kMaxComputed)) return false;
    Builder builder(graph, node);
    builder.set_name_hint(*node);
    const auto values = ConstantResults(*node, builder);
    if (!values.ok()) {
      builder.Rollback();
      return false;
    }
    Splice(node, *values, builder, node_names_);
    return true;
  }

  // `origin`: null for the node itself.
  bool Convert(Graph& graph, Node* node, OriginPtr origin, int depth) {
    if (ComputeNow(graph, node)) return true;
    absl::Status status;
    if (const Form* form = FormOf(node->op())) {
      if (WriteInPlace(*node)) return true;
      Builder builder(graph, node);
      auto values = Write(*form, *node, builder);
      if (values.ok() && !HaveKernels(builder)) {
        builder.Rollback();
        const OriginPtr known = origin ? origin : OriginOf(*node, absl::OkStatus());
        if (const auto done = Retype(graph, node, known, depth, /*kernels=*/true)) return *done;
        const Value* x = node->num_inputs() != 0 ? node->input(0) : nullptr;
        if (!home_ && x && LowersWithoutKernel(dialect_.view(), node->op(), x->dtype())) {
          return Lower(graph, node, known, depth, CannotExpress("runtimes have no kernel"));
        }
        values = Write(*form, *node, builder);
      }
      if (values.ok()) {
        ImportDomains(builder);
        if (!origin && MadeIr(builder)) origin = OriginOf(*node, absl::OkStatus());
        const bool asks = node->Is("loop") && IsMarked(*node, NodeMark::kOwnCondition);
        Node* const first = asks && node->input(1) ? node->input(1)->producer() : nullptr;
        Splice(node, *values, builder, node_names_);
        const bool done = Complete(graph, builder, origin, depth, /*lowered=*/false);
        EraseUnused(first);
        return done;
      }
      status = values.status();
    } else {
      status = Missing(node->op());
    }
    if (!origin) origin = OriginOf(*node, status);
    if (absl::IsInternal(status) || absl::IsInvalidArgument(status)) {
      AddPending(origin, status, node, depth);
      return false;
    }
    for (const bool kernels : {true, false}) {
      if (const auto done = Retype(graph, node, origin, depth, kernels)) return *done;
    }
    return Lower(graph, node, origin, depth, status);
  }

  static OriginPtr OriginOf(const Node& node, const absl::Status& refusal) {
    return std::make_shared<Origin>(Origin{node.op(), NameOf(node), refusal});
  }

  static bool MadeIr(const Builder& b) {
    return std::any_of(b.made().begin(), b.made().end(), [](const Node* n) { return n->is_ir(); });
  }

  // What was made and is in its place may need more: IR ops of its own, nested graphs (not before,
  // since lowerings are of IR, nested graphs and all).
  bool Complete(Graph& graph, const Builder& builder, const OriginPtr& origin, int depth,
                bool lowered) {
    bool ok = true;
    for (Node* made : builder.made()) {
      if (!made->is_ir()) {
        for (Graph* inner : made->subgraphs()) Run(*inner);
        if (lowered) CheckForeign(*made);
      } else if (depth < kMaxLoweringDepth && !origin->is_endless) {
        ok = Convert(graph, made, origin, depth + 1) && ok;
      } else {
        origin->is_endless = true;
        AddPending(origin, Internal("forms of ", made->op().str(), " recurse without end"), made,
                   depth);
        ok = false;
      }
    }
    return ok;
  }

  const Form* FormOf(Symbol op) { return KnownFormOf(op).form; }

  const KnownForm& KnownFormOf(Symbol op) {
    auto [it, fresh] = model_scope_.forms.try_emplace(op);
    KnownForm& known = it->second;
    if (fresh) known.form = target_.FormOf(op);
    if (fresh && known.form) known.schema = SchemaOf(known.form->op, target_.OpsetOf(""));
    return known;
  }

  // If the form only renames, the node becomes an op of the target in place, with the same result
  // as Write and Splice. False: the node needs Write and Splice and was not changed.
  bool WriteInPlace(Node& node) {
    const auto [form, schema] = KnownFormOf(node.op());
    if (!schema || !MayRename(node) || !SplitOp(form->op.view()).first.empty() ||
        schema->outputs.size() != 1) {
      return false;
    }
    std::optional<AttributeMap> attrs = PlainExport(*form, node, *schema);
    if (!attrs) return false;
    const Symbol op = node.op();
    const AttributeMap before = ReplaceAttrs(node, *std::move(attrs));
    node.set_op(nodes_, form->op);
    const bool allowed = !known_->check || known_->check(node).empty();
    if (allowed && CheckNode(node, *schema).empty() && HasKernel(node)) return true;
    node.set_op(kIrDialect, op);
    ReplaceAttrs(node, before);
    return false;
  }

  // The node as its form says it, made but not yet in its place.
  absl::StatusOr<Values> Write(const Form& form, const Node& node, Builder& builder) {
    builder.set_name_hint(node);
    const int opset = target_.OpsetOf(SplitOp(form.op.view()).first);
    Rewrite r{node, builder, dialect_, opset, target_};
    return Try(
        [&](Rewrite& rewrite) -> absl::StatusOr<Values> {
          X2IR_ASSIGN_OR_RETURN(Values results, RunExport(form, rewrite));
          X2IR_RETURN_IF_ERROR(CheckMade(rewrite.node, results, rewrite.b, opset));
          return results;
        },
        r);
  }

  // Whether runtimes have a kernel of the target's nodes among what was made.
  bool HaveKernels(const Builder& b) {
    return std::all_of(b.made().begin(), b.made().end(),
                       [&](const Node* made) { return made->is_ir() || HasKernel(*made); });
  }
  bool HasKernel(const Node& made) {
    const int opset = target_.OpsetOf(SplitOp(made.op().view()).first);
    for (size_t i = 0; i < made.num_inputs(); ++i) {
      const Value* x = made.input(i);
      if (x && LacksKernel(dialect_.view(), made.op(), opset, i, x->dtype())) return false;
    }
    return true;
  }

  // The node in another element type, if its form allows that one and the casts around it: whether
  // all of it could be written. Nothing where no type does; then the node is what it was.
  // `kernels`: only in types that runtimes have kernels of.
  std::optional<bool> Retype(Graph& graph, Node* node, const OriginPtr& origin, int depth,
                             bool kernels) {
    if (!FormOf(node->op())) return std::nullopt;
    for (const DType type : StandInTypes(*node)) {
      Builder builder(graph, node);
      builder.set_name_hint(*node);
      Rewrite r{*node, builder, dialect_, target_.opset(), target_};
      const auto values = Try([&](Rewrite& rewrite) { return InStandInType(rewrite, type); }, r);
      if (!values.ok()) continue;
      bool ok = true;
      for (Node* made : builder.made()) {
        const Form* form = FormOf(made->op());
        Builder trial(graph, made);
        ok = ok && form && Write(*form, *made, trial).ok() && (!kernels || HaveKernels(trial));
        trial.Rollback();
      }
      if (!ok) {
        builder.Rollback();
        continue;
      }
      ++report_.ops[origin->op.str()].lowered;
      Splice(node, *values, builder, node_names_);
      return Complete(graph, builder, origin, depth, /*lowered=*/true);
    }
    return std::nullopt;
  }

  // A domain that the model does not import yet is imported when the first of its ops is made.
  void ImportDomains(const Builder& b) {
    for (const Node* made : b.made()) {
      const std::string_view domain = SplitOp(made->op().view()).first;
      if (made->is_ir() || domain.empty() || model_.Opset(domain) != 0) continue;
      // Of a dialect whose domains have no versions of their own, that of the default one.
      const bool versions = known_ && known_->domain_version;
      if (const int version =
              versions ? DomainVersion(known_, domain, target_.opset()) : target_.opset()) {
        model_.SetOpset(domain, version);
      }
    }
  }

  // `status`: why the node cannot be written as it is.
  bool Lower(Graph& graph, Node* node, const OriginPtr& origin, int depth, absl::Status status) {
    if (origin->is_endless) {
      AddPending(origin, Internal("was not lowered after that"), node, depth);
      return false;
    }
    if (depth >= kMaxLoweringDepth) {
      AddPending(origin, Internal("lowerings of ", node->op().str(), " recurse without end"), node,
                 depth);
      origin->is_endless = true;
      return false;
    }
    std::vector<std::string> tried;
    for (const Lowering* lowering : LoweringsOf(node->op())) {
      if (std::count(lowerings_.begin(), lowerings_.end(), lowering) >= kMaxSameLowering) continue;
      Builder builder(graph, node);
      builder.set_name_hint(*node);
      Rewrite r{*node, builder, dialect_, target_.opset(), target_};
      auto values = Try(lowering->run, r);
      if (!values.ok()) {
        // One that has nothing to do there says nothing.
        const std::string why(values.status().message());
        if (why.empty()) continue;
        // Of use to the user where the target has nothing of the op, or a later opset would do.
        const int64_t since = FirstVersionOf(values.status());
        if ((!FormOf(node->op()) && tried.empty()) || since) {
          status = WithFirstVersion(
              absl::Status(status.code(), StrCat(std::string(status.message()), "; ", why)),
              EarlierVersion(FirstVersionOf(status), since));
        }
        tried.push_back(StrCat(lowering->name, ": ", why));
        continue;
      }
      ++report_.ops[origin->op.str()].lowered;
      Splice(node, *values, builder, node_names_);
      lowerings_.push_back(lowering);
      const bool ok = Complete(graph, builder, origin, depth, /*lowered=*/true);
      lowerings_.pop_back();
      return ok;
    }
    AddPending(origin, status, node, depth, std::move(tried));
    return false;
  }

  static bool IsUsed(const Node& node) {
    return std::any_of(node.outputs().begin(), node.outputs().end(),
                       [](const Value* output) { return output && !output->is_unused(); });
  }

  static bool GivesSequence(const Node& node) {
    const Type::Kind kind =
        node.num_outputs() == 1 && node.output(0) ? node.output(0)->type().kind() : Type::kUnknown;
    return kind == Type::kSequence || kind == Type::kOptional;
  }

  // Erases the nodes that made the first condition of a loop, where the loop asks by itself.
  void EraseUnused(Node* maker) {
    if (!maker) return;
    absl::flat_hash_set<const Node*> kept;
    for (const Pending& pending : pending_) kept.insert(pending.node);
    EraseUnusedMakers({maker}, [&](const Node& node) { return !kept.contains(&node); });
  }

  // What could not be expressed may have lost its uses to the lowerings of what used it (a
  // sequence whose elements alone are used): then it is removed, else it is an error. A sequence
  // that nothing used is removed, too: what made it was left to the lowerings of no user.
  void Finish() {
    std::vector<Pending> failed;
    absl::flat_hash_set<const Node*> undecided;
    for (const Pending& pending : pending_) undecided.insert(pending.node);
    for (std::vector<Pending> all = std::exchange(pending_, {}); !all.empty(); all.pop_back()) {
      Pending& last = all.back();
      if (known_ && known_->needs_variables && last.was_used) {
        EraseUnusedSizes(*last.node, undecided);
      }
      if (!IsUsed(*last.node) && (last.was_used || GivesSequence(*last.node))) {
        ++report_.ops[last.origin->op.str()].lowered;
        EraseWithConstants(last.node);
      } else {
        failed.push_back(std::move(last));
      }
    }
    // All that failed of one node is one failure.
    absl::flat_hash_map<const Origin*, Refused> refused;
    for (auto it = failed.rbegin(); it != failed.rend(); ++it) {
      for (Graph* inner : it->node->subgraphs()) Run(*inner);
      AddTo(refused[it->origin.get()], *it);
      Keep(it->origin->op, *it->node);
    }
    for (auto it = failed.rbegin(); it != failed.rend(); ++it) {
      const auto found = refused.find(it->origin.get());
      if (found == refused.end()) continue;  // it was told of
      Refused& all = found->second;
      const absl::Status& refusal = it->origin->refusal;
      if (!it->is_origin && !refusal.ok()) {
        all.reasons.insert(all.reasons.begin(), std::string(refusal.message()));
        all.since = EarlierVersion(all.since, FirstVersionOf(refusal));
      }
      const absl::StatusCode code = refusal.ok() ? it->status.code() : refusal.code();
      report_.AddFailure(
          it->origin->op.str(), it->origin->name,
          WithFirstVersion(absl::Status(code, absl::StrJoin(all.reasons, "; ")), all.since),
          all.hint, std::move(all.tried));
      refused.erase(found);
    }
  }

  // What is said of a node: why it was refused, or the first node of each lowering's result, and
  // what to do; and all that was tried.
  struct Refused {
    std::vector<std::string> reasons, tried;
    int64_t since = 0;  // the least opset that one of the reasons knows
    std::string hint;
  };
  void AddTo(Refused& all, const Pending& failed) {
    const auto add = [](std::vector<std::string>& texts, std::string text) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
        texts.push_back(std::move(text));
      }
    };
    const std::string why(failed.status.message());
    const std::string op = failed.node->op().str();
    const auto add_reason = [&](std::string reason) {
      add(all.reasons, std::move(reason));
      all.since = EarlierVersion(all.since, FirstVersionOf(failed.status));
    };
    if (failed.is_origin) {
      add_reason(why);
    } else {
      // Of many nodes that a lowering made, the first says enough. That lowerings went in a circle
      // says nothing where the node's own form has said what it misses.
      const bool is_said = !failed.origin->refusal.ok() && FormOf(failed.origin->op);
      if (all.reasons.empty() && !(absl::IsInternal(failed.status) && is_said)) {
        add_reason(StrCat("as ", op, ": ", why));
      }
      add(all.tried, StrCat("as ", op, ": ", why));
    }
    for (const std::string& lowering : failed.tried) {
      add(all.tried, failed.is_origin ? lowering : StrCat("as ", op, ", ", lowering));
    }
    if (all.hint.empty()) {
      all.hint = WhatHelps(failed.origin->op.view(), *failed.node,
                           StrCat(std::string(failed.origin->refusal.message()), "; ", why, "; ",
                                  absl::StrJoin(failed.tried, "; ")));
    }
  }

  // What was made must be what the schema allows: element types above all.
  absl::Status CheckMade(const Node& node, const Values& results, const Builder& b, int opset) {
    for (const Node* made : b.made()) {
      if (made->is_ir()) continue;
      if (known_ && known_->check) {
        if (const auto problems = known_->check(*made); !problems.empty()) {
          return CannotExpress(made->op().str(), " (", dialect_.str(), "): ", problems[0]);
        }
      }
      const OpSchema* schema = SchemaOf(made->op(), opset);
      if (!schema) continue;
      // Results take their types from the values that they will replace.
      for (size_t i = 0; i < results.size() && i < node.num_outputs(); ++i) {
        if (results[i] && node.output(i) && results[i]->producer() == made) {
          results[i]->set_type(node.output(i)->type());
        }
      }
      const std::vector<std::string> problems = CheckNode(*made, *schema);
      if (problems.empty()) continue;
      FirstVersion later;
      for (const OpSchema* version :
           known_->versions ? known_->versions(made->op()) : std::vector<const OpSchema*>()) {
        if (version->since > opset && CheckNode(*made, *version).empty()) {
          later = {version->since, "allows it"};
          break;
        }
      }
      return CannotExpress(made->op().str(), " (", dialect_.str(), " opset ", opset,
                           "): ", problems[0], later);
    }
    return absl::OkStatus();
  }

  absl::Status Missing(Symbol op) const {
    if (const FirstVersion later = target_.Later(Fact::Has(op)); later.known()) {
      return CannotExpress("cannot be expressed at opset ", target_.opset(), later);
    }
    for (const Form* form : AllForms(dialect_)) {
      const std::string_view domain = SplitOp(form->op.view()).first;
      if (form->ir_op != op || !form->exports || domain.empty()) continue;
      return CannotExpress("cannot be expressed at version ", target_.OpsetOf(domain), " of ",
                           domain, "; version ", form->opsets.first, " has it");
    }
    return HasForms(dialect_) ? CannotExpress("no mapping to ", dialect_.str()) : NoHandlers();
  }

  // A foreign op is written back unchanged, if the target still has this op.
  void CheckForeign(Node& node) {
    if (const Annotations* notes = node.annotations().get();
        notes && notes->extra.contains(kMadeForTarget)) {
      node.annotations().GetOrMake().extra.erase(kMadeForTarget);
      const std::string_view domain = SplitOp(node.op().view()).first;
      if (!domain.empty() && model_.Opset(domain) == 0) model_.SetOpset(domain, 1);
      return;
    }
    // What was made here is the target's own.
    if (node.dialect() == nodes_ && !foreign_.contains(&node)) return;
    OpCount& count = report_.ops[StrCat(node.dialect().str(), ".", node.op().str())];
    const DerivedDialect* derived = FindDerivedDialect(dialect_);
    if (node.dialect() != nodes_ || (derived && !derived->has(node.op()))) {
      Fail(CannotExpress("a foreign op of ", node.dialect().str(), " cannot be written to ",
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
        Fail(CannotExpress("was kept unchanged from opset ", source_opset, "; at opset ", opset,
                           " this op has another meaning"),
             node);
        return;
      }
    }
    // An operator of the target that was in the graph before.
    const bool known = !known_ || !known_->schema || SchemaOf(node.op(), opset);
    if (known && SplitOp(node.op().view()).first.empty() && !functions_.Called(node)) {
      ++count.mapped;
      return;
    }
    ++count.foreign;
    if (!functions_.Called(node)) kept_.insert(node.op().str());
  }

  void WarnOfKept() {
    if (kept_.empty()) return;
    std::string ops;
    for (const std::string& op : kept_) StrAppend(&ops, ops.empty() ? "" : ", ", op);
    report_.warnings.push_back(StrCat(
        "some ops are kept unchanged; only runtimes that have them can run the model: ", ops));
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
      if (node->dialect() != nodes_) {
        fail(NameOf(*node), CannotExpress("a function that holds ", Describe(*node),
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
           CannotExpress("the function was kept unchanged from opset ", then, "; at opset ", now,
                         " its op ", node->op().str(), " has another meaning; without ",
                         OptionText("keep_functions"), " calls are inlined"));
    }
  }

  // Reports a foreign node that cannot be written.
  void Fail(const absl::Status& status, Node& node) {
    const bool may_hold = !keep_failed_ && (!known_ || known_->holds_any_ops);
    report_.AddFailure(node.op().str(), NameOf(node), status,
                       may_hold && node.dialect() != nodes_
                           ? StrCat(OptionText("continue_on_error"), " writes it unchanged, as an ",
                                    "op that no runtime supports")
                           : "");
    Keep(node.op(), node);
  }

  // A node that cannot be written, but is to be kept all the same, becomes an op of a domain of its
  // own: "x2ir" for IR, else the dialect's name where the op names none.
  void Keep(Symbol origin, Node& node) {
    if (!keep_failed_) return;
    if (node.dialect() != nodes_) {
      const auto [domain, name] = SplitOp(node.op().view());
      const std::string own(node.is_ir()     ? kIrDomain
                            : domain.empty() ? node.dialect().view()
                                             : domain);
      if (model_.Opset(own) == 0) model_.SetOpset(own, 1);
      node.set_op(nodes_, StrCat(own, "::", name));
    }
    ++report_.ops[origin.str()].foreign;
  }

  const DialectTarget target_;
  const Symbol nodes_;  // the dialect of the nodes that are written
  Model source_;        // its opsets alone
  const bool keep_failed_;
  const bool home_;                           // the model was of the dialect that is written
  std::vector<Pending> pending_;              // in order
  std::vector<const Lowering*> lowerings_;    // whose results are being converted, outermost first
  std::set<std::string> kept_;                // foreign ops
  absl::flat_hash_set<const Node*> foreign_;  // nodes that are no IR to begin with
};

}  // namespace

absl::Status RewriteFromIr(Model& model, const std::string& dialect,
                           const std::vector<OpsetImport>& source_opsets, bool keep_failed,
                           const std::vector<std::string>& lacks_ops, const ProgressFn& progress,
                           Report& report) {
  X2IR_RETURN_IF_ERROR(Driver::Check(model));
  X2IR_RETURN_IF_ERROR(
      Exporter(model, dialect, source_opsets, keep_failed, lacks_ops, progress, report).Run());
  CompleteForFiles(model, FindDialect(dialect));
  return absl::OkStatus();
}

}  // namespace x2ir
