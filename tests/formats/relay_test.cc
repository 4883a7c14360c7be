// Programs of Relay: texts in the forms that versions of TVM print, JSON, parameters; what is
// refused.
#include "x2ir/formats/relay/relay.h"

#include <map>
#include <memory>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/run_text_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/symbol_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::StatusOr<Model> ImportText(const std::string& text, const std::string& params = "") {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  (*files)["m.relay"] = text;
  if (!params.empty()) (*files)["m.params"] = params;
  return Import(FromMemory("", "m.relay", files));
}
// What the program gives; and that it gives the same when it is written and read again, as text and
// as JSON.
std::string RunProgram(const std::string& text, const std::vector<std::string>& inputs,
                       const std::string& params = "") {
  const std::string results = ResultsText(ImportText(text, params), inputs);
  if (results.starts_with("error")) return results;
  for (const char* name : {"again.relay", "again.relay.json"}) {
    auto model = ImportText(text, params);
    const auto files = std::make_shared<std::map<std::string, std::string>>();
    const absl::Status written = Export(*std::move(model), IntoMemory(name, files));
    EXPECT_TRUE(written.ok()) << written << "\n" << text;
    if (!written.ok()) continue;
    EXPECT_EQ(ResultsText(Import(FromMemory("", name, files)), inputs), results) << name << "\n"
                                                                                 << (*files)[name];
  }
  return results;
}

TEST(RelayText, GraphForm) {
  EXPECT_EQ(RunProgram(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32]) -> (Tensor[(1, 3), float32], float32) {
  %0 = nn.dense(%x, %w, units=3) /* ty=Tensor[(1, 3), float32] span=fc:0:0 */;
  %1 = nn.relu(%0) /* ty=Tensor[(1, 3), float32] */;
  %2 = split(%1, indices_or_sections=[1], axis=1) /* ty=(Tensor[(1, 1), float32], Tensor[(1, 2), float32]) */;
  %3 = (%2.1, %2.0);
  %4 = concatenate(%3, axis=1);
  %5 = multiply(%4, 2f /* ty=float32 */);
  %6 = sum(%5);
  (%5, %6)
}
)",
                       {"float32[1,2]{1, 2}", "float32[3,2]{1, 0, 0, 1, -1, -1}"}),
            "float32[1,3]{4, 0, 2}; float32[]{6}");
}

TEST(RelayText, OlderForms) {
  // Without version, of an expression with free variables, and with signs of operators.
  EXPECT_EQ(RunProgram("free_var %x: Tensor[(2), float32]; add(%x, 1f)", {"float32[2]{1, 2}"}),
            "float32[2]{2, 3}");
  EXPECT_EQ(RunProgram("v0.0.1\nfn (%x: Tensor[(2), float32])\n    -> Tensor[(2), float32] {\n"
                       "  %0 = negative(%x) # ty=Tensor[(2), float32]\n  %1 = abs(%0)\n  %1\n}\n",
                       {"float32[2]{1, -2}"}),
            "float32[2]{1, 2}");
  EXPECT_EQ(RunProgram(
                "v0.0.3\ndef @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {\n"
                "  let %y: Tensor[(2,), float32] = %x * 2f + 1f // a comment\n;\n  %y - %x / 2f\n}",
                {"float32[2]{1, 2}"}),
            "float32[2]{2.5, 4}");
  EXPECT_EQ(RunProgram("v0.0.4\nfn (%x: Tensor[(2), float32]) { %x }", {"float32[2]{1, 2}"}),
            "float32[2]{1, 2}");
}

TEST(RelayText, Numbers) {
  EXPECT_EQ(RunProgram("fn () { (1, -2i64, 0.5f, 1e-3f64, True, 7u8, -inff, 3i8, 1.5f16) }", {}),
            "int32[]{1}; int64[]{-2}; float32[]{0.5}; float64[]{0.001}; bool[]{true}; uint8[]{7}; "
            "float32[]{-inf}; int8[]{3}; float16[]{1.5}");
  EXPECT_THAT(RunProgram("fn () { 300u8 }", {}), HasSubstr("'300' is no number of type uint8"));
  EXPECT_THAT(RunProgram("fn () { 1x }", {}), HasSubstr("unknown type 'x'"));
}

