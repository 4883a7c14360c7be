// What the two directions of the conversion driver share (driver.h): import_driver.cc and
// export_driver.cc. One pass over the nodes; each costs what it costs.
#ifndef X2IR_CORE_DRIVER_INTERNAL_H_
#define X2IR_CORE_DRIVER_INTERNAL_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/driver.h"
#include "x2ir/core/functions.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/unknown.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/splice.h"

namespace x2ir {

// The domain of IR ops inside of a model of another dialect.
inline constexpr std::string_view kIrDomain = "x2ir";

// Tells the observer, if there is one (driver.h), what a form made.
void ObserveRewrite(const Form& form, const std::vector<Node*>& made);

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

  // What is linked together must fit, and be there at all; values must have names of their own.
  static absl::Status Check(const Model& model);

 protected:
  // What is known of an op once one of its nodes was met.
  struct KnownForm {
    const Form* form = nullptr;
    const OpSchema* schema = nullptr;  // of the dialect's op
  };
  // Where nodes come from, the model or one of its functions, says by the opsets that it imports
  // what they mean.
  struct Scope {
    const std::vector<OpsetImport>* imports;
    absl::flat_hash_map<Symbol, int> opsets;
    absl::flat_hash_map<Symbol, KnownForm> forms;
    std::string function;  // its name; empty for the model
  };

  // The opset of the op's domain, as the scope imports it; 0 when it does not.
  static int OpsetOf(Symbol op, Scope& scope);
  int OpsetOf(Symbol op) { return OpsetOf(op, model_scope_); }

  const OpSchema* SchemaOf(Symbol op, int opset) const {
    return known_ && known_->schema ? known_->schema(op, opset) : nullptr;
  }

  // Whether a node can be renamed in place: Builder and Splice would make a node with the same
  // operands and results.
  static bool MayRename(const Node& node);
  // Gives what the node had. Not for nested graphs.
  static AttributeMap ReplaceAttrs(Node& node, AttributeMap attrs);

  // Runs a handler; what it made is taken back when it fails.
  absl::StatusOr<Values> Try(const Handler& handler, Rewrite& r);

  // Values of a nested graph get names where they have none, and others where an outer value is
  // called the same: files say by name which one is meant. A foreign op may know the inputs and
  // outputs of its graph by their names, so these are kept.
  static void NameApart(Graph& graph, bool keep_interface);

  // Reports progress. After a cancellation everything ends soon.
  void Tick() {
    if (!progress_ || ++done_ % kProgressEvery != 0) return;
    cancelled_ = cancelled_ || !progress_(done_, std::max(total_, done_));
  }
  absl::Status CheckCancelled() const {
    return cancelled_ ? absl::CancelledError("cancelled") : absl::OkStatus();
  }

  // The dialect has no registered handlers.
  absl::Status NoHandlers() const {
    return CannotExpress("no handlers of '", dialect_.str(),
                         "' are linked in (x2ir's archive must be linked whole)");
  }

  static std::string NameOf(const Node& node);

  // What would make known what a node was refused for (unknown.h). Of each op and reason once, and
  // not without end: the report has the first one's.
  std::string WhatHelps(std::string_view op, const Node& node, std::string_view why) {
    constexpr size_t kMaxHints = 200;
    // Nor where the reason says already which option would help.
    if (hinted_.size() == kMaxHints || why.find("option '") != why.npos) return "";
    return hinted_.insert(StrCat(op, "\n", why)).second ? HintOfUnknown(node, why) : "";
  }

  static constexpr int64_t kProgressEvery = 64;
  Model& model_;
  const Symbol dialect_;
  const Dialect* const known_;
  Functions functions_;
  Scope model_scope_;
  const ProgressFn& progress_;
  int64_t done_ = 0;
  bool cancelled_ = false;
  const int64_t total_;
  Report& report_;
  NodeNames node_names_;
  absl::flat_hash_set<std::string> hinted_;
};

}  // namespace x2ir

#endif  // X2IR_CORE_DRIVER_INTERNAL_H_
