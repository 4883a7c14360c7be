// OneFlow's files: text of MLIR, jobs and the folders of variables, right and wrong. Their bytes
// are made here, from the description of the formats.
#include "x2ir/formats/oneflow/oneflow.h"

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OneflowFiles : public TempDirTest {
 protected:
  // "error: ..." or the graph as text.
  static std::string Read(const std::string& path, std::string job = "") {
    ImportOptions options;
    if (!job.empty()) options.format_options = {{"job", job}};
    const absl::StatusOr<Model> model = Import(path, options);
    return model.ok() ? ToText(*model->graph) : "error: " + std::string(model.status().message());
  }
};

absl::StatusOr<Model> IrOf(std::string_view text) { return ModelFromText(text, "", 0); }

// A job that adds a variable "w" of two floats.
std::string SumGraph(std::string_view variable = "w") {
  return StrCat(
      R"(module {
  oneflow.job @sum(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %output = "oneflow.input"(%arg0) {data_type = 2 : i32, op_name = "in", output_lbns = ["in/out"], shape = [2 : si64]} : (tensor<2xf32>) -> tensor<2xf32>
    %output_0 = "oneflow.variable"() {data_type = 2 : i32, op_name = ")",
      variable,
      R"(", parallel = #sbp.parallel<[] -> [#sbp.B, #sbp.S<0>]>, shape = [2 : si64]} : () -> tensor<2xf32>
    %0 = "oneflow.broadcast_add"(%output, %output_0) {device_name = ["@0:0"], op_name = "add", output_lbns = ["add/z_0"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %output_1 = "oneflow.output"(%0) {data_type = 2 : i32, op_name = "out", shape = [2 : si64]} : (tensor<2xf32>) -> tensor<2xf32>
    oneflow.return %output_1 : tensor<2xf32>
  }
})");
}
const std::string kTwo("\0\0\x80\x3f\0\0\0\x40", 8);  // 1 and 2
constexpr char kMeta[] = "shape {\n  dim: 2\n}\ndata_type: kFloat\n";

TEST_F(OneflowFiles, FolderOrFile) {
  const std::string path = Put("model.mlir", SumGraph());
  Put("w/out", kTwo);
  Put("w/meta", kMeta);
  const std::string graph = Read(path);
  EXPECT_THAT(graph, HasSubstr("graph sum(in: float32[2]) -> (out: float32[2])"));
  EXPECT_THAT(graph, HasSubstr("w = float32[2]{1, 2}"));
  EXPECT_THAT(graph, HasSubstr("out: float32[2] = add(in, w)"));
  EXPECT_EQ(Read(folder_.string()), graph);
  // By its content, whatever it is called.
  EXPECT_EQ(Read(Put("any.txt", SumGraph())), graph);
}

TEST_F(OneflowFiles, VariablesThatAreNotAsSaid) {
  const std::string path = Put("model.mlir", SumGraph());
  EXPECT_THAT(Read(path), HasSubstr("1 variable has no file NAME/out"));
  Put("w/out", kTwo.substr(0, 4));
  EXPECT_THAT(Read(path), HasSubstr("variable 'w'"));
  // Older snapshots have no description.
  Put("w/out", kTwo);
  Put("snapshot_done", "");
  EXPECT_THAT(Read(path), HasSubstr("add(in, w)"));
  Put("w/meta", "shape { dim: 2 }\ndata_type: kInt32\n");
  EXPECT_THAT(Read(path), HasSubstr("kInt32"));
  Put("w/meta", "shape { dim: [1, 2] } data_type: kFloat");
  EXPECT_THAT(Read(path), HasSubstr("the graph says float32[2]"));
  Put("w/meta", "shape {");
  EXPECT_THAT(Read(path), HasSubstr("error"));
}

TEST_F(OneflowFiles, NamesThatLeadElsewhere) {
  Put("secret/out", kTwo);
  for (const char* name : {"../secret", "..", "/etc", "", "a/b"}) {
    EXPECT_THAT(Read(Put("m/model.mlir", SumGraph(name))), HasSubstr("error")) << name;
  }
  fs::create_symlink("../secret", Path("m/w"));
  EXPECT_THAT(Read(Put("m/model.mlir", SumGraph())), HasSubstr("outside of the model's folder"));
}

TEST_F(OneflowFiles, SnapshotElsewhereByOption) {
  const std::string path = Put("m/model.mlir", SumGraph());
  Put("weights/w/out", kTwo);
  const absl::StatusOr<Model> model =
      Import(path, {.format_options = {{"snapshot", Path("weights")}}});
  ASSERT_TRUE(model.ok()) << model.status();
}

TEST_F(OneflowFiles, InMemory) {
  const auto find = [](const std::string& name) -> absl::StatusOr<HeldBytes> {
    if (name != "w/out") return NotFound(name);
    return HeldBytes{{reinterpret_cast<const std::byte*>(kTwo.data()), kTwo.size()}, nullptr};
  };
  const absl::StatusOr<Model> model = Import(Source::Bytes(SumGraph(), find, "m.mlir"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(ToText(*model->graph), HasSubstr("w = float32[2]{1, 2}"));
}

TEST_F(OneflowFiles, TextOfOtherVersions) {
  const auto job = [](std::string_view lines) {
    return StrCat("oneflow.job @j(%arg0: tensor<1x1x2x2xf32>) -> tensor<*xf32> {\n", lines, "\n}");
  };
  const struct {
    std::string text, want;
  } rows[] = {
      // Operands that are left out, as all versions say it.
      {job(R"(%0 = "oneflow.conv2d"(%arg0, %arg0) {op_name = "c", operand_segment_sizes = dense<[1, 1, 0, 0]> : vector<4xi32>, kernel_size = [2 : si32, 2 : si32], strides = [1 : si32, 1 : si32], padding_before = [0 : si32, 0 : si32], dilation_rate = [1 : si32, 1 : si32]} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32> oneflow.return %0 : tensor<1x1x1x1xf32>)"),
       "conv(arg0, arg0)"},
      {job(R"(%0 = "oneflow.conv2d"(%arg0, %arg0) {op_name = "c", operand_segment_sizes = array<i32: 1, 1, 0, 0>, kernel_size = [2 : si32, 2 : si32], strides = [1 : si32, 1 : si32], padding_before = [0 : si32, 0 : si32], dilation_rate = [1 : si32, 1 : si32]} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32> oneflow.return %0 : tensor<1x1x1x1xf32>)"),
       "conv(arg0, arg0)"},
      {job(R"(%0 = "oneflow.conv2d"(%arg0) {op_name = "c", operand_segment_sizes = [1, 1, 0, 0]} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32> oneflow.return %0 : tensor<1x1x1x1xf32>)"),
       "error"},
      // Results by number, and comments.
      {job(R"(// two
        %0:2 = "oneflow.tuple_identity"(%arg0, %arg0) : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) loc("x":1:2)
        oneflow.return %0#1 : tensor<1x1x2x2xf32>)"),
       "-> (\"0#1\": "},
      {job(R"(%0 = "oneflow.leaky_relu"(%arg0) {alpha = 0x3F000000 : f32} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> oneflow.return %0 : tensor<1x1x2x2xf32>)"),
       "alpha = 0.5"},
      {job(R"(%0 = "oneflow.relu"(%nobody) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> oneflow.return %0 : tensor<1x1x2x2xf32>)"),
       "'%nobody' is not defined before its use"},
      {job(R"(%0 = "oneflow.relu"(%0) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> oneflow.return %0 : tensor<1x1x2x2xf32>)"),
       "'%0' is not defined before its use"},
      {job(R"(%0 = "oneflow.relu"(%arg0) : () -> tensor<1x1x2x2xf32> oneflow.return %0 : tensor<1x1x2x2xf32>)"),
       "differ in number"},
      {job(R"(%0 = "oneflow.mlir_jit"(%arg0) ({}) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>)"),
       "region"},
      {job(R"(%0 = "oneflow.relu"(%arg0) {a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>)"),
       "too deeply"},
      {"module { oneflow.job @j() {", "does not end"},
      {"module { module }", "error"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Read(Put("m.mlir", row.text)), HasSubstr(row.want)) << row.text;
  }
}

TEST_F(OneflowFiles, WhichJob) {
  const std::string two =
      Put("m.mlir",
          "oneflow.job @a(%x: tensor<1xf32>) -> tensor<1xf32> { oneflow.return %x : "
          "tensor<1xf32> }\noneflow.job @b(%y: tensor<1xf32>) -> tensor<1xf32> { "
          "oneflow.return %y : tensor<1xf32> }");
  EXPECT_THAT(Read(two), HasSubstr("the jobs are a, b"));
  EXPECT_THAT(Read(two, "b"), HasSubstr("graph b(y: float32[1])"));
  EXPECT_THAT(Read(two, "c"), HasSubstr("no job 'c'"));
}

// int8 and bool are written alike, and are told apart by what makes them.
TEST_F(OneflowFiles, Bools) {
  const std::string text = Put("m.mlir",
                               R"(oneflow.job @j(%arg0: tensor<2xsi8>) -> tensor<2xsi8> {
    %i = "oneflow.input"(%arg0) {data_type = 12 : i32, op_name = "i", shape = [2 : si64]} : (tensor<2xsi8>) -> tensor<2xsi8>
    %0 = "oneflow.logical_not"(%i) {op_name = "n", output_lbns = ["n/y_0"]} : (tensor<2xsi8>) -> tensor<2xsi8>
    oneflow.return %0 : tensor<2xsi8>
  })");
  EXPECT_THAT(Read(text), HasSubstr("bool[2] = not(i)"));
}

// --- Jobs ---------------------------------------------------------------------------------------

void PutOp(WireWriter& job, std::string_view name, uint32_t conf,
           const std::function<void(WireWriter&)>& put) {
  job.Begin(1);
  job.Bytes(1, name);
  job.Bytes(4, "cpu");
  job.Begin(conf);
  put(job);
  job.End();
  job.End();
}
void PutShape(WireWriter& w, uint32_t field, std::initializer_list<int64_t> dims) {
  w.Begin(field);
  for (const int64_t dim : dims) w.Int(1, dim);
  w.End();
}
void PutMapEntry(WireWriter& w, uint32_t field, std::string_view key, std::string_view lbn) {
  w.Begin(field);
  w.Bytes(1, key);
  w.Begin(2);
  w.Bytes(1, lbn);
  w.End();
  w.End();
}
// out = relu(in + w), through ops of several devices, behind a tick.
std::string SumJob() {
  WireWriter job;
  job.Begin(1);
  PutOp(job, "tick", 124, [](WireWriter& w) { w.Bytes(2, "out"); });
  PutOp(job, "in", 137, [](WireWriter& w) {
    w.Bytes(2, "out");
    w.Begin(3);
    PutShape(w, 1, {2});
    w.Int(2, 2);
    w.End();
  });
  PutOp(job, "w", 122, [](WireWriter& w) {
    w.Bytes(1, "tick/out");
    w.Bytes(2, "out");
    PutShape(w, 3, {2});
    w.Int(4, 2);
  });
  PutOp(job, "clone", 157, [](WireWriter& w) {
    w.Bytes(1, "in/out");
    w.Bytes(2, "out_0");
  });
  PutOp(job, "add", 199, [](WireWriter& w) {
    w.Bytes(1, "broadcast_add");
    PutMapEntry(w, 2, "y", "w/out");
    PutMapEntry(w, 2, "x", "clone/out_0");
    PutMapEntry(w, 3, "z", "add/z_0");
  });
  PutOp(job, "act", 199, [](WireWriter& w) {
    w.Bytes(1, "leaky_relu");
    PutMapEntry(w, 2, "x", "add/z_0");
    PutMapEntry(w, 3, "y", "act/y_0");
    w.Begin(4);
    w.Bytes(1, "alpha");
    w.Begin(2);
    w.Float(4, 0.5f);
    w.End();
    w.End();
  });
  PutOp(job, "out", 138, [](WireWriter& w) {
    w.Bytes(1, "act/y_0");
    w.Bytes(2, "out");
  });
  job.End();
  job.Begin(3);
  job.Bytes(1, "sum");
  job.End();
  return job.ToString();
}

TEST_F(OneflowFiles, Job) {
  Put("w/out", kTwo);
  const std::string graph = Read(Put("x.bin", SumJob()));
  EXPECT_THAT(graph, HasSubstr("graph sum(in: float32[2]) -> (out: float32[2])"));
  EXPECT_THAT(graph, HasSubstr("out: float32[2] = leaky_relu("));
  EXPECT_THAT(graph, HasSubstr("alpha = 0.5"));
}

TEST_F(OneflowFiles, JobAsText) {
  Put("w/out", kTwo);
  const std::string graph = Read(Put("x.prototxt", R"(net {
  op { name: "in" device_tag: "cpu" scope_symbol_id: 1
    input_conf { out: "out" blob_conf { shape { dim: 2 } data_type: kFloat is_dynamic: false } } }
  op { name: "w" variable_conf { out: "out" shape { dim: 2 } data_type: kFloat trainable: true
    initializer { constant_conf { value: 0 } } } }
  op { name: "t" tick_conf { out: "out" } }
  op { name: "add" user_conf { op_type_name: "broadcast_add"
    input { key: "x" value { s: "in/out" } } input { key: "y" value { s: "w/out" } }
    output { key: "z" value { s: "add/z_0" } } } }
  op { name: "out" output_conf { in: "add/z_0" out: "out" } }
}
job_conf { job_name: "sum" predict_conf { } }
)"));
  EXPECT_THAT(graph, HasSubstr("graph sum(in: float32[2]) -> (out: float32[2])"));
  EXPECT_THAT(graph, HasSubstr("out: float32[2] = add(in, w)"));
}

TEST_F(OneflowFiles, JobsThatAreWrong) {
  const std::string job = SumJob();
  EXPECT_THAT(Read(Put("x.job", job)), HasSubstr("no file NAME/out"));
  Put("w/out", kTwo);
  EXPECT_THAT(Read(Put("x.job", job.substr(0, job.size() / 2))), HasSubstr("error"));
  WireWriter alone;
  alone.Begin(1);
  PutOp(alone, "a", 199, [](WireWriter& w) {
    w.Bytes(1, "relu");
    PutMapEntry(w, 2, "other", "b/out");
  });
  alone.End();
  EXPECT_THAT(Read(Put("x.job", alone.ToString())), HasSubstr("'other' is not a known operand"));
  WireWriter system;
  system.Begin(1);
  PutOp(system, "a", 298, [](WireWriter&) {});
  system.End();
  EXPECT_THAT(Read(Put("x.job", system.ToString())), HasSubstr("system_298"));
}

// --- Writing ------------------------------------------------------------------------------------

TEST_F(OneflowFiles, WritesFoldersBesideTheFile) {
  const std::string out = Path("m/model.mlir");
  fs::create_directory(Path("m"));
  const auto model = [] {
    return *IrOf(
        "graph g(x: float32[2]) -> (y) {\n  w = float32[2]{1, 2}\n  b = bool[2]{1, 0}\n"
        "  z = where(b, x, w)\n  y = mul(z, w)\n}");
  };
  const ExportOptions as_graph = {.format = "oneflow_graph"};  // .mlir alone is StableHLO
  ASSERT_TRUE(Export(model(), out, as_graph).ok());
  EXPECT_EQ(ReadFile(Path("m/w/out")), kTwo);
  EXPECT_EQ(ReadFile(Path("m/w/meta")), kMeta);
  EXPECT_EQ(ReadFile(Path("m/b/meta")), "shape {\n  dim: 2\n}\ndata_type: kBool\n");
  EXPECT_THAT(Read(out), HasSubstr("where(b, x, w)"));
  // Over the same model again, but not over somebody's folders.
  EXPECT_TRUE(Export(model(), out, as_graph).ok());
  fs::remove(out);
  EXPECT_THAT(std::string(Export(model(), out, as_graph).message()),
              HasSubstr("exists and was not written"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_TRUE(
      Export(model(), out, {.format = "oneflow_graph", .format_options = {{"force", true}}}).ok());
}

TEST_F(OneflowFiles, WhatNoJobHolds) {
  const struct {
    const char *graph, *error;
  } rows[] = {
      {"graph g(x: float32[n]) -> (y) {\n  y = relu(x)\n}", "known sizes"},
      {"graph g(x: string[2]) -> (y) {\n  y = identity(x)\n}", "string"},
      {"graph g(x: float32[2]) -> (y) {\n  y = hardmax(x) { axis = 0 }\n}", "hardmax"},
  };
  for (const auto& row : rows) {
    absl::StatusOr<Model> model = IrOf(row.graph);
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status s = Export(*std::move(model), Path("x.job"));
    EXPECT_THAT(s.ToString(), HasSubstr(row.error));
    EXPECT_TRUE(fs::is_empty(folder_)) << row.graph;
  }
}

TEST_F(OneflowFiles, ManyVariables) {
  std::string lines = "  y0 = add(x, w0)\n";
  std::string constants = "  w0 = float32[1]{1}\n";
  for (int i = 1; i < 300; ++i) {
    StrAppend(&constants, "  w", int64_t{i}, " = float32[1]{", int64_t{i + 1}, "}\n");
    StrAppend(&lines, "  y", int64_t{i}, " = mul(y", int64_t{i - 1}, ", w", int64_t{i}, ")\n");
  }
  absl::StatusOr<Model> model =
      IrOf(StrCat("graph g(x: float32[1]) -> (y299) {\n", constants, lines, "}"));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::string out = Path("model.mlir");
  ASSERT_TRUE(Export(*std::move(model), out,
                     {.format = "oneflow_graph", .passes = std::vector<std::string>{}})
                  .ok());
  const absl::StatusOr<Model> again = Import(out);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->graph->num_constants(), 300u);
}

}  // namespace
}  // namespace x2ir
