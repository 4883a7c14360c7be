// Graphs that were traced with a size, made to take others: at another size each must compute what
// the same graph, traced with that size, computes.
#include "x2ir/core/tracing/traced_sizes.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/shared_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// "$B" and "$4B" in a text become numbers.
std::string WithSize(std::string_view text, int64_t size) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    const size_t end = text.find('B', i);
    const std::string factor(text.substr(i + 1, end - i - 1));
    StrAppend(&out, (factor.empty() ? 1 : std::stoll(factor)) * size);
    i = end;
  }
  return out;
}

struct Row {
  const char* what;
  const char* inputs;  // axis 0 of the first is the size
  const char* lines;
  std::vector<int64_t> traced = {1, 2, 3};  // sizes that it is traced with
};

std::string Text(const std::vector<Datum>& results) {
  std::string text;
  for (const Datum& datum : results) StrAppend(&text, TensorText(*datum.tensor()), "\n");
  return text;
}

// What a graph computes of numbers that depend on the shapes of its inputs alone.
absl::StatusOr<std::vector<Datum>> Results(const Graph& graph, const Graph& shapes) {
  X2IR_ASSIGN_OR_RETURN(IoCase io, RandomCase(shapes, 7, nullptr));
  return RunCase(graph, io);
}

TEST(TracedSizes, AsIfTracedWithAnother) {
  const Row rows[] = {
      {"a reshape that keeps the axis", "x: float32[$B,6]",
       "s = int64[3]{$B, 2, 3} y = reshape(x, s)"},
      {"-1 where the trace had something else", "x: float32[$B,6]",
       "s = int64[3]{$B, -1, 3} y = reshape(x, s)"},
      {"an axis that goes into another", "x: float32[$B,4,3]",
       "s = int64[2]{$4B, 3} y = reshape(x, s)"},
      {"and comes out again", "x: float32[$B,4,3], w: float32[3,3]",
       "s = int64[2]{$4B, 3} a = reshape(x, s) b = matmul(a, w) t = int64[3]{$B, 4, 3} "
       "y = reshape(b, t)"},
      {"behind another axis", "x: float32[$B,4,3]",
       "a = transpose(x) { perm = [1, 0, 2] } s = int64[2]{$4B, 3} b = reshape(a, s) "
       "c = relu(b) t = int64[3]{4, $B, 3} d = reshape(c, t) y = transpose(d) { perm = [1, 0, 2] "
       "}"},
      {"heads between batch and sequence", "x: float32[$B,5,8]",
       "a = transpose(x) { perm = [1, 0, 2] } s = int64[3]{5, $2B, 4} b = reshape(a, s) "
       "c = transpose(b) { perm = [1, 0, 2] } d = softmax(c) { axis = 2 } y = sum(d, c)"},
      {"an expand along it", "x: float32[$B,4]",
       "s = int64[3]{$B, 3, 4} a = int64[1]{1} b = unsqueeze(x, a) y = expand(b, s)"},
      {"a constant that was expanded", "x: float32[$B,2,3]",
       "c = float32[1,1,3]{1, 2, 3} s = int64[3]{$B, 1, 3} t = expand(c, s) "
       "y = concat(t, x) { axis = 1 }"},
      {"a tensor that was filled", "x: float32[$B,3]",
       "s = int64[2]{$B, 2} z = constant_of_shape(s) y = concat(x, z) { axis = 1 }"},
      {"numbers of the rows", "x: float32[$B,3]",
       "a = int64[]{0} n = int64[]{$B} d = int64[]{1} r = range(a, n, d) c = cast(r) "
       "{ to = \"float32\" } t = int64[1]{1} u = unsqueeze(c, t) y = add(x, u)"},
      {"one element of each row", "x: float32[$B,3], k: int64[$B,1]",
       "a = int64[]{0} n = int64[]{$B} d = int64[]{1} r = range(a, n, d) t = int64[1]{1} "
       "u = unsqueeze(r, t) z = int64[]{0} k0 = mul(k, z) i = concat(u, k0) { axis = 1 } "
       "y = gather_nd(x, i)"},
      {"the first rows of a table",
       "x: float32[$B,3]",
       "p = float32[8,3]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24} "
       "b = int64[1]{0} e = int64[1]{$B} f = int64[1]{0} q = slice(p, b, e, f) y = add(x, q)",
       {2, 3}},
      {"the first rows and columns of a table",
       "x: float32[$B,3], z: float32[$B,3]",
       "p = "
       "float32[6,6]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
       "29,30,31,32,33,34,35,36} b = int64[2]{0, 0} e = int64[2]{$B, $B} f = int64[2]{0, 1} "
       "q = slice(p, b, e, f) t = transpose(z) { perm = [1, 0] } m = matmul(x, t) y = add(m, q)",
       {2, 3}},
      {"sums over what was filled",
       "x: float32[$B,3]",
       "s = int64[2]{$B, 1} f = constant_of_shape(s) k = float32[]{2} z = add(f, k) a = int64[]{0} "
       "c = cum_sum(z, a) { exclusive = 0, reverse = 0 } y = add(x, c)",
       {2, 3}},
      {"differences of neighbours",
       "x: float32[$B,3]",
       "o = float32[1,3]{1, 2, 3} a = concat(o, x) { axis = 0 } b = int64[1]{0} e = int64[1]{$B} "
       "h = int64[1]{1} g = int64[1]{9223372036854775807} p = slice(a, b, e, b) "
       "q = slice(a, h, g, b) y = sub(q, p)",
       {2, 3}},
      {"a mask of attention that has a row for each query",
       "x: float32[$B,4]",
       "b = int64[1]{0} q = unsqueeze(x, b) a = int64[]{0} n = int64[]{$B} d = int64[]{1} "
       "r = range(a, n, d) k = int64[]{1} g = greater_or_equal(r, k) w = int64[3]{0, 1, 3} "
       "m = unsqueeze(g, w) f = int64[]{2} v = less(r, f) z = int64[3]{0, 1, 2} "
       "u = unsqueeze(v, z) o = or(m, u) y = attention(q, q, q, o) { q_num_heads = 1, "
       "kv_num_heads = 1 }",
       {2, 3}},
      {"rows by numbers that are computed",
       "x: float32[$B,3], k: int64[$B,1]",
       "a = int64[]{0} n = int64[]{$B} d = int64[]{1} r = range(a, n, d) w = int64[1]{0} "
       "u = unsqueeze(r, w) h = int64[1]{1} o = int64[1]{0} g = slice(k, o, h, o) j = mul(g, o) "
       "i = add(u, j) y = gather(x, i) { axis = 0 }",
       {2, 3}},
      {"rows of a table by their numbers",
       "x: float32[$B,3]",
       "p = float32[6,3]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18} a = int64[]{0} "
       "n = int64[]{$B} d = int64[]{1} r = range(a, n, d) w = int64[1]{1} u = unsqueeze(r, w) "
       "q = gather_nd(p, u) { batch_dims = 0 } y = add(x, q)",
       {2, 3}},
      {"rows that are all the same", "x: float32[$B,2]",
       "s = int64[2]{$B, 1} z = constant_of_shape(s) c = float32[]{3} d = add(z, c) y = mul(x, d)"},
      {"a tensor that is repeated",
       "x: float32[$B,3]",
       "c = float32[1,3]{1, 2, 3} r = int64[2]{$B, 1} t = tile(c, r) y = add(x, t)",
       {2, 3}},
  };
  for (const Row& row : rows) {
    for (const int64_t traced : row.traced) {
      SCOPED_TRACE(StrCat(row.what, ", traced with ", traced));
      auto graph = ParseIr(WithSize(row.inputs, traced), WithSize(row.lines, traced), "y");
      ASSERT_TRUE(graph.ok()) << graph.status();
      std::vector<TracedSize> sizes;
      for (Value* input : (*graph)->inputs()) {
        if (input->name() != "w") sizes.push_back({input, 0, "n"});
      }
      std::vector<std::string> warnings;
      const absl::Status made = MakeSymbolic(**graph, sizes, &warnings);
      ASSERT_TRUE(made.ok()) << made;
      EXPECT_TRUE((*graph)->Validate().empty());
      for (const int64_t other : {traced, int64_t{4}, int64_t{5}}) {
        auto wanted = ParseIr(WithSize(row.inputs, other), WithSize(row.lines, other), "y");
        ASSERT_TRUE(wanted.ok()) << wanted.status();
        const auto want = Results(**wanted, **wanted), got = Results(**graph, **wanted);
        ASSERT_TRUE(want.ok()) << want.status();
        ASSERT_TRUE(got.ok()) << got.status() << ToText(**graph);
        EXPECT_EQ(Text(*got), Text(*want)) << "at " << other << ToText(**graph);
      }
    }
  }
}

