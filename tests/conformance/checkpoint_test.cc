// Checkpoints of transformers with what it computes of them: checkpoint-cases.tar.xz and
// checkpoint-families.tar.xz of tests/data/cases (NAME/config.json, weights, NAME/io.safetensors
// with the model's own names, and a padded batch as case "batch"). Each becomes a graph, which is
// evaluated, exported, and run by ONNX Runtime where that is installed. Decoders also go step by
// step over their cache.
//
//   X2IR_CASES=REGEX         only the cases whose names match
//   X2IR_CHECKPOINTS=DIR     a folder of cases instead
//   X2IR_NO_ORT=1            without ONNX Runtime
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/core/usual_inputs.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 1e-4;  // of the largest element, or of 1

struct Case {
  std::string name;
  fs::path folder;
  std::string io() const { return (folder / "io.safetensors").string(); }
};

std::vector<Case> Cases() {
  std::vector<fs::path> roots;
  if (const std::string given = Env("X2IR_CHECKPOINTS"); !given.empty()) {
    roots = {given};
  } else {
    for (const char* name : {"checkpoint-cases", "checkpoint-families"}) {
      roots.push_back(Unpacked(StrCat(name, ".tar.xz"), name) / name);
    }
  }
  const std::regex wanted(Env("X2IR_CASES").empty() ? ".*" : Env("X2IR_CASES"));
  std::vector<Case> cases;
  std::error_code error;
  for (const fs::path& root : roots) {
    for (const auto& entry : fs::directory_iterator(root, error)) {
      const std::string name = entry.path().filename().string();
      const bool has_model =
          fs::exists(entry.path() / "config.json") || fs::exists(entry.path() / "modules.json");
      if (has_model && std::regex_search(name, wanted)) cases.push_back({name, entry.path()});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

double LargestOf(const Tensor& t) {
  double largest = 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (std::isfinite(t.AsDouble(i))) largest = std::max(largest, std::abs(t.AsDouble(i)));
  }
  return largest;
}

// Rows that a mask [batch, length] leaves out are not compared.
std::string Difference(const Tensor& got, const Tensor& want, const Tensor* mask) {
  if (got.dims() != want.dims()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  const bool by_row = mask && want.rank() >= 2 && mask->rank() == 2 &&
                      want.dim(0) == mask->dim(0) && want.dim(1) == mask->dim(1);
  const int64_t row = by_row ? want.num_elements() / mask->num_elements() : 1;
  const double allowed = kTolerance * LargestOf(want);
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (by_row && mask->AsInt(i / row) == 0) continue;
    const double g = got.AsDouble(i), w = want.AsDouble(i);
    if (g == w || (std::isnan(g) && std::isnan(w)) || std::abs(g - w) <= allowed) continue;
    return StrCat("element ", i, ": expected ", w, ", got ", g);
  }
  return "";
}

// Models of sounds take a mask where they are asked to: the case says whether it has one.
FormatOptions ReadingOf(const Case& test, FormatOptions options = {}) {
  const auto io = ReadSafetensors(test.io());
  bool mask = false, sound = false;
  if (io.ok()) {
    for (const NamedTensor& t : io->tensors) {
      mask = mask || t.name.ends_with("attention_mask");
      sound = sound || t.name == "input_values" || t.name == "input_features";
    }
  }
  if (mask && sound) options.Set("attention_mask", true);
  return options;
}

absl::StatusOr<Model> ImportCase(const Case& test, const FormatOptions& reading = {}) {
  ImportOptions options;
  options.format_options = ReadingOf(test, reading);
  return Import(test.folder.string(), options);
}

std::optional<size_t> InputNamed(const Graph& graph, std::string_view name) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (graph.inputs()[i]->name() == name) return i;
  }
  return std::nullopt;
}

