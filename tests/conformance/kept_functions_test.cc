// --keep-functions: programs with local functions (tests/data/functions) are written with them, to
// ONNX, StableHLO and IR files, which compute what the inlined program computes: here, read again
// with and without the option, and in ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/core/back_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/runtimes/runtime_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/functions.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/runtimes/runtime.h"

namespace x2ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Program {
  const char* file;
  // In the ONNX file, and in a module of StableHLO.
  std::vector<std::string> kept;
  std::vector<std::string> in_module = {};  // empty: the same
  const char* warning = "";
};

const Program kPrograms[] = {
    {"calls.mlir", {"g", "f"}},
    {"regions.mlir", {"less", "half", "step"}},
    {"names.mlir", {"jit_f___x_", "jit_f___x__1", "two", "constant"}},
    {"composite.mlir", {"my.gelu.impl"}},
    {"window.mlir", {"pool"}},
    {"sizes.mlir", {"f"}},
    {"open_sizes.mlir", {"f"}},
    {"open_result.mlir", {"f"}},
    {"quantized.mlir", {"f"}},
    {"bfloat16.mlir", {"f"}},
    {"reduce.mlir", {"softmax"}},
    {"complex.mlir", {"inside"}, {}, "'sq': it takes or gives complex numbers"},
    {"constant.mlir", {}, {}, "'conv': stablehlo.dynamic_conv: in function 'conv': operand 2"},
    // One function of ONNX, for two values of its attribute and two shapes.
    {"attributes.onnxtxt",
     {"leaky", "bounded", "product"},
     {"leaky", "leaky_1", "bounded", "leaky_2", "product"}},
    {"graph.pbtxt", {"f", "f_1"}},
};

std::vector<std::string> NamesOf(const Model& model) {
  std::vector<std::string> names;
  for (const auto& function : model.functions) names.push_back(function->name);
  return names;
}

void ExpectAgree(const std::vector<Datum>& got, const std::vector<Datum>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const Comparison one = Compare(got[i], want[i], {1e-5, 1e-6});
    EXPECT_TRUE(one.agrees) << "output " << i << ": " << one.problem;
  }
}

class KeptFunctions : public TempDirTest {
 protected:
  // Writes the program with its functions, and expects the file to have `kept`, and to compute
  // the same when they are inlined.
  void Write(const Program& program, const std::string& to, const std::vector<std::string>& kept,
             const IoCase& io, const std::vector<Datum>& want) {
    SCOPED_TRACE(to);
    const std::string source = StrCat(X2IR_SOURCE_DIR, "/tests/data/functions/", program.file);
    ConvertOptions options;
    options.from.keep_functions = true;
    options.to.check = to.ends_with(".onnx");
    if (to.ends_with(".onnx")) options.to.format_options.Set("cpu_kernels", true);
    Report report;
    const absl::Status written = Convert(source, Path(to), options, &report);
    ASSERT_TRUE(written.ok()) << written;
    if (*program.warning) {
      EXPECT_THAT(report.warnings, testing::Contains(HasSubstr(program.warning)));
    }
    const auto read = Load(Path(to));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->functions.size(), kept.size());
    if (!to.ends_with(".json")) {  // which has the source's names
      EXPECT_THAT(NamesOf(*read), testing::UnorderedElementsAreArray(kept));
    }
    const auto inlined = Import(Path(to));
    ASSERT_TRUE(inlined.ok()) << inlined.status();
    EXPECT_THAT(inlined->functions, IsEmpty());
    const auto got = RunCase(*inlined->graph, io);
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectAgree(*got, want);
  }
};

