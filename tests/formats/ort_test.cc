// Files of ONNX Runtime's own format: made field by field, damaged, and written.
#include "x2ir/formats/ort/ort.h"

#include <ort_generated.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/inspect/diff.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

namespace fb = ::x2ir::ort_fb;
using flat::FlatFile;
using flat::FlatRef;
using flat::FlatTable;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y = Add(x, w) of float32[2], w = {1, 2}.
struct OrtFile {
  const char* version = "6";
  const char* domain = "";
  int64_t opset = 14;
  int32_t since = 14;
  int32_t node_type = 0;
  int32_t attr_type = 0;  // of one more attribute; 0: none
  uint8_t kind_of_type = 1;
  bool has_model = true, has_graph = true, has_data = true;
  int64_t external = -1;
  int optimizations = 0;

  FlatRef Info(FlatFile& file, const char* name) const {
    FlatTable value, dim, shape, tensor, type, info;
    value.Add(fb::DimensionValue::VT_DIM_TYPE, fb::DimensionValueType::VALUE);
    value.Add(fb::DimensionValue::VT_DIM_VALUE, int64_t{2});
    dim.Add(fb::Dimension::VT_VALUE, file.Table(value));
    shape.Add(fb::Shape::VT_DIM, file.Vector(std::vector{file.Table(dim)}));
    tensor.Add(fb::TensorTypeAndShape::VT_ELEM_TYPE, int32_t{1});
    tensor.Add(fb::TensorTypeAndShape::VT_SHAPE, file.Table(shape));
    type.Add(fb::TypeInfo::VT_VALUE_TYPE, kind_of_type);
    type.Add(fb::TypeInfo::VT_VALUE, file.Table(tensor));
    info.Add(fb::ValueInfo::VT_NAME, file.String(name));
    info.Add(fb::ValueInfo::VT_TYPE, file.Table(type));
    return file.Table(info);
  }

  FlatRef Graph(FlatFile& file) const {
    const auto names = [&](std::vector<const char*> all) {
      std::vector<FlatRef> refs;
      for (const char* name : all) refs.push_back(file.String(name));
      return file.Vector(refs);
    };
    FlatTable w, node, attr, graph, records;
    w.Add(fb::Tensor::VT_NAME, file.String("w"));
    w.Add(fb::Tensor::VT_DIMS, file.Vector(std::vector<int64_t>{2}));
    w.Add(fb::Tensor::VT_DATA_TYPE, int32_t{1});
    if (external >= 0) {
      w.Add(fb::Tensor::VT_EXTERNAL_DATA_OFFSET, external, int64_t{-1});
    } else if (has_data) {
      w.Add(fb::Tensor::VT_RAW_DATA, file.Data(Tensor::Of<float>({2}, {1, 2}), 16));
    }
    node.Add(fb::Node::VT_NAME, file.String("sum"));
    node.Add(fb::Node::VT_DOMAIN, file.String(domain));
    node.Add(fb::Node::VT_OP_TYPE, file.String("Add"));
    node.Add(fb::Node::VT_SINCE_VERSION, since);
    node.Add(fb::Node::VT_TYPE, node_type);
    node.Add(fb::Node::VT_EXECUTION_PROVIDER_TYPE, file.String("NnapiExecutionProvider"));
    node.Add(fb::Node::VT_INPUTS, names({"x", "w"}));
    node.Add(fb::Node::VT_OUTPUTS, names({"y"}));
    if (attr_type != 0) {
      attr.Add(fb::Attribute::VT_NAME, file.String("odd"));
      attr.Add(fb::Attribute::VT_TYPE, attr_type);
      node.Add(fb::Node::VT_ATTRIBUTES, file.Vector(std::vector{file.Table(attr)}));
    }
    graph.Add(fb::Graph::VT_INITIALIZERS, file.Vector(std::vector{file.Table(w)}));
    graph.Add(fb::Graph::VT_NODE_ARGS,
              file.Vector(std::vector{Info(file, "x"), Info(file, "y"), Info(file, "w")}));
    graph.Add(fb::Graph::VT_NODES, file.Vector(std::vector{file.Table(node)}));
    graph.Add(fb::Graph::VT_INPUTS, names({"x"}));
    graph.Add(fb::Graph::VT_OUTPUTS, names({"y"}));
    if (optimizations > 0) {
      records.Add(fb::RuntimeOptimizations::VT_RECORDS,
                  file.Vector(std::vector<FlatRef>(optimizations, file.Table({}))));
      graph.Add(fb::Graph::VT_RUNTIME_OPTIMIZATIONS, file.Table(records));
    }
    return file.Table(graph);
  }