// Evaluates each case of the io file.
void Evaluate(const Case& test, const Model& model) {
  const Graph& graph = *model.graph;
  const auto cases = ReadIoFile(test.io(), graph);
  ASSERT_TRUE(cases.ok()) << test.name << ": " << cases.status();
  for (const IoCase& io : *cases) {
    const auto got = RunCase(graph, io);
    ASSERT_TRUE(got.ok()) << test.name << " " << io.name << ": " << got.status();
    const auto mask_at = InputNamed(graph, "attention_mask");
    const Tensor* mask = mask_at && io.inputs[*mask_at] ? &*io.inputs[*mask_at] : nullptr;
    for (size_t i = 0; i < got->size(); ++i) {
      if (!io.outputs[i]) continue;
      const Tensor* tensor = (*got)[i].tensor();
      ASSERT_NE(tensor, nullptr) << test.name;
      EXPECT_EQ(Difference(*tensor, *io.outputs[i], mask), "")
          << test.name << " " << io.name << ": " << graph.outputs()[i]->name();
    }
  }
}

Tensor Columns(const Tensor& ids, int64_t from, int64_t to) {
  Tensor part = Tensor::Zeros(DType::kInt64, {ids.dim(0), to - from});
  auto out = part.mutable_span<int64_t>();
  for (int64_t r = 0; r < ids.dim(0); ++r) {
    for (int64_t c = from; c < to; ++c)
      out[r * (to - from) + c - from] = ids.AsInt(r * ids.dim(1) + c);
  }
  return part;
}

// Some tokens at once, then one at a time over the cache: the logits are those of all at once.
void Step(const Case& test, const Model& model) {
  const Graph& graph = *model.graph;
  const auto cases = ReadIoFile(test.io(), graph);
  ASSERT_TRUE(cases.ok());
  const size_t ids_at = *InputNamed(graph, "input_ids");
  const Tensor ids = *cases->front().inputs[ids_at], want = *cases->front().outputs[0];
  const int64_t length = ids.dim(1), width = want.dim(2);
  std::map<std::string, Tensor> state;
  for (int64_t done = 0; done < length;) {
    const int64_t next = done == 0 ? length / 2 : done + 1;
    IoCase io;
    io.inputs.resize(graph.inputs().size());
    io.inputs[ids_at] = Columns(ids, done, next);
    for (size_t i = 0; i < io.inputs.size(); ++i) {
      const auto it = state.find(std::string(graph.inputs()[i]->name()));
      if (it != state.end()) io.inputs[i] = it->second;
    }
    const auto got = RunCase(graph, io);
    ASSERT_TRUE(got.ok()) << test.name << " at " << done << ": " << got.status();
    const Tensor* logits = (*got)[0].tensor();
    for (int64_t i = 0; i < (next - done) * width; ++i) {
      const double w = want.AsDouble(done * width + i);
      ASSERT_NEAR(logits->AsDouble(i), w, kTolerance * LargestOf(want))
          << test.name << ", tokens from " << done;
    }
    for (size_t i = 1; i < got->size(); ++i) {
      std::string name(graph.outputs()[i]->name());
      if (name.starts_with("present.")) name = "past_key_values." + name.substr(8);
      if (name.starts_with("present_")) name = "past_" + name.substr(8);
      state[name] = *(*got)[i].tensor();
    }
    done = next;
  }
}

TEST(CheckpointCases, EvaluateToWhatTransformersComputes) {
  const std::vector<Case> cases = Cases();
  ASSERT_FALSE(cases.empty());
  for (const Case& test : cases) {
    const auto model = ImportCase(test);
    ASSERT_TRUE(model.ok()) << test.name << ": " << model.status();
    Evaluate(test, *model);
    const bool caches =
        std::any_of(model->graph->outputs().begin(), model->graph->outputs().end(),
                    [](const Value* output) { return IsModelState(output->name()); });
    if (!caches || !InputNamed(*model->graph, "input_ids")) continue;
    Step(test, *model);
    const auto whole = ImportCase(test, {{"no_cache", true}});
    ASSERT_TRUE(whole.ok()) << test.name << ": " << whole.status();
    Evaluate(test, *whole);
  }
}

