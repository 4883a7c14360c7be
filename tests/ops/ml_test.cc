// Classical machine learning: edges and malformed models. That the numbers are ONNX Runtime's is
// checked in tests/handlers/onnx/ml_oracle_test.cc.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

TEST(MlFeatures, Eval) {
  const EvalRow rows[] = {
      {"x = float32[0,3]{}\n y = ml_normalizer(x)", "float32[0,3]{}"},
      {"x = float32[2,0]{}\n y = ml_normalizer(x)", "float32[2,0]{}"},
      {"x = float32[]{1}\n y = ml_normalizer(x)", "error rank 0"},
      {"x = float32[1]{1}\n y = ml_normalizer(x) { norm = \"L3\" }", "error L3"},
      {"x = string[1]{\"a\"}\n y = ml_normalizer(x)", "error numbers"},
      {"x = float32[2]{1, 2}\n y = ml_scaler(x) { offset = [1.0], scale = [1.0, 2.0] }",
       "error 1 offsets for 2 scales"},
      {"x = float32[2]{1, 2}\n y = ml_scaler(x)", "error at least one"},
      {"x = float32[3]{1, 2, 3}\n y = ml_scaler(x) { offset = [1.0, 1.0], scale = [1.0, 2.0] }",
       "error expected 1 or 3"},
      {"x = int64[1,1,2]{5, 3}\n y = ml_scaler(x) { offset = [1.0], scale = [2.0] }",
       "float32[1,1,2]{8, 4}"},
      {"x = float64[3]{nan, 0.25, -1}\n y = binarizer(x)", "float64[3]{0, 1, 0}"},
      {"x = int64[2]{16777217, 16777216}\n y = binarizer(x) { threshold = 16777216.0 }",
       "int64[2]{1, 0}"},
      {"x = float64[2]{1, nan}\n y = imputer(x) { imputed_value_floats = [2.0], "
       "replaced_value_float = nan }",
       "float64[2]{1, 2}"},
      {"x = int32[2]{1, 0}\n y = imputer(x) { imputed_value_int64s = [5] }", "int32[2]{1, 5}"},
      {"x = int32[1]{1}\n y = imputer(x) { imputed_value_int64s = [5000000000] }", "error range"},
      {"x = int32[1]{1}\n y = imputer(x) { imputed_value_floats = [5.0] }", "error float"},
      {"x = float32[3]{1, 2, 3}\n y = imputer(x) { imputed_value_floats = [5.0, 6.0] }",
       "error expected 1 or 3"},
      {"x = float32[1]{1}\n y = imputer(x)", "error no imputed values"},
      {"x = int32[]{3}\n y = one_hot_encoder(x) { cats_int64s = [2, 3] }", "float32[2]{0, 1}"},
      {"x = float32[1]{nan}\n y = one_hot_encoder(x) { cats_int64s = [0] }", "float32[1,1]{0}"},
      {"x = int64[1]{9}\n y = one_hot_encoder(x) { cats_int64s = [2], zeros = 0 }",
       "error no category"},
      {"x = int64[1]{9}\n y = one_hot_encoder(x) { cats_strings = [\"9\"] }", "error categories"},
      {"x = int64[1]{9}\n y = one_hot_encoder(x)", "error got none"},
      {"x = int64[1]{9}\n y = one_hot_encoder(x) { cats_strings = [\"9\"], cats_int64s = [1] }",
       "error both"},
      {"x = string[2,2]{\"a\", \"b\", \"c\", \"d\"}\n i = int64[]{1}\n "
       "y = array_feature_extractor(x, i)",
       "string[2,1]{\"b\", \"d\"}"},
      {"x = int64[0,2]{}\n i = int64[1]{1}\n y = array_feature_extractor(x, i)", "int64[0,1]{}"},
      {"x = int64[2]{1, 2}\n i = int64[1]{2}\n y = array_feature_extractor(x, i)", "error index 2"},
      {"x = int64[2]{1, 2}\n i = int64[1]{-1}\n y = array_feature_extractor(x, i)",
       "error index -1"},
      {"x = int64[2]{1, 2}\n i = int64[0]{}\n y = array_feature_extractor(x, i)",
       "error at least one"},
      {"a = int64[2,2]{1, 2, 3, 4}\n b = float32[2]{5, 6}\n "
       "y = feature_vectorizer(a, b) { inputdimensions = [1, 1] }",
       "error "},
      {"a = int64[2,1]{1, 2}\n b = float32[2,2]{5, 6, 7, 8}\n "
       "y = feature_vectorizer(a, b) { inputdimensions = [2, 1] }",
       "float32[2,3]{1, 0, 5, 2, 0, 7}"},
      {"a = int64[2,1]{1, 2}\n y = feature_vectorizer(a) { inputdimensions = [1, 1] }",
       "error 2 inputdimensions"},
      {"a = int64[2,1]{1, 2}\n y = feature_vectorizer(a) { inputdimensions = [-1] }", "error -1"},
  };
  ExpectRows(rows);
}

