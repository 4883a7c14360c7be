// Implements the trees of arguments and results.
#include <algorithm>
#include <utility>

#include "x2ir/formats/json.h"
#include "x2ir/formats/torch/trees_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_format {
namespace {

constexpr int kDeepest = 100;

void ReadTree(JsonReader& json, int depth, Tree* tree) {
  if (depth > kDeepest) return json.Fail("a tree is too deep");
  json.Object([&](std::string_view key) {
    const bool text = json.Peek() == JsonReader::Kind::kString;
    if (key == "type" && text) {
      tree->type = json.String();
    } else if (key == "context" && text) {
      tree->context = json.String();
    } else if (key == "children_spec") {
      json.Array([&](size_t) { ReadTree(json, depth + 1, &tree->children.emplace_back()); });
    } else {
      json.Skip();
    }
  });
}

void AppendTree(std::string* text, const Tree& tree) {
  if (tree.type.empty()) {
    *text += "{\"type\": null, \"context\": null, \"children_spec\": []}";
    return;
  }
  StrAppend(text, "{\"type\": ", JsonString(tree.type), ", \"context\": ");
  AppendJsonString(text, tree.context);
  *text += ", \"children_spec\": [";
  for (size_t i = 0; i < tree.children.size(); ++i) {
    if (i) *text += ", ";
    AppendTree(text, tree.children[i]);
  }
  *text += "]}";
}

Tree Tuple(std::vector<Tree> children) { return {"builtins.tuple", "null", std::move(children)}; }

const std::string* NoteOf(const Graph& graph, std::string_view key) {
  const Annotations* notes = graph.annotations().get();
  if (!notes) return nullptr;
  const auto it = notes->extra.find(std::string(key));
  return it == notes->extra.end() ? nullptr : &it->second;
}

}  // namespace

size_t Tree::leaves() const {
  if (type.empty()) return 1;
  size_t count = 0;
  for (const Tree& child : children) count += child.leaves();
  return count;
}

// "[1, {...}]": the version of the text, and the tree.
std::optional<Tree> ParseTree(std::string_view text) {
  JsonReader json(text);
  Tree tree;
  bool complete = false;
  json.Array([&](size_t i) {
    if (i == 0 && json.Int() != 1) return json.Fail("a tree of another version");
    if (i == 1) ReadTree(json, 0, &tree);
    if (i > 1) json.Fail("more than one tree");
    complete = i == 1;
  });
  json.Finish();
  if (!json.ok() || !complete) return std::nullopt;
  return tree;
}

std::string TreeText(const Tree& tree) {
  std::string text = "[1, ";
  AppendTree(&text, tree);
  return text + "]";
}

Tree PlainArguments(size_t count) {
  return Tuple({Tuple(std::vector<Tree>(count)), {"builtins.dict", "[]", {}}});
}
Tree PlainResults(size_t count) { return count == 1 ? Tree() : Tuple(std::vector<Tree>(count)); }

std::vector<std::string_view> LinesOf(const Graph& graph, std::string_view key) {
  std::vector<std::string_view> lines;
  const std::string* note = NoteOf(graph, key);
  for (std::string_view rest = note ? *note : std::string_view(); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::optional<Signature> SignatureOf(const Graph& graph, std::string_view which,
                                     absl::Span<const Value* const> values) {
  const std::string* text = NoteOf(graph, StrCat("torch.", which, "_tree"));
  if (!text) return std::nullopt;
  auto tree = ParseTree(*text);
  const auto lines = LinesOf(graph, StrCat("torch.", which, "_leaves"));
  if (!tree || tree->leaves() != lines.size()) return std::nullopt;
  Signature signature{*std::move(tree), {}};
  size_t next = 0;
  for (const std::string_view line : lines) {
    const Value* value = nullptr;
    if (!line.empty()) {
      if (next == values.size() || values[next]->name() != line) return std::nullopt;
      value = values[next++];
    }
    signature.leaves.push_back(value);
  }
  if (next != values.size()) return std::nullopt;
  return signature;
}

}  // namespace x2ir::torch_format
