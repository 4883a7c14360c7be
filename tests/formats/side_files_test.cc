// Files that a model names: every format opens them by one rule (Source::OpenBeside). Each format
// has a model that names one file; the names are good and bad ones.
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/caffe_files_util.h"
#include "tests/formats/coreml_proto_util.h"
#include "tests/formats/onnx_proto_util.h"
#include "tests/formats/tflite_file_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/builder.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::nlohmann::json;
using ::testing::HasSubstr;
using testing_util::DecodeCoreml;
using testing_util::EncodeCoreml;
using testing_util::EncodeProto;

const std::string kTwo("\0\0\x80\x3f\0\0\0\x40", 8);  // 1 and 2

// A model of a format, but for the name of its file.
struct Kind {
  std::string format;
  std::string model;  // its file
  std::function<std::string(const std::string& name)> bytes;
  std::string content;  // of the file that it names
  // What a name may be: a path; a path of which the last part counts; a name alone.
  enum Names { kPaths, kLastPart, kOneName } names = kPaths;
  std::string inside{};  // the name is a folder's then, and this the file in it
};

json OnnxModel(const std::string& name) {
  return {{"ir_version", 10},
          {"opset_import", {{{"version", 21}}}},
          {"graph",
           {{"name", "g"},
            {"initializer",
             {{{"name", "w"},
               {"data_type", 1},
               {"dims", {2}},
               {"data_location", 1},
               {"external_data", {{{"key", "location"}, {"value", name}}}}}}}}}};
}

std::string IrModel(const std::string& name) {
  return StrCat(R"({"format": "x2ir", "version": 1, "weights": [], "graph": {"constants": [
      {"name": "c", "type": "float32[2]", "file": )",
                JsonString(name), R"(, "offset": 0, "size": 8}]}})");
}

std::string TfjsModel(const std::string& name) {
  return StrCat(R"({"format": "layers-model", "modelTopology": {"class_name": "Sequential",
      "config": {"name": "s", "layers": [{"class_name": "Dense", "config": {"name": "d",
      "units": 2, "use_bias": false, "batch_input_shape": [null, 1]}}]}},
      "weightsManifest": [{"paths": [)",
                JsonString(name),
                R"(], "weights": [{"name": "d/kernel", "shape": [1, 2], "dtype": "float32"}]}]})");
}

std::string TfliteModel(const std::string& name) {
  tflite_files::File file;
  file.tensors = {{"x"}, {"y"}, {"w"}};
  file.tensors[2].shape = {2};
  file.tensors[2].external = 7;  // which begins at byte 4
  file.op_inputs = {2};
  file.external_name = name;
  return file.Make();
}

std::string OneflowModel(const std::string& name) {
  return StrCat(
      R"(module {
  oneflow.job @sum() -> tensor<2xf32> {
    %w = "oneflow.variable"() {data_type = 2 : i32, op_name = )",
      JsonString(name),
      R"(, parallel = #sbp.parallel<[] -> [#sbp.B, #sbp.S<0>]>, shape = [2 : si64]} : () -> tensor<2xf32>
    %out = "oneflow.output"(%w) {data_type = 2 : i32, op_name = "out", shape = [2 : si64]} : (tensor<2xf32>) -> tensor<2xf32>
    oneflow.return %out : tensor<2xf32>
  }
})");
}

std::string CaffeModel(const std::string& name) {
  return StrCat(
      "input: \"a\" input_shape { dim: 1 dim: 2 } input: \"b\" input_shape { dim: 1 }\n",
      "layer { name: \"l\" type: \"InfogainLoss\" bottom: \"a\" bottom: \"b\" top: \"l\" ",
      "infogain_loss_param { source: ", JsonString(name), " } }\n");
}

