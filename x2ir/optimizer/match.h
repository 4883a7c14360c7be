// What rules look for around a node, in whatever way an exporter spelled it: numbers, and products
// and sums in any order and nesting.
#ifndef X2IR_OPTIMIZER_MATCH_H_
#define X2IR_OPTIMIZER_MATCH_H_

#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/optimizer/rules.h"

namespace X2IR_API x2ir {

// A constant in every run, held as plain elements; else null.
const Tensor* DenseConstant(const Value* value);
// Whether all elements of a float constant are that number.
bool IsFilledWith(const Value* value, double number);
// `got` is `want`, but for the rounding of a constant or two of that type on the way.
bool IsRounded(double got, double want, DType type);
// Whether two values have the same shape in every run.
bool SameShape(const Value* a, const Value* b);
// Whether its rank is known to be 2.
bool IsMatrix(const Value* value);

// A product, of numbers multiplied together and all else as it is.
struct Term {
  double number = 1;
  std::vector<Value*> factors;
};
// constant + product.
struct ShiftedTerm {
  double constant = 0;
  Term term;
};

// Looks backwards from a node, at nodes of the same graph only: what a nested graph computes from
// outer values stays where it is computed.
class Pattern {
 public:
  explicit Pattern(Rewriter& r) : graph_(&r.graph()) {}

  // The IR node that makes the value, if it is of that op.
  Node* By(const Value* value, std::string_view op) const;
  // The same, and nobody else uses the value: the node goes when what it is part of is replaced.
  Node* OnlyBy(const Value* value, std::string_view op) const;
  // The number that a float constant of one element holds, where broadcasting it to `beside`
  // leaves that one's shape as it is.
  static std::optional<double> Number(const Value* value, const Value* beside);
  // A node of two operands one of which is such a number; gives the other. `first`: the number
  // stands first.
  struct WithNumber {
    double number;
    Value* other;
    bool first;
  };
  static std::optional<WithNumber> NumberOperand(const Node& node);

  // Multiplications, divisions by numbers and powers of 2 and 3, taken apart as far as nobody else
  // uses what is between. nullopt for large ones.
  std::optional<Term> TermOf(const Node& root) const;
  std::optional<Term> TermOf(Value* value) const;
  // A number added to or subtracted from a product.
  std::optional<ShiftedTerm> ShiftedTermOf(Value* value) const;

 private:
  bool Collect(Value* value, int depth, Term& product) const;
  bool CollectNode(const Node& node, int depth, Term& product) const;
  const Graph* graph_;
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_MATCH_H_
