// TFLite models with what TensorFlow Lite gives for them (tests/data/cases/README.md): each is
// read, converted and evaluated, and exported to ONNX at opset 18, where ONNX Runtime runs it to
// the same numbers. Integers may differ by the steps that the case allows.
//
//   X2IR_CASES=REGEX    only the cases whose names match
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Cases that give other numbers, and why. "NAME" for both ways, "NAME@ort" for ONNX Runtime alone,
// "NAME@18" for what opset 18 cannot say.
const std::map<std::string, std::string>& Differences() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"tiny__model_ToyCar_quant.tflite",
       "weights of int8 beside floats: TensorFlow Lite rounds the operands of each layer to int8, "
       "too"},
      {"LiteRT__unidirectional_sequence_lstm_quantized.bin",
       "the kernel takes the zero point of what is projected away instead of adding it, for cells "
       "that fill no vector of 8"},
      {"op__bidir_lstm.tflite",
       "the kernel's states of the second row are others where the batch comes first"},
      {"op__bitcast_f32_i32.tflite@18", "ONNX has BitCast from opset 26 on"},
      {"LiteRT__2_subgraphs.bin@ort", "a graph without a node"},
      {"LiteRT__2_subgraphs_dont_delegate_name.bin@ort", "a graph without a node"},
      {"LiteRT__empty_model.bin@ort", "a graph without a node"},
      {"op__while_5.tflite@ort", "the file has a vector of one element for a scalar"},
      {"tensorflow-onnx__model.tflite@ort", "the file has a vector of one element for a scalar"},
  };
  return *known;
}

// Models that nothing else runs: how far they come. "": they become IR; else a part of the message.
const std::map<std::string, std::string>& ReaderOnly() {
  static const auto* const known = new std::map<std::string, std::string>{
      {"LiteRT__MTKEXT_CONV_2D.tflite", "custom::MTKEXT_CONV_2D"},
      {"LiteRT__custom_op.bin", "custom::CustomTestOp"},
      {"LiteRT__custom_sinh.bin", "custom::Sinh"},
      {"LiteRT__dynamic_string_custom_ops.tflite", "custom::Normalize"},
      {"LiteRT__max_unpooling_2d_valid.tflite", "custom::LiteRtMaxUnpooling2D"},
      {"LiteRT__mixed.bin", "custom::CustomTestOp"},
      {"LiteRT__precompiled_mediatek_model.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__shared_input_cpu_npu_google_tensor_precompiled.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__simple_add_op_google_tensor_p25_precompiled.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__simple_model_npu_google_tensor_precompiled.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__simple_model_npu_mediatek_mt6989_precompiled.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__simple_model_qualcomm_sm8650_precompiled.tflite", "custom::DISPATCH_OP"},
      {"LiteRT__sparse_tensor.bin", "custom::FakeOp"},
      {"LiteRT__svdf_quantized.bin", "SVDF"},
      {"LiteRT__test_custom_node_with_init_data.bin", "custom::the_custom_code"},
      {"LiteRT__test_model_versioned_ops.bin", "custom::testing_op"},
      {"LiteRT__transpose.bin", "version 2 of the format"},
      {"LiteRT__with_custom_op.lite", "custom::Assign"},
      {"test_data__model_invoking_error.tflite", "custom::fake-op-double"},
      {"tflite-micro__audio_preprocessor_float.tflite", "custom::SignalWindow"},
      {"tflite-micro__person_detect_vela.tflite", "no operator produces tensor"},
      {"tflite-support__test_model_nl_classifier_bool_output.tflite",
       "custom::CUSTOM_OP_STRING_TO_BOOLS"},
      {"tflite-support__test_model_nl_classifier_with_associated_label.tflite",
       "custom::CUSTOM_OP_STRING_TO_FLOATS"},
      {"tflite-support__whitespace_tokenizer_to_ragged_2d_input.tflite",
       "custom::tftext:WhitespaceTokenizer"},
      {"tflite-support__whitespace_tokenizer_to_tensor.tflite",
       "custom::tftext:WhitespaceTokenizer"},
  };
  return *known;
}

struct TfliteCase {
  std::string name;
  double atol;
  int steps;
};

bool Wanted(const std::string& name) {
  const char* only = std::getenv("X2IR_CASES");
  return !only || std::regex_search(name, std::regex(only));
}

fs::path TfliteRoot() {
  const fs::path root = Unpacked("tflite-cases.tar.xz", "tflite-cases");
  return root.empty() ? root : root / "tflite-cases";
}

std::vector<TfliteCase> TfliteCases(const fs::path& root) {
  std::vector<TfliteCase> cases;
  std::ifstream in(root / "cases.tsv");
  TfliteCase c;
  while (in >> c.name >> c.atol >> c.steps) {
    if (Wanted(c.name)) cases.push_back(c);
  }
  return cases;
}

