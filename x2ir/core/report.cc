// Report: failures grouped by op, for people and for programs.
#include "x2ir/core/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr size_t kMaxNodes = 100'000;
// Reasons may name what differs from node to node; after so many of one op the rest counts with the
// last.
constexpr int kMaxReasons = 50;

void VisitOps(const Graph& graph, absl::flat_hash_map<std::pair<Symbol, Symbol>, int64_t>& counts) {
  for (const Node* node : graph.nodes()) {
    ++counts[{node->dialect(), node->op()}];
    for (const Graph* inner : node->subgraphs()) VisitOps(*inner, counts);
  }
}

}  // namespace

std::string ReadableJson(std::string_view text) {
  std::string out;
  if (IsValidUtf8(text)) {
    AppendJsonString(&out, text);
    return out;
  }
  // Any program must be able to read a report, whatever bytes a name has.
  std::string readable;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) {
      readable += c;
    } else {
      AppendUtf8(&readable, 0xfffd);
    }
  }
  AppendJsonString(&out, readable);
  return out;
}

Report Report::OfBoth() && {
  Report both;
  both.nodes_read = nodes_read;
  both.ops_read = std::move(ops_read);
  both.warnings = std::move(warnings);
  both.notes = std::move(notes);
  both.checks = std::move(checks);
  both.interface = std::move(interface);
  return both;
}

int64_t Report::mapped() const {
  int64_t n = 0;
  for (const auto& entry : ops) n += entry.second.mapped;
  return n;
}

std::map<std::string, int64_t> CountOps(const Graph& graph) {
  absl::flat_hash_map<std::pair<Symbol, Symbol>, int64_t> counts;
  VisitOps(graph, counts);
  std::map<std::string, int64_t> ops;
  for (const auto& [op, count] : counts) {
    ops[op.first.empty() ? op.second.str() : StrCat(op.first.str(), ".", op.second.str())] += count;
  }
  return ops;
}

int64_t Report::foreign() const {
  int64_t n = 0;
  for (const auto& entry : ops) n += entry.second.foreign;
  return n;
}

void Report::AddFailure(const std::string& op, const std::string& node, const absl::Status& status,
                        const std::string& hint, std::vector<std::string> tried) {
  const std::string reason = ShortMessage({status.message().data(), status.message().size()});
  auto [it, fresh] = failure_of_.try_emplace(StrCat(op, "\n", reason), failures.size());
  if (fresh && ++reasons_of_[op] > kMaxReasons) {
    failure_of_.erase(it);
    it = failure_of_.try_emplace(op, failures.size()).first;
    fresh = it->second == failures.size();
  }
  if (fresh) {
    failures.push_back(
        {op, status.code(), reason, 0, {}, hint, std::move(tried), FirstVersionOf(status)});
  }
  Failure& failure = failures[it->second];
  ++failure.count;
  if (failure.nodes.size() < kMaxNodes) failure.nodes.push_back(node);
}

void Report::ClearFailures() {
  failures.clear();
  failure_of_.clear();
  reasons_of_.clear();
}

int64_t Report::LeastSufficientOpset() const {
  int64_t all = 0;
  for (const Failure& failure : failures) {
    if (failure.since_opset == 0) return 0;
    all = std::max(all, failure.since_opset);
  }
  return all;
}

std::string Report::FailuresText(size_t most_nodes, bool with_tried) const {
  std::string text;
  for (const Failure& failure : failures) {
    StrAppend(&text, "  ", failure.op, " (", failure.count, failure.count == 1 ? " node" : " nodes",
              "): ", failure.reason);
    if (!failure.hint.empty()) StrAppend(&text, "; ", failure.hint);
    text += "\n    ";
    const size_t named = std::min(failure.nodes.size(), most_nodes);
    for (size_t i = 0; i < named; ++i) {
      StrAppend(&text, i ? ", " : "at ", "'", failure.nodes[i], "'");
    }
    if (failure.count > static_cast<int64_t>(named)) text += ", ...";
    text += "\n";
    if (!with_tried) continue;
    for (const std::string& form : failure.tried) StrAppend(&text, "    tried ", form, "\n");
  }
  return text;
}

absl::Status Report::ToStatus(std::string_view what) const {
  if (failures.empty()) return absl::OkStatus();
  int64_t nodes = 0;
  for (const Failure& failure : failures) nodes += failure.count;
  const size_t ops = reasons_of_.size();
  return absl::Status(failures[0].code,
                      StrCat(what, ": ", ops, ops == 1 ? " op" : " ops", " (", nodes,
                             nodes == 1 ? " node" : " nodes", "):\n", FailuresText()));
}

std::string Report::ToJson() const {
  std::string json = StrCat("{\n  \"nodes_read\": ", nodes_read,
                            ",\n  \"nodes_written\": ", nodes_written, ",\n  \"ops\": {");
  bool first = true;
  for (const auto& [op, count] : ops) {
    StrAppend(&json, first ? "\n" : ",\n", "    ", ReadableJson(op),
              ": {\"mapped\": ", count.mapped, ", \"foreign\": ", count.foreign,
              ", \"lowered\": ", count.lowered, "}");
    first = false;
  }
  json += "\n  }";
  for (const auto& [key, counts] :
       {std::pair("ops_read", &ops_read), std::pair("ops_written", &ops_written)}) {
    StrAppend(&json, ",\n  \"", key, "\": {");
    first = true;
    for (const auto& [op, count] : *counts) {
      StrAppend(&json, first ? "" : ", ", ReadableJson(op), ": ", count);
      first = false;
    }
    json += "}";
  }
  json += ",\n  \"failures\": [";
  first = true;
  for (const Failure& f : failures) {
    StrAppend(&json, first ? "\n" : ",\n", "    {\"op\": ", ReadableJson(f.op),
              ", \"code\": ", ReadableJson(absl::StatusCodeToString(f.code)),
              ", \"reason\": ", ReadableJson(f.reason), ", \"count\": ", f.count,
              ", \"nodes\": ", JsonList(f.nodes, ReadableJson),
              ", \"hint\": ", ReadableJson(f.hint),
              ", \"tried\": ", JsonList(f.tried, ReadableJson));
    if (f.since_opset) StrAppend(&json, ", \"since_opset\": ", f.since_opset);
    json += "}";
    first = false;
  }
  StrAppend(&json, "\n  ],\n  \"warnings\": ", JsonList(warnings, ReadableJson),
            ",\n  \"notes\": ", JsonList(notes, ReadableJson), ",\n  \"passes\": ",
            JsonList(passes,
                     [](const PassResult& pass) {
                       return StrCat("{\"name\": ", ReadableJson(pass.name),
                                     ", \"changes\": ", pass.changes,
                                     ", \"seconds\": ", pass.seconds, "}");
                     }),
            ",\n  \"checks\": ", JsonList(checks, ReadableJson));
  if (interface.known) StrAppend(&json, ",\n  \"interface\": ", interface.ToJson());
  json += "\n}\n";
  return json;
}

}  // namespace x2ir
