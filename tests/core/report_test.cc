// The report: failures grouped by op, as text, as a status and as JSON.
#include "x2ir/core/report.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Report Sample() {
  Report report;
  for (int i = 0; i < 7; ++i) {
    report.AddFailure("onnx.Foo", "foo" + std::to_string(i), absl::NotFoundError("no mapping"), "");
  }
  report.AddFailure("onnx.Bar", "the \"bar\"\n\x01", absl::UnimplementedError("only 2-D"),
                    "opset 20 has it");
  return report;
}

TEST(Report, GroupsByOpAndReason) {
  Report report = Sample();
  ASSERT_EQ(report.failures.size(), 2);
  EXPECT_EQ(report.failures[0].count, 7);
  EXPECT_THAT(report.failures[0].nodes,
              ElementsAre("foo0", "foo1", "foo2", "foo3", "foo4", "foo5", "foo6"));
  EXPECT_THAT(report.FailuresText(), HasSubstr("'foo4', ..."));
  EXPECT_THAT(report.FailuresText(100), HasSubstr("'foo6'\n"));
  EXPECT_EQ(report.failures[0].reason, "no mapping");
  EXPECT_EQ(report.failures[1].code, absl::StatusCode::kUnimplemented);
  report.AddFailure("onnx.Foo", "foo7", NotFound("another reason"), "");
  ASSERT_EQ(report.failures.size(), 3);
  EXPECT_EQ(report.failures[2].reason, "another reason");
  EXPECT_THAT(std::string(report.ToStatus("cannot").message()), HasSubstr("2 ops (9 nodes)"));
  // Reasons that are each node's own do not pile up without end.
  for (int i = 0; i < 1000; ++i) {
    report.AddFailure("onnx.Foo", "n", NotFound(StrCat("reason ", i)), "");
  }
  EXPECT_LT(report.failures.size(), 60);
  EXPECT_EQ(report.failures.back().count, 1000 - 48);
  // A report may go on after its failures were told of.
  report.ClearFailures();
  EXPECT_TRUE(report.ToStatus("cannot").ok());
  report.AddFailure("onnx.Foo", "foo7", NotFound("another reason"), "");
  EXPECT_EQ(report.failures.size(), 1);
}

TEST(Report, IsAStatus) {
  EXPECT_TRUE(Report().ToStatus("cannot").ok());
  const absl::Status status = Sample().ToStatus("cannot convert");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  const std::string message(status.message());
  for (const char* part :
       {"cannot convert: 2 ops (8 nodes)", "onnx.Foo (7 nodes): no mapping", "'foo0', 'foo1'",
        "...", "onnx.Bar (1 node): only 2-D; opset 20 has it"}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
  EXPECT_EQ(Report().FailuresText(), "");
}

// The opset that would do is a field, whatever is put before the message.
TEST(Report, KnowsTheFirstVersionThatCanExpressAll) {
  const absl::Status later = CannotExpress("mode 'x'", FirstVersion{18});
  EXPECT_EQ(later.message(), "mode 'x'; opset 18 has it");
  EXPECT_EQ(FirstVersionOf(Annotate(later, "node 'n'")), 18);
  EXPECT_EQ(FirstVersionOf(CannotExpress("mode 'x'", FirstVersion{})), 0);
  EXPECT_EQ(CannotExpress("y", FirstVersion{19, "allows it"}).message(), "y; opset 19 allows it");
  EXPECT_EQ(EarlierVersion(0, 7), 7);
  EXPECT_EQ(EarlierVersion(9, 7), 7);
  EXPECT_EQ(EarlierVersion(9, 0), 9);
  Report report;
  report.AddFailure("a", "n", later, "");
  report.AddFailure("b", "n", CannotExpress("y", FirstVersion{20}), "");
  EXPECT_EQ(report.LeastSufficientOpset(), 20);
  EXPECT_EQ(nlohmann::json::parse(report.ToJson())["failures"][0]["since_opset"], 18);
  report.AddFailure("c", "n", CannotExpress("opset 21 has it, say words alone"), "");
  EXPECT_EQ(report.LeastSufficientOpset(), 0);
}

TEST(Report, Counts) {
  Report report;
  report.ops["a"] = {3, 1, 0};
  report.ops["b"] = {4, 0, 2};
  EXPECT_EQ(report.mapped(), 7);
  EXPECT_EQ(report.foreign(), 1);
}

TEST(Report, IsJson) {
  Report report = Sample();
  report.nodes_read = 9;
  report.nodes_written = 1;
  report.ops["onnx.Relu"] = {1, 2, 3};
  report.ops_read = {{"onnx.Relu", 6}, {"onnx.\"\xff", 1}};
  report.ops_written = {{"tflite.RELU", 5}};
  report.warnings.push_back("look \\ here");
  report.passes.push_back({"dead_code", 4, 0.5});
  const auto json = nlohmann::json::parse(report.ToJson(), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << report.ToJson();
  EXPECT_EQ(json["nodes_read"], 9);
  EXPECT_EQ(json["nodes_written"], 1);
  EXPECT_EQ(json["ops"]["onnx.Relu"]["mapped"], 1);
  EXPECT_EQ(json["ops"]["onnx.Relu"]["foreign"], 2);
  EXPECT_EQ(json["ops"]["onnx.Relu"]["lowered"], 3);
  EXPECT_EQ(json["ops_read"]["onnx.Relu"], 6);
  EXPECT_EQ(json["ops_read"].size(), 2u);
  EXPECT_EQ(json["ops_written"]["tflite.RELU"], 5);
  EXPECT_EQ(json["failures"][0]["op"], "onnx.Foo");
  EXPECT_EQ(json["failures"][0]["code"], "NOT_FOUND");
  EXPECT_EQ(json["failures"][0]["count"], 7);
  EXPECT_EQ(json["failures"][1]["nodes"][0], "the \"bar\"\n\x01");
  EXPECT_EQ(json["failures"][1]["hint"], "opset 20 has it");
  EXPECT_EQ(json["warnings"][0], "look \\ here");
  EXPECT_EQ(json["passes"][0]["name"], "dead_code");
  EXPECT_EQ(json["passes"][0]["changes"], 4);
  const auto empty = nlohmann::json::parse(Report().ToJson(), nullptr, false);
  EXPECT_FALSE(empty.is_discarded());
}

// A node's name may be any bytes; the report stays JSON all the same.
TEST(Report, IsJsonWhateverTheNames) {
  Report report;
  report.AddFailure("onnx.Foo", "caf\xc3\xa9", absl::NotFoundError("no mapping"), "");
  report.AddFailure("onnx.Foo", "broken \xff\xfe utf-8 \xc3", absl::NotFoundError("no mapping"),
                    "");
  const auto json = nlohmann::json::parse(report.ToJson(), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << report.ToJson();
  EXPECT_EQ(json["failures"][0]["nodes"][0], "caf\xc3\xa9");
}

}  // namespace
}  // namespace x2ir