TEST(MlLabels, Eval) {
  const EvalRow rows[] = {
      {"x = int16[0,2]{}\n y = label_encoder(x) { keys = tensor(int16[1]{1}), "
       "values = tensor(string[1]{\"a\"}), default = tensor(string[]{\"z\"}) }",
       "string[0,2]{}"},
      {"x = int16[]{1}\n y = label_encoder(x) { keys = tensor(int16[0]{}), "
       "values = tensor(string[0]{}), default = tensor(string[]{\"z\"}) }",
       "string[]{\"z\"}"},
      {"x = int16[]{1}\n y = label_encoder(x) { keys = tensor(int16[2]{1, 2}), "
       "values = tensor(string[1]{\"a\"}), default = tensor(string[]{\"z\"}) }",
       "error 2 keys for 1"},
      {"x = int32[]{1}\n y = label_encoder(x) { keys = tensor(int16[1]{1}), "
       "values = tensor(int64[1]{1}), default = tensor(int64[]{2}) }",
       "error int16"},
      {"x = int16[]{1}\n y = label_encoder(x) { keys = tensor(int16[1]{1}), "
       "values = tensor(int64[1]{1}), default = tensor(string[]{\"z\"}) }",
       "error default"},
      {"x = int64[1]{1}\n y = category_mapper(x) { cats_int64s = [1], cats_strings = [\"a\", "
       "\"b\"] }",
       "error 2 cats_strings for 1"},
      {"x = float32[1]{1}\n y = category_mapper(x)", "error float32"},
      {"x = string[1]{\"q\"}\n y = category_mapper(x)", "int64[1]{-1}"},
  };
  ExpectRows(rows);
}

