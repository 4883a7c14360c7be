// Models from memory and to memory: no file is touched.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a sink was given, and what a resolver gives: files by name.
using Files = std::map<std::string, std::string>;

Sink To(Files& files, const std::string& name) {
  return Sink::Files(name, [&files](std::string_view file, std::string_view bytes) {
    files[std::string(file)].append(bytes);
    return absl::OkStatus();
  });
}

Source From(const Files& files, const std::string& name) {
  return Source::Bytes(
      files.at(name),
      [&files](const std::string& file) -> absl::StatusOr<HeldBytes> {
        const auto it = files.find(file);
        if (it == files.end()) return NotFound("no '", file, "' here");
        return HeldBytes{{reinterpret_cast<const std::byte*>(it->second.data()), it->second.size()},
                         nullptr};
      },
      name);
}

std::vector<std::string> NamesOf(const Files& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.first);
  return names;
}

Model Weighty() {
  Model model;
  const Type type = Type::Tensor(DType::kFloat32, Shape{600});
  Value* x = model.graph->AddInput("x", type);
  Value* w = model.graph->AddConstant("w", Tensor::Of<float>({600}, std::vector<float>(600, 2.5f)));
  Node* node = model.graph->AppendNode(kIrDialect, "add", {x, w});
  model.graph->AddOutput(model.graph->AddNodeOutput(node, "y", type));
  return model;
}

// The numbers of the constant "w".
std::string WeightsOf(const absl::StatusOr<Model>& model) {
  if (!model.ok()) return model.status().ToString();
  for (const Value* value : model->graph->constants()) {
    if (value->name() != "w") continue;
    const Tensor aligned = value->constant()->AlignedCopyIfNeeded();
    return StrCat(aligned.num_elements(), " times ", aligned.span<float>().back());
  }
  return "no w";
}

TEST(Bytes, EveryFormatGoesThroughMemory) {
  struct Row {
    const char* name;
    ExportOptions options;
    std::vector<std::string> files;
  };
  const Row rows[] = {
      {"m.onnx", {}, {"m.onnx"}},
      {"m.onnx", {.format_options = {{"external_data", "always"}}}, {"m.onnx", "m.onnx.data"}},
      {"dir/m.json", {}, {"dir/m.json", "dir/m.safetensors"}},
  };
  for (const Row& row : rows) {
    Files files;
    const absl::Status status = Export(Weighty(), To(files, row.name), row.options);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(NamesOf(files), row.files);
    // The names in a model are relative to it.
    Files seen;
    for (const auto& [name, bytes] : files) {
      seen[name == row.name ? name : name.substr(name.rfind('/') + 1)] = bytes;
    }
    const absl::StatusOr<Model> model = Import(From(seen, row.name));
    EXPECT_EQ(WeightsOf(model), "600 times 2.5") << row.name;
    if (seen.size() == 1) continue;
    Files alone = {{row.name, seen[row.name]}};
    EXPECT_THAT(WeightsOf(Import(From(alone, row.name))), HasSubstr("here"));
    EXPECT_THAT(WeightsOf(Import(Source::Bytes(seen[row.name]))),
                HasSubstr("the caller does not provide its files"));
  }
}

TEST(Bytes, AreThoseOfFiles) {
  const TempDir dir;
  for (const char* name : {"m.onnx", "m.json"}) {
    Files files;
    ASSERT_TRUE(Export(Weighty(), To(files, name)).ok());
    ASSERT_TRUE(Export(Weighty(), dir.Path(name)).ok());
    for (const auto& [file, bytes] : files) EXPECT_EQ(ReadFile(dir.Path(file)), bytes) << file;
    // Weights that lie in a file go to a sink like others.
    absl::StatusOr<Model> read = Import(dir.Path(name));
    ASSERT_TRUE(read.ok());
    Files again;
    ASSERT_TRUE(Export(*std::move(read), To(again, name)).ok());
    EXPECT_EQ(again, files);
  }
}

TEST(Bytes, OneStreamTakesOneFile) {
  std::string bytes;
  ASSERT_TRUE(Export(Weighty(), Sink::To(&bytes), {.format = "onnx"}).ok());
  std::istringstream stream(bytes);
  const absl::StatusOr<Source> source = Source::Stream(stream);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(WeightsOf(Import(*source)), "600 times 2.5");
  EXPECT_EQ(*DetectFormat(*source), "onnx");

  const absl::Status second = Export(Weighty(), Sink::To(&bytes), {.format = "ir"});
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()), HasSubstr("needs a second file, 'model.safetensors'"));
  for (const auto& [format, option] : {std::pair("ir", "weights"), {"onnx", "external_data"}}) {
    EXPECT_EQ(OptionOf(Export(Weighty(), Sink::To(&bytes),
                              {.format = format, .format_options = {{option, "reference"}}})),
              option);
  }
}

TEST(Bytes, ASinkThatFailsEndsTheExport) {
  for (const char* name : {"m.onnx", "m.json"}) {
    const Sink full = Sink::Files(
        name, [](std::string_view, std::string_view) { return SystemError("the pipe is full"); });
    EXPECT_EQ(Export(Weighty(), full).message(), "the pipe is full") << name;
  }
}