TEST(TracedSizes, WhatIsMadeForTheSizeIsRefused) {
  const struct {
    const char *inputs, *lines, *message;
  } rows[] = {
      {"x: float32[1,3]", "i = int64[]{0} y = gather(x, i) { axis = 0 }", "it is unclear whether"},
      {"x: float32[1,3]", "a = int64[1]{0} y = reduce_mean(x, a) { keepdims = 1 }",
       "computes along axis 0 of 'x', which is n and was 1 in the trace"},
      {"x: float32[2,3]", "c = float32[2,3]{1, 2, 3, 4, 5, 6} y = add(x, c)",
       "constant 'c' has 2 rows along axis 0 for 'n', which are not all the same"},
      {"x: float32[2,3], z: float32[2,3]", "y = add(x, z)", "'z' has the fixed size 2 of 'n'"},
      {"x: float32[3,2]", "s = int64[2]{2, 3} y = reshape(x, s)", "whole sizes"},
      {"x: float32[2,3,4]",
       "s = int64[2]{6, 4} a = reshape(x, s) p = int64[1]{0} y = reduce_sum(a, p) { keepdims = 0 }",
       "computes along axis 0 of 'a', which is 3*n"},
  };
  for (const auto& row : rows) {
    auto graph = ParseIr(row.inputs, row.lines, "y");
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::vector<std::string> warnings;
    const absl::Status made = MakeSymbolic(**graph, {{(*graph)->inputs()[0], 0, "n"}}, &warnings);
    EXPECT_EQ(made.code(), absl::StatusCode::kFailedPrecondition) << row.lines;
    EXPECT_THAT(std::string(made.message()), ::testing::HasSubstr(row.message)) << row.lines;
  }
}