TEST(MlLinear, Eval) {
  const EvalRow rows[] = {
      {"x = float32[0,2]{}\n y = linear_regressor(x) { coefficients = [1.0, 2.0] }",
       "float32[0,1]{}"},
      {"x = int64[2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0] }",
       "float32[1,1]{11}"},
      {"x = int64[3]{3, 4, 5}\n y = linear_regressor(x) { coefficients = [1.0, 2.0] }",
       "error 2 coefficients for 1 targets of 3"},
      {"x = int64[2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0], targets = 0 }",
       "error targets: 0"},
      {"x = int64[2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0], "
       "targets = 9223372036854775807 }",
       "error coefficients"},
      {"x = int64[2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0], "
       "intercepts = [1.0, 2.0] }",
       "error 2 intercepts"},
      {"x = int64[2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0], "
       "post_transform = \"SIGMOID\" }",
       "error post_transform"},
      {"x = int64[1,1,2]{3, 4}\n y = linear_regressor(x) { coefficients = [1.0, 2.0] }",
       "error rank 3"},
      {"x = float32[0,2]{}\n y, z = linear_classifier(x) { coefficients = [1.0, 2.0], "
       "intercepts = [1.0], classlabels_strings = [\"a\", \"b\"] }",
       "string[0]{}; float32[0,2]{}", "y, z"},
      {"x = float32[2]{1, 1}\n y, z = linear_classifier(x) { coefficients = [1.0, 2.0, 3.0, 4.0], "
       "intercepts = [1.0, 1.0], classlabels_ints = [1] }",
       "error 1 class labels for 2"},
      {"x = float32[2]{1, 1}\n y, z = linear_classifier(x) { coefficients = [1.0, 2.0], "
       "intercepts = [1.0], classlabels_ints = [1, 2, 3] }",
       "error 3 class labels for 1"},
      {"x = float32[2]{nan, 1}\n y, z = linear_classifier(x) { coefficients = [1.0, 2.0, 1.0, "
       "1.0], "
       "intercepts = [1.0, 1.0], classlabels_ints = [4, 5] }",
       "int64[1]{4}; float32[1,2]{nan, nan}", "y, z"},
      {"x = float32[0]{}\n y, z = linear_classifier(x) { coefficients = [], "
       "classlabels_ints = [4, 5] }",
       "error "},
      {"x = float32[1]{1}\n y, z = linear_classifier(x) { coefficients = [1.0], "
       "intercepts = [1.0], classlabels_ints = [4, 5], post_transform = \"PROBIT\" }",
       "error PROBIT"},
  };
  ExpectRows(rows);
}

TEST(MlSvm, Eval) {
  const EvalRow rows[] = {
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 2.0], rho = [0.5] }",
       "float32[1,1]{11.5}"},
      {"x = float32[3]{3, 4, 5}\n y = svm_regressor(x) { coefficients = [1.0, 2.0], rho = [0.5] }",
       "error expected 2 features"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { rho = [0.5] }", "error "},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 2.0] }", "error rho"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0], rho = [0.5], "
       "n_supports = 2, support_vectors = [1.0, 2.0, 3.0, 4.0] }",
       "error 1 coefficients for 2"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 1.0], rho = [0.5], "
       "n_supports = 2, support_vectors = [1.0, 2.0, 3.0] }",
       "error 3 numbers for 2"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 1.0], rho = [0.5], "
       "n_supports = -2 }",
       "error n_supports"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 1.0], rho = [0.5], "
       "kernel_params = [1.0] }",
       "error kernel_params"},
      {"x = float32[2]{3, 4}\n y = svm_regressor(x) { coefficients = [1.0, 1.0], rho = [0.5], "
       "kernel_type = \"CUBIC\" }",
       "error CUBIC"},
#define X2IR_SVC                                                                         \
  "coefficients = [1.0, -1.0], support_vectors = [1.0, 2.0], classlabels_ints = [4, 5]," \
  " vectors_per_class = "
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { " X2IR_SVC "[1, 1], rho = [0.5] }",
       "int64[1]{5}; float32[1,2]{2.5, -2.5}", "y, z"},
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { " X2IR_SVC "[1, 1, 1], rho = [0.5] }",
       "error "},
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { " X2IR_SVC "[3, -1], rho = [0.5] }",
       "error vectors_per_class: -1"},
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { " X2IR_SVC "[1, 1] }", "error rho"},
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { " X2IR_SVC
       "[1, 1], rho = [0.5], prob_a = [1.0] }",
       "error prob_a"},
      {"x = float32[1]{3}\n y, z = svm_classifier(x) { coefficients = [1.0], rho = [0.5] }",
       "error class labels"},
  };
  ExpectRows(rows);
}

// --- Trees ----------------------------------------------------------------------------------