// "" where they are alike.
std::string DifferenceOf(const Tensor& got, const Tensor& want, const TfliteCase& c) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return StrCat("expected ", want.type().ToString(), ", got ", got.type().ToString());
  }
  if (got == want) return "";
  if (got.is_string()) return "other strings";
  const bool floats = IsFloating(got.dtype()), complex = IsComplex(got.dtype());
  const Tensor g = complex ? AsPairs(got) : got, w = complex ? AsPairs(want) : want;
  double worst = 0;
  for (int64_t i = 0; i < g.num_elements(); ++i) {
    if (!floats && !complex) {
      worst = std::max(worst, std::fabs(static_cast<double>(g.AsInt(i) - w.AsInt(i))));
      continue;
    }
    const double a = g.AsDouble(i), b = w.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double d = std::fabs(a - b);
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst <= (floats || complex ? c.atol : c.steps) ? "" : StrCat("differs by ", worst);
}

absl::Status Evaluate(const fs::path& io, const TfliteCase& c, const Model& ir) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io.string(), *ir.graph));
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i]) continue;
      if (!got[i].tensor()) return Internal("output ", i, " is no tensor");
      const std::string difference = DifferenceOf(*got[i].tensor(), *each.outputs[i], c);
      if (!difference.empty()) return Internal("output ", i, " ", difference);
    }
  }
  return absl::OkStatus();
}

TEST(Tflite, ConvertAndAgree) {
  const fs::path root = TfliteRoot();
  ASSERT_FALSE(root.empty());
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / "tflite";
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int evaluated = 0, total = 0;
  for (const TfliteCase& c : TfliteCases(root)) {
    SCOPED_TRACE(c.name);
    ++total;
    const fs::path io = root / (c.name + ".io.safetensors");
    absl::StatusOr<Model> model = Import((root / c.name).string());
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) continue;
    const absl::Status same = Evaluate(io, c, *model);
    const bool known = Differences().contains(c.name);
    EXPECT_EQ(same.ok(), !known) << same;
    evaluated += same.ok();
    const fs::path out = dir / (c.name + ".onnx");
    const absl::Status exported =
        Export(*std::move(model), out.string(), {.opset = 18, .check = true});
    EXPECT_EQ(exported.ok(), !Differences().contains(c.name + "@18")) << exported;
    if (!exported.ok() || !ort || known) continue;
    asked.push_back(c.name);
    ort->Ask({out.string(), io.string(), 0, c.atol, c.steps});
  }
  int ran = 0;
  if (ort) {
    const std::vector<OrtJudge::Answer>& answers = ort->Answers();
    ASSERT_EQ(answers.size(), asked.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      ran += answers[i].agrees;
      EXPECT_EQ(answers[i].agrees, !Differences().contains(asked[i] + "@ort"))
          << asked[i] << ": ONNX Runtime (" << answers[i].stage << "): " << answers[i].error;
    }
  }
  std::printf("%d models, %d agree, %d of them in ONNX Runtime\n", total, evaluated, ran);
}

// Nothing runs them: they become IR or a clear error.
TEST(Tflite, ReaderOnly) {
  const fs::path root = TfliteRoot();
  ASSERT_FALSE(root.empty());
  for (const auto& entry : fs::directory_iterator(root / "reader_only")) {
    const std::string name = entry.path().filename().string();
    if (!Wanted(name)) continue;
    const absl::StatusOr<Model> model = Import(entry.path().string(), {.format = "tflite"});
    const auto known = ReaderOnly().find(name);
    if (known == ReaderOnly().end()) {
      EXPECT_TRUE(model.ok()) << name << ": " << model.status();
    } else {
      EXPECT_NE(std::string(model.status().message()).find(known->second), std::string::npos)
          << name << ": " << model.status();
    }
  }
}

// The float networks that quantized ones stand for come near them.
TEST(Tflite, Dequantized) {
  const fs::path root = TfliteRoot();
  ASSERT_FALSE(root.empty());
  int count = 0;
  for (const TfliteCase& c : TfliteCases(root)) {
    if (c.steps == 0 || c.name == "op__fake_quant.tflite") continue;
    const absl::StatusOr<Model> model =
        Import((root / c.name).string(), {.format_options = {{"dequantize", true}}});
    // Only what has no meaning in floats is refused.
    if (!model.ok()) {
      EXPECT_NE(std::string(model.status().message()).find("in a float network"), std::string::npos)
          << c.name << ": " << model.status();
      continue;
    }
    ++count;
    for (const Node* node : std::as_const(*model->graph).nodes()) {
      EXPECT_FALSE(node->Is("quantize_linear")) << c.name;
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace x2ir
