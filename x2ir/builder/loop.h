// Loops as formulas: a function writes one round, and what it computes is carried to the next. In
// it, values from outside are used as they are.
#ifndef X2IR_BUILDER_LOOP_H_
#define X2IR_BUILDER_LOOP_H_

#include <functional>
#include <vector>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// `count` rounds (int64, rank 0). A round gets its number (from 0) and what is carried, and gives
// the next values, of the same types and shapes. Further results of a round are stacked, round by
// round, along a new first axis; in the result of the loop they follow the carried values.
using RoundBody = std::function<std::vector<Expr>(const Expr& i, const std::vector<Expr>& carried)>;
std::vector<Expr> Rounds(const Expr& count, const std::vector<Expr>& carried,
                         const RoundBody& round);

// As many rounds as `step` says that there is more to do, `limit` at most.
struct Stepped {
  std::vector<Expr> state;
  Expr more;  // bool of any shape: whether any is true
};
using Step = std::function<Stepped(const Expr& i, const std::vector<Expr>& state)>;
std::vector<Expr> Iterate(const Expr& limit, const std::vector<Expr>& state, const Step& step);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LOOP_H_
