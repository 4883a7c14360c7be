// The law of the rooms (docs/design.md): which folder of x2ir/ may include which. It reads the
// #includes of every file; nothing needs to be told about a new file, and a new room must be
// given its place here before anything in it may be included or include.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// room -> the rooms that it may enter besides itself:
// graph_wrapper <- ops <- builder <- optimizer, formats beside them, <- core <- handlers, inspect
// <- view, runtimes <- cli; formats never sees ops, and nobody enters handlers or cli.
const std::map<std::string, std::set<std::string>>& Rooms() {
  static const auto& rooms = *new std::map<std::string, std::set<std::string>>{
      {"graph_wrapper", {}},
      {"ops", {"graph_wrapper"}},
      {"builder", {"graph_wrapper", "ops"}},
      {"optimizer", {"graph_wrapper", "ops", "builder"}},
      {"formats", {"graph_wrapper"}},
      {"core", {"graph_wrapper", "ops", "builder", "optimizer", "formats"}},
      {"inspect", {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core"}},
      {"view", {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core", "inspect"}},
      {"runtimes", {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core", "inspect"}},
      {"handlers", {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core"}},
      {"c", {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core"}},
      {"cli",
       {"graph_wrapper", "ops", "builder", "optimizer", "formats", "core", "inspect", "view",
        "runtimes"}},
  };
  return rooms;
}

bool StartsWith(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix;
}
bool EndsWith(std::string_view s, std::string_view suffix) {
  return s.size() >= suffix.size() && s.substr(s.size() - suffix.size()) == suffix;
}

// "x2ir/core/convert.h" -> "core"; "" for a file that is in no room.
std::string RoomOf(std::string_view path) {
  if (!StartsWith(path, "x2ir/")) return "";
  path.remove_prefix(5);
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}

// Types of these libraries stay in a few places, so that a host program with its own copy is
// not disturbed and a format stays a detail of its reader and writer.
enum class Guest { kNone, kFileFormat, kJson, kEigen, kCommandLine };
Guest GuestOf(std::string_view include) {
  if (StartsWith(include, "nlohmann/")) return Guest::kJson;
  for (std::string_view p : {"google/protobuf/", "onnx/", "zip.h", "zipconf.h", "zlib.h",
                             "minizip/", "miniz", "bzlib.h", "lzma.h", "zstd.h", "flatbuffers/",
                             "tflite_generated.h", "ort_generated.h", "jax_export_generated.h"}) {
    if (StartsWith(include, p)) return Guest::kFileFormat;
  }
  if (EndsWith(include, ".pb.h")) return Guest::kFileFormat;
  if (StartsWith(include, "Eigen/") || StartsWith(include, "unsupported/Eigen/")) {
    return Guest::kEigen;
  }
  if (StartsWith(include, "CLI/")) return Guest::kCommandLine;
  return Guest::kNone;
}

// What is wrong when the file `path` includes `include`; "" when nothing is. `quoted`: the
// include stands in quotation marks, not in angle brackets.
std::string Violation(const std::string& path, const std::string& include, bool quoted) {
  const std::string room = RoomOf(path);
  const auto rule = Rooms().find(room);
  if (rule == Rooms().end()) return "the file is in no known room";
  // The CLI's headers and the internal ones are not installed.
  const bool installed = EndsWith(path, ".h") && !EndsWith(path, "_internal.h") && room != "cli";

  switch (GuestOf(include)) {
    case Guest::kFileFormat:
      if (room != "formats" || !(EndsWith(path, ".cc") || EndsWith(path, "_internal.h"))) {
        return "protobuf, FlatBuffers and zip belong to formats/**";
      }
      return "";
    case Guest::kJson: return "nlohmann_json is for tools and tests";
    case Guest::kEigen: return installed ? "Eigen is private: not in an installed header" : "";
    case Guest::kCommandLine: return room == "cli" ? "" : "CLI11 belongs to cli";
    case Guest::kNone: break;
  }
  if (!StartsWith(include, "x2ir/")) {
    // A path relative to the file would go round the law.
    const bool elsewhere =
        !quoted || StartsWith(include, "absl/") || include.ends_with("_schema_data.inc") ||
        include == "x2ir_mlir_syntax.inc" || include == "x2ir_stablehlo_tables.inc" ||
        include.ends_with("_messages.inc") || include.ends_with("_fields.inc");
    return elsewhere ? "" : "own headers are spelled from the repository's root: x2ir/...";
  }
  const std::string entered = RoomOf(include);
  if (!Rooms().count(entered)) return "no such room: '" + entered + "'";
  if (entered != room && !rule->second.count(entered)) {
    return room + " must not include " + entered;
  }
  if (installed && EndsWith(include, "_internal.h")) {
    return "an installed header must not include one that is not installed";
  }
  return "";
}

struct Include {
  int line;
  std::string path;
  bool quoted;
};

std::vector<Include> IncludesOf(std::istream& in) {
  static const std::regex pattern("\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  std::vector<Include> found;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    std::smatch m;
    if (std::regex_match(text, m, pattern)) found.push_back({line, m[2], m[1] == "\""});
  }
  return found;
}

// Files as paths below the root, "x2ir/core/convert.h".
std::vector<std::string> SourceFiles(const fs::path& root) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root / "x2ir")) {
    const std::string path = fs::relative(entry.path(), root).generic_string();
    if (entry.is_regular_file() && (EndsWith(path, ".h") || EndsWith(path, ".cc"))) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// "x2ir/ops/a.cc:3: <what>" for everything that is wrong.
std::vector<std::string> Violations(const fs::path& root, const std::string& path,
                                    std::istream& in) {
  std::vector<std::string> all;
  for (const Include& include : IncludesOf(in)) {
    std::string what = Violation(path, include.path, include.quoted);
    if (what.empty() && StartsWith(include.path, "x2ir/") && !fs::exists(root / include.path)) {
      what = "no such file";
    }
    if (what.empty()) continue;
    all.push_back(path + ":" + std::to_string(include.line) + ": \"" + include.path +
                  "\": " + what);
  }
  return all;
}

TEST(Includes, ObeyTheRooms) {
  const fs::path root = X2IR_SOURCE_DIR;
  const std::vector<std::string> files = SourceFiles(root);
  EXPECT_GT(files.size(), 10u) << "the law looks at the wrong folder: " << root;
  for (const std::string& path : files) {
    std::ifstream in(root / path);
    ASSERT_TRUE(in) << path;
    for (const std::string& violation : Violations(root, path, in)) ADD_FAILURE() << violation;
  }
}

// The law itself: what it must catch, and what it must let through.
TEST(Includes, TheLawCanFail) {
  const struct {
    const char* path;
    const char* line;
    bool allowed;
  } cases[] = {
      {"x2ir/ops/a.cc", "#include \"x2ir/graph_wrapper/graph.h\"", true},
      {"x2ir/graph_wrapper/a.cc", "#include \"x2ir/ops/op.h\"", false},
      {"x2ir/graph_wrapper/a.cc", "  #  include \"x2ir/ops/op.h\"  // why not", false},
      {"x2ir/graph_wrapper/a.cc", "// #include \"x2ir/ops/op.h\"", true},
      {"x2ir/ops/a.h", "#include \"x2ir/optimizer/pass.h\"", false},
      {"x2ir/ops/a.cc", "#include \"x2ir/builder/expr.h\"", false},
      {"x2ir/builder/a.cc", "#include \"x2ir/ops/op.h\"", true},
      {"x2ir/builder/a.cc", "#include \"x2ir/optimizer/pass.h\"", false},
      {"x2ir/optimizer/a.cc", "#include \"x2ir/builder/expr.h\"", true},
      {"x2ir/formats/a.cc", "#include \"x2ir/builder/expr.h\"", false},
      {"x2ir/optimizer/a.cc", "#include \"x2ir/ops/op.h\"", true},
      {"x2ir/optimizer/a.cc", "#include \"x2ir/formats/ir/a.h\"", false},
      {"x2ir/formats/onnx/a.cc", "#include \"x2ir/ops/op.h\"", false},
      {"x2ir/formats/onnx/a.cc", "#include <x2ir/ops/op.h>", false},
      {"x2ir/formats/onnx/a.cc", "#include \"x2ir/optimizer/pass.h\"", false},
      {"x2ir/formats/onnx/a.cc", "#include \"x2ir/core/convert.h\"", false},
      {"x2ir/core/a.cc", "#include \"x2ir/formats/onnx/a.h\"", true},
      {"x2ir/core/a.cc", "#include \"x2ir/handlers/onnx/schema_table.h\"", false},
      {"x2ir/handlers/onnx/a.cc", "#include \"x2ir/core/spec.h\"", true},
      {"x2ir/handlers/torch/a.cc", "#include \"x2ir/handlers/onnx/schema_table.h\"", true},
      {"x2ir/handlers/onnx/a.cc", "#include \"x2ir/cli/a.h\"", false},
      {"x2ir/cli/a.cc", "#include \"x2ir/core/convert.h\"", true},
      {"x2ir/cli/a.cc", "#include \"x2ir/cli/a.h\"", true},
      {"x2ir/cli/a.cc", "#include \"x2ir/handlers/onnx/schema_table.h\"", false},
      {"x2ir/cli/a.cc", "#include \"x2ir/view/view.h\"", true},
      {"x2ir/core/a.cc", "#include \"x2ir/view/view.h\"", false},
      {"x2ir/attic/a.cc", "#include <string>", false},
      {"x2ir/core/a.cc", "#include \"x2ir/attic/a.h\"", false},
      {"x2ir/a.cc", "#include <string>", false},
      {"x2ir/core/a.cc", "#include \"convert.h\"", false},
      {"x2ir/formats/onnx/a.cc", "#include \"../../ops/op.h\"", false},
      {"x2ir/formats/ir/a.cc", "#include <nlohmann/json.hpp>", false},
      {"x2ir/formats/ir/a.h", "#include <nlohmann/json.hpp>", false},
      {"x2ir/cli/a.cc", "#include <nlohmann/json.hpp>", false},
      {"x2ir/core/a.cc", "#include \"onnx/onnx.pb.h\"", false},
      {"x2ir/handlers/onnx/a.cc", "#include <google/protobuf/message.h>", false},
      {"x2ir/handlers/torch/a.cc", "#include <zip.h>", false},
      {"x2ir/ops/a.cc", "#include <Eigen/Core>", true},
      {"x2ir/ops/a_internal.h", "#include <Eigen/Core>", true},
      {"x2ir/ops/a.h", "#include <Eigen/Core>", false},
      {"x2ir/cli/a.cc", "#include \"CLI/CLI.hpp\"", true},
      {"x2ir/core/a.cc", "#include \"CLI/CLI.hpp\"", false},
      {"x2ir/ops/a.h", "#include \"x2ir/ops/b_internal.h\"", false},
      {"x2ir/ops/a.cc", "#include \"x2ir/ops/b_internal.h\"", true},
      {"x2ir/ops/a.h", "#include \"absl/status/status.h\"", true},
      {"x2ir/ops/a.h", "#include <string_view>", true},
  };
  for (const auto& c : cases) {
    std::istringstream in(std::string("#pragma once\n") + c.line + "\n");
    bool allowed = true;
    for (const Include& include : IncludesOf(in)) {
      allowed = allowed && Violation(c.path, include.path, include.quoted).empty();
    }
    EXPECT_EQ(allowed, c.allowed) << c.path << ": " << c.line;
  }
}

TEST(Includes, ReportsFileAndLine) {
  std::istringstream in("\n\n#include \"x2ir/cli/nothing.h\"\n#include \"x2ir/core/nothing.h\"\n");
  const std::vector<std::string> got = Violations(X2IR_SOURCE_DIR, "x2ir/core/a.cc", in);
  const std::vector<std::string> want = {
      "x2ir/core/a.cc:3: \"x2ir/cli/nothing.h\": core must not include cli",
      "x2ir/core/a.cc:4: \"x2ir/core/nothing.h\": no such file"};
  EXPECT_EQ(got, want);
}

// Rooms that include each other in a ring would be no order at all.
TEST(Includes, TheRoomsHaveAnOrder) {
  std::set<std::string> placed;
  for (bool progress = true; progress;) {
    progress = false;
    for (const auto& [room, enters] : Rooms()) {
      if (placed.count(room)) continue;
      if (std::all_of(enters.begin(), enters.end(),
                      [&](const std::string& r) { return placed.count(r); })) {
        placed.insert(room);
        progress = true;
      }
    }
  }
  EXPECT_EQ(placed.size(), Rooms().size());
}

}  // namespace
}  // namespace x2ir
