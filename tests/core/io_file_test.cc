// Io files: which tensor is bound to which input or output, and which inputs fit a model.
#include "x2ir/core/io_file.h"

#include <complex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

std::shared_ptr<Graph> Parse(std::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : nullptr;
}

// What was bound, as "case0 in: 1 _ out: 2": each tensor is known by its only element.
std::string Bound(const std::vector<IoCase>& cases) {
  std::string text;
  for (const IoCase& io : cases) {
    StrAppend(&text, text.empty() ? "" : "; ", io.name, io.name.empty() ? "in:" : " in:");
    auto list = [&](const std::vector<std::optional<Tensor>>& tensors) {
      for (const auto& t : tensors) StrAppend(&text, " ", t ? StrCat(t->AsInt(0)) : "_");
    };
    list(io.inputs);
    text += " out:";
    list(io.outputs);
  }
  return text;
}

TEST(IoFile, BindsByNameAndByPosition) {
  const std::string plain = "graph g(x: int64[], y: int64[]) -> (z) { z: int64[] = add(x, y) }";
  // A model that calls its inputs like positions, in another order.
  const std::string misleading =
      "graph g(in_1: int64[], in_0: int64[]) -> (z) { z: int64[] = add(in_1, in_0) }";
  const std::string from_one =
      "graph g(in_1: int64[], in_2: int64[]) -> (z) { z: int64[] = add(in_1, in_2) }";
  const std::string dotted =
      "graph g(\"case0.x\": int64[]) -> (z) { z: int64[] = neg(\"case0.x\") }";
  const struct {
    const char* what;
    const std::string& graph;
    std::vector<std::string> names;  // the values are 1, 2, 3, ...
    std::string want;                // or "error: " and a part of the message
  } rows[] = {
      {"positions", plain, {"in_0", "in_1", "out_0"}, "in: 1 2 out: 3"},
      {"any order", plain, {"out_0", "in_1", "in_0"}, "in: 3 2 out: 1"},
      {"names", plain, {"y", "x", "z"}, "in: 2 1 out: 3"},
      {"mixed", plain, {"in_0", "y", "z"}, "in: 1 2 out: 3"},
      {"not all", plain, {"in_1"}, "in: _ 1 out: _"},
      {"nothing", plain, {}, "in: _ _ out: _"},
      {"cases",
       plain,
       {"case1.in_0", "case0.in_0", "case0.out_0"},
       "case0 in: 2 _ out: 3; case1 in: 1 _ out: _"},
      {"cases by number",
       plain,
       {"case10.x", "case9.x"},
       "case9 in: 2 _ out: _; case10 in: 1 _ out: _"},
      {"shared by all cases",
       plain,
       {"case0.x", "case1.x", "y"},
       "case0 in: 1 3 out: _; case1 in: 2 3 out: _"},
      {"real names that look like positions", misleading, {"in_0", "in_1"}, "in: 2 1 out: _"},
      {"positions, though one is a name too", from_one, {"in_0", "in_1"}, "in: 1 2 out: _"},
      {"a real name with a prefix", dotted, {"case0.x"}, "in: 1 out: _"},
      {"a case of a real name with a prefix", dotted, {"case3.case0.x"}, "case3 in: 1 out: _"},
      {"twice", plain, {"in_0", "x"}, "error: two tensors for input 'x'"},
      {"too many", plain, {"in_2"}, "error: the model has only 2 inputs (x, y)"},
      {"huge", plain, {"in_99999999999999999999"}, "error: neither an input nor an output"},
      {"unknown",
       plain,
       {"w"},
       "error: 'w' is neither an input nor an output of the model; "
       "inputs: x, y; outputs: z"},
      {"unknown in a case", plain, {"case2.w"}, "error: case2: tensor 'w'"},
      {"no case", plain, {"case.x"}, "error: 'case.x' is neither"},
      {"a word of no input", plain, {"batch.w"}, "error: 'batch.w' is neither"},
      {"negative", plain, {"in_-1"}, "error: neither"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto graph = Parse(row.graph);
    ASSERT_TRUE(graph);
    std::vector<NamedTensor> tensors;
    for (const std::string& name : row.names) {
      tensors.push_back({name, Tensor::Scalar(static_cast<int64_t>(tensors.size()) + 1)});
    }
    const auto cases = BindIo(tensors, *graph);
    if (row.want.rfind("error: ", 0) == 0) {
      ASSERT_FALSE(cases.ok()) << Bound(*cases);
      EXPECT_EQ(cases.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_NE(std::string(cases.status().message()).find(row.want.substr(7)), std::string::npos)
          << cases.status();
    } else {
      ASSERT_TRUE(cases.ok()) << cases.status();
      EXPECT_EQ(Bound(*cases), row.want);
    }
  }
}

// A real input takes the parts of a complex tensor along a last axis; a complex one takes it as it
// is.
TEST(IoFile, NamesOfTheMetadataCountWhereTheModelHasThem) {
  const auto graph = Parse("graph g(a: float32[1], b: float32[1]) -> (a, b) {}");
  ASSERT_TRUE(graph);
  const TempDir dir;
  const std::string path = dir.Path("io.safetensors");
  const auto first_input = [&](const std::string& in_0, const std::string& in_1) {
    EXPECT_TRUE(WriteSafetensors(path,
                                 {{{"case0.in_0", Tensor::Of<float>({1}, {1})},
                                   {"case0.in_1", Tensor::Of<float>({1}, {2})}}},
                                 {{"in_0", in_0}, {"in_1", in_1}})
                    .ok());
    const auto cases = ReadIoFile(path, *graph);
    return cases.ok() ? (*cases)[0].inputs[0]->AsDouble(0) : -1;
  };
  EXPECT_EQ(first_input("a", "b"), 1);
  EXPECT_EQ(first_input("b", "a"), 2);
  EXPECT_EQ(first_input("b", "elsewhere"), 1);
  EXPECT_EQ(first_input("b", "b"), 1);
}

TEST(IoFile, BindsComplexTensorsAsPairs) {
  const std::complex<float> number(1, 2);
  const std::vector<NamedTensor> tensors = {
      {"in_0", Tensor::Of<std::complex<float>>({1}, {number})}};
  const auto real = Parse("graph g(x: float32[1,2]) -> (y) { y = neg(x) }");
  const auto pairs = BindIo(tensors, *real);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_EQ(*(*pairs)[0].inputs[0], Tensor::Of<float>({1, 2}, {1, 2}));
  const auto complex = Parse("graph g(x: complex64[1]) -> (y) { y = neg(x) }");
  const auto same = BindIo(tensors, *complex);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*(*same)[0].inputs[0], tensors[0].tensor);
}

// And the other way; a vector of one element is a scalar where one is wanted, as an input alone.
TEST(IoFile, BindsPairsAsComplexTensorsAndVectorsAsScalars) {
  const std::vector<NamedTensor> tensors = {{"in_0", Tensor::Of<float>({1, 2}, {1, 2})},
                                            {"in_1", Tensor::Of<float>({1}, {3})},
                                            {"out_0", Tensor::Of<float>({1}, {3})}};
  const auto graph =
      Parse("graph g(x: complex64[1], s: float32[]) -> (y: float32[]) { y: float32[] = neg(s) }");
  const auto bound = BindIo(tensors, *graph);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*(*bound)[0].inputs[0], Tensor::Of<std::complex<float>>({1}, {{1, 2}}));
  EXPECT_EQ(*(*bound)[0].inputs[1], Tensor::Scalar<float>(3));
  EXPECT_EQ(*(*bound)[0].outputs[0], tensors[2].tensor);
  // What is no pairs stays, and is refused as what it is.
  const auto odd = BindIo({{NamedTensor{"in_0", Tensor::Of<float>({3}, {1, 2, 3})}}},
                          *Parse("graph g(x: complex64[1]) -> (y) { y = neg(x) }"));
  ASSERT_TRUE(odd.ok()) << odd.status();
  EXPECT_EQ((*odd)[0].inputs[0]->dtype(), DType::kFloat32);
}

