// TensorFlow's files that are written, read, and written again: the same bytes, for frozen graphs,
// SavedModels and folders of TensorFlow.js. Each is written again in two ways: as it was read, and
// after a conversion to the IR and back.
//
//   X2IR_TF_CASES=REGEX    only the graphs whose names match
//   X2IR_UPDATE_GOLDEN=1   writes tests/golden/tf_written_again.txt, which lists the others
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/tf_cases_util.h"
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

// What is written, and how it is read.
struct AgainForm {
  const char* what;
  const char* dialect;
  const char* name;    // of the sink
  const char* folder;  // of what a reader asks for
  const char* file;
};
constexpr AgainForm kAgainForms[] = {
    {"GraphDef", "tf", "model.pb", "", "model.pb"},
    {"SavedModel", "tf", "saved", "saved/", "saved_model.pb"},
    {"TensorFlow.js", "tfjs", "web", "web/", "model.json"},
};

absl::StatusOr<Files> Written(const AgainForm& form, const Model& model) {
  const auto files = std::make_shared<Files>();
  const Sink sink = IntoMemory(form.name, files);
  const bool js = form.dialect == std::string_view("tfjs");
  if (absl::Status s = js ? WriteTfjs(model, sink) : WriteTensorFlow(model, sink); !s.ok()) {
    return s;
  }
  return *files;
}

absl::StatusOr<Model> ReadBack(const AgainForm& form, const Files& files) {
  const Source source = FromMemory(form.folder, form.file, std::make_shared<Files>(files));
  return form.dialect == std::string_view("tfjs") ? ReadTfjs(source) : ReadTensorFlow(source);
}

// "" where what is read of these files is written with the same bytes; else why not.
std::string Again(const AgainForm& form, const Files& files, bool converted) {
  absl::StatusOr<Model> model = ReadBack(form, files);
  if (!model.ok()) return StrCat("not read: ", model.status().message());
  if (converted) {
    if (absl::Status s = ToIr(*model); !s.ok()) return StrCat("not IR: ", s.message());
    if (absl::Status s = FromIr(*model, form.dialect); !s.ok()) {
      return StrCat("not converted: ", s.message());
    }
  }
  const absl::StatusOr<Files> again = Written(form, *model);
  if (!again.ok()) return StrCat("not written: ", again.status().message());
  const std::string dump = Env("X2IR_AGAIN_DUMP");
  if (*again != files && !dump.empty() && converted == !Env("CONV").empty()) {
    for (const auto& [folder, all] : {std::pair("1", files), std::pair("2", *again)}) {
      for (const auto& [name, bytes] : all) {
        const auto path = std::filesystem::path(dump) / folder / name;
        std::filesystem::create_directories(path.parent_path());
        WriteFile(path, bytes);
      }
    }
  }
  return *again == files ? "" : "other bytes";
}

TEST(TensorFlowAgainTest, FilesAreWrittenAgain) {
  const std::vector<TfCase> cases = TfCases();
  if (cases.empty()) GTEST_SKIP() << "../shared/tf-frozen-graphs.tar.xz is not there";
  const BackTally filter("X2IR_TF_CASES");
  Reasons others;
  struct Tally {
    size_t written = 0, others = 0;
  };
  std::map<std::string, Tally> tallies;
  for (const TfCase& test : cases) {
    if (!filter.Wants(test.name)) continue;
    absl::StatusOr<Model> ir = Import(test.model, TfImportOptions(test));
    IoCase io;
    if (!ir.ok() || !FeedTfConstants(*ir->graph, &io).ok()) continue;
    for (const AgainForm& form : kAgainForms) {
      if (!Env("FORM").empty() && Env("FORM") != form.what) continue;
      for (const bool converted : {false, true}) {
        Model model = ir->Clone();
        ExportOptions options;
        if (!converted) options.optimize = false;
        if (!FromIr(model, form.dialect, options).ok()) continue;  // told by other tests
        const absl::StatusOr<Files> files = Written(form, model);
        if (!files.ok()) continue;
        const std::string how = StrCat(form.what, converted ? ", converted" : "");
        Tally& tally = tallies[how];
        ++tally.written;
        const std::string reason = Again(form, *files, converted);
        if (reason.empty()) continue;
        ++tally.others;
        others[StrCat(test.name, ", ", how)] = RefusalOf(absl::InternalError(reason));
      }
    }
  }
  for (const auto& [how, tally] : tallies) {
    std::printf("%s: %zu are written, %zu with other bytes the second time\n", how.c_str(),
                tally.written, tally.others);
  }
  if (!Env("X2IR_TF_CASES").empty()) {
    for (const auto& [name, reason] : others) {
      std::printf("%s: %s\n", name.c_str(), reason.c_str());
    }
    return;
  }
  ExpectReasons("tests/golden/tf_written_again.txt",
                "Graphs whose files are not written again with the same bytes.", others);
}

}  // namespace
}  // namespace x2ir
