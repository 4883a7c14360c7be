// Minimum cuts: which of many yes-or-no decisions cost least together.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_MIN_CUT_H_
#define X2IR_OPTIMIZER_TRANSPOSE_MIN_CUT_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Decisions are numbered from 0; kYes and kNo are decided. Costs are not negative.
class MinCut {
 public:
  static constexpr int kYes = -1, kNo = -2;
  static constexpr int64_t kNever = int64_t{1} << 40;

  explicit MinCut(int decisions);
  int AddDecision();
  // It costs so much when `a` is yes and `b` is no.
  void YesNo(int a, int b, int64_t cost);
  // The cheapest decisions; of several, those with the fewest yes. Call it once.
  std::vector<bool> Solve();

 private:
  struct Edge {
    int to;
    int next;      // the edge that leaves the same vertex and was made before; -1: none
    int64_t left;  // edge i ^ 1 is the way back
  };
  void AddEdge(int from, int to, int64_t cost);
  int Vertex(int decision) const { return decision + 2; }  // kNo: 0, kYes: 1
  bool Level();
  int64_t Push();
  std::vector<Edge> edges_;
  std::vector<int> out_;  // the last edge that leaves the vertex; -1: none
  std::vector<int> level_;
  std::vector<int> at_;  // which of them is to be tried
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_MIN_CUT_H_
