// A dialect at certain opsets as the target of a conversion: facts for lowerings and passes
// (ops/target.h), read from the dialect's forms and schemas.
#ifndef X2IR_CORE_DIALECT_TARGET_H_
#define X2IR_CORE_DIALECT_TARGET_H_

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/ops/target.h"
#include "x2ir/optimizer/rounds.h"

namespace X2IR_API x2ir {

// A form answers by its lenses, and by `Code::says` where it is code; what these do not speak of is
// answered by the schema of the form's op. Without a schema an attribute that no lens names has its
// default alone; code is believed.
// Not for several threads at once.
class DialectTarget : public Target, public RoundsBudget {
 public:
  // `imports`: the opset of the default domain, and those of other domains that the target has at
  // a version of its own. `lacks_ops`: ops of the dialect that this target does not have.
  DialectTarget(Symbol dialect, std::vector<OpsetImport> imports,
                const std::vector<std::string>& lacks_ops = {});

  bool Holds(const Fact& fact) const override;
  FirstVersion Later(const Fact& fact) const override;
  std::string_view layout() const override {
    return known_ ? std::string_view(known_->layout) : std::string_view();
  }

  int opset() const { return opset_; }
  // The opset that selects the forms of a domain: the imported one, else the one that was released
  // with the opset of the default domain, else (for an unknown domain) that opset itself.
  int OpsetOf(std::string_view domain) const { return OpsetOf(domain, opset_); }
  // The form that writes an IR op, or null.
  const Form* FormOf(Symbol op) const { return FormAt(op, opset_); }

 private:
  int OpsetOf(std::string_view domain, int opset) const;
  const Form* FormAt(Symbol op, int opset) const;
  bool HoldsAt(const Fact& fact, int opset) const;

  const Symbol dialect_;
  const Dialect* const known_;  // null: without schemas
  const std::vector<OpsetImport> imports_;
  const absl::flat_hash_set<Symbol> lacks_ops_;
  const int opset_;
  // Passes ask the same at each node: answers about operands, by op, operand and element type.
  mutable absl::flat_hash_map<std::tuple<Symbol, size_t, DType>, bool> known_operands_;
};

}  // namespace x2ir

#endif  // X2IR_CORE_DIALECT_TARGET_H_