// A regressor of three nodes: children, and what else is said.
std::string Regressor(std::string_view on_true, std::string_view on_false,
                      std::string_view more = "", std::string_view modes = "",
                      std::string_view ids = "[0, 1, 2]") {
  return StrCat(
      "x = float32[2,1]{1, 3}\n y = tree_ensemble_regressor(x) { n_targets = 1, "
      "nodes_treeids = [0, 0, 0], nodes_nodeids = ",
      ids, ", nodes_featureids = [0, 0, 0], nodes_values = tensor(float32[3]{2, 0, 0}), ",
      "nodes_modes = ", modes.empty() ? "[\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"]" : modes,
      ", nodes_truenodeids = ", on_true, ", nodes_falsenodeids = ", on_false,
      more.empty() ? ", target_nodeids = [1, 2], target_treeids = [0, 0], target_ids = "
                     "[0, 0], target_weights = tensor(float32[2]{5, 6})"
                   : more,
      " }");
}

TEST(MlTrees, Regressor) {
  constexpr std::string_view kBranches = "[\"BRANCH_LEQ\", \"BRANCH_LEQ\", \"LEAF\"]";
  const std::pair<std::string, std::string_view> rows[] = {
      {Regressor("[1, 0, 0]", "[2, 0, 0]"), "float32[2,1]{5, 6}"},
      {Regressor("[0, 0, 0]", "[2, 0, 0]"), "error cycle"},
      {Regressor("[1, 0, 0]", "[2, 2, 0]", "", kBranches), "error cycle"},
      {Regressor("[1, 0, 0]", "[3, 0, 0]"), "error no node 3"},
      {Regressor("[1, 0, 0]", "[-1, 0, 0]"), "error no node -1"},
      {Regressor("[1, 0]", "[2, 0, 0]"), "error nodes_truenodeids has 2"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]", "", "[\"BRANCH_LEQ\", \"LEAF\", \"LEAV\"]"),
       "error LEAV"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]", "", "", "[0, 1, 1]"), "error twice"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]",
                 ", target_nodeids = [1], target_treeids = [0, 0], target_ids = [0, 0], "
                 "target_weights = tensor(float32[2]{5, 6})"),
       "error target_nodeids has 1"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]",
                 ", target_nodeids = [1], target_treeids = [0], target_ids = [1], "
                 "target_weights = tensor(float32[1]{5})"),
       "error target 1 of 1"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]",
                 ", target_nodeids = [1], target_treeids = [0], target_ids = [-1], "
                 "target_weights = tensor(float32[1]{5})"),
       "error target -1"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]", ", base_values = tensor(float32[2]{5, 6})"),
       "error 2 base_values"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]", ", nodes_missing_value_tracks_true = [1]"),
       "error tracks_true has 1"},
      {Regressor("[1, 0, 0]", "[2, 0, 0]", ", aggregate_function = \"MEAN\""), "error MEAN"},
      {"x = float32[1]{1}\n y = tree_ensemble_regressor(x) { n_targets = 1 }", "error trees"},
      {"x = float32[1]{1}\n y = tree_ensemble_regressor(x) { n_targets = 0 }", "error n_targets"},
      // A tree that is one leaf, a leaf without a vote, a feature that x lacks.
      {"x = float32[0,1]{}\n y = tree_ensemble_regressor(x) { n_targets = 2, nodes_treeids = [7], "
       "nodes_nodeids = [3], nodes_featureids = [9], nodes_values = tensor(float32[1]{0}), "
       "nodes_modes = [\"LEAF\"], nodes_truenodeids = [0], nodes_falsenodeids = [0] }",
       "float32[0,2]{}"},
      {"x = float32[1,1]{0}\n y = tree_ensemble_regressor(x) { n_targets = 2, nodes_treeids = [7], "
       "nodes_nodeids = [3], nodes_featureids = [9], nodes_values = tensor(float32[1]{0}), "
       "nodes_modes = [\"LEAF\"], nodes_truenodeids = [0], nodes_falsenodeids = [0] }",
       "float32[1,2]{0, 0}"},
      {"x = float32[1,1]{0}\n y = tree_ensemble_regressor(x) { n_targets = 2, nodes_treeids = [7, "
       "7],"
       " nodes_nodeids = [3, 4], nodes_featureids = [9, 0], nodes_values = tensor(float32[2]{0, "
       "0}),"
       " nodes_modes = [\"BRANCH_LT\", \"LEAF\"], nodes_truenodeids = [4, 0], "
       "nodes_falsenodeids = [4, 0] }",
       "error feature 9 of 1"},
      {"x = float32[1,1]{0}\n y = tree_ensemble_regressor(x) { n_targets = 1, "
       "nodes_treeids = [0, 1, 0], nodes_nodeids = [0, 0, 1], nodes_featureids = [0, 0, 0], "
       "nodes_values = tensor(float32[3]{0, 0, 0}), nodes_modes = [\"LEAF\", \"LEAF\", \"LEAF\"], "
       "nodes_truenodeids = [0, 0, 0], nodes_falsenodeids = [0, 0, 0] }",
       "error one piece"},
  };
  for (const auto& [lines, want] : rows) ExpectText(EvalText(lines), want, lines);
}

