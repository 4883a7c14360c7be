// Files of PaddlePaddle, made field by field: which files belong together, what variables are where
// they are written again, blocks, and what is wrong with files.
#include "x2ir/formats/paddle/paddle.h"

#include <filesystem>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/paddle_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using namespace paddle_proto;  // NOLINT: the fields of programs
using ::testing::HasSubstr;

class PaddleFiles : public TempDirTest {
 protected:
  std::string folder() const { return folder_.string(); }
};

// The result for x = [[1, 1], [-9, 1]]; or what went wrong.
std::string ResultOf(const absl::StatusOr<Model>& model,
                     const std::vector<float>& x = {1, 1, -9, 1},
                     std::vector<int64_t> dims = {2, 2}) {
  if (!model.ok()) return std::string(model.status().message());
  IoCase io;
  io.inputs = {Tensor::Of<float>(std::move(dims), x)};
  io.outputs.resize(model->graph->outputs().size());
  const auto results = RunCase(*model->graph, io, nullptr);
  if (!results.ok()) return std::string(results.status().message());
  std::string text;
  for (const Datum& result : *results) {
    for (int64_t i = 0; i < result.tensor()->num_elements(); ++i) {
      StrAppend(&text, text.empty() ? "" : " ", result.tensor()->AsDouble(i));
    }
  }
  return text;
}
constexpr char kWanted[] = "14 0 4 0";

// --- Files ---------------------------------------------------------------------------------------

TEST_F(PaddleFiles, AnyOfThemMayBeNamed) {
  const std::string model = Put("inference.pdmodel", SmallProgram());
  const std::string params = Put("inference.pdiparams", SmallParameters());
  EXPECT_EQ(ResultOf(Import(model)), kWanted);
  EXPECT_EQ(ResultOf(Import(params)), kWanted);
  EXPECT_EQ(ResultOf(Import(folder())), kWanted);
}

TEST_F(PaddleFiles, OlderNames) {
  Put("__model__", SmallProgram());
  Put("__params__", SmallParameters());
  EXPECT_EQ(ResultOf(Import(folder())), kWanted);
  EXPECT_EQ(ResultOf(Import(folder() + "/__model__")), kWanted);
}

TEST_F(PaddleFiles, OneFileEach) {
  Put("__model__", SmallProgram());
  Put("b", Parameter(kFloat, {2}, Floats({10, -20})));
  EXPECT_THAT(ResultOf(Import(folder())), HasSubstr("nor a file for each of: 'w'"));
  Put("w", Parameter(kFloat, {2, 2}, Floats({1, 2, 3, 4})));
  EXPECT_EQ(ResultOf(Import(folder())), kWanted);
}

TEST_F(PaddleFiles, Pir) {
  const std::string model = Put("inference.json", SmallPir());
  const std::string params = Put("inference.pdiparams", SmallParameters());
  EXPECT_EQ(ResultOf(Import(model)), kWanted);
  EXPECT_EQ(ResultOf(Import(params)), kWanted);
  EXPECT_EQ(ResultOf(Import(folder())), kWanted);
}

TEST_F(PaddleFiles, ParametersElsewhere) {
  const std::string model = Put("m.pdmodel", SmallProgram());
  const std::string params = Put("other.bin", SmallParameters());
  EXPECT_EQ(ResultOf(Import(model, {.format_options = {{"params", params}}})), kWanted);
}

TEST_F(PaddleFiles, FromMemory) {
  const auto ask = [](const std::string& name) -> absl::StatusOr<HeldBytes> {
    static const std::string* const bytes = new std::string(SmallParameters());
    if (name != "m.pdiparams") return absl::NotFoundError(name);
    return HeldBytes{{reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()}, nullptr};
  };
  EXPECT_EQ(ResultOf(Import(Source::Bytes(SmallProgram(), ask, "m.pdmodel"))), kWanted);
  EXPECT_THAT(ResultOf(Import(Source::Bytes(SmallProgram(), {}, "m.pdmodel"))),
              HasSubstr("neither the file of parameters 'm.pdiparams'"));
}

