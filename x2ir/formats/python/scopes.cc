// Where PyTorch's exporters say that a node stands, and of which class that is.
//
// The metadata of ONNX's nodes have two lists, as Python prints them, from the model inwards:
//
//   pkg.torch.onnx.name_scopes      ['', 'encoder.layer.0', 'encoder.layer.0.fc', 'linear_3']
//   pkg.torch.onnx.class_hierarchy  ['net.Model', 'net.Layer', 'torch.nn...Linear', 'aten...']
//
// Of a program of torch.export nodes have the paths as names, and the graph's annotation
// "torch.classes" has a line for each module of a class that is not PyTorch's own: its path, a tab,
// the class.
#include <algorithm>

#include "absl/strings/str_split.h"
#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {
namespace {

constexpr size_t kMostScopes = 64, kMostText = 1000;

// The strings of a list of Python's; empty where it is none.
std::vector<std::string> ListOfStrings(std::string_view text) {
  std::vector<std::string> strings;
  if (!text.starts_with('[') || !text.ends_with(']')) return {};
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const char quote = text[0];
    if ((quote != '\'' && quote != '"') || strings.size() == kMostScopes) return {};
    std::string string;
    size_t i = 1;
    for (; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      string += text[i];
    }
    if (i == text.size() || string.size() > kMostText) return {};
    strings.push_back(std::move(string));
    text.remove_prefix(i + 1);
    if (text.starts_with(", ")) text.remove_prefix(2);
  }
  return strings;
}

std::string_view Find(const Annotations& notes, std::string_view key) {
  for (const auto& [name, value] : notes.metadata) {
    if (name == key) return value;
  }
  return {};
}

}  // namespace

std::vector<NamedScope> ScopesOf(const Node& node) {
  const Annotations* notes = node.annotations().get();
  if (!notes || notes->metadata.empty()) return {};
  const std::vector<std::string> names = ListOfStrings(Find(*notes, "pkg.torch.onnx.name_scopes"));
  const std::vector<std::string> classes =
      ListOfStrings(Find(*notes, "pkg.torch.onnx.class_hierarchy"));
  std::vector<NamedScope> scopes;
  // The last is the node itself.
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    scopes.push_back({SplitName(names[i]), i < classes.size() ? classes[i] : ""});
  }
  return scopes;
}

std::optional<std::vector<NamedScope>> ModulesOf(const Graph& graph) {
  const Annotations* notes = graph.annotations().get();
  if (!notes) return std::nullopt;
  const auto it = notes->extra.find("torch.classes");
  if (it == notes->extra.end()) return std::nullopt;
  std::vector<NamedScope> modules;
  for (const absl::string_view line : absl::StrSplit(it->second, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, '\t');
    modules.push_back(
        {SplitName({parts.first.data(), parts.first.size()}), std::string(parts.second)});
  }
  return modules;
}

std::string ClassOf(std::string_view type) {
  if (type.starts_with("torch.nn.")) return "";
  const size_t dot = type.rfind('.');
  const std::string_view name = dot == type.npos ? type : type.substr(dot + 1);
  return IsIdentifier(name) && name.size() <= 40 ? ClassName(name) : "";
}

}  // namespace x2ir::python