  std::string Bytes() const {
    FlatFile file;
    FlatTable import, model, session;
    import.Add(fb::OperatorSetId::VT_DOMAIN, file.String(""));
    import.Add(fb::OperatorSetId::VT_VERSION, opset);
    model.Add(fb::Model::VT_IR_VERSION, int64_t{8});
    if (opset > 0) {
      model.Add(fb::Model::VT_OPSET_IMPORT, file.Vector(std::vector{file.Table(import)}));
    }
    if (has_graph) model.Add(fb::Model::VT_GRAPH, Graph(file));
    session.Add(fb::InferenceSession::VT_ORT_VERSION, file.String(version));
    if (has_model) session.Add(fb::InferenceSession::VT_MODEL, file.Table(model));
    return Finish(file, file.Table(session));
  }

  static std::string Finish(FlatFile& file, FlatRef root) {
    std::string bytes;
    const Sink sink = Sink::To(&bytes);
    absl::StatusOr<AtomicFile> out = sink.Create(sink.name());
    EXPECT_TRUE(out.ok()) << out.status();
    EXPECT_TRUE(file.Write(root, fb::InferenceSessionIdentifier(), *out).ok());
    EXPECT_TRUE(out->Commit().ok());
    return bytes;
  }
};

constexpr char kSum[] =
    "graph g(x: float32[2]) -> (y) {\n  w = float32[2]{1, 2}\n  y = add(x, w)\n}\n";

class OrtTest : public TempDirTest {};

TEST_F(OrtTest, AllVersionsAreRead) {
  const absl::StatusOr<Model> sum = ModelFromText(kSum, "", 0);
  ASSERT_TRUE(sum.ok() && InferGraph(*sum->graph).ok()) << sum.status();
  for (const char* version : {"1", "2", "3", "4", "5", "6"}) {
    const std::string path = Put("m.bin", OrtFile{.version = version}.Bytes());  // by its content
    const absl::StatusOr<Model> model = Import(path);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_TRUE(DiffModels(*sum, *model).empty()) << version;
  }
}

TEST_F(OrtTest, WhatIsRefused) {
  const struct {
    OrtFile file;
    const char* message;
  } rows[] = {
      {{.version = "7"}, "version '7' of ONNX Runtime's format; versions 1 to 6 are read"},
      {{.version = ""}, "version ''"},
      {{.domain = "com.microsoft.nchwc"}, "com.microsoft.nchwc::Add"},
      {{.domain = "com.ms.internal.nhwc"}, "com.ms.internal.nhwc::Add"},
      {{.opset = 0}, "imports no opsets"},
      {{.since = 13}, "node 'sum' is Add of version 13, and opset 14"},
      {{.opset = 13}, "node 'sum' is Add of version 14, and opset 13"},
      {{.node_type = 1}, "is compiled for the device 'NnapiExecutionProvider'"},
      {{.attr_type = 11}, "attribute 'odd' has the type 11"},
      {{.attr_type = 4}, "has no data"},
      {{.attr_type = -3}, "has the type -3"},
      {{.kind_of_type = 4}, "unknown kind of type 4"},
      {{.has_model = false}, "the file has no model"},
      {{.has_graph = false}, "the model has no graph"},
      {{.has_data = false}, "tensor 'w' has no data"},
      {{.external = 4}, "m.ort.data"},  // which is not there
  };
  for (const auto& row : rows) {
    const absl::StatusOr<Model> model = Import(Put("m.ort", row.file.Bytes()));
    ASSERT_FALSE(model.ok()) << row.message;
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(row.message));
  }
}

TEST_F(OrtTest, ExternalDataLiesBesideTheFile) {
  const float numbers[] = {0, 3, 4};
  const std::string_view data(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const std::string path = Put("in/m.ort", OrtFile{.external = 4}.Bytes());
  Put("in/m.ort.data", data);
  const absl::StatusOr<Model> model = Import(path);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph->Find("w")->constant(), Tensor::Of<float>({2}, {3, 4}));
  Put("in/m.ort.data", data.substr(0, 8));
  EXPECT_FALSE(Import(path).ok());
  // A link that leads out of the folder.
  std::filesystem::remove(Path("in/m.ort.data"));
  std::filesystem::create_symlink(Put("out/secret", data), Path("in/m.ort.data"));
  const absl::StatusOr<Model> outside = Import(path);
  EXPECT_TRUE(absl::IsInvalidArgument(outside.status())) << outside.status();
}

TEST_F(OrtTest, RuntimeOptimizationsAreTold) {
  Report report;
  const absl::StatusOr<Model> model =
      Import(Put("m.ort", OrtFile{.optimizations = 3}.Bytes()), {}, &report);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(report.warnings,
              ::testing::ElementsAre(HasSubstr("saved runtime optimizations, by 3")));
}