TEST(RelayText, Names) {
  // Of parameters as PyTorch's frontend has them, with dots; fields behind such a name.
  const auto model = ImportText(R"(#[version = "0.0.5"]
def @main(%layer1.0.weight: Tensor[(2), float32], %a.b: (Tensor[(2), float32], float32), %in::x:0: Tensor[(2), float32] /* span=in/x:0:0 */) {
  %0 = add(%layer1.0.weight, %a.b.0);
  add(%0, %in::x:0) /* span=sum_of_all:0:0 */
}
)");
  ASSERT_TRUE(model.ok()) << model.status();
  std::string names;
  for (const Value* input : model->graph->inputs()) StrAppend(&names, input->name(), " ");
  EXPECT_EQ(names, "layer1.0.weight a.b.0 a.b.1 in/x ");
  EXPECT_EQ(model->graph->outputs()[0]->name(), "sum_of_all");
  // They survive a text, in which names are plain.
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  ASSERT_TRUE(Export(model->Clone(), IntoMemory("n.relay", files)).ok());
  EXPECT_THAT((*files)["n.relay"], HasSubstr("%layer1_0_weight: Tensor[(2), float32] /* span="));
  const auto again = Import(FromMemory("", "n.relay", files));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->graph->inputs()[0]->name(), "layer1.0.weight");
  EXPECT_EQ(again->graph->outputs()[0]->name(), "sum_of_all");
}

TEST(RelayText, FunctionsAreWrittenOut) {
  EXPECT_EQ(RunProgram(R"(#[version = "0.0.5"]
def @twice(%f: fn (float32) -> float32, %x: float32) -> float32 {
  %f(%f(%x))
}
def @main(%x: float32) -> (float32, float32) {
  %0 = fn (%p0: float32, Primitive=1, hash="a b") -> float32 {
    %1 = add(%p0, 1f);
    multiply(%1, %x)
  };
  let %g = fn [A](%y: A) -> A { %y };
  (@twice(%0, 2f), %g(%x))
}
)",
                       {"float32[]{3}"}),
            "float32[]{30}; float32[]{3}");
}

constexpr char kPower[] = R"(#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(?, 2), float32]) -> (int32, Tensor[(?, 2), float32]) {
  let %while_loop = fn (%i: int32, %s: Tensor[(?, 2), float32]) -> (int32, Tensor[(?, 2), float32]) {
    %0 = less(%i, %n);
    if (%0) {
      %1 = add(%i, 1);
      %2 = multiply(%s, 2f);
      %while_loop(%1, %2)
    } else {
      (%i, %s)
    }
  };
  %while_loop(0, %x)
}
)";

TEST(RelayText, Loops) {
  EXPECT_EQ(RunProgram(kPower, {"int32[]{3}", "float32[1,2]{1, 2}"}),
            "int32[]{3}; float32[1,2]{8, 16}");
  EXPECT_EQ(RunProgram(kPower, {"int32[]{0}", "float32[1,2]{1, 2}"}),
            "int32[]{0}; float32[1,2]{1, 2}");
  // A function of the module, which stops in its first branch.
  EXPECT_EQ(RunProgram(R"(v0.0.4
def @loop(%i: int32, %s: int32) -> int32 {
  if (equal(%i, 0)) { %s } else { @loop(subtract(%i, 1), add(%s, %i)) }
}
def @main(%n: int32) -> int32 { @loop(%n, 0) }
)",
                       {"int32[]{4}"}),
            "int32[]{10}");
  // As the importer of ONNX has them: the function is what a let gives, and a state grows.
  EXPECT_EQ(RunProgram(R"(#[version = "0.0.5"]
def @main(%n: int64, %x: Tensor[(1, 2), float32]) {
  %9 = (let %while_loop = fn (%i: int64, %max: int64, %cond: bool, %s: Tensor[(1, 2), float32], %scan: Tensor[(?, 2), float32]) {
    %0 = equal(%cond, True);
    %1 = logical_and(%0, less(%i, %max));
    if (%1) {
      %2 = multiply(%s, 2f);
      %3 = (%scan, %2);
      %while_loop(add(%i, 1i64), %max, %cond, %2, concatenate(%3), /* en_id=3 */)
    } else {
      (%i, %max, %cond, %s, %scan)
    }
  };
  %while_loop)(0i64, %n, True, %x, zeros(shape=[0, 2], dtype="float32"));
  (%9.3, %9.4)
}
)",
                       {"int64[]{2}", "float32[1,2]{1, 2}"}),
            "float32[1,2]{4, 8}; float32[2,2]{2, 4, 4, 8}");
  EXPECT_THAT(RunProgram("def @f(%i: int32) { if (less(%i, 3)) { add(1, @f(%i)) } else { %i } }\n"
                         "def @main(%i: int32) { @f(%i) }",
                         {"int32[]{0}"}),
              HasSubstr("calls itself before its last step"));
  EXPECT_THAT(RunProgram("def @f(%i: int32) -> int32 { @f(%i) } def @main(%i: int32) { @f(%i) }",
                         {"int32[]{0}"}),
              HasSubstr("does not end in a branch"));
}

