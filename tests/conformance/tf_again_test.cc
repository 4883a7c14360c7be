// TensorFlow's files that are written, read, and written again: the same bytes, for frozen graphs,
// SavedModels and folders of TensorFlow.js. After a conversion to the IR and back they have the
// same bytes, too, but for those that tests/golden/tf_again.txt lists with the operators of which
// there are more or fewer the second time ("names": the same operators). ONNX's node tests as
// frozen graphs: tests/golden/tf_again_nodes.txt.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match
//   X2IR_CASES=REGEX       only the node tests whose names match
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/conformance/value_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using Files = std::map<std::string, std::string>;

struct AgainForm {
  const char* what;
  const char* dialect;
  const char* name;    // of the sink
  const char* folder;  // of the files that a reader asks for
  const char* file;    // which is read
};
constexpr AgainForm kAgainForms[] = {
    {"GraphDef", "tf", "model.pb", "", "model.pb"},
    {"SavedModel", "tf", "saved", "saved/", "saved_model.pb"},
    {"TensorFlow.js", "tfjs", "web", "web/", "model.json"},
};

bool IsJs(const AgainForm& form) { return form.dialect == std::string_view("tfjs"); }

absl::StatusOr<Files> Written(const AgainForm& form, const Model& model) {
  const auto files = std::make_shared<Files>();
  const Sink sink = IntoMemory(form.name, files);
  const absl::Status status = IsJs(form) ? WriteTfjs(model, sink) : WriteTensorFlow(model, sink);
  if (!status.ok()) return status;
  return *files;
}

absl::StatusOr<Model> ReadBack(const AgainForm& form, const Files& files) {
  const Source source = FromMemory(form.folder, form.file, std::make_shared<Files>(files));
  return IsJs(form) ? ReadTfjs(source) : ReadTensorFlow(source);
}

// How many nodes of each op a graph has.
std::map<std::string, int> OpsOf(const Graph& graph) {
  std::map<std::string, int> ops;
  for (const Node* node : graph.nodes()) {
    ++ops[node->op().str()];
    for (const Graph* inner : node->subgraphs()) {
      for (const auto& [op, count] : OpsOf(*inner)) ops[op] += count;
    }
  }
  return ops;
}

// "Cast +2, Mul -1"; without a difference "names".
std::string OpsThatDiffer(const std::map<std::string, int>& before, const Graph& graph) {
  std::map<std::string, int> changes = OpsOf(graph);
  for (const auto& [op, count] : before) changes[op] -= count;
  std::string text;
  for (const auto& [op, change] : changes) {
    if (change == 0) continue;
    StrAppend(&text, text.empty() ? "" : ", ", op, change > 0 ? " +" : " ", change);
  }
  return text.empty() ? "names" : text;
}

std::string FirstLine(std::string_view what, const absl::Status& status) {
  const std::string_view text(status.message().data(), status.message().size());
  return StrCat(what, text.substr(0, text.find('\n')));
}

// "" where what is read of these files is written with the same bytes; else what differs.
std::string Again(const AgainForm& form, const Files& files, bool converted) {
  absl::StatusOr<Model> model = ReadBack(form, files);
  if (!model.ok()) return FirstLine("not read: ", model.status());
  const auto before = OpsOf(*model->graph);
  if (converted) {
    if (absl::Status s = ToIr(*model); !s.ok()) return FirstLine("not converted: ", s);
    if (absl::Status s = FromIr(*model, form.dialect); !s.ok()) {
      return FirstLine("not converted: ", s);
    }
  }
  const absl::StatusOr<Files> again = Written(form, *model);
  if (!again.ok()) return FirstLine("not written: ", again.status());
  if (*again == files) return "";
  model = ReadBack(form, *again);
  if (!model.ok()) return FirstLine("not read: ", model.status());
  return OpsThatDiffer(before, *model->graph);
}

TEST(TensorFlowAgainTest, FilesAreWrittenAgain) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  const BackTally filter("X2IR_TF_CASES");
  std::map<const AgainForm*, size_t> written, other;
  Reasons differ;
  for (const TfCase& test : cases) {
    if (!filter.Wants(test.name)) continue;
    absl::StatusOr<Model> ir = Import(test.model, TfImportOptions(test));
    IoCase io;
    if (!ir.ok() || !FeedTfConstants(*ir->graph, &io).ok()) continue;
    std::map<std::string, std::string> forms;  // by what differs
    for (const AgainForm& form : kAgainForms) {
      for (const bool converted : {false, true}) {
        Model model = ir->Clone();
        ExportOptions options;
        options.optimize = converted;
        if (!FromIr(model, form.dialect, options).ok()) continue;  // told by other tests
        const absl::StatusOr<Files> files = Written(form, model);
        if (!files.ok()) {
          ASSERT_TRUE(absl::IsFailedPrecondition(files.status())) << files.status();
          continue;
        }
        const std::string difference = Again(form, *files, converted);
        if (!converted) {
          EXPECT_EQ(difference, "") << form.what << " " << test.name;
          continue;
        }
        ++written[&form];
        if (difference.empty()) continue;
        ++other[&form];
        std::string& names = forms[difference];
        StrAppend(&names, names.empty() ? "" : ", ", form.what);
      }
    }
    std::string& text = differ[test.name];
    for (const auto& [difference, names] : forms) {
      StrAppend(&text, text.empty() ? "" : "; ", names, ": ", difference);
    }
    if (text.empty()) differ.erase(test.name);
  }
  for (const auto& [form, count] : written) {
    std::printf("%s: of %zu, %zu have other bytes after a conversion to the IR and back\n",
                form->what, count, other[form]);
  }
  if (!Env("X2IR_TF_CASES").empty()) {
    for (const auto& [name, text] : differ) std::printf("  %s: %s\n", name.c_str(), text.c_str());
    return;
  }
  ExpectReasons("tests/golden/tf_again.txt",
                "Graphs that have other bytes when they are converted to the IR and written again.",
                differ);
}

TEST(TensorFlowAgainTest, NodeTestsOfOnnxAreWrittenAgain) {
  const std::vector<std::filesystem::path> cases = OnnxNodeTests();
  if (cases.size() < 1500) GTEST_SKIP() << "libonnx-testdata or the newer node tests are missing";
  const AgainForm& form = kAgainForms[0];
  BackTally tally;
  size_t written = 0;
  Reasons differ;
  for (const std::filesystem::path& path : cases) {
    const std::string name = path.filename().string();
    if (!tally.Wants(name)) continue;
    std::optional<NodeCase> test = ReadNodeCase(path);
    if (!test || !FromIr(test->ir, form.dialect).ok()) continue;
    const absl::StatusOr<Files> files = Written(form, test->ir);
    if (!files.ok()) continue;
    ++written;
    const std::string difference = Again(form, *files, /*converted=*/true);
    if (!difference.empty()) differ[name] = difference;
  }
  std::printf("%s: of %zu node tests, %zu have other bytes after a conversion\n", form.what,
              written, differ.size());
  if (!Env("X2IR_CASES").empty()) {
    for (const auto& [name, text] : differ) std::printf("  %s: %s\n", name.c_str(), text.c_str());
    return;
  }
  ExpectReasons(
      "tests/golden/tf_again_nodes.txt",
      "Node tests of ONNX that have other bytes, as frozen graphs, when they are converted "
      "to the IR and written again.",
      differ);
}

}  // namespace
}  // namespace x2ir