// A program with weights in a file, as it was written; `weights` gets the file.
json CoremlProgram(const fs::path& folder, std::string* weights) {
  Model model;
  Builder b(*model.graph, nullptr);
  const Type type = Type::Tensor(DType::kFloat32, Shape::FromInts({1, 64}));
  Value* x = model.graph->AddInput("x", type);
  const std::vector<float> numbers(64 * 64, 0.5f);
  model.graph->AddOutput(b.Op("matmul", {x, b.Constant(Tensor::Of<float>({64, 64}, numbers))}));
  for (Node* node : b.made()) model.graph->NameValues(node, "y");
  const std::string path = (folder / "written.mlpackage").string();
  const absl::Status written = Export(std::move(model), path);
  EXPECT_TRUE(written.ok()) << written;
  *weights = ReadFile(path + "/Data/com.apple.CoreML/weights/weight.bin");
  return DecodeCoreml("Model", ReadFile(path + "/Data/com.apple.CoreML/model.mlmodel"));
}

void NameFile(json& message, const std::string& name) {
  if (message.is_object() && message.contains("fileName")) message["fileName"] = name;
  if (message.is_structured()) {
    for (json& part : message) NameFile(part, name);
  }
}

std::vector<Kind> Kinds(const fs::path& folder) {
  std::string coreml_weights;
  const json program = CoremlProgram(folder, &coreml_weights);
  const auto coreml = [program](const std::string& name) {
    json named = program;
    NameFile(named, "@model_path/" + name);
    return EncodeCoreml("Model", named);
  };
  const auto onnx = [](const std::string& name) {
    return EncodeProto("ModelProto", OnnxModel(name));
  };
  const auto onnxjson = [](const std::string& name) {
    return StrCat(R"({"irVersion": "10", "opsetImport": [{"version": "21"}], "graph": {"name": "g",
        "initializer": [{"name": "w", "dataType": 1, "dims": ["2"], "dataLocation": "EXTERNAL",
        "externalData": [{"key": "location", "value": )",
                  JsonString(name), "}]}]}}");
  };
  return {
      {"ir", "m.json", IrModel, kTwo},
      {"onnx", "m.onnx", onnx, kTwo},
      {"onnxjson", "m.onnxjson", onnxjson, kTwo},
      {"tfjs", "model.json", TfjsModel, kTwo},
      {"tflite", "m.tflite", TfliteModel, std::string(4, '\0') + kTwo},
      {"coreml", "m.mlmodel", coreml, coreml_weights},
      {"oneflow_graph", "m.mlir", OneflowModel, kTwo, Kind::kOneName, "/out"},
      {"caffe", "m.prototxt", CaffeModel, caffe_files::BlobFile({1, 1, 2, 2}, {2, 0, 0, 2}),
       Kind::kLastPart},
  };
}

class SideFiles : public TempDirTest {
 protected:
  // OK, or the error of reading.
  static absl::Status Read(const Kind& kind, const fs::path& path, bool outside = false) {
    ImportOptions options;
    options.format = kind.format;
    if (outside) options.format_options = {{"allow_outside", true}};
    return Import(path, options).status();
  }
};

TEST_F(SideFiles, NamesOfAllKinds) {
  struct Row {
    std::string name, message;  // "": it is read
    bool outside = false;       // whether it is read where that is allowed
  };
  for (const Kind& kind : Kinds(folder_)) {
    SCOPED_TRACE(kind.format);
    const fs::path top = folder_ / kind.format, folder = top / "models";
    Put(folder / ("w.bin" + kind.inside), kind.content);
    Put(folder / ("sub/w.bin" + kind.inside), kind.content);
    Put(top / ("secret" + kind.inside), kind.content);
    fs::create_symlink("w.bin", folder / "in");
    fs::create_symlink(top / "secret", folder / "link");
    fs::create_directory_symlink(top, folder / "up");
    fs::create_directories(folder / ("folder" + kind.inside));
    fs::create_directories((folder / ("pipe" + kind.inside)).parent_path());
    ASSERT_EQ(::mkfifo((folder / ("pipe" + kind.inside)).c_str(), 0600), 0);
    const std::vector<Row> rows = {
        {"w.bin", ""},
        {"in", ""},
        {"sub/w.bin", ""},
        {"./sub//w.bin", ""},
        {"sub/../w.bin", ""},
        {"link", "is a link out of the model's folder; files outside", true},
        {"../secret", "leads out of the model's folder; files outside", true},
        {"sub/../../secret", "leads out of the model's folder; files outside", true},
        {"sub/../../none", "leads out of the model's folder; files outside"},
        {"up/secret", "is a link out of the model's folder; files outside", true},
        {(top / "secret").string(), "is an absolute path; files outside", true},
        {"/dev/zero", "is an absolute path; files outside"},
        {"..", ""},
        {"none", "none"},
        {"folder", "folder"},
        {"pipe", "pipe"},
        {"", ""},
        {std::string("w.bin\0x", 7), ""},
    };
    for (const Row& row : rows) {
      SCOPED_TRACE(row.name);
      const bool good = row.message.empty() && row.name.find("w.bin") != std::string::npos &&
                        row.name.find('\0') == std::string::npos;
      const bool is_path = row.name.find('/') != std::string::npos;
      Put(folder / kind.model, kind.bytes(row.name));
      const absl::Status status = Read(kind, folder / kind.model);
      if (good || row.name == "in") {
        EXPECT_EQ(status.ok(), kind.names != Kind::kOneName || !is_path) << status;
      } else {
        EXPECT_FALSE(status.ok());
        EXPECT_FALSE(status.message().empty());
      }
      if (is_path && kind.names != Kind::kPaths) continue;
      EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
      if (!status.ok()) {
        EXPECT_EQ(Read(kind, folder / kind.model, true).ok(), row.outside) << row.name;
      }
    }
  }
}

// Caches of models consist of links to where the files really are.
TEST_F(SideFiles, ModelsThatAreLinks) {
  for (const Kind& kind : Kinds(folder_)) {
    SCOPED_TRACE(kind.format);
    const fs::path top = folder_ / kind.format, folder = top / "models";
    Put(top / "store/1", kind.bytes("w.bin"));
    Put(top / ("store/2" + kind.inside), kind.content);
    fs::create_directories(folder);
    fs::create_symlink("../store/1", folder / kind.model);
    fs::create_symlink("../store/2", folder / "w.bin");
    const absl::Status status = Read(kind, folder / kind.model);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// In memory, the one who has the bytes says what is in the files; no path is looked at.
TEST_F(SideFiles, InMemory) {
  for (const Kind& kind : Kinds(folder_)) {
    SCOPED_TRACE(kind.format);
    for (const bool known : {true, false}) {
      std::vector<std::string> asked;
      const auto find = [&](const std::string& name) -> absl::StatusOr<HeldBytes> {
        asked.push_back(name);
        if (!known || name != "w.bin" + kind.inside) return NotFound("no ", name);
        return HeldBytes{
            {reinterpret_cast<const std::byte*>(kind.content.data()), kind.content.size()},
            nullptr};
      };
      const absl::Status status =
          Import(Source::Bytes(kind.bytes("w.bin"), find, kind.model), {.format = kind.format})
              .status();
      EXPECT_EQ(status.ok(), known) << status;
      EXPECT_FALSE(asked.empty());
    }
    EXPECT_FALSE(
        Import(Source::Bytes(kind.bytes("w.bin"), {}, kind.model), {.format = kind.format}).ok());
  }
}

// A format that is missing above has no test.
TEST_F(SideFiles, AllFormatsAreHere) {
  // The names of the files of a SavedModel and of an .ort file are fixed (tf_saved_model_test.cc,
  // ort_test.cc); the others share their reader with one above.
  std::vector<std::string> known = {"tensorflow", "ort", "textproto", "onnxtxt", "oneflow_job"};
  for (const Kind& kind : Kinds(folder_)) known.push_back(kind.format);
  for (const Format* format : AllFormats()) {
    if (!format->names_files) continue;
    EXPECT_THAT(known, testing::Contains(format->name));
  }
}

}  // namespace
}  // namespace x2ir
