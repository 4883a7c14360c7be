// docs/tour.md, as its reader would follow it: each section in a folder of its own, line by line,
// on real files. A line of a code block that begins with "$ " is a command; what follows it, up to
// the next command, must stand in its output in that order. "..." stands for anything within a
// line, and alone for any lines. A command that is said to fail ends in "# exit code N".
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Step {
  int line = 0;  // in the document
  std::string command;
  std::vector<std::string> output;
  std::string file;  // a block that begins with "# FILE" is that file
};

struct Section {
  std::string title;
  std::vector<Step> steps;
};

std::vector<Section> ReadTour(const fs::path& path) {
  std::vector<Section> sections;
  std::ifstream in(path);
  bool in_block = false, is_file = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!in_block && line.starts_with("## ")) sections.push_back({line.substr(3), {}});
    if (line.starts_with("```")) {
      in_block = !in_block;
      is_file = in_block && line.size() > 3;  // of a language: a file
      if (is_file) sections.back().steps.push_back({number, "", {}, "?"});
      continue;
    }
    if (!in_block || sections.empty()) continue;
    std::vector<Step>& steps = sections.back().steps;
    if (is_file) {
      Step& step = steps.back();
      if (step.file == "?") {
        step.file = line.substr(line.find_first_not_of("#/ "));
      } else {
        step.output.push_back(line);
      }
    } else if (line.starts_with("$ ")) {
      steps.push_back({number, line.substr(2), {}, ""});
    } else if (!steps.empty() && steps.back().file.empty()) {
      steps.back().output.push_back(line);
    }
  }
  return sections;
}

std::string Folded(std::string_view line) {
  std::string folded;
  for (const char c : line) {
    if (c != ' ' && c != '\t') folded += c;
    if ((c == ' ' || c == '\t') && !folded.empty() && folded.back() != ' ') folded += ' ';
  }
  if (!folded.empty() && folded.back() == ' ') folded.pop_back();
  return folded;
}

// "..." within a line matches anything.
bool LineFits(std::string_view expected, std::string_view got) {
  size_t at = 0;
  bool free = false;  // what stands before the next part may be anything
  for (size_t from = 0; from <= expected.size();) {
    const size_t dots = std::min(expected.find("...", from), expected.size());
    const std::string_view part = expected.substr(from, dots - from);
    const std::string_view rest = got.substr(at);
    if (dots == expected.size()) return free ? rest.ends_with(part) : rest == part;
    const size_t found = free ? rest.find(part) : (rest.starts_with(part) ? 0 : rest.npos);
    if (found == rest.npos) return false;
    at += found + part.size();
    free = true;
    from = dots + 3;
  }
  return true;
}

// "" or the first line that is missing.
std::string Missing(const std::vector<std::string>& expected, const std::string& printed) {
  std::vector<std::string> lines;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);) lines.push_back(Folded(line));
  size_t at = 0;
  bool skips = false;
  for (const std::string& raw : expected) {
    const std::string line = Folded(raw);
    if (line == "..." || line.empty()) {
      skips = true;
      continue;
    }
    while (at < lines.size() && (lines[at].empty() || (skips && !LineFits(line, lines[at])))) ++at;
    if (at == lines.size() || !LineFits(line, lines[at])) return raw;
    ++at;
    skips = false;
  }
  return "";
}

class Tour : public ShellTest {};

// The files that the document speaks of, by the names that it gives them.
bool LayOut(const fs::path& folder) {
  static constexpr struct {
    const char *name, *from;
  } kFiles[] = {{"mobilenet_v2.pt2", "models/mobilenet_v2/model.pt2"},
                {"mobilenet_v2.io.safetensors", "models/mobilenet_v2/io.safetensors"},
                {"bert.onnx", "models/bert_tiny_dyn/model.17.onnx"},
                {"convnext.onnx", "models/convnext_tiny_2stage/model.11.onnx"},
                {"unet.onnx", "models/unet_tiny/model.17.onnx"}};
  for (const auto& file : kFiles) {
    const fs::path from = Shared(file.from);
    if (from.empty()) return false;
    fs::copy_file(from, folder / file.name);
  }
  // Of a package of npm, which may not have been fetched.
  const fs::path nets = X2IR_BUILD_DIR "/networks/nets";
  for (const char* name : {"hand_landmark_full.tflite", "hand_landmark_full.io.safetensors"}) {
    if (!fs::exists(nets / name)) return false;
    fs::copy_file(nets / name, folder / name);
  }
  return true;
}

TEST_F(Tour, GivesWhatItShows) {
  const fs::path document = fs::path(X2IR_SOURCE_DIR) / "docs/tour.md";
  const std::vector<Section> sections = ReadTour(document);
  ASSERT_GE(sections.size(), 4u) << "a section for each of four roles";
  for (const Section& section : sections) {
    SCOPED_TRACE(section.title);
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    if (!LayOut(folder_)) GTEST_SKIP() << kNotShared << ", or networks of products are not";
    for (const Step& step : section.steps) {
      SCOPED_TRACE(StrCat("docs/tour.md:", int64_t{step.line}, ": ", step.command));
      if (!step.file.empty()) {
        std::string text;
        for (const std::string& line : step.output) StrAppend(&text, line, "\n");
        WriteFile(folder_ / step.file, text);
        continue;
      }
      int code = 0;
      std::smatch said;
      if (std::regex_search(step.command, said, std::regex("# exit code ([0-9])$"))) {
        code = std::stoi(said[1]);
      }
      const Result result = Run(StrCat("export X2IR_SOURCE='", X2IR_SOURCE_DIR, "' PYTHONPATH='",
                                       X2IR_BUILD_DIR, "/python'\nexec 2>&1\n", step.command));
      EXPECT_EQ(result.code, code) << result.out;
      const std::string missing = Missing(step.output, result.out);
      EXPECT_EQ(missing, "") << "is not in what was printed:\n" << result.out;
    }
  }
}

// The checker itself: a test that cannot fail is none.
TEST(TourLines, AreCompared) {
  EXPECT_TRUE(LineFits("a ... c", "a b c"));
  EXPECT_TRUE(LineFits("a ...", "a b c"));
  EXPECT_TRUE(LineFits("... c", "a b c"));
  EXPECT_TRUE(LineFits("a...c", "acbc"));
  EXPECT_FALSE(LineFits("a ... d", "a b c"));
  EXPECT_FALSE(LineFits("a", "a b"));
  EXPECT_FALSE(LineFits("b", "a b"));
  EXPECT_EQ(Missing({"b", "c"}, "b\nc\nd\n"), "");
  EXPECT_EQ(Missing({"c"}, "b\nc\n"), "c");
  EXPECT_EQ(Missing({"...", "c"}, "b\n\nc\n"), "");
  EXPECT_EQ(Missing({"...", "d"}, "b\nc\n"), "d");
}

}  // namespace
}  // namespace x2ir
