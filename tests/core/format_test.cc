// The registry of formats: one that is registered here is found, listed, recognized, read and
// written like those of the library.
#include "x2ir/formats/format.h"

#include <filesystem>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/info.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Files of made_up: a mark, and the graph as text.
constexpr std::string_view kMark = "made up\n";
constexpr std::string_view kGraph =
    "graph g(x: float32[2]) -> (y: float32[2]) { y: float32[2] = made_up.Straighten(x) }";

[[maybe_unused]] const bool kDialect = RegisterDialect({.name = "made_up"});
X2IR_SPEC("made_up", relu).Is("Straighten", Since(1));
X2IR_SPEC("made_up", neg).Is("Turn", Since(1));

absl::StatusOr<Model> ReadMadeUp(const Source& source, const ReadRequest& request) {
  X2IR_ASSIGN_OR_RETURN(const auto file, source.Open());
  std::string_view text = file->view();
  if (!text.starts_with(kMark)) return DataLoss("no mark");
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseGraph(text.substr(kMark.size())));
  model.graph->set_name(request.options.Text("title"));
  model.SetOpset("", 1);
  return model;
}

absl::Status WriteMadeUp(const Model& model, const Sink& sink, const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  X2IR_RETURN_IF_ERROR(file.Append(kMark));
  if (options.Flag("shout")) X2IR_RETURN_IF_ERROR(file.Append(std::string_view("# loud\n")));
  X2IR_RETURN_IF_ERROR(file.Append(ToText(*model.graph)));
  return file.Commit();
}

[[maybe_unused]] const bool kFormat = RegisterFormat({
    .name = "made_up",
    .dialect = "made_up",
    .extensions = {".made", ".up.made"},
    .doc = "A format of a test",
    .recognize =
        [](const Candidate& file) {
          const std::string_view head(reinterpret_cast<const char*>(file.head.data()),
                                      file.head.size());
          return head.starts_with(kMark) ? Match::kCertain : Match::kNo;
        },
    .read_options = {{.name = "title", .type = OptionDef::kText, .help = "The graph's name"}},
    .read = ReadMadeUp,
    .write_options = {{.name = "shout", .help = "Be loud"}},
    .write = WriteMadeUp,
});

class FormatTest : public TempDirTest {
 protected:
  void SetUp() override { Put("a.made", StrCat(kMark, kGraph)); }
};

TEST_F(FormatTest, IsFoundAndListed) {
  ASSERT_TRUE(FindFormat("made_up"));
  EXPECT_EQ(FindFormat("made_up")->dialect, "made_up");
  EXPECT_EQ(FindFormat("made"), nullptr);
  EXPECT_THAT(FormatNames(), HasSubstr("made_up (.made)"));
  EXPECT_THAT(FormatNames(/*only_written=*/true), HasSubstr("made_up (.made)"));
  EXPECT_THAT(FormatNames(), HasSubstr("caffe (.caffemodel"));
  EXPECT_THAT(FormatNames(/*only_written=*/true), testing::Not(HasSubstr("caffe (")));
  EXPECT_EQ(FormatOfExtension("x/a.MADE")->name, "made_up");
  EXPECT_EQ(FormatOfExtension("a.onnx.made")->name, "made_up");
  EXPECT_EQ(FormatOfExtension("a.made.onnx")->name, "onnx");
  EXPECT_EQ(FormatOfExtension("made"), nullptr);
}

TEST_F(FormatTest, IsReadByWhatIsInTheFile) {
  WriteFile(Path("other.onnx"), StrCat(kMark, kGraph));
  for (const char* name : {"a.made", "other.onnx"}) {
    EXPECT_EQ(*DetectFormat(Path(name)), "made_up") << name;
    absl::StatusOr<Model> model = Import(Path(name), {.format_options = {{"title", "t"}}});
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(ToText(*model->graph),
              "graph t(x: float32[2]) -> (y: float32[2]) {\n  y: float32[2] = relu(x)\n}\n");
  }
  EXPECT_EQ(Inspect(Path("a.made"))->format, "made_up");
  // A broken file is what it is called.
  WriteFile(Path("broken.made"), "nothing");
  EXPECT_THAT(std::string(Import(Path("broken.made")).status().message()), HasSubstr("no mark"));
}

