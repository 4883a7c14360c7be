// Dinic's algorithm, without recursion: paths may be as long as the graph.
#include "x2ir/optimizer/transpose/min_cut.h"

#include <algorithm>

namespace x2ir {
namespace {

constexpr int kSink = 0, kSource = 1;

}  // namespace

MinCut::MinCut(int decisions) : out_(decisions + 2, -1) {}

int MinCut::AddDecision() {
  out_.push_back(-1);
  return static_cast<int>(out_.size()) - 3;
}

void MinCut::YesNo(int a, int b, int64_t cost) {
  if (cost <= 0 || a == b || a == kNo || b == kYes) return;
  AddEdge(Vertex(a), Vertex(b), cost);
  AddEdge(Vertex(b), Vertex(a), 0);
}

void MinCut::AddEdge(int from, int to, int64_t cost) {
  edges_.push_back({to, out_[from], cost});
  out_[from] = static_cast<int>(edges_.size()) - 1;
}

// Distances from the source along edges with room; whether the sink has one.
bool MinCut::Level() {
  level_.assign(out_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int e = out_[queue[i]]; e >= 0; e = edges_[e].next) {
      if (edges_[e].left == 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[queue[i]] + 1;
      queue.push_back(edges_[e].to);
    }
  }
  return level_[kSink] >= 0;
}

// One path to the sink along rising levels, filled; 0 when there is none.
int64_t MinCut::Push() {
  std::vector<int> path;
  int at = kSource;
  while (at != kSink) {
    bool found = false;
    for (; at_[at] >= 0; at_[at] = edges_[at_[at]].next) {
      const Edge& edge = edges_[at_[at]];
      if (edge.left == 0 || level_[edge.to] != level_[at] + 1) continue;
      path.push_back(at_[at]);
      at = edge.to;
      found = true;
      break;
    }
    if (found) continue;
    if (path.empty()) return 0;
    level_[at] = -1;  // leads nowhere
    at = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  int64_t room = kNever;
  for (int e : path) room = std::min(room, edges_[e].left);
  for (int e : path) {
    edges_[e].left -= room;
    edges_[e ^ 1].left += room;
  }
  return room;
}

std::vector<bool> MinCut::Solve() {
  while (Level()) {
    at_ = out_;
    while (Push() > 0) {
    }
  }
  // Yes is what the source still reaches.
  std::vector<bool> yes;
  for (size_t v = 2; v < out_.size(); ++v) yes.push_back(level_[v] >= 0);
  return yes;
}

}  // namespace x2ir
