// ai.onnx.ml: the versions of a domain of its own, and forms that are no mere rows.
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/schema_table.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

ConvertTextOptions At(int version) {
  ConvertTextOptions options;
  options.extra_opsets = {{"ai.onnx.ml", version}};
  return options;
}

std::string OnnxNode(std::string_view type, std::string_view op, std::string_view attrs) {
  return StrCat("graph g(x: ", type, ") -> (y) { y = onnx.ai.onnx.ml::", op, "(x) { ", attrs,
                " } }");
}

TEST(MlForms, LabelEncoder) {
  struct Row {
    int from, to;  // versions
    std::string_view type, attrs, want;
  };
  constexpr std::string_view kSame = "same";
  const Row rows[] = {
      {1, 1, "string[n]", "classes_strings = [\"a\", \"b\"]", kSame},
      {1, 1, "int64[n]", "classes_strings = [\"a\", \"b\"], default_string = \"c\"", kSame},
      {1, 2, "string[n]", "classes_strings = [\"a\", \"b\"], default_int64 = 7",
       "default_int64 = 7, keys_strings = [\"a\", \"b\"], values_int64s = [0, 1]"},
      {1, 4, "int64[n]", "classes_strings = [\"a\", \"b\"]",
       "keys_int64s = [0, 1], values_strings = [\"a\", \"b\"]"},
      {1, 2, "string[n]", "classes_strings = [\"a\", \"b\", \"a\"]",
       "keys_strings = [\"b\", \"a\"], values_int64s = [1, 2]"},
      {2, 2, "float32[n]", "default_int64 = 3, keys_floats = [0.5], values_int64s = [4]", kSame},
      {2, 1, "int64[n]", "keys_int64s = [0, 1], values_strings = [\"a\", \"a\"]",
       "classes_strings = [\"a\", \"a\"]"},
      {2, 1, "int64[n]", "keys_int64s = [0, 2], values_strings = [\"a\", \"b\"]",
       "error positions"},
      {4, 4, "float64[n]",
       "default_tensor = tensor(int16[1]{3}), keys_tensor = tensor(float64[1]{1}), "
       "values_tensor = tensor(int16[1]{2})",
       kSame},
      {4, 2, "float64[n]",
       "keys_tensor = tensor(float64[1]{1}), values_tensor = tensor(int16[1]{2})",
       "error version 4 of ai.onnx.ml"},
      {4, 2, "int64[n]", "keys_tensor = tensor(int64[1]{1}), values_tensor = tensor(int64[1]{2})",
       "keys_int64s = [1], values_int64s = [2]"},
      {4, 4, "int64[n]", "keys_int64s = [1]", "error values_*"},
      {4, 4, "int64[n]", "keys_int64s = [1], keys_strings = [\"a\"], values_int64s = [2]",
       "error keys_*"},
      {4, 4, "int64[n]", "keys_int64s = [1, 2], values_int64s = [2]", "error 2 keys for 1"},
      {2, 2, "string[n]", "keys_int64s = [1], values_int64s = [2]", "error int64"},
  };
  for (const Row& row : rows) {
    const std::string text = OnnxNode(row.type, "LabelEncoder", row.attrs);
    auto model = ModelFromText(text, "onnx", 17, {{"ai.onnx.ml", row.from}});
    ASSERT_TRUE(model.ok()) << model.status();
    absl::Status status = ToIr(*model);
    ExportOptions options;
    options.extra_opsets = {{"ai.onnx.ml", row.to}};
    if (status.ok()) status = FromIr(*model, "onnx", options);
    if (row.want.substr(0, 6) == "error ") {
      EXPECT_THAT(status.ToString(), HasSubstr(std::string(row.want.substr(6)))) << text;
      continue;
    }
    ASSERT_TRUE(status.ok()) << text << status;
    std::string attrs;
    for (const auto& [name, attr] : (*model->graph->nodes().begin())->attrs()) {
      StrAppend(&attrs, attrs.empty() ? "" : ", ", name.str(), " = ", attr.ToString());
    }
    EXPECT_EQ(attrs, row.want == kSame ? row.attrs : row.want) << text;
  }
}

TEST(MlForms, DoublesOfTrees) {
  const std::string doubles = OnnxNode("float64[n,2]", "TreeEnsembleRegressor",
                                       "base_values_as_tensor = tensor(float64[1]{0.5}), "
                                       "n_targets = 1");
  EXPECT_EQ(Body(ThereAndBackText(doubles, 17, 0, At(3))), Body(Canonical(doubles)));
  auto model = ModelFromText(doubles, "onnx", 17, {{"ai.onnx.ml", 3}});
  ASSERT_TRUE(ToIr(*model).ok());
  ExportOptions options;
  options.extra_opsets = {{"ai.onnx.ml", 1}};
  EXPECT_THAT(FromIr(*model, "onnx", options).ToString(), HasSubstr("version 3 of ai.onnx.ml"));
  EXPECT_THAT(ToIrText(OnnxNode("float64[n,2]", "TreeEnsembleRegressor",
                                "base_values_as_tensor = tensor(float64[1]{0.5}), "
                                "base_values = [0.5], n_targets = 1"),
                       17, At(3)),
              HasSubstr("both base_values and"));
}

constexpr std::string_view kEnsemble =
    "leaf_targetids = [0, 0], leaf_weights = tensor(float32[2]{1, 2}), n_targets = 1, "
    "nodes_falseleafs = [1], nodes_falsenodeids = [1], nodes_featureids = [0], nodes_modes = "
    "tensor(uint8[1]{3}), nodes_splits = tensor(float32[1]{2}), nodes_trueleafs = [1], "
    "nodes_truenodeids = [0], tree_roots = [0]";