TEST(Bytes, TensorsKeepTheirOwnerAlive) {
  std::string bytes;
  ASSERT_TRUE(Export(Weighty(), Sink::To(&bytes), {.format = "onnx"}).ok());
  auto owner = std::make_shared<const std::string>(bytes);
  const std::weak_ptr<const std::string> watch = owner;
  const HeldBytes held{{reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, owner};
  absl::StatusOr<Model> model = Import(Source::Bytes(held));
  owner = nullptr;
  EXPECT_EQ(WeightsOf(model), "600 times 2.5");
  model = Model();
  EXPECT_FALSE(watch.expired());  // held is still there
}

TEST(Bytes, GarbageIsAnError) {
  EXPECT_EQ(Import(Source::Bytes("")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Import(Source::Bytes("garbage")).status().code(), absl::StatusCode::kDataLoss);
  std::istringstream broken("x");
  broken.setstate(std::ios::badbit);
  EXPECT_EQ(Source::Stream(broken).status().code(), absl::StatusCode::kUnavailable);
}

// --- A model is as it was ------------------------------------------------------------------------

Model Onnx(std::string_view text) {
  absl::StatusOr<Model> model = ModelFromText(text, "onnx", 17);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::string Describe(const Model& model) {
  std::string text = StrCat(model.source_dialect, " ", model.ir_version, " ",
                            model.functions.size(), " ", ToText(*model.graph));
  for (const OpsetImport& import : model.opset_imports) {
    StrAppend(&text, import.domain, ":", import.version, " ");
  }
  return text;
}

TEST(Transactions, AFailureLeavesTheModelAsItWas) {
  Model model = Onnx(
      "graph g(x: float32[2]) -> (y) { a = onnx.Relu(x)  b = onnx.Relu(a)"
      "  y = onnx.NoSuchOp(b) }");
  model.ir_version = 8;
  const std::string before = Describe(model);
  Report report;
  EXPECT_FALSE(ToIr(model, {.outputs = {"y", "a"}}, &report).ok());
  EXPECT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(Describe(model), before);
  EXPECT_TRUE(model.graph->Validate().empty());
  // It can be tried again.
  ASSERT_TRUE(ToIr(model, {.outputs = {"a"}}).ok());

  Model ir = Onnx("graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }");
  ASSERT_TRUE(ToIr(ir).ok());
  ir.SetOpset("com.acme", 3);
  const std::string was = Describe(ir);
  EXPECT_FALSE(FromIr(ir, "no_such_dialect").ok());
  EXPECT_EQ(Describe(ir), was);
  EXPECT_FALSE(FromIr(ir, "onnx", {.opset = 99}).ok());
  EXPECT_EQ(Describe(ir), was);
  ASSERT_TRUE(FromIr(ir, "onnx").ok());
}

TEST(Transactions, AClonedModelSharesNothing) {
  Model model = Onnx("graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }");
  model.producer_name = "me";
  model.annotations.GetOrMake().doc_string = "text";
  auto function = std::make_shared<Function>();
  function->name = "f";
  function->body = std::make_shared<Graph>("f");
  model.functions.push_back(function);
  const Model clone = model.Clone();
  const std::string before = Describe(clone);
  EXPECT_EQ(before, Describe(model));
  EXPECT_EQ(clone.producer_name, "me");
  EXPECT_EQ(clone.annotations.get()->doc_string, "text");
  EXPECT_NE(clone.graph, model.graph);
  EXPECT_NE(clone.functions[0]->body, model.functions[0]->body);
  ASSERT_TRUE(ToIr(model).ok());
  EXPECT_EQ(Describe(clone), before);
  static_assert(!std::is_copy_constructible_v<Model> && !std::is_copy_assignable_v<Model>);
}

TEST(Cancellation, EndsWhateverGoesOnAndLeavesNothing) {
  std::string text = "graph g(x: float32[2]) -> (y) {";
  for (int i = 0; i < 5000; ++i) StrAppend(&text, " v", i, " = onnx.Relu(x)\n");
  StrAppend(&text, " y = onnx.Relu(v7) }");
  Model model = Onnx(text);
  const std::string before = Describe(model);
  int calls = 0;
  const ProgressFn stop = [&](int64_t, int64_t) { return ++calls < 1; };
  EXPECT_EQ(ToIr(model, {.progress = stop}).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Describe(model), before);

  ASSERT_TRUE(ToIr(model).ok());
  const TempDir dir;
  const std::string path = dir.Path("cancelled.onnx");
  // At every moment that it could be: before each pass, on the way, before writing.
  int most = 0;
  ASSERT_TRUE(
      Export(model.Clone(), path, {.progress = [&](int64_t, int64_t) { return ++most > 0; }}).ok());
  EXPECT_GE(most, 3);
  for (int at = 1; at <= most; ++at) {
    std::filesystem::remove(path);
    int seen = 0;
    const absl::Status status =
        Export(model.Clone(), path, {.progress = [&](int64_t, int64_t) { return ++seen < at; }});
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << at;
    EXPECT_EQ(seen, at);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(Convert, GivesTheBytesOfTwoSteps) {
  const TempDir dir;
  // Constants that are not in the order of their use, and one that nobody uses.
  const Model model = Onnx(
      "graph g(x: float32[2]) -> (y: float32[2]) {"
      " b = float32[2]{1, 2}  u = float32[2]{5, 6}  a = float32[2]{3, 4}"
      " s = onnx.Add(x, a)  y = onnx.Add(s, b) }");
  ASSERT_TRUE(Write(model, dir.Path("m.onnx")).ok());
  ASSERT_TRUE(Convert(dir.Path("m.onnx"), dir.Path("m.json")).ok());
  for (const bool optimize : {false, true}) {
    const ExportOptions to = {.opset = 14, .optimize = optimize};
    ASSERT_TRUE(Convert(dir.Path("m.json"), dir.Path("two.onnx"), {.to = to}).ok());
    ASSERT_TRUE(Convert(dir.Path("m.onnx"), dir.Path("one.onnx"), {.to = to}).ok());
    EXPECT_EQ(ReadFile(dir.Path("one.onnx")), ReadFile(dir.Path("two.onnx")));
    EXPECT_FALSE(ReadFile(dir.Path("one.onnx")).empty());
  }
}

}  // namespace
}  // namespace x2ir
