// After Sugiyama, Tagawa and Toda: layers, an order within each by medians of neighbors, then
// places. Each step is linear in boxes and edges, but for sorting; edges that pass many layers are
// not routed, so that their parts are no more than a constant times as many.
#include "x2ir/inspect/draw_layout.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace x2ir {
namespace {

constexpr int kLongestEdge = 24;  // in layers
constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 12;
constexpr double kGap = 24;       // between boxes of a layer
constexpr double kEdgeGap = 10;   // between edges that pass a layer
constexpr double kLayerGap = 34;  // between layers
constexpr double kMargin = 12;

// A box, or the point where an edge passes a layer.
struct Item {
  double width = 0;
  bool is_box = true;
  int layer = 0;
  size_t at = 0;  // in its layer
  double x = 0;
  std::vector<size_t> above, below;  // neighbors in the layers next to it
};

class Placer {
 public:
  explicit Placer(Layout& layout) : layout_(layout) {}

  void Place() {
    FindLayers();
    MakeItems();
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) Order(/*down=*/sweep % 2 == 0);
    PlaceAcross();
    PlaceDown();
  }

 private:
  // Topological order; what is left of cycles comes in the order of the boxes.
  std::vector<size_t> Sorted() const {
    std::vector<int64_t> waits(layout_.boxes.size(), 0);
    for (const LayoutEdge& edge : layout_.edges) ++waits[edge.to];
    std::vector<size_t> order;
    std::vector<bool> done(waits.size(), false);
    for (size_t first = 0; first < waits.size(); ++first) {
      if (done[first] || waits[first] > 0) continue;
      done[first] = true;
      order.push_back(first);
      for (size_t next = order.size() - 1; next < order.size(); ++next) {
        for (const size_t e : out_[order[next]]) {
          const size_t to = layout_.edges[e].to;
          if (--waits[to] > 0 || done[to]) continue;
          done[to] = true;
          order.push_back(to);
        }
      }
    }
    for (size_t i = 0; i < done.size(); ++i) {
      if (!done[i]) order.push_back(i);
    }
    return order;
  }