TEST(RelayText, Branches) {
  EXPECT_EQ(RunProgram(R"(#[version = "0.0.5"]
def @main(%c: bool, %x: float32) {
  %0 = add(%x, 1f);
  %1 = if (%c) { (%0, multiply(%0, 2f)) } else { (%x, %0) };
  (%1.1, %1.0)
}
)",
                       {"bool[]{true}", "float32[]{2}"}),
            "float32[]{6}; float32[]{3}");
}

TEST(RelayText, ListsOfKnownLength) {
  const char* const program = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}
def @sum[A](%l: List[float32]) -> float32 {
  match (%l) {
    Cons(%h: float32, %t: List[float32]) => { add(%h, @sum(%t)) },
    Nil => { 0f },
  }
}
def @main(%x: float32) {
  %0 = Cons(%x, Cons(2f, Nil));
  %1 = @map(fn (%a: float32) -> float32 { multiply(%a, 10f) }, %0);
  %2 = @foldl(fn (%s: float32, %a: float32) -> float32 { subtract(%a, %s) }, 0f, %1);
  (@sum(%0), @hd(@tl(%1)), %2, @length(%0))
}
)";
  EXPECT_EQ(RunProgram(program, {"float32[]{1}"}),
            "float32[]{3}; float32[]{20}; float32[]{10}; int32[]{2}");
  EXPECT_THAT(RunProgram("def @main(%l: List[float32]) { @hd(%l) }", {}),
              HasSubstr("a list whose length is not known"));
  EXPECT_THAT(RunProgram("def @main(%x: float32) { Cons(%x, Nil()) }", {}),
              HasSubstr("data (Cons) where a tensor is expected"));
}

// A list as save_json and metadata have it.
std::string Base64Array(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  const std::string list = symbol_files::TvmList({{"a", symbol_files::Floats(dims, values)}});
  const std::string magic("\x3F\xA1\xB4\x96\xF0\x40\x5E\xDD", 8);
  return absl::Base64Escape(list.substr(list.find(magic)));
}