TEST(IoFile, ChecksInputs) {
  using Dims = std::vector<int64_t>;
  const struct {
    const char* what;
    const char* inputs;  // of the graph
    std::vector<std::optional<Dims>> dims;
    std::string want;  // a part of the message; empty: fits
  } rows[] = {
      {"static", "x: float32[2,3]", {Dims{2, 3}}, ""},
      {"wrong dim", "x: float32[2,3]", {Dims{2, 4}}, "expected float32[2,3], got float32[2,4]"},
      {"wrong rank", "x: float32[2,3]", {Dims{2}}, "expected float32[2,3], got float32[2]"},
      {"rank not known", "x: float32[...]", {Dims{7}}, ""},
      {"unknown dim", "x: float32[?,3]", {Dims{7, 3}}, ""},
      {"empty", "x: float32[n]", {Dims{0}}, ""},
      {"wrong type", "x: int64[2]", {Dims{2}}, "expected int64[2], got float32[2]"},
      {"type not known", "x: ?", {Dims{2}}, ""},
      {"no tensor", "x: sequence(float32[2])", {Dims{2}}, "expected sequence"},
      {"missing", "x: float32[2]", {std::nullopt}, "input 'x' (float32[2]) is missing"},
      {"optional", "x: optional(float32[2])", {Dims{2}}, ""},
      {"optional, wrong dim", "x: optional(float32[2])", {Dims{3}}, "got float32[3]"},
      {"optional, missing", "x: optional(float32[2])", {std::nullopt}, ""},
      {"default", "x: float32[2] = float32[2]{1, 2}", {std::nullopt}, ""},
      {"one name, one size", "x: float32[n,n]", {Dims{2, 2}}, ""},
      {"one name, two sizes", "x: float32[n,n]", {Dims{2, 3}}, "'n' is 2 in input 'x'"},
      {"over inputs", "x: float32[n], y: float32[n]", {Dims{2}, Dims{3}}, "'n' is 2 in input 'x'"},
      {"expression", "x: float32[2*n], y: float32[n]", {Dims{6}, Dims{3}}, ""},
      {"wrong expression", "x: float32[2*n], y: float32[n]", {Dims{5}, Dims{3}}, "2*n is 6"},
      {"expression over nothing", "x: float32[2*n]", {Dims{5}}, ""},
      {"too few", "x: float32[2], y: float32[2]", {Dims{2}}, "expected 2 inputs, got 1"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto graph = Parse(StrCat("graph g(", row.inputs, ") -> () { }"));
    ASSERT_TRUE(graph);
    std::vector<std::optional<Tensor>> inputs;
    for (const auto& dims : row.dims) {
      inputs.push_back(dims ? std::optional(Tensor::Zeros(DType::kFloat32, *dims)) : std::nullopt);
    }
    const absl::Status status = CheckInputs(*graph, inputs);
    EXPECT_EQ(status.ok(), row.want.empty()) << status;
    EXPECT_NE(std::string(status.message()).find(row.want), std::string::npos) << status;
  }
}

TEST(IoFile, WritesWhatItReads) {
  const auto graph = Parse("graph g(x: float32[n], m: int64[]) -> (y) { y = neg(x) }");
  ASSERT_TRUE(graph);
  std::vector<IoCase> cases(2);
  for (int i = 0; i < 2; ++i) {
    cases[i].name = StrCat("case", i);
    cases[i].inputs = {Tensor::Of<float>({i + 1}, std::vector<float>(i + 1, 2.5f)),
                       Tensor::Scalar<int64_t>(i)};
    cases[i].outputs = {Tensor::Of<float>({i + 1}, std::vector<float>(i + 1, -2.5f))};
  }
  const TempDir dir;
  const std::string path = dir.Path("io.safetensors");
  const absl::Status written = WriteIoFile(path, cases, *graph);
  ASSERT_TRUE(written.ok()) << written;
  const auto read = ReadIoFile(path, *graph);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].name, cases[i].name);
    EXPECT_EQ((*read)[i].inputs, cases[i].inputs);
    EXPECT_EQ((*read)[i].outputs, cases[i].outputs);
  }
}

