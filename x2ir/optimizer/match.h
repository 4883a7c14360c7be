// Pattern matching for rules: constants that are one number, and products and sums whatever the
// order of their operands and however they are nested, since exporters spell formulas differently.
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
// Whether `got` differs from `want` by at most the rounding of two constants of that type.
bool IsRounded(double got, double want, DType type);
// Whether two values have the same shape in every run.
bool SameShape(const Value* a, const Value* b);
// Whether its rank is known to be 2.
bool IsMatrix(const Value* value);

// A product: `number` is the product of all factors that are numbers, `factors` are the others.
struct Term {
  double number = 1;
  std::vector<Value*> factors;
};
// constant + product.
struct ShiftedTerm {
  double constant = 0;
  Term term;
};

// Looks from a node at its producers, those in the same graph only: what a nested graph computes
// from values of an outer graph is not moved between graphs.
class Pattern {
 public:
  explicit Pattern(Rewriter& r) : graph_(&r.graph()) {}

  // The IR node that produces the value, if it has that op; else null.
  Node* By(const Value* value, std::string_view op) const;
  Node* By(const Value* value, OpTest which) const;  // an op of a kind
  // As the first, if the value has one use only. The node then becomes unused when its consumer is
  // replaced.
  Node* OnlyBy(const Value* value, std::string_view op) const;
  // The number in a float constant of one element, if broadcasting it with `beside` gives the shape
  // of `beside`.
  static std::optional<double> Number(const Value* value, const Value* beside);
  // For a node of two operands, one of which is such a number: the number, and the other operand.
  // `first`: the number is operand 0.
  struct WithNumber {
    double number;
    Value* other;
    bool first;
  };
  static std::optional<WithNumber> NumberOperand(const Node& node);

  // The product that a node computes, through multiplications, divisions by numbers, negations and
  // powers of 2 and 3 whose results have one use. nullopt for very large products.
  std::optional<Term> TermOf(const Node& root) const;
  std::optional<Term> TermOf(Value* value) const;
  // A product with a number added to it or subtracted from it.
  std::optional<ShiftedTerm> ShiftedTermOf(Value* value) const;

 private:
  bool Collect(Value* value, int depth, Term& product) const;
  bool CollectNode(const Node& node, int depth, Term& product) const;
  const Graph* graph_;
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_MATCH_H_
