// What is written is read again, and means the same: models of this repository and ONNX's node
// tests, written in every format that is read and written, with the passes that export runs, and
// loaded and converted again. Where a model is cheap to run it must compute the same on random
// inputs.
//
// Each node test goes to a share of the formats, another one each; X2IR_ALL=1 sends all to all.
//
//   X2IR_CASES=REGEX    only the cases whose names match, each to every format
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// One of so many formats for each node test.
constexpr size_t kShare = 3;
// What is run: graphs of few nodes and elements.
constexpr size_t kMaxNodes = 200;
constexpr int64_t kMaxElements = 1 << 16;

std::vector<const Format*> TwoWayFormats() {
  std::vector<const Format*> formats;
  for (const Format* format : AllFormats()) {
    if (format->read && format->write && !format->extensions.empty()) formats.push_back(format);
  }
  return formats;
}

std::vector<fs::path> RepositoryModels() {
  std::vector<fs::path> models;
  const fs::path data = fs::path(X2IR_SOURCE_DIR) / "tests/data";
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    const std::string ending = entry.path().extension().string();
    if (entry.path().string().find("/cases/") != std::string::npos) continue;
    for (const char* known : {".onnx", ".tflite", ".pt2", ".mlpackage", ".mlmodel", ".keras"}) {
      if (ending == known) models.push_back(entry.path());
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

bool IsCheap(const Graph& graph) {
  if (graph.TotalNodes() > kMaxNodes || DrawsNumbers(graph)) return false;
  for (const Node* node : graph.nodes()) {
    if (node->Is("dropout")) return false;  // in training it draws, too
    // Of random places some are one and the same, which has no meaning then.
    if ((node->Is("scatter_elements") || node->Is("scatter_nd")) &&
        node->attrs().String("reduction") == "none" && !node->input(1)->fixed_constant()) {
      return false;
    }
  }
  for (const Value* input : graph.inputs()) {
    if (!input->type().is_tensor() || !input->shape()) return false;
    int64_t count = 1;
    for (const Dim& dim : *input->shape()) count *= dim.is_static() ? dim.value() : 4;
    if (count > kMaxElements) return false;
  }
  return true;
}

// Whether results have the shapes that the graph says: random sizes and axes may not be those that
// the model was made for.
bool AsDeclared(const Graph& graph, const std::vector<Datum>& results) {
  for (size_t k = 0; k < results.size(); ++k) {
    const Tensor* tensor = results[k].tensor();
    const Shape* said = graph.outputs()[k]->shape();
    if (!tensor || !said) continue;
    if (said->rank() != tensor->rank()) return false;
    for (int64_t i = 0; i < said->rank(); ++i) {
      if ((*said)[i].is_static() && (*said)[i].value() != tensor->dim(i)) return false;
    }
  }
  return true;
}

// "" or where two results are far apart. A target may have fewer types: numbers count.
std::string Difference(const std::vector<Datum>& want, const std::vector<Datum>& got) {
  if (want.size() != got.size()) return StrCat(got.size(), " outputs, not ", want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    const Tensor *w = want[k].tensor(), *g = got[k].tensor();
    if (!w || !g || w->is_sparse() || g->is_sparse()) continue;
    if (w->dtype() == DType::kString || IsComplex(w->dtype()) || IsComplex(g->dtype())) continue;
    const bool scalar = w->num_elements() == 1 && g->num_elements() == 1;
    if (w->dims() != g->dims() && !scalar) {
      return StrCat("output ", k, ": ", g->type().ToString(), ", not ", w->type().ToString());
    }
    const bool narrow = IsFloating(w->dtype()) && BitWidth(w->dtype()) <= 16;
    const double close = narrow ? 3e-2 : 1e-3;
    for (int64_t i = 0; i < w->num_elements(); ++i) {
      const double a = w->AsDouble(i), b = g->AsDouble(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (std::abs(a - b) <= close * (std::abs(a) + 0.1)) continue;
      return StrCat("output ", k, " element ", i, ": ", b, ", not ", a);
    }
  }
  return "";
}

class OwnOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }

  bool Wanted(const std::string& name) const {
    const std::string filter = Env("X2IR_CASES");
    return filter.empty() || std::regex_search(name, std::regex(filter));
  }

  // Writes the model in that format, reads it back and compares.
  void Check(const std::string& name, const Model& ir, const Format& format) {
    const std::string id = StrCat(name, "@", format.name);
    const fs::path folder = dir_ / "one";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string out = (folder / StrCat("m", format.extensions[0])).string();
    ExportOptions options;
    options.format = format.name;
    const absl::Status written = Export(ir.Clone(), out, options);
    if (!written.ok()) {
      // A target that cannot say it, or not in this form; our own mistakes are Internal.
      if (absl::IsInternal(written)) Tell(id, std::string(written.message()));
      ++refused_;
      return;
    }
    ++written_;
    ASSERT_TRUE(Load(Source(out)).ok()) << id << ": " << Load(Source(out)).status();
    auto back = Import(Source(out));
    if (!back.ok()) return Tell(id, std::string(back.status().message()));
    if (!IsCheap(*ir.graph) || ir.graph->inputs().size() != back->graph->inputs().size()) return;
    std::string note;
    const auto io = RandomCase(*ir.graph, 1, &note);
    if (!io.ok()) return;
    const auto want = RunCase(*ir.graph, *io);
    if (!want.ok()) return;  // random indices are none
    if (!AsDeclared(*ir.graph, *want)) return;
    IoCase same = *io;
    same.outputs.assign(back->graph->outputs().size(), std::nullopt);
    for (size_t i = 0; i < same.inputs.size(); ++i) {
      const Type& type = back->graph->inputs()[i]->type();
      if (same.inputs[i] && type.is_tensor() && type.dtype() != same.inputs[i]->dtype()) return;
    }
    const auto got = RunCase(*back->graph, same);
    if (!got.ok()) return Tell(id, std::string(got.status().message()));
    ++ran_;
    if (const std::string difference = Difference(*want, *got); !difference.empty()) {
      Tell(id, difference);
    }
  }

  void Tell(const std::string& id, std::string_view problem) {
    std::string line(problem.substr(0, 300));
    std::replace(line.begin(), line.end(), '\n', ' ');
    ADD_FAILURE() << id << ": " << line;
  }

  void Summary() const {
    std::printf("%d files written and read again (%d of them run), %d refused\n", written_, ran_,
                refused_);
  }

  const fs::path dir_ = fs::path(X2IR_BUILD_DIR) / "conformance" /
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
  int written_ = 0, ran_ = 0, refused_ = 0;
};

TEST_F(OwnOutput, OfTheRepositorysModelsIsRead) {
  for (const fs::path& path : RepositoryModels()) {
    const std::string name = path.stem().string();
    if (!Wanted(name)) continue;
    auto model = Import(Source(path.string()));
    if (!model.ok()) continue;  // of files that are no models
    for (const Format* format : TwoWayFormats()) Check(name, *model, *format);
  }
  Summary();
}

TEST_F(OwnOutput, OfNodeTestsIsRead) {
  const std::vector<fs::path> cases = OnnxNodeTests();
  if (cases.empty()) GTEST_SKIP() << "ONNX's node tests are missing";
  const std::vector<const Format*> formats = TwoWayFormats();
  const bool all = EnvNumber("X2IR_ALL", 0) != 0 || !Env("X2IR_CASES").empty();
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = cases[i].filename().string();
    if (!Wanted(name)) continue;
    auto model = Import(Source((cases[i] / "model.onnx").string()));
    if (!model.ok()) continue;  // told by the conformance test
    for (size_t k = 0; k < formats.size(); ++k) {
      if (all || (i + k) % (formats.size() / kShare) == 0) Check(name, *model, *formats[k]);
    }
  }
  Summary();
}

}  // namespace
}  // namespace x2ir
