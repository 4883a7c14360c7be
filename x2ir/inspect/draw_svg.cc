// Drawings as SVG.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/draw.h"
#include "x2ir/inspect/draw_internal.h"
#include "x2ir/inspect/draw_layout.h"

namespace x2ir {
namespace draw {
namespace {

constexpr double kLetter = 6.7;  // the widest letter of a monospaced font of 11 px
constexpr double kLine = 14;
constexpr double kPadding = 8;
constexpr double kFrameGap = 10;

// Text for XML, which has no control characters, and every byte of which must be UTF-8.
std::string Escaped(std::string_view text) {
  const bool utf8 = IsValidUtf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += '?';
    } else if (byte >= 0x80 && !utf8) {
      AppendUtf8(&out, 0xfffd);
    } else {
      out += c;
    }
  }
  return out;
}

size_t Letters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Halves of pixels are fine enough, and keep the file small.
std::string Number(double value) {
  const auto halves = static_cast<int64_t>(std::lround(value * 2));
  return StrCat(halves < 0 ? "-" : "", std::abs(halves) / 2, halves % 2 != 0 ? ".5" : "");
}

// The boxes of one graph with their content and their positions.
struct Picture {
  struct Part {
    Box box;
    double text_height = 0;
    std::vector<std::pair<std::string, std::unique_ptr<Picture>>> frames;
  };
  std::vector<Part> parts;          // as the layout's boxes
  std::vector<std::string> values;  // names, as the layout's edges
  Layout layout;
};

class Maker {
 public:
  // `outer` has the values that the graph uses of those around it.
  std::unique_ptr<Picture> Make(const Graph& graph, absl::flat_hash_set<const Value*>* outer) {
    auto picture = std::make_unique<Picture>();
    absl::flat_hash_map<const Value*, size_t> source;
    absl::flat_hash_set<std::pair<size_t, size_t>> joined;
    const auto join = [&](const Value* value, size_t to) {
      if (!value || value->fixed_constant()) return;
      if (value->graph() != &graph) {
        outer->insert(value);
        return;
      }
      const auto it = source.find(value);
      if (it == source.end() || !joined.emplace(it->second, to).second) return;
      picture->layout.edges.push_back({it->second, to, {}, false});
      picture->values.push_back(value->name());
    };
    for (const Value* input : graph.inputs()) {
      source[input] = Add(*picture, BoxOf(*input, Port::kInput), {});
    }
    // Sources first, so that an unsorted file has all its edges too.
    std::vector<std::pair<const Node*, absl::flat_hash_set<const Value*>>> nodes;
    for (const Node* node : graph.nodes()) {
      nodes.emplace_back(node, absl::flat_hash_set<const Value*>());
      std::vector<std::pair<std::string, std::unique_ptr<Picture>>> frames;
      for (Frame& frame : FramesOf(*node)) {
        frames.emplace_back(std::move(frame.title), Make(*frame.graph, &nodes.back().second));
      }
      const size_t box = Add(*picture, BoxOf(*node), std::move(frames));
      for (const Value* output : node->outputs()) {
        if (output) source[output] = box;
      }
    }
    size_t box = graph.inputs().size();
    for (const auto& [node, used] : nodes) {
      for (size_t i = 0; i < node->num_inputs(); ++i) join(node->input(i), box);
      // In the order of the graph's own list, as sets have none.
      std::vector<const Value*> inner(used.begin(), used.end());
      std::sort(inner.begin(), inner.end(),
                [](const Value* a, const Value* b) { return a->name() < b->name(); });
      for (const Value* value : inner) join(value, box);
      ++box;
    }
    for (const Value* output : graph.outputs()) {
      if (output) join(output, Add(*picture, BoxOf(*output, Port::kOutput), {}));
    }
    PlaceInLayers(picture->layout);
    return picture;
  }