TEST_F(PaddleFiles, WeightsStayMapped) {
  Put("inference.pdiparams", SmallParameters());
  const auto model = ReadPaddle(Put("inference.pdmodel", SmallProgram()));
  ASSERT_TRUE(model.ok()) << model.status();
  for (const Value* constant : model->graph->constants()) {
    EXPECT_TRUE(constant->constant()->file_range().has_value()) << constant->name();
  }
}

// Wrong, missing and truncated parameters.
TEST_F(PaddleFiles, WrongParameters) {
  const std::string b = Parameter(kFloat, {2}, Floats({10, -20}));
  const std::string w = Parameter(kFloat, {2, 2}, Floats({1, 2, 3, 4}));
  const std::pair<std::string, std::string> rows[] = {
      {b, "the file has 1 parameters, the program 2; missing: 'w'"},
      {"", "missing: 'b', 'w'"},
      {b + w + b, "more than the 2 parameters of the program"},
      {w + b, "parameter 'b' is float32[2,2], but the program has float32[2]"},
      {(b + w).substr(0, b.size() + w.size() - 1), "parameter 1 ('w'): at byte "},
      {b + std::string("\1\0\0\0", 4), "not a parameter: version"},
      {b.substr(0, 10), "the file ends inside a parameter"},
      {Parameter(kFeed, {2}, "12345678") + w, "elements of type 9"},
      {Parameter(kFloat, {-1}, "") + w, "a size of -1"},
      {Parameter(kFloat, {int64_t{1} << 40, int64_t{1} << 40}, "") + w, "a size of"},
  };
  const std::string model = Put("inference.pdmodel", SmallProgram());
  for (const auto& [bytes, want] : rows) {
    Put("inference.pdiparams", bytes);
    EXPECT_THAT(ResultOf(Import(model)), HasSubstr(want));
  }
}

TEST_F(PaddleFiles, NamesLeadNowhereElse) {
  const std::string program = Program({Block(
      0, -1, {Var("x", kFloat, {2}), Var("../w", kFloat, {2}, true), Var("y", kFloat, {2})},
      {Feed("x", 0), Op("elementwise_add", {{"X", {"x"}}, {"Y", {"../w"}}}, {{"Out", {"y"}}}),
       Fetch("y", 0)})});
  std::filesystem::create_directories(folder_ / "inner");
  Put("w", Parameter(kFloat, {2}, Floats({1, 2})));
  EXPECT_THAT(ResultOf(Import(Put("inner/__model__", program))), HasSubstr("'../w'"));
}

// --- Programs ------------------------------------------------------------------------------------

// A model that has no parameters.
std::string ResultOfProgram(const std::string& program, const std::vector<float>& x,
                            std::vector<int64_t> dims) {
  return ResultOf(Import(Source::Bytes(program, {}, "m.pdmodel")), x, std::move(dims));
}

TEST(PaddlePrograms, OutputsHaveTheNamesOfVariables) {
  const auto model = Import(Source::Bytes(
      Program(
          {Block(0, -1, {Var("x", kFloat, {2}), Var("y", kFloat, {2}), Var("z", kFloat, {2})},
                 {Feed("x", 0), Op("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}),
                  Op("exp", {{"X", {"y"}}}, {{"Out", {"y"}}}),
                  Op("tanh", {{"X", {"y"}}}, {{"Out", {"z"}}}), Fetch("z", 1), Fetch("y", 0)})}),
      {}, "m.pdmodel"));
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->graph->outputs().size(), 2u);
  EXPECT_EQ(model->graph->outputs()[0]->name(), "y");
  EXPECT_EQ(model->graph->outputs()[1]->name(), "z");
}