TEST_F(FormatTest, IsWrittenByTheNameOfTheFile) {
  ASSERT_TRUE(Convert(Path("a.made"), Path("b.onnx"), {.to = {.opset = 13}}).ok());
  const absl::Status back =
      Convert(Path("b.onnx"), Path("c.up.made"), {.to = {.format_options = {{"shout", true}}}});
  ASSERT_TRUE(back.ok()) << back;
  EXPECT_THAT(ReadFile(Path("c.up.made")), StartsWith("made up\n# loud\ngraph"));
  EXPECT_THAT(ReadFile(Path("c.up.made")), HasSubstr("made_up.Straighten(x)"));
  ASSERT_TRUE(Convert(Path("b.onnx"), Path("d"), {.to = {.format = "made_up"}}).ok());
  EXPECT_THAT(ReadFile(Path("d")), StartsWith("made up\ngraph"));
  // IR is a format like others, and is not changed unasked.
  ASSERT_TRUE(Convert(Path("b.onnx"), Path("e.json")).ok());
  EXPECT_EQ(*DetectFormat(Path("e.json")), "ir");
}

TEST_F(FormatTest, WhatCannotBeIsSaid) {
  absl::StatusOr<Model> model = Import(Path("a.made"));
  ASSERT_TRUE(model.ok());
  const auto to = [&](const std::string& name, const ExportOptions& options = {}) {
    const absl::Status status = Export(model->Clone(), Path(name), options);
    EXPECT_FALSE(std::filesystem::exists(Path(name)));
    return status;
  };
  struct Row {
    absl::Status status;
    const char* option;
    const char* message;
  };
  const Row rows[] = {
      {to("m.xyz"), "format",
       "does not say in which format to write; formats that can be written: "},
      {to("m"), "format", "made_up (.made)"},
      {to("m.caffemodel"), "format",
       "format 'caffe' can only be read; formats that can be written: "},
      {to("m", {.format = "nonsense"}), "format", "there is no format 'nonsense'"},
      {to("m.onnx", {.opset = 99}), "opset", "there is no opset 99 of onnx"},
      {to("m.onnx", {.opset = 3}), "opset", "is not written; the oldest is 7"},
      {to("m.made", {.opset = 3}), "opset", "format 'made_up' has no such option; it has shout"},
      {to("m.onnx", {.opset = 13, .format_options = {{"opset", 14}}}), "opset",
       "is given as 13 and, by its name, as 14"},
      {to("m.onnx", {.format_options = {{"external_data", "sometimes"}}}), "external_data",
       "expected one of auto, always, never, reference; got 'sometimes'"},
      {to("m.onnx", {.format_options = {{"external_data", true}}}), "external_data",
       "got a value of another type"},
      {to("m.onnx", {.format_options = {{"external_data_limit", 0}}}), "external_data_limit",
       "expected a number from 1 to"},
      {to("m.onnx", {.format_options = {{"ir_version", 2}}}), "ir_version",
       "the model can have file version"},
      {to("m.onnx", {.extra_opsets = {{"ai.onnx.ml", 99}}}), "extra_opsets",
       "there is no version 99 of ai.onnx.ml"},
      {Import(Path("a.made"), {.format_options = {{"tittle", "t"}}}).status(), "tittle",
       "format 'made_up' has no such option; it has title"},
      {Import(Path("a.made"), {.format = "nonsense"}).status(), "format", "there is no format"},
      {Import(Path("a.made"), {.shapes = {{"q", Shape{2}}}}).status(), "shapes",
       "the model has no input 'q'; its inputs are: x"},
      {Import(Path("a.made"), {.layout = "nhwc"}).status(), "layout", "expected channels_first"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.status.code(), absl::StatusCode::kInvalidArgument) << row.status;
    EXPECT_EQ(OptionOf(row.status).value_or("none"), row.option) << row.status;
    EXPECT_THAT(std::string(row.status.message()),
                StartsWith(StrCat("option '", row.option, "': ")));
    EXPECT_THAT(std::string(row.status.message()), HasSubstr(row.message));
  }
  // A file that nobody knows.
  WriteFile(Path("q"), "who knows");
  EXPECT_THAT(std::string(DetectFormat(Path("q")).status().message()),
              HasSubstr("is in no format that x2ir knows ("));
  // A wish that the file does not suit is the caller's fault, also where it comes with a place.
  EXPECT_EQ(OptionOf(AnnotateOption(OptionError("opset", "no"), "here")), "opset");
  EXPECT_EQ(OptionOf(Invalid("option 'opset': no")), std::nullopt);
}

