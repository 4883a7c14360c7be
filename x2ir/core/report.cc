// Report: failures grouped by op, for people and for programs.
#include "x2ir/core/report.h"

#include <algorithm>
#include <cmath>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr size_t kNodesNamed = 5;

std::string Quoted(std::string_view text) {
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

template <typename Range, typename F>
std::string List(const Range& range, F f) {
  std::string out = "[";
  for (const auto& item : range) StrAppend(&out, out.size() > 1 ? ", " : "", f(item));
  return out + "]";
}

}  // namespace

int64_t Report::mapped() const {
  int64_t n = 0;
  for (const auto& entry : ops) n += entry.second.mapped;
  return n;
}

int64_t Report::foreign() const {
  int64_t n = 0;
  for (const auto& entry : ops) n += entry.second.foreign;
  return n;
}

void Report::AddFailure(const std::string& op, const std::string& node, const absl::Status& status,
                        const std::string& hint) {
  auto it =
      std::find_if(failures.begin(), failures.end(), [&](const Failure& f) { return f.op == op; });
  if (it == failures.end()) {
    failures.push_back({op, status.code(), std::string(status.message()), 0, {}, hint});
    it = failures.end() - 1;
  }
  ++it->count;
  if (it->nodes.size() < kNodesNamed) it->nodes.push_back(node);
}

std::string Report::FailuresText() const {
  std::string text;
  for (const Failure& failure : failures) {
    StrAppend(&text, "  ", failure.op, " (", failure.count, failure.count == 1 ? " node" : " nodes",
              "): ", failure.reason);
    if (!failure.hint.empty()) StrAppend(&text, "; ", failure.hint);
    text += "\n    ";
    for (size_t i = 0; i < failure.nodes.size(); ++i) {
      StrAppend(&text, i ? ", " : "at ", "'", failure.nodes[i], "'");
    }
    if (failure.count > static_cast<int64_t>(failure.nodes.size())) text += ", ...";
    text += "\n";
  }
  return text;
}

absl::Status Report::ToStatus(std::string_view what) const {
  if (failures.empty()) return absl::OkStatus();
  int64_t nodes = 0;
  for (const Failure& failure : failures) nodes += failure.count;
  return absl::Status(failures[0].code,
                      StrCat(what, ": ", failures.size(), failures.size() == 1 ? " op" : " ops",
                             " (", nodes, nodes == 1 ? " node" : " nodes", "):\n", FailuresText()));
}

std::string Report::ToJson() const {
  std::string json = StrCat("{\n  \"nodes_read\": ", nodes_read,
                            ",\n  \"nodes_written\": ", nodes_written, ",\n  \"ops\": {");
  bool first = true;
  for (const auto& [op, count] : ops) {
    StrAppend(&json, first ? "\n" : ",\n", "    ", Quoted(op), ": {\"mapped\": ", count.mapped,
              ", \"foreign\": ", count.foreign, ", \"lowered\": ", count.lowered, "}");
    first = false;
  }
  json += "\n  },\n  \"failures\": [";
  first = true;
  for (const Failure& f : failures) {
    StrAppend(&json, first ? "\n" : ",\n", "    {\"op\": ", Quoted(f.op),
              ", \"code\": ", Quoted(absl::StatusCodeToString(f.code)),
              ", \"reason\": ", Quoted(f.reason), ", \"count\": ", f.count,
              ", \"nodes\": ", List(f.nodes, Quoted), ", \"hint\": ", Quoted(f.hint), "}");
    first = false;
  }
  StrAppend(&json, "\n  ],\n  \"warnings\": ", List(warnings, Quoted), ",\n  \"passes\": ",
            List(passes,
                 [](const PassResult& pass) {
                   return StrCat("{\"name\": ", Quoted(pass.name), ", \"changes\": ", pass.changes,
                                 ", \"seconds\": ", pass.seconds, "}");
                 }),
            ",\n  \"checks\": ", List(checks, Quoted), "\n}\n");
  return json;
}

}  // namespace x2ir
