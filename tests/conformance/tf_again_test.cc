// TensorFlow's files that are written, read, and written again: the same bytes, for frozen graphs,
// SavedModels and folders of TensorFlow.js. After a conversion to the IR and back, where names of
// nodes are made anew and passes find more to do, most have the same bytes.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match, each with what differs
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
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
  size_t percent;      // of the graphs may have other bytes after a conversion
};
constexpr AgainForm kAgainForms[] = {
    {"GraphDef", "tf", "model.pb", "", "model.pb", 12},
    {"SavedModel", "tf", "saved", "saved/", "saved_model.pb", 12},
    {"TensorFlow.js", "tfjs", "web", "web/", "model.json", 20},
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
std::map<std::string, size_t> OpsOf(const Graph& graph) {
  std::map<std::string, size_t> ops;
  for (const Node* node : graph.nodes()) {
    ++ops[node->op().str()];
    for (const Graph* inner : node->subgraphs()) {
      for (const auto& [op, count] : OpsOf(*inner)) ops[op] += count;
    }
  }
  return ops;
}

// "" where what is read of these files is written with the same bytes; else what differs.
std::string Again(const AgainForm& form, const Files& files, bool converted) {
  absl::StatusOr<Model> model = ReadBack(form, files);
  if (!model.ok()) return StrCat("not read: ", model.status().message());
  const auto before = OpsOf(*model->graph);
  if (converted) {
    if (absl::Status s = ToIr(*model); !s.ok()) return StrCat("not converted: ", s.message());
    if (absl::Status s = FromIr(*model, form.dialect); !s.ok()) {
      return StrCat("not converted: ", s.message());
    }
  }
  const absl::StatusOr<Files> again = Written(form, *model);
  if (!again.ok()) return StrCat("not written: ", again.status().message());
  if (*again == files) return "";
  return OpsOf(*model->graph) == before ? "other names" : "other nodes";
}

struct AgainTally {
  size_t written = 0;
  std::map<std::string, std::string> others;  // by name, what differs

  void Print(std::string_view how, bool each) const {
    std::printf("%s: %zu are written, %zu with other bytes the second time\n",
                std::string(how).c_str(), written, others.size());
    for (const auto& [name, reason] : others) {
      if (each) std::printf("  %s: %s\n", name.c_str(), reason.c_str());
    }
  }
};

TEST(TensorFlowAgainTest, FilesAreWrittenAgain) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  const BackTally filter("X2IR_TF_CASES");
  const bool all = Env("X2IR_TF_CASES").empty();
  std::map<const AgainForm*, AgainTally> tallies[2];  // as it was read, and converted
  for (const TfCase& test : cases) {
    if (!filter.Wants(test.name)) continue;
    absl::StatusOr<Model> ir = Import(test.model, TfImportOptions(test));
    IoCase io;
    if (!ir.ok() || !FeedTfConstants(*ir->graph, &io).ok()) continue;
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
        AgainTally& tally = tallies[converted][&form];
        ++tally.written;
        std::string difference = Again(form, *files, converted);
        if (!difference.empty()) tally.others[test.name] = std::move(difference);
      }
    }
  }
  for (const auto& [form, tally] : tallies[0]) {
    tally.Print(form->what, /*each=*/true);
    EXPECT_TRUE(tally.others.empty()) << form->what;
  }
  for (const auto& [form, tally] : tallies[1]) {
    tally.Print(StrCat(form->what, ", converted"), !all);
    if (!all) continue;
    EXPECT_LE(tally.others.size() * 100, tally.written * form->percent) << form->what;
  }
}

}  // namespace
}  // namespace x2ir