// A chain as long as this would overflow the stack of a recursive walk.
TEST(MlTrees, DeepTree) {
  constexpr int kDepth = 100000;
  std::string ids, on_true, on_false, features, modes, zeros, trees;
  for (int i = 0; i <= 2 * kDepth; ++i) {
    const bool leaf = i >= kDepth;
    const char* comma = i > 0 ? "," : "";
    StrAppend(&ids, comma, i);
    StrAppend(&on_true, comma, leaf ? 0 : i + 1);
    StrAppend(&on_false, comma, leaf ? 0 : i + kDepth);
    StrAppend(&features, comma, 0);
    StrAppend(&modes, comma, leaf ? "\"LEAF\"" : "\"BRANCH_LEQ\"");
    StrAppend(&zeros, comma, 0);
    StrAppend(&trees, comma, 0);
  }
  const std::string lines = StrCat(
      "x = float32[1,1]{0}\n y = tree_ensemble_regressor(x) { n_targets = 1, nodes_treeids = [",
      trees, "], nodes_nodeids = [", ids, "], nodes_featureids = [", features,
      "], nodes_values = tensor(float32[", 2 * kDepth + 1, "]{", zeros, "}), nodes_modes = [",
      modes, "], nodes_truenodeids = [", on_true, "], nodes_falsenodeids = [", on_false,
      "], target_nodeids = [", kDepth,
      "], target_treeids = [0], target_ids = [0], target_weights = tensor(float32[1]{7}) }");
  EXPECT_EQ(EvalText(lines), "float32[1,1]{7}");
}

TEST(MlTrees, Classifier) {
#define X2IR_TREE                                                                        \
  "nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],"  \
  " nodes_values = tensor(float32[3]{2, 0, 0}), nodes_truenodeids = [1, 0, 0],"          \
  " nodes_falsenodeids = [2, 0, 0], nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"]," \
  " class_nodeids = [1, 2], class_treeids = [0, 0], class_weights = tensor(float32[2]{1, 2}),"
  const EvalRow rows[] = {
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 2], classlabels_strings = [\"a\", \"b\", \"c\"] }",
       "string[2]{\"a\", \"c\"}; float32[2,3]{1, 0, 0, 0, 0, 2}", "y, z"},
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 2], classlabels_strings = [\"a\", \"b\"] }",
       "error target 2 of 2"},
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 2] }",
       "error class labels"},
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 0], classlabels_strings = [\"a\"] }",
       "error single class"},
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 1], classlabels_int64s = [4, 5, 6], base_values = tensor(float32[1]{1}) }",
       "error 1 base_values"},
      {"x = int64[2,1]{1, 3}\n y, z = tree_ensemble_classifier(x) { " X2IR_TREE
       "class_ids = [0, 1], classlabels_int64s = [4, 5], base_values = tensor(float32[1]{1}) }",
       "error votes for both"},
  };
  ExpectRows(rows);
}

