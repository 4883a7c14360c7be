// spell_out: ops of many steps that the target lacks become those steps before the file is written,
// so that the other passes still see them: masks that are constant are folded, scales go into
// weights, transposes meet their neighbours.
//  1. An op of the list below that the target does not have is replaced by the first of its
//  lowerings that applies, where the target has the ops that this makes, or there are lowerings of
//  them, too. If none applies, the op stays, and export reports the reason. The pass runs last:
//  passes that change the op as a whole come first.
#include <algorithm>

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

// Whether the target may have all that was made: errors name the op that was asked for.
bool MayHaveAll(const Target& target, const Builder& b) {
  return std::all_of(b.made().begin(), b.made().end(), [&](const Node* made) {
    return target.Has(made->op()) || !LoweringsOf(made->op()).empty();
  });
}

absl::StatusOr<bool> SpellOut(Rewriter& r) {
  const Target* target = r.context().target;
  if (!target || target->Has(r.node().op())) return false;
  for (const Lowering* lowering : LoweringsOf(r.node().op())) {
    Rewrite rewrite{r.node(), r.b(), Symbol(), 0, *target};
    const auto results = lowering->run(rewrite);
    if (results.ok() && r.b().status().ok() && GivesAll(r.node(), *results) &&
        MayHaveAll(*target, r.b())) {
      return r.Replace(*results);
    }
    if (!r.b().status().ok()) return false;
    r.b().Rollback();
  }
  return false;
}
X2IR_RULE(spell_out, affine_grid, SpellOut);
X2IR_RULE(spell_out, attention, SpellOut);
X2IR_RULE(spell_out, causal_conv_with_state, SpellOut);
X2IR_RULE(spell_out, center_crop_pad, SpellOut);
X2IR_RULE(spell_out, cholesky, SpellOut);
X2IR_RULE(spell_out, col2im, SpellOut);
X2IR_RULE(spell_out, conv_integer, SpellOut);
X2IR_RULE(spell_out, cum_prod, SpellOut);
X2IR_RULE(spell_out, deform_conv, SpellOut);
X2IR_RULE(spell_out, det, SpellOut);
X2IR_RULE(spell_out, dft, SpellOut);
X2IR_RULE(spell_out, einsum, SpellOut);
X2IR_RULE(spell_out, gather_elements, SpellOut);
X2IR_RULE(spell_out, global_lp_pool, SpellOut);
X2IR_RULE(spell_out, grid_sample, SpellOut);
X2IR_RULE(spell_out, group_normalization, SpellOut);
X2IR_RULE(spell_out, gru, SpellOut);
X2IR_RULE(spell_out, instance_normalization, SpellOut);
X2IR_RULE(spell_out, layer_normalization, SpellOut);
X2IR_RULE(spell_out, linear_attention, SpellOut);
X2IR_RULE(spell_out, lp_pool, SpellOut);
X2IR_RULE(spell_out, lstm, SpellOut);
X2IR_RULE(spell_out, lu, SpellOut);
X2IR_RULE(spell_out, matmul_integer, SpellOut);
X2IR_RULE(spell_out, max_roi_pool, SpellOut);
X2IR_RULE(spell_out, mean_variance_normalization, SpellOut);
X2IR_RULE(spell_out, mel_weight_matrix, SpellOut);
X2IR_RULE(spell_out, negative_log_likelihood_loss, SpellOut);
X2IR_RULE(spell_out, one_hot, SpellOut);
X2IR_RULE(spell_out, reverse_sequence, SpellOut);
X2IR_RULE(spell_out, rms_normalization, SpellOut);
X2IR_RULE(spell_out, rnn, SpellOut);
X2IR_RULE(spell_out, roi_align, SpellOut);
X2IR_RULE(spell_out, rotary_embedding, SpellOut);
X2IR_RULE(spell_out, softmax_cross_entropy_loss, SpellOut);
X2IR_RULE(spell_out, solve, SpellOut);
X2IR_RULE(spell_out, svd, SpellOut);
X2IR_RULE(spell_out, tensor_scatter, SpellOut);
X2IR_RULE(spell_out, triangular_solve, SpellOut);
X2IR_RULE(spell_out, trilu, SpellOut);
X2IR_RULE(spell_out, unique, SpellOut);

}  // namespace
}  // namespace x2ir