TEST(MlForms, TreeEnsemble) {
  const std::string text = OnnxNode("float32[n,1]", "TreeEnsemble", kEnsemble);
  EXPECT_THAT(ToIrText(text, 21, At(5)), HasSubstr("nodes_modes = [\"BRANCH_GT\"]"));
  EXPECT_THAT(ToIrText(text, 21, At(5)), HasSubstr("aggregate_function = \"SUM\""));
  const std::string back = ThereAndBackText(text, 21, 0, At(5));
  EXPECT_THAT(back, HasSubstr("nodes_modes = tensor(uint8[1]{3})"));
  EXPECT_EQ(ToIrText(back, 21, At(5)), ToIrText(text, 21, At(5)));
  for (const char* wrong : {"post_transform = 5", "aggregate_function = -1"}) {
    const std::string bad =
        OnnxNode("float32[n,1]", "TreeEnsemble", StrCat(kEnsemble, ", ", wrong));
    EXPECT_THAT(ToIrText(bad, 21, At(5)), HasSubstr("INVALID_ARGUMENT")) << wrong;
  }
  EXPECT_THAT(ToIrText(text, 21, At(4)), HasSubstr("does not exist at opset 4"));
}

// --- The domain's versions ------------------------------------------------------------------

constexpr std::string_view kNormalizer =
    "graph g(x: float32[n,2]) -> (y) { y = ml_normalizer(x) { norm = \"L1\" } }";

absl::StatusOr<Model> FromIrModel(std::string_view text, int opset,
                                  std::vector<OpsetImport> extra = {}) {
  X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(text, kIrDialect, 0));
  ExportOptions options;
  options.opset = opset;
  options.extra_opsets = std::move(extra);
  options.check = true;
  X2IR_RETURN_IF_ERROR(FromIr(model, "onnx", options));
  return model;
}

TEST(MlDomain, IsImportedWhereItIsNeeded) {
  struct Row {
    int opset, ml, ir_version;
  };
  for (const Row& row : {Row{7, 1, 3}, {11, 2, 6}, {17, 3, 8}, {20, 4, 9}, {28, 5, 13}}) {
    const auto model = FromIrModel(kNormalizer, row.opset);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->Opset("ai.onnx.ml"), row.ml);
    EXPECT_EQ(model->ir_version, row.ir_version);
  }
  const auto plain = FromIrModel("graph g(x: float32[2]) -> (y) { y = relu(x) }", 17);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->Opset("ai.onnx.ml"), 0);
}

TEST(MlDomain, CanBeChosen) {
  const auto model = FromIrModel(kNormalizer, 11, {{"ai.onnx.ml", 5}});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->Opset("ai.onnx.ml"), 5);
  EXPECT_EQ(model->ir_version, 10);  // the first that had version 5
  EXPECT_THAT(FromIrModel(kNormalizer, 11, {{"ai.onnx.ml", 6}}).status().ToString(),
              HasSubstr("there is no version 6 of ai.onnx.ml; expected 1 to 5"));
}

TEST(MlDomain, TheModelsOwnVersionStays) {
  auto model =
      ModelFromText(OnnxNode("float32[n,2]", "Normalizer", ""), "onnx", 21, {{"ai.onnx.ml", 2}});
  ASSERT_TRUE(model.ok() && ToIr(*model).ok());
  ExportOptions options;
  options.opset = 17;
  ASSERT_TRUE(FromIr(*model, "onnx", options).ok());
  EXPECT_EQ(model->Opset("ai.onnx.ml"), 2);
}

TEST(MlDomain, Errors) {
  const std::string ensemble = OnnxNode("float32[n,1]", "TreeEnsemble", kEnsemble);
  auto model = ModelFromText(ensemble, "onnx", 21, {{"ai.onnx.ml", 5}});
  ASSERT_TRUE(model.ok() && ToIr(*model).ok());
  ExportOptions options;
  options.extra_opsets = {{"ai.onnx.ml", 3}};
  EXPECT_THAT(FromIr(*model, "onnx", options).ToString(),
              HasSubstr("cannot be expressed at version 3 of ai.onnx.ml; version 5 has it"));
  EXPECT_THAT(ToIrText(OnnxNode("float32[n,2]", "Normalizer", ""), 17, At(6)),
              HasSubstr("version 6 of ai.onnx.ml; the newest that is known is 5"));
  EXPECT_THAT(ToIrText(OnnxNode("float32[n,2]", "TreeEnsembleRegressor", ""), 21, At(5)),
              HasSubstr("is deprecated since opset 5"));
}

// What could not be converted and was kept is not written at a version where it is another op.
TEST(MlDomain, ForeignOpsAreOfTheirVersion) {
  const std::string text =
      OnnxNode("string[n]", "LabelEncoder", "keys_int64s = [1], values_int64s = [2]");
  for (const int to : {2, 3, 4}) {
    auto model = ModelFromText(text, "onnx", 17, {{"ai.onnx.ml", 2}});
    ASSERT_TRUE(model.ok());
    ImportOptions keep;
    keep.foreign.domains = {"ai.onnx.ml"};
    ASSERT_TRUE(ToIr(*model, keep).ok());
    ExportOptions options;
    options.extra_opsets = {{"ai.onnx.ml", to}};
    EXPECT_EQ(FromIr(*model, "onnx", options).ok(), to < 4) << to;
  }
}

TEST(MlDomain, EveryOpHasAForm) {
  for (const OnnxSchema& schema : AllOnnxSchemas()) {
    if (schema.domain() != "ai.onnx.ml" || schema.deprecated) continue;
    const std::string op = StrCat("ai.onnx.ml::", schema.name());
    EXPECT_NE(FindImportForm("onnx", op, schema.since), nullptr) << op << " " << schema.since;
  }
}

}  // namespace
}  // namespace x2ir