TEST(PaddlePrograms, VariablesAsAttributes) {
  const std::string program = Program({Block(
      0, -1,
      {Var("x", kFloat, {1, 1, 4, 4}), Var("k", kInt32, {2}), Var("y", kFloat, {1, 1, 2, 2})},
      {Feed("x", 0),
       Op("assign_value", {}, {{"Out", {"k"}}},
          {IntsAttr("shape", {2}), IntAttr("dtype", kInt32), ScalarsAttr("values", {2, 2})}),
       Op("pool2d", {{"X", {"x"}}}, {{"Out", {"y"}}},
          {VarAttr("ksize", "k"), IntsAttr("strides", {2, 2}), StringAttr("pooling_type", "max")}),
       Fetch("y", 0)})});
  std::vector<float> x(16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(ResultOfProgram(program, x, {1, 1, 4, 4}), "5 7 13 15");
}

TEST(PaddlePrograms, While) {
  EXPECT_EQ(ResultOfProgram(ProgramWithBlocks(), {1, 10}, {2}), "4 40");
}

// leaky_relu with a slope above 1 was max(x, 2 x) in its first version.
TEST(PaddlePrograms, VersionsOfOperators) {
  const auto result = [](int64_t version,
                         const std::vector<std::pair<std::string, int32_t>>& versions) {
    return ResultOfProgram(
        Program({Block(0, -1, {Var("x", kFloat, {2}), Var("y", kFloat, {2})},
                       {Feed("x", 0),
                        Op("leaky_relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, {FloatAttr("alpha", 2)}),
                        Fetch("y", 0)})},
                version, versions),
        {-1, 3}, {2});
  };
  EXPECT_EQ(result(2003000, {{"leaky_relu", 1}}), "-2 3");
  EXPECT_EQ(result(2003000, {{"roll", 1}}), "-1 6");
  EXPECT_EQ(result(1008005, {}), "-1 6");
  EXPECT_EQ(result(0, {}), "-2 3");
}

// A tensor with a LoD is one sequence.
TEST(PaddlePrograms, Sequences) {
  const auto program = [](int level, const std::string& op, int level_of_result) {
    return Program({Block(0, -1,
                          {Var("x", kFloat, {-1, 2}, false, kTensor, level),
                           Var("p", kFloat, {-1, 2}, false, kTensor, level_of_result),
                           Var("y", kFloat, {-1, 2}, false, kTensor, 1)},
                          {Feed("x", 0),
                           Op(op, {{"X", {"x"}}}, {{"Out", {"p"}}},
                              op == "assign" ? std::vector<std::string>{}
                                             : std::vector{StringAttr("pooltype", "SUM")}),
                           Op("sequence_expand", {{"X", {"p"}}, {"Y", {"x"}}}, {{"Out", {"y"}}},
                              {IntAttr("ref_level", -1)}),
                           Fetch("y", 0)})});
  };
  EXPECT_EQ(ResultOfProgram(program(1, "sequence_pool", 0), {1, 2, 3, 4}, {2, 2}), "4 6 4 6");
  EXPECT_THAT(ResultOfProgram(program(2, "sequence_pool", 1), {1, 2, 3, 4}, {2, 2}),
              HasSubstr("sequences of sequences"));
  EXPECT_THAT(ResultOfProgram(program(1, "assign", 1), {1, 2, 3, 4}, {2, 2}),
              HasSubstr("more than one sequence"));
}

// if (sum(x) > 0) y = 2 x, else y = -x: two blocks and select_input, as paddle.cond
// writes it.
TEST(PaddlePrograms, Branches) {
  const std::string program = Program(
      {Block(0, -1,
             {Var("x", kFloat, {2}), Var("s", kFloat, {1}), Var("z", kFloat, {1}),
              Var("p", kBool, {1}), Var("q", kBool, {1}), Var("m", kInt32, {1}),
              Var("a", kFloat, {2}), Var("b", kFloat, {2}), Var("y", kFloat, {2})},
             {Feed("x", 0),
              Op("reduce_sum", {{"X", {"x"}}}, {{"Out", {"s"}}}, {BoolAttr("reduce_all", true)}),
              Op("fill_constant", {}, {{"Out", {"z"}}},
                 {IntsAttr("shape", {1}), IntAttr("dtype", kFloat)}),
              Op("greater_than", {{"X", {"s"}}, {"Y", {"z"}}}, {{"Out", {"p"}}}),
              Op("logical_not", {{"X", {"p"}}}, {{"Out", {"q"}}}),
              Op("conditional_block", {{"Cond", {"p"}}, {"Input", {"x"}}},
                 {{"Out", {"a"}}, {"Scope", {"u"}}},
                 {BlockAttr("sub_block", 1), BoolAttr("is_scalar_condition", true)}),
              Op("conditional_block", {{"Cond", {"q"}}, {"Input", {"x"}}},
                 {{"Out", {"b"}}, {"Scope", {"v"}}},
                 {BlockAttr("sub_block", 2), BoolAttr("is_scalar_condition", true)}),
              Op("cast", {{"X", {"p"}}}, {{"Out", {"m"}}},
                 {IntAttr("in_dtype", 0), IntAttr("out_dtype", 2)}),
              Op("select_input", {{"X", {"b", "a"}}, {"Mask", {"m"}}}, {{"Out", {"y"}}}),
              Fetch("y", 0)}),
       Block(1, 0, {Var("t", kFloat, {2})},
             {Op("scale", {{"X", {"x"}}}, {{"Out", {"t"}}}, {FloatAttr("scale", 2)}),
              Op("assign", {{"X", {"t"}}}, {{"Out", {"a"}}})}),
       Block(2, 0, {Var("t", kFloat, {2})},
             {Op("scale", {{"X", {"x"}}}, {{"Out", {"t"}}}, {FloatAttr("scale", -1)}),
              Op("assign", {{"X", {"t"}}}, {{"Out", {"b"}}})})});
  EXPECT_EQ(ResultOfProgram(program, {1, 2}, {2}), "2 4");
  EXPECT_EQ(ResultOfProgram(program, {1, -2}, {2}), "-1 2");
}

// A block that runs or not, and a value that is there before.
TEST(PaddlePrograms, ConditionalBlock) {
  const std::string program = Program(
      {Block(0, -1,
             {Var("x", kFloat, {1}), Var("z", kFloat, {1}), Var("p", kBool, {1}),
              Var("y", kFloat, {1})},
             {Feed("x", 0), Op("assign", {{"X", {"x"}}}, {{"Out", {"y"}}}),
              Op("fill_constant", {}, {{"Out", {"z"}}},
                 {IntsAttr("shape", {1}), IntAttr("dtype", kFloat)}),
              Op("greater_than", {{"X", {"x"}}, {"Y", {"z"}}}, {{"Out", {"p"}}}),
              Op("conditional_block", {{"Cond", {"p"}}}, {{"Out", {"y"}}},
                 {BlockAttr("sub_block", 1), BoolAttr("is_scalar_condition", true)}),
              Fetch("y", 0)}),
       Block(1, 0, {}, {Op("scale", {{"X", {"y"}}}, {{"Out", {"y"}}}, {FloatAttr("scale", 5)})})});
  EXPECT_EQ(ResultOfProgram(program, {3}, {1}), "15");
  EXPECT_EQ(ResultOfProgram(program, {-3}, {1}), "-3");
}

TEST(PaddlePrograms, TensorArrays) {
  const std::string program =
      Program({Block(0, -1,
                     {Var("x", kFloat, {2}), Var("i", kInt64, {1}), Var("j", kInt64, {1}),
                      Var("a", kFloat, {2}, false, kArray), Var("y", kFloat, {4}),
                      Var("n", kInt32, {1}), Var("d", kFloat, {2}), Var("r", kFloat, {2})},
                     {Feed("x", 0),
                      Op("fill_constant", {}, {{"Out", {"i"}}},
                         {IntsAttr("shape", {1}), IntAttr("dtype", kInt64)}),
                      Op("fill_constant", {}, {{"Out", {"j"}}},
                         {IntsAttr("shape", {1}), IntAttr("dtype", kInt64), FloatAttr("value", 1)}),
                      Op("write_to_array", {{"X", {"x"}}, {"I", {"i"}}}, {{"Out", {"a"}}}),
                      Op("scale", {{"X", {"x"}}}, {{"Out", {"d"}}}, {FloatAttr("scale", 2)}),
                      Op("write_to_array", {{"X", {"d"}}, {"I", {"j"}}}, {{"Out", {"a"}}}),
                      Op("read_from_array", {{"X", {"a"}}, {"I", {"i"}}}, {{"Out", {"r"}}}),
                      Op("tensor_array_to_tensor", {{"X", {"a"}}},
                         {{"Out", {"y"}}, {"OutIndex", {"n"}}}, {IntAttr("axis", 0)}),
                      Fetch("y", 0), Fetch("r", 1)})});
  EXPECT_EQ(ResultOfProgram(program, {1, 2}, {2}), "1 2 2 4 1 2");
}

TEST(PaddlePrograms, WhatIsWrong) {
  const auto one = [](const std::string& op) {
    return Program({Block(0, -1, {Var("x", kFloat, {2}), Var("y", kFloat, {2})},
                          {Feed("x", 0), op, Fetch("y", 0)})});
  };
  const std::pair<std::string, std::string> rows[] = {
      {one(Op("relu", {{"X", {"nobody"}}}, {{"Out", {"y"}}})), "no operator produces 'nobody'"},
      {one(Op("while", {{"Condition", {"x"}}}, {}, {BlockAttr("sub_block", 7)})),
       "there is no block 7"},
      {one(Op("recurrent", {}, {}, {BlockAttr("sub_block", 0)})), "there is no block 0"},
      {one(Op("no_such_op", {{"X", {"x"}}}, {{"Out", {"y"}}})), "no_such_op"},
      {one(Op("relu", {{"X", {"x"}}}, {{"Out", {"y"}}}, {IntAttr("wrong", 1)})), "'wrong'"},
      {one(Op("relu", {{"X", {"x"}}, {"Z", {"x"}}}, {{"Out", {"y"}}})), "operand 'Z'"},
      {one(Op("conv2d", {{"Input", {"x"}}}, {{"Output", {"y"}}})), "'Filter' is missing"},
      {Program({Block(0, -1, {}, {})}), "no outputs"},
      {SmallProgram().substr(0, 100), "m.pdmodel"},
  };
  for (const auto& [program, want] : rows) {
    EXPECT_THAT(ResultOfProgram(program, {1, 2}, {2}), HasSubstr(want));
  }
}

// All unknown operators are named at once.
TEST(PaddlePrograms, AllUnknownOperators) {
  const auto model = Import(Source::Bytes(
      Program({Block(
          0, -1, {Var("x", kFloat, {2}), Var("y", kFloat, {2}), Var("z", kFloat, {2})},
          {Feed("x", 0), Op("first_odd", {{"X", {"x"}}}, {{"Out", {"y"}}}),
           Op("second_odd", {{"X", {"x"}}}, {{"Out", {"z"}}}), Fetch("y", 0), Fetch("z", 1)})}),
      {}, "m.pdmodel"));
  EXPECT_THAT(std::string(model.status().message()),
              ::testing::AllOf(HasSubstr("first_odd"), HasSubstr("second_odd")));
}

// --- Regions -------------------------------------------------------------------------------------

// An operation of PIR.
std::string PirOp(const std::string& name, const std::string& attrs, const std::string& operands,
                  const std::vector<std::pair<int, std::string>>& results,
                  const std::string& more = "") {
  std::string text =
      StrCat("{\"#\":\"", name, "\",\"A\":[", attrs, "],\"I\":[", operands, "],\"O\":[");
  for (size_t i = 0; i < results.size(); ++i) {
    StrAppend(&text, i ? "," : "", "{\"%\":", results[i].first,
              ",\"TT\":{\"#\":\"0.t_dtensor\",\"D\":[{\"#\":\"0.", results[i].second,
              "\"},[2],\"NCHW\",[],0]}}");
  }
  return StrCat(text, "]", more, "}");
}
std::string PirText(const std::string& name, const std::string& value) {
  return StrCat("{\"N\":\"", name, "\",\"AT\":{\"#\":\"0.a_str\",\"D\":\"", value, "\"}}");
}
std::string PirFull(int id, const std::string& dtype, const std::string& type, double value) {
  return PirOp(
      "1.full",
      StrCat("{\"N\":\"shape\",\"AT\":{\"#\":\"1.a_intarray\",\"D\":[1]}},"
             "{\"N\":\"value\",\"AT\":{\"#\":\"0.a_f64\",\"D\":",
             value, "}},{\"N\":\"dtype\",\"AT\":{\"#\":\"1.a_dtype\",\"D\":\"", dtype, "\"}}"),
      "", {{id, type}});
}
std::string PirRegion(const std::string& args, const std::string& ops) {
  return StrCat("{\"#\":\"r\",\"blocks\":[{\"#\":\"b\",\"args\":[", args, "],\"ops\":[", ops,
                "]}]}");
}
std::string PirProgram(const std::string& ops) {
  return StrCat("{\"base_code\":{\"magic\":\"pir\",\"version\":1},\"program\":{\"regions\":[",
                PirRegion("", ops), "]}}");
}
std::string ResultOfPir(const std::string& ops, const std::vector<float>& x) {
  return ResultOf(Import(Source::Bytes(PirProgram(ops), {}, "m.json"), {.format = "paddle"}), x,
                  {static_cast<int64_t>(x.size())});
}
const char kData[] =
    R"({"#":"1.data","A":[{"N":"name","AT":{"#":"0.a_str","D":"x"}}],"I":[],"O":[{"%":1,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[1],"NCHW",[],0]}}]})";

// x > 0 ? x + x : x * x
TEST(PaddlePir, If) {
  const std::string yes = PirOp("1.add", "", "{\"%\":1},{\"%\":1}", {{10, "t_f32"}}) + "," +
                          PirOp("2.yield", "", "{\"%\":10}", {});
  const std::string no = PirOp("1.multiply", "", "{\"%\":1},{\"%\":1}", {{11, "t_f32"}}) + "," +
                         PirOp("2.yield", "", "{\"%\":11}", {});
  const std::string ops =
      StrCat(kData, ",", PirFull(2, "float32", "t_f32", 0), ",",
             PirOp("1.greater_than", "", "{\"%\":1},{\"%\":2}", {{3, "t_bool"}}), ",",
             PirOp("1.if", "", "{\"%\":3}", {{4, "t_f32"}},
                   StrCat(",\"regions\":[", PirRegion("", yes), ",", PirRegion("", no), "]")),
             ",", PirOp("1.fetch", PirText("name", "out"), "{\"%\":4}", {{5, "t_f32"}}));
  EXPECT_EQ(ResultOfPir(ops, {3}), "6");
  EXPECT_EQ(ResultOfPir(ops, {-3}), "9");
}

// while (x < 100) x = x * x
TEST(PaddlePir, While) {
  const auto arg = [](int id) {
    return StrCat("{\"#\":", id,
                  ",\"TT\":{\"#\":\"0.t_dtensor\",\"D\":[{\"#\":\"0.t_f32\"},[1],\"NCHW\",[],0]}}");
  };
  const std::string body =
      StrCat(PirOp("1.multiply", "", "{\"%\":20},{\"%\":20}", {{21, "t_f32"}}), ",",
             PirOp("1.less_than", "", "{\"%\":21},{\"%\":2}", {{22, "t_bool"}}), ",",
             PirOp("2.yield", "", "{\"%\":22},{\"%\":21}", {}));
  const std::string ops =
      StrCat(kData, ",", PirFull(2, "float32", "t_f32", 100), ",",
             PirOp("1.less_than", "", "{\"%\":1},{\"%\":2}", {{3, "t_bool"}}), ",",
             PirOp("1.while", "", "{\"%\":3},{\"%\":1}", {{4, "t_f32"}},
                   StrCat(",\"regions\":[", PirRegion(arg(20), body), "]")),
             ",", PirOp("1.fetch", PirText("name", "out"), "{\"%\":4}", {{5, "t_f32"}}));
  EXPECT_EQ(ResultOfPir(ops, {3}), "6561");
  EXPECT_EQ(ResultOfPir(ops, {200}), "200");
}

TEST(PaddlePir, WhatIsWrong) {
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> rows[] = {
      {changed(SmallPir(), R"({"%":5}])", R"({"%":55}])"), "there is no value 55"},
      {changed(SmallPir(), "1.relu_", "1.odd"), "pd_op::odd"},
      {changed(SmallPir(), R"("magic":"pir")", R"("magic":"pirate")"), "m.json"},
      {SmallPir().substr(0, 400), "m.json"},
  };
  const auto ask = [](const std::string&) -> absl::StatusOr<HeldBytes> {
    static const std::string* const bytes = new std::string(SmallParameters());
    return HeldBytes{{reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()}, nullptr};
  };
  for (const auto& [text, want] : rows) {
    EXPECT_THAT(ResultOf(Import(Source::Bytes(text, ask, "m.json"), {.format = "paddle"})),
                HasSubstr(want));
  }
}

}  // namespace
}  // namespace x2ir