  // Every box is below all boxes that it depends on, and as low as possible: boxes with few
  // dependents move down to them.
  void FindLayers() {
    const size_t n = layout_.boxes.size();
    out_.resize(n);
    in_.resize(n);
    for (size_t e = 0; e < layout_.edges.size(); ++e) {
      out_[layout_.edges[e].from].push_back(e);
      in_[layout_.edges[e].to].push_back(e);
    }
    const std::vector<size_t> order = Sorted();
    std::vector<size_t> place(n);
    for (size_t i = 0; i < n; ++i) place[order[i]] = i;
    for (LayoutEdge& edge : layout_.edges) edge.direct = place[edge.from] >= place[edge.to];
    layer_.assign(n, 0);
    for (const size_t box : order) {
      for (const size_t e : out_[box]) {
        const LayoutEdge& edge = layout_.edges[e];
        if (!edge.direct) layer_[edge.to] = std::max(layer_[edge.to], layer_[box] + 1);
      }
    }
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (out_[*it].size() <= in_[*it].size()) continue;
      int lowest = std::numeric_limits<int>::max();
      for (const size_t e : out_[*it]) {
        const LayoutEdge& edge = layout_.edges[e];
        if (!edge.direct) lowest = std::min(lowest, layer_[edge.to] - 1);
      }
      if (lowest != std::numeric_limits<int>::max()) layer_[*it] = lowest;
    }
    for (LayoutEdge& edge : layout_.edges) {
      edge.direct = edge.direct || layer_[edge.to] - layer_[edge.from] > kLongestEdge;
    }
    // The first order within layers is that of a walk along the edges.
    walk_ = order;
  }

  void MakeItems() {
    const size_t n = layout_.boxes.size();
    items_.resize(n);
    int layers = 0;
    for (size_t i = 0; i < n; ++i) {
      items_[i].width = layout_.boxes[i].width + kGap;
      items_[i].layer = layer_[i];
      layers = std::max(layers, layer_[i] + 1);
    }
    layers_.resize(static_cast<size_t>(layers));
    parts_.resize(layout_.edges.size());
    for (const size_t box : walk_) {
      Add(box);
      for (const size_t e : out_[box]) {
        const LayoutEdge& edge = layout_.edges[e];
        if (edge.direct) continue;
        size_t from = box;
        for (int layer = layer_[box] + 1; layer < layer_[edge.to]; ++layer) {
          const size_t part = items_.size();
          items_.push_back({kEdgeGap, false, layer, 0, 0, {}, {}});
          parts_[e].push_back(part);
          Join(from, part);
          Add(part);
          from = part;
        }
        Join(from, edge.to);
      }
    }
  }
  void Add(size_t item) {
    std::vector<size_t>& layer = layers_[static_cast<size_t>(items_[item].layer)];
    items_[item].at = layer.size();
    layer.push_back(item);
  }
  void Join(size_t from, size_t to) {
    items_[from].below.push_back(to);
    items_[to].above.push_back(from);
  }

  // Sorts each layer by the medians of its items' neighbors in the layer before.
  void Order(bool down) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      std::vector<size_t>& layer = layers_[down ? i : layers_.size() - 1 - i];
      std::vector<std::pair<double, size_t>> keys;
      for (const size_t item : layer) keys.emplace_back(Median(item, down), item);
      std::stable_sort(keys.begin(), keys.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (size_t k = 0; k < keys.size(); ++k) {
        layer[k] = keys[k].second;
        items_[layer[k]].at = k;
      }
    }
  }
  double Median(size_t item, bool down) const {
    const std::vector<size_t>& others = down ? items_[item].above : items_[item].below;
    if (others.empty()) return static_cast<double>(items_[item].at);
    std::vector<size_t> at;
    for (const size_t other : others) at.push_back(items_[other].at);
    std::sort(at.begin(), at.end());
    const size_t middle = at.size() / 2;
    if (at.size() % 2 != 0) return static_cast<double>(at[middle]);
    return (static_cast<double>(at[middle - 1]) + static_cast<double>(at[middle])) / 2;
  }

  void PlaceAcross() {
    for (const auto& layer : layers_) {
      double x = 0;
      for (const size_t item : layer) {
        items_[item].x = x + items_[item].width / 2;
        x += items_[item].width;
      }
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t i = 0; i < layers_.size(); ++i) {
        Settle(layers_[down ? i : layers_.size() - 1 - i], down);
      }
    }
    double left = std::numeric_limits<double>::max(), right = std::numeric_limits<double>::lowest();
    for (const Item& item : items_) {
      left = std::min(left, item.x - item.width / 2);
      right = std::max(right, item.x + item.width / 2);
    }
    if (items_.empty()) left = right = 0;
    for (Item& item : items_) item.x += kMargin - left;
    layout_.width = right - left + 2 * kMargin;
  }

  // Moves the items of a layer to the means of their neighbors in the layer before, as near as
  // their order and widths allow: items that would overlap move as one, by the weighted mean of
  // what they want (regression that keeps an order, by pooling of neighbors).
  void Settle(const std::vector<size_t>& layer, bool down) {
    struct Block {
      double wanted, weight;  // of its first item's place
      size_t count;
    };
    std::vector<Block> blocks;
    std::vector<double> offset;  // of each item from the start of a layer without gaps
    double at = 0;
    for (const size_t i : layer) {
      const Item& item = items_[i];
      const std::vector<size_t>& others = down ? item.above : item.below;
      double wanted = item.x;
      double weight = 0.1;
      if (!others.empty()) {
        wanted = 0;
        for (const size_t other : others) wanted += items_[other].x;
        wanted /= static_cast<double>(others.size());
        weight = item.is_box ? 1 : 4;  // long edges are straight
      }
      offset.push_back(at + item.width / 2);
      at += item.width;
      blocks.push_back({wanted - offset.back(), weight, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].wanted > blocks.back().wanted) {
        const Block last = blocks.back();
        blocks.pop_back();
        Block& block = blocks.back();
        const double sum = block.weight + last.weight;
        block.wanted = (block.wanted * block.weight + last.wanted * last.weight) / sum;
        block.weight = sum;
        block.count += last.count;
      }
    }
    size_t next = 0;
    for (const Block& block : blocks) {
      for (size_t k = 0; k < block.count; ++k, ++next) {
        items_[layer[next]].x = block.wanted + offset[next];
      }
    }
  }

  void PlaceDown() {
    std::vector<double> top(layers_.size()), bottom(layers_.size());
    double y = kMargin;
    for (size_t i = 0; i < layers_.size(); ++i) {
      double height = 0;
      for (const size_t item : layers_[i]) {
        if (items_[item].is_box) height = std::max(height, layout_.boxes[item].height);
      }
      top[i] = y;
      bottom[i] = y + height;
      y = bottom[i] + kLayerGap;
    }
    layout_.height = y - kLayerGap + kMargin;
    for (size_t i = 0; i < layout_.boxes.size(); ++i) {
      const auto layer = static_cast<size_t>(items_[i].layer);
      LayoutBox& box = layout_.boxes[i];
      box.x = items_[i].x;
      box.y = top[layer] + (bottom[layer] - top[layer] - box.height) / 2;
    }
    for (size_t e = 0; e < layout_.edges.size(); ++e) {
      for (const size_t part : parts_[e]) {
        const auto layer = static_cast<size_t>(items_[part].layer);
        layout_.edges[e].bends.push_back({items_[part].x, top[layer], bottom[layer]});
      }
    }
  }

  Layout& layout_;
  std::vector<std::vector<size_t>> out_, in_;  // edges of each box
  std::vector<int> layer_;
  std::vector<size_t> walk_;
  std::vector<Item> items_;  // boxes first
  std::vector<std::vector<size_t>> layers_;
  std::vector<std::vector<size_t>> parts_;  // items of each edge
};

}  // namespace

void PlaceInLayers(Layout& layout) { Placer(layout).Place(); }

}  // namespace x2ir