std::string Metadata(const std::string& array) {
  return StrCat(R"({"root": 1, "nodes": [{"type_key": ""},
    {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
    {"type_key": "Array", "data": [3]},
    {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0"}}],
    "b64ndarrays": [")",
                array, R"("], "attrs": {"tvm_version": "0.8.0"}})");
}

TEST(RelayText, Constants) {
  const std::string program =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n"
      "  add(%x, meta[relay.Constant][0] /* ty=Tensor[(2), float32] */)\n}\n";
  const std::string array = Base64Array({2}, {10, 20});
  EXPECT_EQ(RunProgram(StrCat(program, "\n#[metadata]\n", Metadata(array)), {"float32[2]{1, 2}"}),
            "float32[2]{11, 22}");
  EXPECT_EQ(RunProgram(StrCat(program, "METADATA: \n", Metadata(array)), {"float32[2]{1, 2}"}),
            "float32[2]{11, 22}");
  EXPECT_THAT(RunProgram(StrCat(program,
                                "/* For debugging purposes the metadata section has been "
                                "omitted. */"),
                         {}),
              HasSubstr("printed without its metadata"));
  EXPECT_THAT(RunProgram(StrCat(program, "#[metadata]\n", Metadata("AAAA")), {}),
              HasSubstr("array 0"));
  EXPECT_THAT(RunProgram(StrCat(program, "#[metadata]\n", Metadata("?")), {}),
              HasSubstr("not base64"));
}

TEST(RelayText, ParametersBesideIt) {
  const std::string program =
      "def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) {\n"
      "  multiply(%x, %w)\n}\n";
  EXPECT_EQ(RunProgram(StrCat("v0.0.4\n", program), {"float32[2]{1, 2}"},
                       symbol_files::TvmList({{"w", symbol_files::Floats({2}, {3, 4})}})),
            "float32[2]{3, 8}");
  // Written beside it.
  auto model = ImportText(StrCat("v0.0.4\n", program),
                          symbol_files::TvmList({{"w", symbol_files::Floats({2}, {3, 4})}}));
  ASSERT_TRUE(model.ok()) << model.status();
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  ExportOptions options;
  options.format_options = {{"separate_params", true}};
  ASSERT_TRUE(Export(*std::move(model), IntoMemory("p.relay", files), options).ok());
  EXPECT_TRUE(files->contains("p.params"));
  EXPECT_THAT((*files)["p.relay"], Not(HasSubstr("metadata")));
  EXPECT_EQ(ResultsText(Import(FromMemory("", "p.relay", files)), {"float32[2]{1, 2}"}),
            "float32[2]{3, 8}");
}

TEST(RelayText, Attributes) {
  // None, lists of lists, floats with a suffix, texts in quotes.
  EXPECT_EQ(
      RunProgram("v0.0.4\nfn (%x: Tensor[(1, 2), float32]) {\n"
                 "  %0 = nn.pad(%x, 9f, pad_width=[[0, 0], [1, 0]]);\n"
                 "  %1 = strided_slice(%0, begin=[0, 1], end=[1, 3], strides=[1, 1], axes=None);\n"
                 "  %2 = clip(%1, a_min=-0.5f, a_max=1.5f);\n"
                 "  cast(%2, dtype=\"int32\")\n}",
                 {"float32[1,2]{1, 2}"}),
      "int32[1,2]{1, 1}");
  EXPECT_THAT(RunProgram("v0.0.4\nfn (%x: float32) { nn.relu(%x, foo=1) }", {}), HasSubstr("foo"));
  EXPECT_THAT(RunProgram("v0.0.4\nfn (%x: float32) { memory.alloc_storage(%x) }", {}),
              HasSubstr("relay.memory.alloc_storage"));
}

constexpr char kJson[] = R"({"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "IRModule", "attrs": {"functions": "2", "global_var_map_": "5", "source_map": "0"}},
  {"type_key": "Map", "data": [3, 6]},
  {"type_key": "GlobalVar", "attrs": {"_checked_type_": "0", "name_hint": "4", "span": "0"}},
  {"type_key": "runtime.String", "repr_str": "main"},
  {"type_key": "Map", "keys": ["main"], "data": [3]},
  {"type_key": "relay.Function", "attrs": {"attrs": "0", "body": "14", "params": "7", "span": "0"}},
  {"type_key": "Array", "data": [8]},
  {"type_key": "relay.Var", "attrs": {"type_annotation": "11", "vid": "9", "span": "0"}},
  {"type_key": "relay.Id", "attrs": {"name_hint": "10"}},
  {"type_key": "runtime.String", "repr_str": "x"},
  {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "12", "span": "0"}},
  {"type_key": "Array", "data": [13, 13]},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "2"}},
  {"type_key": "relay.Call", "attrs": {"op": "15", "args": "16", "attrs": "17", "span": "0",
    "type_args": "0"}},
  {"type_key": "Op", "repr_str": "sum"},
  {"type_key": "Array", "data": [20]},
  {"type_key": "relay.attrs.ReduceAttrs", "attrs": {"axis": "18", "exclude": "0", "keepdims": "1"}},
  {"type_key": "Array", "data": [19]},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "1"}},
  {"type_key": "relay.Call", "attrs": {"op": "21", "args": "22", "attrs": "0", "span": "0"}},
  {"type_key": "relay.Op", "global_key": "add"},
  {"type_key": "Array", "data": [8, 23]},
  {"type_key": "relay.Constant", "attrs": {"data": "0"}}],
  "b64ndarrays": ["@"], "attrs": {"tvm_version": "0.8.0"}})";

std::string JsonWith(std::string_view from, std::string_view to) {
  std::string json = kJson;
  const std::string array = Base64Array({2}, {10, 20});
  json.replace(json.find('@'), 1, array);
  if (!from.empty()) json.replace(json.find(from), from.size(), to);
  return json;
}