TEST(MlTrees, Ensemble) {
#define X2IR_ENSEMBLE(type)                              \
  "leaf_targetids = [0, 0], leaf_weights = tensor(" type \
  "[2]{1, 2}), nodes_falseleafs = [1],"                  \
  " nodes_featureids = [0], nodes_trueleafs = [1], nodes_truenodeids = [0], n_targets = 1, "
  const EvalRow rows[] = {
      {"x = float16[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float16") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_LEQ\"], "
                      "nodes_splits = tensor(float16[1]{2}), tree_roots = [0, 0] }",
       "float16[2,1]{2, 4}"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float16") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_LEQ\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [0] }",
       "error leaf_weights is of type float16"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float32") "nodes_falsenodeids = [2], nodes_modes = [\"BRANCH_LEQ\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [0] }",
       "error no leaf 2"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float32") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_LEQ\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [1] }",
       "error no node 1"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float32") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_MEMBER\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [0] }",
       "error membership_values"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float32") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_MEMBER\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [0], "
                      "membership_values = tensor(float32[4]{3, nan, 1, nan}) }",
       "error more than"},
      {"x = float32[2,1]{1, 3}\n y = tree_ensemble(x) { " X2IR_ENSEMBLE(
           "float32") "nodes_falsenodeids = [1], nodes_modes = [\"BRANCH_MEMBER\"], "
                      "nodes_splits = tensor(float32[1]{2}), tree_roots = [0], "
                      "membership_values = tensor(float32[3]{7, 3, nan}) }",
       "float32[2,1]{2, 1}"},
  };
  ExpectRows(rows);
}

// --- Maps -----------------------------------------------------------------------------------

using Entries = std::vector<std::pair<Datum, Datum>>;

// Runs "y = OP(m)" on a map.
std::string RunOnMap(std::string_view type, std::string_view op, const Entries& entries) {
  auto graph = ParseGraph(StrCat("graph g(m: ", type, ") -> (y) { y = ", op, " }"));
  if (!graph.ok()) return graph.status().ToString();
  if (absl::Status s = InferGraph(**graph); !s.ok()) return s.ToString();
  auto results = RunGraph(**graph, {Datum(std::make_shared<const DatumMap>(entries))});
  if (!results.ok()) return results.status().ToString();
  return Attribute(*(*results)[0].tensor()).ToString();
}

TEST(MlMaps, Eval) {
  auto s = [](const char* text) { return Datum(Tensor::Strings({}, {text})); };
  auto i = [](int64_t v) { return Datum(Tensor::Scalar<int64_t>(v)); };
  auto f = [](float v) { return Datum(Tensor::Scalar<float>(v)); };
  const Entries numbers = {{i(1), f(2.5f)}, {i(4), f(-1)}};
  const Entries words = {{s("a"), i(3)}, {s("c"), i(5)}};
  constexpr std::string_view kNumbers = "map(int64, float32[...])", kWords = "map(string, int64[])";
  struct MapRow {
    std::string_view type, op;
    const Entries& entries;
    std::string_view want;
  };
  const Entries none, texts = {{i(0), s("1.5")}}, negative = {{i(-1), f(1)}};
  const MapRow rows[] = {
      {kNumbers, "dict_vectorizer(m) { int64_vocabulary = [4, 2, 1, 4] }", numbers,
       "tensor(float32[1,4]{-1, 0, 2.5, -1})"},
      {kWords, "dict_vectorizer(m) { string_vocabulary = [\"c\", \"q\"] }", words,
       "tensor(int64[1,2]{5, 0})"},
      {kWords, "dict_vectorizer(m) { string_vocabulary = [\"c\"] }", none, "tensor(int64[1,1]{0})"},
      {kWords, "dict_vectorizer(m) { int64_vocabulary = [1] }", words, "vocabulary of int64"},
      {kNumbers, "cast_map(m) { cast_to = \"TO_FLOAT\", map_form = \"DENSE\", max_map = 1 }",
       numbers, "tensor(float32[1,2]{2.5, -1})"},
      {kNumbers, "cast_map(m) { cast_to = \"TO_INT64\", map_form = \"SPARSE\", max_map = 3 }",
       numbers, "tensor(int64[1,3]{0, 2, 0})"},
      {kNumbers, "cast_map(m) { cast_to = \"TO_STRING\", map_form = \"SPARSE\", max_map = 2 }",
       numbers, "tensor(string[1,2]{\"0.f\", \"2.500000\"})"},
      {"map(int64, string[...])",
       "cast_map(m) { cast_to = \"TO_FLOAT\", map_form = \"DENSE\", max_map = 1 }", texts,
       "tensor(float32[1,1]{1.5})"},
      {kNumbers, "cast_map(m) { cast_to = \"TO_FLOAT\", map_form = \"SPARSE\", max_map = 2 }",
       negative, "key -1"},
      {kNumbers,
       "cast_map(m) { cast_to = \"TO_FLOAT\", map_form = \"SPARSE\", max_map = 1152921504606846976 "
       "}",
       numbers, "too much"},
      {kNumbers, "cast_map(m) { cast_to = \"TO_BOOL\", map_form = \"DENSE\", max_map = 1 }",
       numbers, "TO_BOOL"},
  };
  for (const MapRow& row : rows) {
    const std::string got = RunOnMap(row.type, row.op, row.entries);
    EXPECT_NE(got.find(row.want), std::string::npos) << row.op << ": " << got;
  }
}