TEST_F(KeptFunctions, ComputeWhatTheInlinedProgramComputes) {
  const std::string library = OnnxRuntimeLibrary();
  const auto runtime = library.empty() ? nullptr : LoadRuntime("onnxruntime", library).value();
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.file);
    const auto ir = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/functions/", program.file));
    ASSERT_TRUE(ir.ok()) << ir.status();
    std::string note;
    const auto io = RandomCase(*ir->graph, 7, &note);
    ASSERT_TRUE(io.ok()) << io.status();
    const auto want = RunCase(*ir->graph, *io);
    ASSERT_TRUE(want.ok()) << want.status();

    const auto& in_module = program.in_module.empty() ? program.kept : program.in_module;
    Write(program, "a.onnx", program.kept, *io, *want);
    Write(program, "a.mlir", in_module, *io, *want);
    Write(program, "a.mlirbc", in_module, *io, *want);
    Write(program, "a.json", program.kept, *io, *want);
    if (HasFailure()) continue;
    // From one file with functions to another one.
    for (const auto& [from, to] : std::map<std::string, std::string>{
             {"a.json", "b.onnx"}, {"a.onnx", "c.onnx"}, {"a.mlirbc", "d.onnx"}}) {
      SCOPED_TRACE(StrCat(from, " to ", to));
      ConvertOptions options;
      options.from.keep_functions = true;
      options.to.format_options.Set("cpu_kernels", true);
      const absl::Status written = Convert(Path(from), Path(to), options);
      ASSERT_TRUE(written.ok()) << written;
      const auto again = Import(Path(to));
      ASSERT_TRUE(again.ok()) << again.status();
      const auto got = RunCase(*again->graph, *io);
      ASSERT_TRUE(got.ok()) << got.status();
      ExpectAgree(*got, *want);
      EXPECT_EQ(Load(Path(to))->functions.size(),
                from == "a.mlirbc" ? in_module.size() : program.kept.size());
    }
    if (!runtime) continue;
    std::vector<Tensor> inputs;
    for (const auto& input : io->inputs) inputs.push_back(*input);
    for (const char* file : {"a.onnx", "b.onnx", "d.onnx"}) {
      SCOPED_TRACE(file);
      const auto model = runtime->Open(Path(file));
      ASSERT_TRUE(model.ok()) << model.status();
      const auto got = (*model)->Run(inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ExpectAgree(*got, *want);
    }
  }
}

// Targets that cannot hold functions, and options that change all of a model: inlined, and said.
TEST_F(KeptFunctions, InlinedWhereTheyCannotBeKept) {
  const char *const none = "the target's files hold no functions",
                    *const ort = "files of format 'ort' hold no functions",
                    *const floats = "element types of the whole model change",
                    *const int8 = "option 'int8' changes the whole model";
  const struct {
    const char *source, *file, *why;
  } rows[] = {
      {"calls.mlir", "a.tflite", none},      {"calls.mlir", "a.pb", none},
      {"calls.mlir", "a.ort", ort},          {"attributes.onnxtxt", "a.ort", ort},
      {"calls.mlir", "a.onnx", floats},      {"attributes.onnxtxt", "a.onnx", floats},
      {"dense.onnxtxt", "a.onnx", int8},     {"dense.onnxtxt", "a.tflite", int8},
      {"dense.onnxtxt", "dense.json", int8}, {"dense.mlir", "a.onnx", int8},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.source, " to ", row.file));
    const std::string source = StrCat(X2IR_SOURCE_DIR, "/tests/data/functions/", row.source);
    ConvertOptions options;
    if (row.why == floats) options.to.narrow_floats = DType::kFloat16;
    if (row.why == int8) {
      const auto ir = Import(source);
      ASSERT_TRUE(ir.ok()) << ir.status();
      auto io = RandomCase(*ir->graph, 7, nullptr);
      ASSERT_TRUE(io.ok()) << io.status();
      io->name = "case0";
      ASSERT_TRUE(WriteIoFile(Path("io.safetensors"), {*io}, *ir->graph).ok());
      options.to.int8.emplace().calibrate = {Path("io.safetensors")};
    }
    // Of the file itself, and of an IR file that has its functions.
    ConvertOptions as_ir;
    as_ir.from.keep_functions = true;
    const absl::Status kept = Convert(source, Path("kept.json"), as_ir);
    ASSERT_TRUE(kept.ok()) << kept;
    EXPECT_FALSE(Load(Path("kept.json"))->functions.empty());
    for (const std::string& from : {source, Path("kept.json")}) {
      SCOPED_TRACE(from);
      options.from.keep_functions = from == source;
      Report report;
      const absl::Status written = Convert(from, Path(row.file), options, &report);
      ASSERT_TRUE(written.ok()) << written;
      EXPECT_THAT(report.warnings,
                  testing::Contains(StrCat("all functions are inlined: ", row.why)));
      const auto read = Load(Path(row.file));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_THAT(read->functions, IsEmpty());
    }
    // Functions of IR, written by themselves.
    if (!source.ends_with(".mlir")) continue;
    Report report;
    const absl::Status written =
        Export(*Load(Path("kept.json")), Path(row.file), options.to, &report);
    ASSERT_TRUE(written.ok()) << written;
    EXPECT_THAT(report.warnings, testing::Contains(StrCat("all functions are inlined: ", row.why)));
    EXPECT_THAT(Load(Path(row.file))->functions, IsEmpty());
  }
}

