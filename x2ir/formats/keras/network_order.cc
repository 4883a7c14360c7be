#include <algorithm>
#include <utility>

#include "x2ir/formats/keras/network_order_internal.h"

namespace x2ir::keras {

std::vector<int> OrderOfLayers(const std::vector<std::vector<int>>& inputs,
                               const std::vector<int>& outputs, const std::vector<int>& ports) {
  struct Place {
    int met = -1;  // in the walk; -1: not yet
    int depth = 0;
  };
  std::vector<Place> places(inputs.size());
  std::vector<int> finished;                  // each after those that it takes tensors of
  std::vector<std::pair<int, size_t>> stack;  // a layer, and its next input
  int met = 0;
  const auto at = [](int layer) { return static_cast<size_t>(layer); };
  const auto visit = [&](int layer) {
    if (places[at(layer)].met >= 0) return;
    places[at(layer)].met = met++;
    stack.emplace_back(layer, 0);
  };
  for (const int output : outputs) {
    visit(output);
    while (!stack.empty()) {
      const int layer = stack.back().first;
      if (stack.back().second < inputs[at(layer)].size()) {
        visit(inputs[at(layer)][stack.back().second++]);
      } else {
        finished.push_back(layer);
        stack.pop_back();
      }
    }
  }
  std::vector<int> order(finished.rbegin(), finished.rend());
  for (const int layer : order) {
    for (const int input : inputs[at(layer)]) {
      Place& place = places[at(input)];
      place.depth = std::max(place.depth, places[at(layer)].depth + 1);
    }
  }
  for (const int port : ports) {
    if (places[at(port)].met < 0) order.push_back(port);
  }
  std::ranges::stable_sort(order, [&](int a, int b) {
    const Place &x = places[at(a)], &y = places[at(b)];
    return x.depth != y.depth ? x.depth > y.depth : x.met < y.met;
  });
  return order;
}

}  // namespace x2ir::keras