TEST_F(FormatTest, FileVersionIsAnOptionOfOnnx) {
  absl::StatusOr<Model> model = Import(Path("a.made"));
  ASSERT_TRUE(model.ok());
  std::string bytes;
  ASSERT_TRUE(Export(model->Clone(), Sink::To(&bytes),
                     {.format = "onnx", .opset = 13, .format_options = {{"ir_version", 9}}})
                  .ok());
  EXPECT_EQ(Load(Source::Bytes(bytes))->ir_version, 9);
  bytes.clear();
  ASSERT_TRUE(Export(model->Clone(), Sink::To(&bytes), {.format = "onnx", .opset = 13}).ok());
  EXPECT_EQ(Load(Source::Bytes(bytes))->ir_version, 7);
}

TEST(Options, AreParsedByTheirDefinitions) {
  struct Row {
    OptionDef::Type type;
    const char* text;
    const char* want;  // the value's text, or a part of the error
  };
  for (const Row& row : {Row{OptionDef::kFlag, "true", "true"},
                         {OptionDef::kFlag, "yes", "option 'o': 'yes': expected true or false"},
                         {OptionDef::kInt, "7", "7"},
                         {OptionDef::kInt, "9", "expected a number from 2 to 8"},
                         {OptionDef::kInt, "x", "expected a number from 2 to 8"},
                         {OptionDef::kSize, "2GB", "2000000000"},
                         {OptionDef::kSize, "1KiB", "1024"},
                         {OptionDef::kSize, "0", "expected a number of bytes"},
                         {OptionDef::kText, "a b", "a b"},
                         {OptionDef::kText, "", "not empty"},
                         {OptionDef::kChoice, "b", "b"},
                         {OptionDef::kChoice, "c", "expected one of a, b; got 'c'"},
                         {OptionDef::kList, "p,q", "p,q"},
                         {OptionDef::kList, "", ""},
                         {OptionDef::kList, "p,", "a name is missing"}}) {
    OptionDef def{.name = "o", .type = row.type, .min = 2, .max = 8};
    if (row.type == OptionDef::kSize) def.max = std::numeric_limits<int64_t>::max();
    if (row.type == OptionDef::kChoice) def.choices = {"a", "b"};
    const auto value = ParseOption(def, row.text);
    EXPECT_THAT(value.ok() ? OptionValueText(*value) : std::string(value.status().message()),
                HasSubstr(row.want))
        << row.text;
    EXPECT_EQ(value.ok(), OptionOf(value.status()) == std::nullopt) << row.text;
  }
}

TEST(Options, AreCalledWhatAProgramCallsThem) {
  const auto name = [](std::string_view option) { return StrCat("--", option); };
  EXPECT_EQ(WithOptionNames("option 'a': no, option 'b' neither", name), "--a: no, --b neither");
  EXPECT_EQ(WithOptionNames("option 'a", name), "option 'a");
}

}  // namespace
}  // namespace x2ir