TEST(RelayJson, IsRead) {
  EXPECT_EQ(RunProgram(JsonWith("", ""), {"float32[2,2]{1, 2, 3, 4}"}), "float32[2,1]{33, 37}");
  // An expression that needs itself, places that are none, attributes that are not known.
  EXPECT_THAT(RunProgram(JsonWith("[8, 23]", "[8, 20]"), {}), HasSubstr("needs itself"));
  EXPECT_THAT(RunProgram(JsonWith("[8, 23]", "[8, 99]"), {}), HasSubstr("does not exist"));
  EXPECT_THAT(RunProgram(JsonWith("\"body\": \"14\"", "\"body\": \"12\""), {}),
              HasSubstr("is no expression"));
  EXPECT_THAT(RunProgram(JsonWith("ReduceAttrs", "OtherAttrs"), {}),
              HasSubstr("relay.attrs.OtherAttrs"));
  EXPECT_THAT(RunProgram(JsonWith("\"keepdims\"", "\"keeps\""), {}),
              HasSubstr("attribute 'keeps'"));
  EXPECT_THAT(RunProgram(JsonWith("\"data\": \"0\"", "\"data\": \"1\""), {}),
              HasSubstr("no array '1'"));
  EXPECT_THAT(RunProgram(JsonWith("\"root\": 1", "\"root\": 11"), {}),
              HasSubstr("relay.TensorType"));
}

TEST(RelayHostile, NestingAndSizes) {
  const auto nested = [](const std::string& open, size_t count, const std::string& rest) {
    std::string text = "v0.0.4\nfn (%x: float32) { ";
    for (size_t i = 0; i < count; ++i) text += open;
    return text + rest;
  };
  for (const char* open : {"(", "nn.relu(", "if (True) { ", "fn () { ", "[", "-",
                           "match (%x) {_ => ", "{", "let %y = ", "add(%x, "}) {
    EXPECT_THAT(RunProgram(nested(open, 100000, ""), {}), HasSubstr("too deep")) << open;
  }
  EXPECT_THAT(RunProgram(StrCat("v0.0.4\nfn (%x: ", std::string(100000, '('), ""), {}),
              HasSubstr("too deep"));
  // A chain of calls is no nesting.
  std::string chain = "v0.0.4\nfn (%x: float32) {\n  %0 = abs(%x);\n";
  for (int i = 1; i < 20000; ++i) StrAppend(&chain, "  %", i, " = negative(%", i - 1, ");\n");
  const auto model = ImportText(chain + "  %19999\n}");
  EXPECT_TRUE(model.ok()) << model.status();
  // Functions that double what they are given.
  std::string doubling = "v0.0.4\nfn (%x: float32) {\n  let %f0 = fn (%y: float32) { abs(%y) };\n";
  for (int i = 1; i < 60; ++i) {
    StrAppend(&doubling, "  let %f", i, " = fn (%y: float32) { %f", i - 1, "(%f", i - 1,
              "(%y)) };\n");
  }
  EXPECT_THAT(RunProgram(doubling + "  %f59(%x)\n}", {}), HasSubstr("too large"));
  // Tuples of tuples that double.
  std::string tuples = "v0.0.4\nfn (%x: float32) {\n  %0 = (%x, %x);\n";
  for (int i = 1; i < 60; ++i) StrAppend(&tuples, "  %", i, " = (%", i - 1, ", %", i - 1, ");\n");
  EXPECT_THAT(RunProgram(tuples + "  %59\n}", {}), HasSubstr("too large"));
  // Sizes and counts.
  EXPECT_THAT(RunProgram("v0.0.4\nfn (%x: Tensor[(99999999999999999999), float32]) { %x }", {}),
              HasSubstr("a size that is none"));
  EXPECT_THAT(
      RunProgram("v0.0.4\nfn (%x: float32) { split(%x, indices_or_sections=1000000000) }", {}),
      HasSubstr("how many parts"));
  EXPECT_THAT(RunProgram("v0.0.4\nfn (%x: float32) { %x.99999999999999999999 }", {}),
              HasSubstr("number of a field"));
  EXPECT_THAT(RunProgram("v0.0.4\nfn (%x: float32) { \"abc", {}),
              HasSubstr("expected an expression"));
  EXPECT_THAT(RunProgram("v0.0.4\n/* /* ", {}), HasSubstr("or nothing"));
}

TEST(RelayWritten, WhatItHasNot) {
  const auto refused = [](const std::string& graph) {
    auto model = ModelFromText(graph, "", 0);
    EXPECT_TRUE(model.ok()) << model.status();
    std::string bytes;
    return Message(Export(*std::move(model), Sink::To(&bytes, "m.relay")));
  };
  EXPECT_THAT(refused("graph g(x: string[2]) -> (y) { y = identity(x) }"), HasSubstr("string"));
}

}  // namespace
}  // namespace x2ir