 private:
  static size_t Add(Picture& picture, Box box,
                    std::vector<std::pair<std::string, std::unique_ptr<Picture>>> frames) {
    size_t letters = 0;
    for (const auto* lines : {&box.lines, &box.types}) {
      for (const std::string& line : *lines) letters = std::max(letters, Letters(line));
    }
    LayoutBox place;
    place.width = static_cast<double>(letters) * kLetter + 2 * kPadding;
    const double height =
        static_cast<double>(box.lines.size() + box.types.size()) * kLine + 2 * kPadding;
    double inside = kFrameGap, tallest = 0;
    for (const auto& [title, inner] : frames) {
      inside += inner->layout.width + kFrameGap;
      tallest = std::max(tallest, kLine + inner->layout.height + kFrameGap);
    }
    if (!frames.empty()) place.width = std::max(place.width, inside);
    place.height = height + tallest;
    picture.layout.boxes.push_back(place);
    picture.parts.push_back({std::move(box), height, std::move(frames)});
    return picture.parts.size() - 1;
  }
};

class Svg {
 public:
  std::string Draw(const Graph& graph) {
    absl::flat_hash_set<const Value*> outer;  // of the whole graph there are none
    const std::unique_ptr<Picture> picture = Maker().Make(graph, &outer);
    const std::string width = Number(picture->layout.width);
    const std::string height = Number(picture->layout.height);
    StrAppend(
        &out_, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
        "\" viewBox=\"0 0 ", width, " ", height, "\">\n<title>", Escaped(graph.name()),
        "</title>\n"
        "<style>\n"
        "text { font: 11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; "
        "text-anchor: middle; }\n"
        ".op { font-weight: bold; }\n"
        ".type { fill: #555; }\n"
        "rect { stroke: #777; }\n"
        ".frame { fill: #fff; stroke-dasharray: 4 3; }\n"
        "path { fill: none; stroke: #666; }\n"
        ".direct { stroke: #bbb; }\n"
        "#head path { fill: #666; stroke: none; }\n"
        "</style>\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\" stroke=\"none\"/>\n");
    Put(*picture);
    return out_ + "</svg>\n";
  }

 private:
  void Put(const Picture& picture) {
    const Layout& layout = picture.layout;
    for (const bool direct : {true, false}) {  // direct edges are drawn first, below all else
      for (size_t e = 0; e < layout.edges.size(); ++e) {
        if (layout.edges[e].direct == direct) Put(layout, layout.edges[e], picture.values[e]);
      }
    }
    for (size_t i = 0; i < picture.parts.size(); ++i) Put(picture.parts[i], layout.boxes[i]);
  }

  void Put(const Layout& layout, const LayoutEdge& edge, const std::string& value) {
    const LayoutBox& from = layout.boxes[edge.from];
    const LayoutBox& to = layout.boxes[edge.to];
    double x = from.x, y = from.y + from.height;
    StrAppend(&out_, "<path", edge.direct ? " class=\"direct\"" : "", " d=\"M", Number(x), " ",
              Number(y));
    const auto curve = [&](double next_x, double next_y) {
      const std::string middle = Number((y + next_y) / 2);
      StrAppend(&out_, "C", Number(x), " ", middle, " ", Number(next_x), " ", middle, " ",
                Number(next_x), " ", Number(next_y));
      x = next_x;
      y = next_y;
    };
    for (const LayoutPoint& bend : edge.bends) {
      curve(bend.x, bend.y_in);
      StrAppend(&out_, "V", Number(bend.y_out));
      y = bend.y_out;
    }
    curve(to.x, to.y);
    StrAppend(&out_, "\" marker-end=\"url(#head)\"><title>", Escaped(value), "</title></path>\n");
  }

  void Put(const Picture::Part& part, const LayoutBox& place) {
    const double left = place.x - place.width / 2;
    StrAppend(&out_, "<g>");
    if (!part.box.tooltip.empty()) {
      StrAppend(&out_, "<title>", Escaped(part.box.tooltip), "</title>");
    }
    StrAppend(&out_, "<rect x=\"", Number(left), "\" y=\"", Number(place.y), "\" width=\"",
              Number(place.width), "\" height=\"", Number(place.height), "\" rx=\"",
              part.box.is_port ? 14 : 4, "\" fill=\"", part.box.color, "\"/>");
    double y = place.y + kPadding - 3;
    const auto line = [&](const std::string& text, std::string_view style) {
      y += kLine;
      StrAppend(&out_, "<text", style, " x=\"", Number(place.x), "\" y=\"", Number(y), "\">",
                Escaped(text), "</text>");
    };
    for (const std::string& text : part.box.lines) {
      line(text, &text == part.box.lines.data() ? " class=\"op\"" : "");
    }
    for (const std::string& text : part.box.types) line(text, " class=\"type\"");
    StrAppend(&out_, "</g>\n");
    double x = left + kFrameGap;
    const double top = place.y + part.text_height;
    for (const auto& [title, inner] : part.frames) {
      StrAppend(&out_, "<rect class=\"frame\" x=\"", Number(x), "\" y=\"", Number(top),
                "\" width=\"", Number(inner->layout.width), "\" height=\"",
                Number(inner->layout.height + kLine), "\"/><text x=\"",
                Number(x + inner->layout.width / 2), "\" y=\"", Number(top + kLine - 2), "\">",
                Escaped(title), "</text>\n<g transform=\"translate(", Number(x), " ",
                Number(top + kLine), ")\">\n");
      Put(*inner);
      out_ += "</g>\n";
      x += inner->layout.width + kFrameGap;
    }
  }

  std::string out_;
};

}  // namespace
}  // namespace draw

std::string ToSvg(const Graph& graph) { return draw::Svg().Draw(graph); }

}  // namespace x2ir
