// Attention in a graph of the IR, as Keras's layers have it: the parts of it that are found by what
// made them.
#ifndef X2IR_HANDLERS_KERAS_WRITE_ATTENTION_PARTS_H_
#define X2IR_HANDLERS_KERAS_WRITE_ATTENTION_PARTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// --- Nodes beside a value ------------------------------------------------------------------------

// The IR node of this graph that makes the value, if it is that op; null: it is not.
Node* MadeBy(const Value* value, std::string_view op);
// The only node that uses the elements of a value; null: there is none, or more.
Node* UserOf(const Value* value);
Node* OnlyUser(const Value* value, std::string_view op);
bool IsOfRank(const Value* x, int64_t rank);

// --- Projections ---------------------------------------------------------------------------------

// A constant, perhaps reshaped and transposed: its elements as they are then.
std::optional<Tensor> ConstantAfterMoves(const Value* value, int depth = 0);

struct AndBias {
  Value* x;
  std::optional<Tensor> bias;
};
// x and a constant of these dims that is added to it; the value itself where there is none.
AndBias TakeAddedBias(Value* value, const std::vector<int64_t>& dims);

struct Projection {
  Value* x = nullptr;  // [batch, length, features]
  Tensor kernel;       // [features, heads, size]
  std::optional<Tensor> bias;
  int64_t heads = 0, size = 0, times = 1;  // each head so many times, one after the other
  double factor = 1;
};

// Of a value whose axes are those of [batch, length, heads, size] in this order.
std::optional<Projection> ProjectionOf(Value* value, const std::vector<int64_t>& order);

// --- Masks ---------------------------------------------------------------------------------------

// What is computed of constants alone, as long as it is not much.
std::optional<Tensor> ComputedConstant(const Value* value);

// What of the scores counts: masks of all of them are [batch, queries, keys].
struct ScoreMasks {
  Value* of_values = nullptr;  // [batch, keys]
  Value* of_keys = nullptr;
  std::vector<Value*> others;
  bool causal = false;

  // Takes a mask apart.
  void Add(Value* mask, const Dim& queries, const Dim& keys);

 private:
  void AddOne(Value* mask, const Dim& queries, const Dim& keys);  // that is no "and" of masks
};
// The mask of which Keras makes an addend of scores, a large negative number where it does not
// count; null: it is none.
Value* MaskOfAddend(const Value* addend);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_WRITE_ATTENTION_PARTS_H_
