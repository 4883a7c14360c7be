#include "x2ir/formats/module_path.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"

namespace x2ir {
namespace {

constexpr size_t kMaxScopes = 64, kMaxScopeText = 1000;

// The strings of a list of Python's; empty where it is none.
std::vector<std::string> ListOfStrings(std::string_view text) {
  std::vector<std::string> strings;
  if (!text.starts_with('[') || !text.ends_with(']')) return {};
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const char quote = text[0];
    if ((quote != '\'' && quote != '"') || strings.size() == kMaxScopes) return {};
    std::string string;
    size_t i = 1;
    for (; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      string += text[i];
    }
    if (i == text.size() || string.size() > kMaxScopeText) return {};
    strings.push_back(std::move(string));
    text.remove_prefix(i + 1);
    if (text.starts_with(", ")) text.remove_prefix(2);
  }
  return strings;
}

std::string_view MetadataOf(const Annotations& notes, std::string_view key) {
  for (const auto& [name, value] : notes.metadata) {
    if (name == key) return value;
  }
  return {};
}

}  // namespace

std::vector<NamedScope> ScopesOf(const Node& node) {
  const Annotations* notes = node.annotations().get();
  if (!notes || notes->metadata.empty()) return {};
  const std::vector<std::string> names =
      ListOfStrings(MetadataOf(*notes, "pkg.torch.onnx.name_scopes"));
  const std::vector<std::string> classes =
      ListOfStrings(MetadataOf(*notes, "pkg.torch.onnx.class_hierarchy"));
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

ModulePath ModuleInName(const Node& node, bool of_torch) {
  std::string_view name = node.name();
  if (of_torch) {
    // "encoder.layer.0/add_3": the part after the module is a call and the value that it computed.
    const size_t slash = name.find('/');
    return slash == name.npos ? ModulePath() : SplitName(name.substr(0, slash));
  }
  if (name.find('/') == name.npos) {
    // ONNX's nodes may have none, or one of another kind, and results that say more.
    const Value* output = node.output(0);
    if (name.empty() && output) name = output->name();
  }
  // TFLite joins the names of operators that were fused: "block/relu;block/conv;block/bias".
  if (const size_t others = name.find(';'); others > 0) name = name.substr(0, others);
  const size_t slash = name.rfind('/');
  return slash == name.npos || slash == 0 ? ModulePath() : SplitName(name.substr(0, slash));
}

ModulePath SplitName(std::string_view name) {
  ModulePath path;
  const auto split = [](std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
      const size_t end = std::min(text.find(at), text.size());
      if (end != 0) parts.push_back(text.substr(0, end));
      if (end == text.size()) return parts;
      text.remove_prefix(end + 1);
    }
  };
  std::string_view before;
  for (const std::string_view part : split(name, '/')) {
    // In a container PyTorch's exporter says its name again: features/features.0/features.0.1.
    std::string_view own = part;
    if (!before.empty() && part.size() > before.size() + 1 && part.starts_with(before) &&
        part[before.size()] == '.') {
      own = part.substr(before.size() + 1);
    }
    for (const std::string_view piece : split(own, '.')) path.emplace_back(piece.substr(0, 200));
    before = part;
    if (path.size() > 64) break;
  }
  return path;
}

}  // namespace x2ir