TEST(IoFile, MissingFileIsNotFound) {
  const auto graph = Parse("graph g(x: float32[n]) -> (x) { }");
  ASSERT_TRUE(graph);
  EXPECT_EQ(ReadIoFile("/nowhere/io.safetensors", *graph).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(IoFile, RunsACase) {
  const auto graph = Parse("graph g(x: float32[2]) -> (y) { y: float32[2] = relu(x) }");
  ASSERT_TRUE(graph);
  IoCase io;
  io.name = "case4";
  io.inputs = {Tensor::Of<float>({2}, {-1.0f, 2.0f})};
  int64_t total = 0;
  const auto results = RunCase(*graph, io, [&](int64_t, int64_t all) {
    total = all;
    return true;
  });
  EXPECT_TRUE(
      absl::IsCancelled(RunCase(*graph, io, [](int64_t, int64_t) { return false; }).status()));
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(*(*results)[0].tensor(), (Tensor::Of<float>({2}, {0.0f, 2.0f})));
  EXPECT_EQ(total, 1);

  io.inputs = {Tensor::Of<float>({3}, {1.0f, 2.0f, 3.0f})};
  EXPECT_EQ(std::string(RunCase(*graph, io).status().message()),
            "case4: input 'x': expected float32[2], got float32[3]; to accept any size "
            "there: option 'dynamic' x:0=d0");
}

}  // namespace
}  // namespace x2ir