TEST_F(OrtTest, DamagedFilesAreErrors) {
  for (const char* name : {"convs", "loop", "strings"}) {
    const std::string bytes =
        ReadFile(std::string(X2IR_SOURCE_DIR "/tests/data/ort/") + name + ".ort");
    ASSERT_FALSE(bytes.empty());
    ASSERT_TRUE(ReadOrt(Source::Bytes(bytes)).ok());
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 500) {
      const absl::StatusOr<Model> model = ReadOrt(Source::Bytes(bytes.substr(0, size)));
      if (!model.ok()) continue;
      EXPECT_THAT(model->graph->Validate(), IsEmpty());
    }
    // Each word in turn leads elsewhere.
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      for (const uint32_t word : {0u, 0xffffffffu, 0x7fffffffu, 1u, uint32_t(bytes.size())}) {
        std::string changed = bytes;
        std::memcpy(changed.data() + at, &word, sizeof word);
        const absl::StatusOr<Model> model = ReadOrt(Source::Bytes(std::move(changed)));
        if (!model.ok()) continue;
        EXPECT_THAT(model->graph->Validate(), IsEmpty());
      }
    }
  }
}

// A million nodes that are one, each with ten thousand names.
TEST_F(OrtTest, SharedObjectsHaveALimit) {
  FlatFile file;
  FlatTable node, graph, import, model, session;
  node.Add(fb::Node::VT_OP_TYPE, file.String("Sum"));
  node.Add(fb::Node::VT_INPUTS, file.Vector(std::vector<FlatRef>(10000, file.String("x"))));
  const FlatRef one = file.Table(node);
  graph.Add(fb::Graph::VT_NODES, file.Vector(std::vector<FlatRef>(1000000, one)));
  import.Add(fb::OperatorSetId::VT_VERSION, int64_t{14});
  model.Add(fb::Model::VT_OPSET_IMPORT, file.Vector(std::vector{file.Table(import)}));
  model.Add(fb::Model::VT_GRAPH, file.Table(graph));
  session.Add(fb::InferenceSession::VT_ORT_VERSION, file.String("6"));
  session.Add(fb::InferenceSession::VT_MODEL, file.Table(model));
  const absl::StatusOr<Model> read =
      ReadOrt(Source::Bytes(OrtFile::Finish(file, file.Table(session))));
  ASSERT_TRUE(absl::IsDataLoss(read.status())) << read.status();
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("referred to so often"));
}

// What is written passes FlatBuffers' verifier and is read to the same graph; weights are aligned.
TEST_F(OrtTest, WrittenAndReadBack) {
  const struct {
    const char* text;
    const char* version;
  } rows[] = {
      {kSum, "5"},
      {"graph g(c: bool[], x: float32[n,2]) -> (y) {\n"
       "  y = if(c) {\n    then_branch = graph t() -> (a) { a = relu(x) },\n"
       "    else_branch = graph e() -> (b) { b = neg(x) }\n  }\n}\n",
       "5"},
      {"graph g(x: float8e4m3fn[2]) -> (y) {\n  y = identity(x)\n}\n", "6"},
  };
  for (const auto& row : rows) {
    absl::StatusOr<Model> ir = ModelFromText(row.text, "", 0);
    ASSERT_TRUE(ir.ok() && InferGraph(*ir->graph).ok()) << ir.status();
    const std::string path = Path("w.ort");
    const absl::Status written = Export(ir->Clone(), path, {.opset = 19});
    ASSERT_TRUE(written.ok()) << written;
    const std::string bytes = ReadFile(path);
    std::vector<uint64_t> memory(bytes.size() / 8 + 1);
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    const auto* begin = reinterpret_cast<const uint8_t*>(memory.data());
    flatbuffers::Verifier verifier(begin, bytes.size());
    ASSERT_TRUE(fb::VerifyInferenceSessionBuffer(verifier));
    const fb::InferenceSession* session = fb::GetInferenceSession(begin);
    EXPECT_EQ(session->ort_version()->str(), row.version);
    for (const fb::Tensor* tensor : *session->model()->graph()->initializers()) {
      EXPECT_EQ((tensor->raw_data()->data() - begin) % 16, 0);
    }
    const absl::StatusOr<Model> again = Import(path);
    ASSERT_TRUE(again.ok()) << again.status();
    const ModelDiff diff = DiffModels(*ir, *again);
    EXPECT_TRUE(diff.empty()) << diff.ToText();
  }
}

TEST_F(OrtTest, WhatIsNotWritten) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"graph g(x: optional(float32[2])) -> (y) {\n  y = optional_has_element(x)\n}\n",
       "tensors, sequences and maps"},
      {"graph g() -> (y) {\n  w = uint4[2]{1, 2}\n  s = float32[]{1}\n"
       "  y = dequantize_linear(w, s) { block_size = 0 }\n}\n",
       "initializer 'w': ONNX Runtime does not load constants of uint4"},
  };
  for (const auto& row : rows) {
    absl::StatusOr<Model> ir = ModelFromText(row.text, "", 0);
    ASSERT_TRUE(ir.ok()) << ir.status();
    const absl::Status written =
        Export(*std::move(ir), Path("n.ort"), {.opset = 21, .optimize = false});
    EXPECT_TRUE(absl::IsFailedPrecondition(written)) << written;
    EXPECT_THAT(std::string(written.message()), HasSubstr(row.message));
    EXPECT_FALSE(std::filesystem::exists(Path("n.ort")));
  }
}

}  // namespace
}  // namespace x2ir