// The older style of config.json, where a case has it too, means the same.
TEST(CheckpointCases, OlderConfigurationsMeanTheSame) {
  int checked = 0;
  for (const Case& test : Cases()) {
    if (!fs::exists(test.folder / "config.v4.json")) continue;
    const fs::path folder = fs::path(X2IR_BUILD_DIR) / "checkpoint-v4" / test.name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(test.folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "config.json") continue;
      fs::copy_file(entry.path(), folder / (name == "config.v4.json" ? "config.json" : name));
    }
    const Case older{test.name + " (v4)", folder};
    const auto model = ImportCase(older);
    ASSERT_TRUE(model.ok()) << older.name << ": " << model.status();
    Evaluate(older, *model);
    ++checked;
  }
  if (Env("X2IR_CHECKPOINTS").empty() && Env("X2IR_CASES").empty()) {
    EXPECT_GT(checked, 5);
  }
}

// What ONNX Runtime is asked: the first case of a checkpoint, every input given.
class Exporter {
 public:
  Exporter() {
    if (Env("X2IR_NO_ORT").empty()) judge_ = OrtJudge::Start();
    fs::create_directories(folder_);
  }
  bool has_runtime() const { return judge_ != nullptr; }

  void Ask(const Case& test, int opset, bool contrib) {
    const auto model = ImportCase(test);
    ASSERT_TRUE(model.ok()) << test.name << ": " << model.status();
    const auto cases = ReadIoFile(test.io(), *model->graph);
    ASSERT_TRUE(cases.ok()) << test.name << ": " << cases.status();
    const std::string stem = StrCat(test.name, ".", opset, contrib ? ".contrib" : "");
    const fs::path file = folder_ / (stem + ".onnx");
    ConvertOptions options;
    options.from.format_options = ReadingOf(test);
    options.to.opset = opset;
    if (contrib) options.to.format_options.Set("contrib", true);
    const absl::Status written = Convert(test.folder.string(), file.string(), options);
    // Resizes with antialias are newer than opset 13.
    if (opset == 13 && absl::IsFailedPrecondition(written)) {
      refused_.push_back(test.name);
      return;
    }
    ASSERT_TRUE(written.ok()) << stem << ": " << written;
    for (const IoCase& io : *cases) {
      std::vector<NamedTensor> tensors;
      double largest = 1;
      const auto inputs = WithUsualInputs(*model->graph, io.inputs);
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_TRUE(inputs[i].has_value()) << stem;
        tensors.push_back({StrCat("in_", i), *inputs[i]});
      }
      // Rows that the mask leaves out may be anything: what evaluation gives is no guide there.
      const auto mask = InputNamed(*model->graph, "attention_mask");
      if (mask && io.inputs[*mask] && io.name == "batch") continue;
      const auto all = RunCase(*model->graph, io);
      ASSERT_TRUE(all.ok()) << stem;
      for (size_t i = 0; i < io.outputs.size(); ++i) {
        const Tensor out = io.outputs[i] ? *io.outputs[i] : *(*all)[i].tensor();
        largest = std::max(largest, LargestOf(out));
        tensors.push_back({StrCat("out_", i), out});
      }
      const fs::path given = folder_ / StrCat(stem, ".", io.name, ".safetensors");
      ASSERT_TRUE(WriteSafetensors(given.string(), tensors).ok()) << stem;
      judge_->Ask({file.string(), given.string(), 1e-4, kTolerance * largest});
      asked_.push_back(StrCat(stem, " ", io.name));
      break;
    }
  }

  void Finish() {
    ExpectAgreement(*judge_, asked_);
    EXPECT_LE(refused_.size(), 2u);
  }

 private:
  const fs::path folder_ = fs::path(X2IR_BUILD_DIR) / "checkpoint-exported";
  std::unique_ptr<OrtJudge> judge_;
  std::vector<std::string> asked_, refused_;
};

TEST(CheckpointCases, RunInOnnxRuntime) {
  Exporter exporter;
  if (!exporter.has_runtime()) GTEST_SKIP() << "ONNX Runtime is not installed";
  for (const Case& test : Cases()) {
    exporter.Ask(test, 13, false);
    exporter.Ask(test, 18, true);
    exporter.Ask(test, 23, false);
  }
  exporter.Finish();
}

}  // namespace
}  // namespace x2ir
