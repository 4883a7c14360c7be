// What callers of language models seldom give, by the names and sizes of the other inputs.
#include "x2ir/core/usual_inputs.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct UsualRow {
  const char* name;
  DType dtype;
  std::vector<std::string> dims;  // names or numbers
};

void AddInputs(Graph& graph, const std::vector<UsualRow>& rows) {
  for (const UsualRow& row : rows) {
    Shape shape;
    for (const std::string& dim : row.dims) shape.Append(Dim::Symbol(dim));
    graph.AddInput(row.name, Type::Tensor(row.dtype, shape));
  }
}

std::string NumbersOf(const std::optional<Tensor>& tensor) {
  if (!tensor) return "missing";
  std::string text = StrCat(tensor->type().ToString(), ":");
  for (int64_t i = 0; i < tensor->num_elements(); ++i) StrAppend(&text, " ", tensor->AsDouble(i));
  return text;
}

TEST(UsualInputs, AreMadeOfTheSizesOfTheOthers) {
  const std::string all = "past_sequence_length + sequence_length";
  Graph graph;
  AddInputs(graph, {
                       {"input_ids", DType::kInt64, {"batch_size", "sequence_length"}},
                       {"attention_mask", DType::kInt64, {"batch_size", all}},
                       {"position_ids", DType::kInt64, {"batch_size", "sequence_length"}},
                       {"token_type_ids", DType::kInt64, {"batch_size", "sequence_length"}},
                       {"past_key_values.0.key",
                        DType::kFloat32,
                        {"batch_size", "2", "past_sequence_length", "1"}},
                       {"other", DType::kInt64, {"batch_size"}},
                   });
  std::vector<std::optional<Tensor>> given(6);
  given[0] = Tensor::Zeros(DType::kInt64, {1, 3});
  auto first = WithUsualInputs(graph, given);
  EXPECT_EQ(NumbersOf(first[1]), "int64[1,3]: 1 1 1");
  EXPECT_EQ(NumbersOf(first[2]), "int64[1,3]: 0 1 2");
  EXPECT_EQ(NumbersOf(first[3]), "int64[1,3]: 0 0 0");
  EXPECT_EQ(NumbersOf(first[4]), "float32[1,2,0,1]:");
  EXPECT_EQ(NumbersOf(first[5]), "missing");
  // A step after two others.
  given[0] = Tensor::Zeros(DType::kInt64, {1, 1});
  given[4] = Tensor::Zeros(DType::kFloat32, {1, 2, 2, 1});
  const auto later = WithUsualInputs(graph, given);
  EXPECT_EQ(NumbersOf(later[1]), "int64[1,3]: 1 1 1");
  EXPECT_EQ(NumbersOf(later[2]), "int64[1,1]: 2");
  // What is given stays.
  given[2] = Tensor::Vector({7}).Reshaped({1, 1});
  EXPECT_EQ(NumbersOf(WithUsualInputs(graph, given)[2]), "int64[1,1]: 7");
}

TEST(UsualInputs, AreMadeWhereATargetHasOtherNamesForSizes) {
  Graph graph;
  AddInputs(
      graph,
      {
          {"input_ids", DType::kInt64, {"s0", "s1"}},
          {"attention_mask", DType::kInt64, {"past_key_values_0_key_0", "m1"}},
          {"past_key_values_0_key", DType::kFloat32, {"past_key_values_0_key_0", "2", "s2", "1"}},
      });
  std::vector<std::optional<Tensor>> given(3);
  given[0] = Tensor::Zeros(DType::kInt64, {2, 2});
  const auto made = WithUsualInputs(graph, given);
  EXPECT_EQ(NumbersOf(made[1]), "int64[2,2]: 1 1 1 1");
  EXPECT_EQ(NumbersOf(made[2]), "float32[2,2,0,1]:");
}

TEST(UsualInputs, NothingIsMadeOfUnknownSizes) {
  Graph graph;
  AddInputs(graph, {{"x", DType::kFloat32, {"n"}}, {"attention_mask", DType::kInt64, {"b", "t"}}});
  std::vector<std::optional<Tensor>> given(2);
  given[0] = Tensor::Zeros(DType::kFloat32, {4});
  EXPECT_EQ(NumbersOf(WithUsualInputs(graph, given)[1]), "missing");
}

TEST(UsualInputs, StatesAreKnownByName) {
  EXPECT_TRUE(IsModelState("present.0.key"));
  EXPECT_TRUE(IsModelState("present_ssm.3"));
  EXPECT_FALSE(IsModelState("logits"));
  EXPECT_FALSE(IsModelState("presentation"));
}

}  // namespace
}  // namespace x2ir
