// spell_out: ops of many steps that the target lacks become those steps before the file is written,
// so that the other passes still see them: masks that are constant are folded, scales go into
// weights, transposes meet their neighbours.
//  1. An op of the list below that the target does not have is replaced by the first of its
//  lowerings that applies. If none applies, the op stays, and export reports the reason. The pass
//  runs last: passes that change the op as a whole come first.
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(spell_out, "Ops of many steps that the target lacks become these steps.");

bool GivesAll(const Node& node, const Values& results) {
  if (results.size() < node.num_outputs()) return false;
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    if (node.output(i) && !results[i]) return false;
  }
  return true;
}

absl::StatusOr<bool> SpellOut(Rewriter& r) {
  const Target* target = r.context().target;
  if (!target || target->Has(r.node().op())) return false;
  for (const Lowering* lowering : LoweringsOf(r.node().op())) {
    Rewrite rewrite{r.node(), r.b(), Symbol(), 0, *target};
    const auto results = lowering->run(rewrite);
    if (results.ok() && r.b().status().ok() && GivesAll(r.node(), *results)) {
      return r.Replace(*results);
    }
    if (!r.b().status().ok()) return false;
    r.b().Rollback();
  }
  return false;
}
X2IR_RULE(spell_out, attention, SpellOut);
X2IR_RULE(spell_out, deform_conv, SpellOut);
X2IR_RULE(spell_out, group_normalization, SpellOut);
X2IR_RULE(spell_out, gru, SpellOut);
X2IR_RULE(spell_out, lstm, SpellOut);
X2IR_RULE(spell_out, rnn, SpellOut);
X2IR_RULE(spell_out, rotary_embedding, SpellOut);

}  // namespace
}  // namespace x2ir