TEST(MlMaps, ZipMap) {
  auto graph = ParseGraph(
      "graph g() -> (y) { x = float32[2,2]{1, 2, 3, 4}\n"
      "y = zip_map(x) { classlabels_strings = [\"b\", \"a\"] } }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(InferGraph(**graph).ok());
  EXPECT_EQ((*graph)->outputs()[0]->type().ToString(), "sequence(map(string, float32[...]))");
  const auto results = RunGraph(**graph, {});
  ASSERT_TRUE(results.ok()) << results.status();
  const DatumSequence* maps = (*results)[0].sequence();
  ASSERT_TRUE(maps && maps->size() == 2 && (*maps)[1].map()->size() == 2);
  const auto& [key, value] = (*maps)[1].map()->front();  // by key
  EXPECT_EQ(key.tensor()->strings()[0], "a");
  EXPECT_EQ(value.tensor()->AsDouble(0), 4);
  EXPECT_NE(EvalText("x = float32[3]{1, 2, 3}\n y = zip_map(x) { classlabels_int64s = [1] }")
                .find("error"),
            std::string::npos);
}

TEST(Ml, Infer) {
  const InferRow rows[] = {
      {"x: float64[n,2]", "y = ml_normalizer(x)", "float32[n,2]"},
      {"x: int64[n,m]", "y = one_hot_encoder(x) { cats_int64s = [1, 2, 3] }", "float32[n,m,3]"},
      {"x: string[n,m], i: int64[1,k]", "y = array_feature_extractor(x, i)", "string[n,k]"},
      {"x: float32[n,2], z: int64[...]",
       "y = feature_vectorizer(x, z) { inputdimensions = [2, 5] }", "float32[n,7]"},
      {"x: float32[n,f]", "y = linear_regressor(x) { coefficients = [1.0], targets = 3 }",
       "float32[n,3]"},
      {"x: float32[n,2]",
       "y, z = linear_classifier(x) { coefficients = [1.0, 2.0], intercepts = [0.0], "
       "classlabels_strings = [\"a\", \"b\"] }",
       "string[n]; float32[n,2]", "y, z"},
      {"x: float32[...]", "y = tree_ensemble_regressor(x) { n_targets = 3 }", "float32[?,3]"},
      {"x: string[n]",
       "y = label_encoder(x) { keys = tensor(string[1]{\"a\"}), values = tensor(float64[1]{1}), "
       "default = tensor(float64[]{0}) }",
       "float64[n]"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