// The position behind 7 words that were before may be what is added, or it may not.
TEST(TracedSizes, NumbersThatMayBeTheSizeAreToldOf) {
  const struct {
    const char *inputs, *lines, *warning;
  } rows[] = {
      {"x: float32[7,3], k: int64[1]", "p = int64[]{7} q = add(k, p) y = neg(q)",
       "axis 0 of 'x' was 7 when the program was traced"},
      {"x: float32[7,3], k: int64[1]", "p = int64[]{8} q = add(k, p) y = neg(q)", ""},
      {"x: float32[3,3], k: int64[1]", "p = int64[]{3} q = add(k, p) y = neg(q)", ""},
      {"x: float32[7,3], k: float32[1]", "p = int64[1]{7} y = expand(k, p)", ""},
  };
  for (const auto& row : rows) {
    auto graph = ParseIr(row.inputs, row.lines, "y");
    ASSERT_TRUE(graph.ok()) << graph.status();
    std::vector<std::string> warnings;
    const absl::Status made = MakeSymbolic(**graph, {{(*graph)->inputs()[0], 0, "n"}}, &warnings);
    ASSERT_TRUE(made.ok()) << made;
    ASSERT_EQ(warnings.size(), *row.warning ? 1u : 0u) << row.lines;
    for (const std::string& warning : warnings) {
      EXPECT_THAT(warning, ::testing::HasSubstr(row.warning));
    }
  }
}

// Real networks, traced with one element: two at once give what each gives by itself.
TEST(TracedSizes, TwoElementsAreTwoHalves) {
  namespace fs = std::filesystem;
  const fs::path models = Shared("models");
  if (models.empty()) GTEST_SKIP() << kNotShared;
  for (const char* name : {"bert_tiny", "convnext_tiny_2stage", "distilbert_tiny", "unet_tiny",
                           "vit_tiny", "squeezenet1_1"}) {
    SCOPED_TRACE(name);
    const std::string path = (models / name / "model.pt2").string();
    auto one = Import(path);
    ASSERT_TRUE(one.ok()) << one.status();
    ImportOptions options;
    for (const Value* input : one->graph->inputs()) {
      ASSERT_EQ((*input->shape())[0], Dim(1));
      options.dynamic.push_back({input->name(), 0, "batch"});
    }
    auto many = Import(path, options);
    ASSERT_TRUE(many.ok()) << many.status();
    std::vector<std::vector<Datum>> halves;
    IoCase both;
    for (const uint64_t seed : {1, 2}) {
      auto io = RandomCase(*one->graph, seed, nullptr);
      ASSERT_TRUE(io.ok()) << io.status();
      auto results = RunCase(*one->graph, *io);
      ASSERT_TRUE(results.ok()) << results.status();
      halves.push_back(*std::move(results));
      if (seed == 1) {
        both = *io;
        continue;
      }
      for (size_t i = 0; i < io->inputs.size(); ++i) {
        const Tensor &a = *both.inputs[i], &b = *io->inputs[i];
        std::vector<int64_t> dims = a.dims();
        dims[0] = 2;
        Tensor joined = Tensor::Zeros(a.dtype(), dims);
        std::copy(a.bytes().begin(), a.bytes().end(), joined.mutable_bytes().begin());
        std::copy(b.bytes().begin(), b.bytes().end(),
                  joined.mutable_bytes().begin() + static_cast<ptrdiff_t>(a.bytes().size()));
        both.inputs[i] = std::move(joined);
      }
    }
    auto got = RunCase(*many->graph, both);
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->size(); ++i) {
      const Tensor& all = *(*got)[i].tensor();
      const int64_t size = halves[0][i].tensor()->num_elements();
      ASSERT_EQ(all.num_elements(), 2 * size);
      for (int64_t k = 0; k < 2 * size; ++k) {
        const double want = halves[static_cast<size_t>(k / size)][i].tensor()->AsDouble(k % size);
        ASSERT_NEAR(all.AsDouble(k), want, 1e-4 * std::max(1.0, std::abs(want))) << k;
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
