// TensorFlow: cells of recurrent networks as one op, and a whole LSTM. They give all intermediate
// results, which IR's lstm and gru do not.
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// What a cell computes with, all of the graph around it.
struct LstmWeights {
  Value *w, *wci, *wcf, *wco, *bias;
  bool peephole;
  float forget_bias, cell_clip;
  bool ifco;  // the order of the gates; else i, c, f, o
};

struct LstmStep {
  Value *i, *cs, *f, *o, *ci, *co, *h;
  Values All() const { return {i, cs, f, o, ci, co, h}; }
};

LstmStep Lstm(Builder& b, const LstmWeights& p, Value* x, Value* cs_prev, Value* h_prev) {
  const Expr gates = MatMul(Concat(b, {x, h_prev}, 1), {b, p.w}) + Expr(b, p.bias);
  const Values parts = b.Ops("split", {gates}, {{"axis", 1}}, 4);
  const auto gate = [&](const Expr& sum, const Expr& state, Value* weights) {
    return (p.peephole ? state * Expr(b, weights) + sum : sum).Op("sigmoid");
  };
  const Expr before = {b, cs_prev}, f_sum = Shifted({b, parts[p.ifco ? 1 : 2]}, p.forget_bias);
  const Expr i = gate({b, parts[0]}, before, p.wci), f = gate(f_sum, before, p.wcf);
  const Expr ci = Expr(b, parts[p.ifco ? 2 : 1]).Op("tanh"), added = ci * i;
  Expr cs = added + before * f;
  if (p.cell_clip > 0) cs = Min(Max(cs, -p.cell_clip), p.cell_clip);
  const Expr o = gate({b, parts[3]}, cs, p.wco), co = cs.Op("tanh");
  return {i, cs, f, o, ci, co, co * o};
}

LstmWeights TakeWeights(TfArgs& a, size_t first, bool v2) {
  return {.w = a.in(first),
          .wci = a.in(first + 1),
          .wcf = a.in(first + 2),
          .wco = a.in(first + 3),
          .bias = a.in(first + 4),
          .peephole = a.Bool("use_peephole", false),
          .forget_bias = v2 ? 0.0f : a.Float("forget_bias", 1.0f),
          .cell_clip = a.Float("cell_clip", v2 ? 0.0f : 3.0f),
          .ifco = v2};
}

absl::Status ExpectFloats(TfArgs& a, size_t i) {
  return IsFloating(a.in(i)->dtype())
             ? absl::OkStatus()
             : Unimplemented("the element type of operand ", i, " is not known, or no float");
}

absl::StatusOr<Values> LstmBlockCell(TfArgs& a) {
  X2IR_RETURN_IF_ERROR(ExpectFloats(a, 0));
  const LstmWeights weights = TakeWeights(a, 3, false);
  return Lstm(a.b(), weights, a.in(0), a.in(1), a.in(2)).All();
}

// All steps up to seq_len_max; what comes after it is zeros.
absl::StatusOr<Values> BlockLstm(TfArgs& a, bool v2) {
  X2IR_RETURN_IF_ERROR(ExpectFloats(a, 1));
  const LstmWeights weights = TakeWeights(a, 4, v2);
  Value* x = a.in(1);
  Value* steps = a.Op("shape", {x}, {{"start", 0}, {"end", 1}});
  Value* count = a.Op("min", {ReshapeTo(a.AsInt64(a.in(0)), Ints(a, {1})), steps});
  auto body = std::make_shared<Graph>("step");
  Builder b(*body, nullptr);
  Value* step = body->AddInput("step", Type::Tensor(DType::kInt64, Shape()));
  Value* cond = body->AddInput("condition", Type::Tensor(DType::kBool, Shape()));
  Value* cs = body->AddInput("cs_prev", a.in(2)->type());
  Value* h = body->AddInput("h_prev", a.in(3)->type());
  const LstmStep now = Lstm(b, weights, b.Op("gather", {x, step}, {{"axis", 0}}), cs, h);
  Values results = {cond, now.cs, now.h};
  for (Value* v : now.All()) results.push_back(v);
  for (Value* v : results) body->AddOutput(b.Op("identity", {v}));
  X2IR_RETURN_IF_ERROR(b.status());
  Values all = a.b().Ops("loop", {ReshapeTo({a, count}, Ints(a, {})), nullptr, a.in(2), a.in(3)},
                         {{"body", body}}, results.size() - 1);
  all.erase(all.begin(), all.begin() + 2);
  const auto known = a.Ints(0);
  const Shape* shape = x->shape();
  const bool whole = known && known->size() == 1 && shape && shape->rank() > 0 &&
                     (*shape)[0].is_static() && (*known)[0] >= (*shape)[0].value();
  if (whole) return all;
  Value* missing = a.Op("sub", {steps, a.Op("max", {count, a.b().Ints({0})})});
  Value* rest = a.Op("shape", {a.in(2)});
  Value* dims = a.Op("concat", {missing, rest}, {{"axis", 0}});
  Value* zeros = a.Op("expand", {Expr(a, x).Number(0), dims});
  for (Value*& v : all) v = a.Op("concat", {v, zeros}, {{"axis", 0}});
  return all;
}

absl::StatusOr<Values> GruBlockCell(TfArgs& a) {
  X2IR_RETURN_IF_ERROR(ExpectFloats(a, 0));
  const Expr x = a.in(0), h_prev = a.in(1);
  const auto dense = [&](const Expr& h, size_t w, size_t bias) {
    return MatMul(Concat(a, {x, h}, 1), a.in(w)) + a.in(bias);
  };
  const Values ru = a.b().Ops("split", {dense(h_prev, 2, 4).Op("sigmoid")}, {{"axis", 1}}, 2);
  const Expr r = {a, ru[0]}, u = {a, ru[1]}, c = dense(h_prev * r, 3, 5).Op("tanh");
  const Expr fresh = (1 - u) * c;
  return Values{r, u, c, u * h_prev + fresh};
}

}  // namespace

X2IR_TF(lstm)
    .From("LSTMBlockCell", LstmBlockCell)
    .From("BlockLSTM", [](TfArgs& a) { return BlockLstm(a, false); })
    .From("BlockLSTMV2", [](TfArgs& a) { return BlockLstm(a, true); });
X2IR_TF(gru).From("GRUBlockCell", GruBlockCell);

}  // namespace x2ir