// What a composite is the decomposition of, in files of other formats and back.
TEST_F(KeptFunctions, CompositesKeepTheirNames) {
  const std::string source = StrCat(X2IR_SOURCE_DIR, "/tests/data/functions/composite.mlir");
  ConvertOptions options;
  options.from.keep_functions = true;
  const auto convert = [&](const std::string& from, const std::string& to) {
    const absl::Status written = Convert(from, to, options);
    ASSERT_TRUE(written.ok()) << from << " to " << to << ": " << written;
  };
  const auto text = [&](const char* file) {
    std::ifstream in(Path(file));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  // In bytecode, dictionaries are sorted.
  const auto want =
      AllOf(HasSubstr("= \"stablehlo.composite\"(%x) {"), HasSubstr("name = \"my.gelu\""),
            HasSubstr("version = 2 : i32"), HasSubstr("decomposition = @my.gelu.impl"),
            HasSubstr("composite_attributes = {"), HasSubstr("n = 1 : i64"),
            HasSubstr("approximate = \"none\""), Not(HasSubstr("call @")));
  convert(source, Path("a.mlir"));
  EXPECT_THAT(text("a.mlir"), want);
  for (const char* between : {"a.onnx", "a.mlirbc", "a.json"}) {
    SCOPED_TRACE(between);
    convert(source, Path(between));
    convert(Path(between), Path("b.mlir"));
    EXPECT_THAT(text("b.mlir"), want);
  }
  // A release that has none.
  options.to.format_options.Set("target_version", std::string("0.14.0"));
  convert(source, Path("old.mlirbc"));
  options.to.format_options = FormatOptions();
  convert(Path("old.mlirbc"), Path("b.mlir"));
  EXPECT_THAT(text("b.mlir"), HasSubstr("call @my.gelu.impl(%x)"));
  // Calls that say different things say nothing of the function.
  for (const char* other : {
           "func.call @my.gelu.impl(%0) : (tensor<4xf32>) -> tensor<4xf32>",
           "stablehlo.composite \"my.gelu\" %0 {decomposition = @my.gelu.impl} : (tensor<4xf32>) "
           "-> tensor<4xf32>",
           "stablehlo.composite \"f\" %0 {composite_attributes = {n = 1 : i64, approximate = "
           "\"none\"}, decomposition = @my.gelu.impl, version = 2 : i32} : (tensor<4xf32>) -> "
           "tensor<4xf32>",
       }) {
    SCOPED_TRACE(other);
    std::ifstream in(source);
    std::string program(std::istreambuf_iterator<char>(in), {});
    const size_t at = program.find("return %0");
    ASSERT_NE(at, program.npos);
    program.replace(at, 9, StrCat("%1 = ", other, "\n return %1"));
    std::ofstream(Path("two.mlir")) << program;
    convert(Path("two.mlir"), Path("b.mlir"));
    EXPECT_THAT(text("b.mlir"), Not(HasSubstr("composite")));
  }
}

}  // namespace
}  // namespace x2ir
