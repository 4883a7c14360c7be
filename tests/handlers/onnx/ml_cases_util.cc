// See ml_cases_util.h.
#include "tests/handlers/onnx/ml_cases_util.h"

#include <string_view>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

std::string Node(std::string_view outputs, std::string_view op, std::string_view inputs,
                 std::string_view attrs) {
  return StrCat(outputs, " = onnx.ai.onnx.ml::", op, "(", inputs, ") { ", attrs, " }\n");
}

// Strings cannot come out of the oracle: what should be one of the labels becomes its number.
std::string Numbered(std::string_view to, std::string_view from) {
  return Node(to, "LabelEncoder", from,
              "keys_strings = [\"a\", \"b\", \"c\", \"0\", \"1\", \"_Unused\"], "
              "values_int64s = [1, 2, 3, 10, 11, 99]");
}

constexpr std::string_view kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                            "PROBIT"};
constexpr std::string_view kX = "x = float32[3,2]{1, -2, 0.5, 3, 0, 0}\n";

void AddFeatureCases(std::vector<MlCase>& cases) {
  for (const char* norm : {"MAX", "L1", "L2"}) {
    for (const char* x :
         {"float32[3,2]{1, -2, 3, 4, 0, 0}", "float32[4]{-1, -2, 3, 0.5}",
          "int64[2,2]{3, -4, 0, 2}", "int32[1,3]{1, 2, 3}", "float64[2,2]{-1, -2, 1, nan}"}) {
      cases.push_back(
          {StrCat("x = ", x, "\n", Node("y", "Normalizer", "x", StrCat("norm = \"", norm, "\"")))});
    }
  }
  for (const char* x : {"float32[2,2]{1, 2, 3, 4}", "int64[2,2]{1, 2, 3, 4}", "float64[2]{1, 2}",
                        "int32[1,2]{5, 6}"}) {
    cases.push_back({StrCat("x = ", x, "\n",
                            Node("y", "Scaler", "x", "offset = [1.0, 0.5], scale = [2.0, -3.0]"))});
    cases.push_back(
        {StrCat("x = ", x, "\n", Node("y", "Scaler", "x", "offset = [1.5], scale = [2.0]"))});
  }
  cases.push_back({StrCat("x = float32[4]{-1, 0.5, 0.6, inf}\n",
                          Node("y", "Binarizer", "x", "threshold = 0.5"))});
  cases.push_back({StrCat(
      "x = float32[2,2]{nan, 1, 2, nan}\n",
      Node("y", "Imputer", "x", "imputed_value_floats = [7.0, 8.0], replaced_value_float = nan"))});
  cases.push_back({StrCat(
      "x = float32[2,2]{5, 1, 2, 5}\n",
      Node("y", "Imputer", "x", "imputed_value_floats = [7.0], replaced_value_float = 5.0"))});
  cases.push_back({StrCat(
      "x = int64[2,2]{5, 1, 2, 5}\n",
      Node("y", "Imputer", "x", "imputed_value_int64s = [7, 8], replaced_value_int64 = 5"))});
  for (const char* x : {"int64[3]{4, 5, 6}", "float32[2]{4.9, -5.5}", "float64[1,2]{5, 7}"}) {
    cases.push_back(
        {StrCat("x = ", x, "\n", Node("y", "OneHotEncoder", "x", "cats_int64s = [4, 5, 7, 4]"))});
  }
  cases.push_back({StrCat("x = string[2,2]{\"a\", \"b\", \"q\", \"c\"}\n",
                          Node("y", "OneHotEncoder", "x", "cats_strings = [\"a\", \"c\"]"))});
  for (const char* x : {"float32[4]{1, 2, 3, 4}", "int64[2,3]{1, 2, 3, 4, 5, 6}",
                        "float64[2,1,3]{1, 2, 3, 4, 5, 6}"}) {
    cases.push_back({StrCat("x = ", x, "\ni = int64[1,3]{2, 0, 2}\n",
                            Node("y", "ArrayFeatureExtractor", "x, i", ""))});
  }
  cases.push_back({StrCat("a = float32[2,3]{1, 2, 3, 4, 5, 6}\nb = float32[2,1]{7, 8}\n",
                          Node("y", "FeatureVectorizer", "a, b", "inputdimensions = [2, 3]"))});
  cases.push_back({StrCat("a = int64[3]{1, 2, 3}\n",
                          Node("y", "FeatureVectorizer", "a", "inputdimensions = [3]"))});
}

void AddLabelCases(std::vector<MlCase>& cases) {
  struct Row {
    const char *x, *attrs;
    bool strings;
    int version;
  };
  const Row rows[] = {
      {"string[3]{\"b\", \"x\", \"c\"}", "classes_strings = [\"a\", \"b\", \"c\"]", false, 1},
      {"string[2]{\"b\", \"x\"}", "classes_strings = [\"a\", \"b\"], default_int64 = 42", false, 1},
      {"int64[3]{2, 0, 7}", "classes_strings = [\"a\", \"b\", \"c\"], default_string = \"b\"", true,
       1},
      {"int64[2,2]{2, 0, 7, 2}", "keys_int64s = [7, 2, 7], values_strings = [\"a\", \"b\", \"c\"]",
       true, 2},
      {"float32[4]{1.5, -0.0, 2, nan}", "keys_floats = [0.0, 1.5], values_int64s = [5, 6]", false,
       2},
      {"int64[2]{1, 2}", "keys_int64s = [1], values_floats = [0.5], default_float = -2.5", false,
       2},
      {"string[2]{\"b\", \"q\"}", "keys_strings = [\"b\"], values_floats = [0.5]", false, 2},
      {"float32[2]{nan, 2}", "keys_floats = [nan, 2.0], values_int64s = [5, 6]", false, 4},
      {"float64[3]{nan, 2, 3}",
       "keys_tensor = tensor(float64[2]{nan, 2}), values_tensor = tensor(float64[2]{7, 8}), "
       "default_tensor = tensor(float64[1]{0.25})",
       false, 4},
      {"float64[2]{2, 3}",
       "keys_tensor = tensor(float64[2]{1, 2}), values_tensor = tensor(float64[2]{7, 8})", false,
       4},
      {"int64[3]{1, 2, 3}", "keys_int64s = [1, 2], values_int64s = [20, 30]", false, 4},
      {"int64[3]{1, 2, 3}",
       "keys_tensor = tensor(int64[2]{1, 2}), values_tensor = tensor(float32[2]{20, 30}), "
       "default_tensor = tensor(float32[1]{9})",
       false, 4},
      {"string[2]{\"a\", \"b\"}", "keys_strings = [\"b\"], values_tensor = tensor(int16[1]{3})",
       false, 4},
  };
  for (const Row& row : rows) {
    std::string lines =
        StrCat("x = ", row.x, "\n", Node(row.strings ? "s" : "y", "LabelEncoder", "x", row.attrs));
    // The first version cannot turn the strings back.
    if (row.strings && row.version == 1) {
      StrAppend(&lines, Node("y", "LabelEncoder", "s",
                             "classes_strings = [\"q\", \"a\", \"b\", \"c\", \"_Unused\"]"));
    } else if (row.strings) {
      StrAppend(&lines, Numbered("y", "s"));
    }
    cases.push_back({std::move(lines), "y", row.version});
  }
  constexpr std::string_view kCats =
      "cats_strings = [\"a\", \"b\", \"a\"], cats_int64s = [4, 5, 6], default_string = \"c\"";
  cases.push_back(
      {StrCat("x = string[1,3]{\"a\", \"b\", \"z\"}\n", Node("y", "CategoryMapper", "x", kCats))});
  cases.push_back({StrCat("x = int64[3]{6, 5, 1}\n", Node("s", "CategoryMapper", "x", kCats),
                          Numbered("y", "s"))});
}

void AddLinearCases(std::vector<MlCase>& cases) {
  for (const std::string_view transform : kTransforms) {
    const std::string post = StrCat("post_transform = \"", transform, "\"");
    cases.push_back(
        {StrCat(kX, Node("y", "LinearRegressor", "x",
                         StrCat("coefficients = [0.3, 0.2], intercepts = [0.4], ", post)))});
    cases.push_back({StrCat(
        kX, Node("y", "LinearRegressor", "x",
                 StrCat("coefficients = [0.1, 0.2, 0.3, -0.1, 0, 0], targets = 3, ", post)))});
    cases.push_back({StrCat(kX, Node("y, z", "LinearClassifier", "x",
                                     StrCat("coefficients = [0.1, 0.2, 0.3, -0.1, 0, 0], "
                                            "intercepts = [0.1, 0.2, 0.3], "
                                            "classlabels_ints = [4, 5, 6], ",
                                            post))),
                     "y, z"});
    cases.push_back({StrCat(kX,
                            Node("s, z", "LinearClassifier", "x",
                                 StrCat("coefficients = [0.1, 0.2, 0.3, -0.1], "
                                        "intercepts = [0.1, 0.0], "
                                        "classlabels_strings = [\"a\", \"b\"], ",
                                        post)),
                            Numbered("y", "s")),
                     "y, z"});
    if (transform == "PROBIT") continue;  // the second score would be anything
    cases.push_back({StrCat(kX, Node("y, z", "LinearClassifier", "x",
                                     StrCat("coefficients = [0.5, 0.2], intercepts = [0.1], "
                                            "classlabels_ints = [4, 5], ",
                                            post))),
                     "y, z"});
  }
  cases.push_back({StrCat(kX, Node("y, z", "LinearClassifier", "x",
                                   "coefficients = [0.5, 0.2], intercepts = [0.1]")),
                   "y, z"});
  for (const char* x : {"int64[2,2]{1, 2, -3, 1}", "float64[2]{1, 2}", "int32[1,2]{5, 6}"}) {
    cases.push_back({StrCat("x = ", x, "\n",
                            Node("y, z", "LinearClassifier", "x",
                                 "coefficients = [0.5, 0.2, 1, 1], intercepts = [0.1, 0], "
                                 "classlabels_ints = [1, 0]")),
                     "y, z"});
  }
}

void AddSvmCases(std::vector<MlCase>& cases) {
  constexpr std::string_view kKernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  for (const std::string_view kernel : kKernels) {
    const std::string params = StrCat("kernel_type = \"", kernel, "\", ",
                                      "kernel_params = [0.5, 0.25, 3.0], rho = [0.1, -0.2, 0.3]");
    for (const char* one_class : {"", ", one_class = 1"}) {
      cases.push_back({StrCat(kX, Node("y", "SVMRegressor", "x",
                                       StrCat(params,
                                              ", n_supports = 2, coefficients = [1, -0.5], "
                                              "support_vectors = [1, 2, 0.5, -1]",
                                              one_class)))});
    }
    cases.push_back(
        {StrCat(kX, Node("y", "SVMRegressor", "x", StrCat(params, ", coefficients = [1, -0.5]")))});
    for (const char* prob : {"", ", prob_a = [-0.1, -0.15, -0.05], prob_b = [0.1, 0, -0.2]"}) {
      for (const std::string_view transform : kTransforms) {
        cases.push_back(
            {StrCat(kX, Node("y, z", "SVMClassifier", "x",
                             StrCat(params,
                                    ", coefficients = [1, -0.5, 0.25, -1, 0.5, 0.75, -0.5, 1], "
                                    "support_vectors = [1, 2, 0.5, -1, 0, 1, -1, -1], "
                                    "vectors_per_class = [2, 1, 1], classlabels_ints = [4, 5, 6], "
                                    "post_transform = \"",
                                    transform, "\"", prob))),
             "y, z"});
      }
    }
  }
  for (const char* prob : {"", ", prob_a = [-1.0], prob_b = [0.1]"}) {
    for (const std::string_view transform : kTransforms) {
      if (transform == "PROBIT" && !*prob) continue;  // the second score would be anything
      for (const char* c : {"[1, -0.5, -0.25]", "[1, 0.5, 0.25]"}) {
        cases.push_back(
            {StrCat(kX,
                    Node("s, z", "SVMClassifier", "x",
                         StrCat("kernel_type = \"RBF\", kernel_params = [0.5, 0, 3.0], "
                                "rho = [0.1], coefficients = ",
                                c,
                                ", support_vectors = [1, 2, 0.5, -1, 0, 1], "
                                "vectors_per_class = [2, 1], classlabels_strings = [\"a\", \"b\"], "
                                "post_transform = \"",
                                transform, "\"", prob)),
                    Numbered("y", "s")),
             "y, z"});
      }
    }
  }
  for (const std::string_view transform : kTransforms) {
    for (const char* c : {"[1, -0.5, -0.25, 0.5]", "[1, 0.5, 0.25, 0.5]",
                          "[1, -0.5, -0.25, 0.5, 1, 1]", "[1.0, -2.0]"}) {
      const char* labels = std::string_view(c) == "[1.0, -2.0]"                   ? "[7]"
                           : std::string_view(c) == "[1, -0.5, -0.25, 0.5, 1, 1]" ? "[7, 8, 9]"
                                                                                  : "[7, 8]";
      cases.push_back({StrCat(kX, Node("y, z", "SVMClassifier", "x",
                                       StrCat("kernel_params = [0.5, 0, 3.0], rho = [0.1], "
                                              "coefficients = ",
                                              c, ", classlabels_ints = ", labels,
                                              ", post_transform = \"", transform, "\""))),
                       "y, z"});
    }
  }
}

// Two trees over two features: one of depth 2, one of a single split. Leaves 2, 3, 4 of tree 0
// and 1, 2 of tree 1.
std::string Trees(std::string_view mode = "BRANCH_LEQ", std::string_view missing = "",
                  std::string_view values = "nodes_values = [0.5, -1, 0, 0, 0, 1, 0, 0]") {
  return StrCat(
      "nodes_treeids = [0, 0, 0, 0, 0, 1, 1, 1], "
      "nodes_nodeids = [0, 1, 2, 3, 4, 0, 1, 2], "
      "nodes_featureids = [0, 1, 0, 0, 0, 1, 0, 0], "
      "nodes_truenodeids = [1, 2, 0, 0, 0, 1, 0, 0], "
      "nodes_falsenodeids = [4, 3, 0, 0, 0, 2, 0, 0], nodes_modes = [\"",
      mode, "\", \"", mode, "\", \"LEAF\", \"LEAF\", \"LEAF\", \"", mode,
      "\", \"LEAF\", \"LEAF\"], ", values, missing);
}

void AddRegressorCases(std::vector<MlCase>& cases) {
  constexpr std::string_view kOne =
      ", target_treeids = [0, 0, 0, 1, 1], target_nodeids = [2, 3, 4, 1, 2], "
      "target_ids = [0, 0, 0, 0, 0], n_targets = 1, target_weights = [0.1, 0.3, -0.2, 0.25, 0.4]";
  constexpr std::string_view kTwo =
      ", target_treeids = [0, 0, 0, 0, 1, 1], target_nodeids = [2, 2, 3, 4, 1, 2], "
      "target_ids = [1, 0, 1, 0, 0, 1], n_targets = 2, "
      "target_weights = [0.1, 0.3, -0.2, 0.25, 0.4, 0.15]";
  for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
    for (const std::string_view transform : kTransforms) {
      const std::string more = StrCat(", aggregate_function = \"", aggregate,
                                      "\", post_transform = \"", transform, "\"");
      cases.push_back(
          {StrCat(kX, Node("y", "TreeEnsembleRegressor", "x", StrCat(Trees(), kOne, more)))});
      cases.push_back(
          {StrCat(kX, Node("y", "TreeEnsembleRegressor", "x",
                           StrCat(Trees(), kTwo, more, ", base_values = [0.5, 0.25]")))});
    }
    cases.push_back({StrCat(kX, Node("y", "TreeEnsembleRegressor", "x",
                                     StrCat(Trees(), kOne, ", base_values = [0.5], ",
                                            "aggregate_function = \"", aggregate, "\"")))});
  }
  for (const char* mode :
       {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"}) {
    for (const char* x : {"float32[6,2]{0.5, -1, nan, nan, 0.5, 1, 2, inf, -inf, 1, nan, -2}",
                          "float64[2,2]{0.5, -1, 0.50000001, -1.00000001}"}) {
      for (const char* missing :
           {"", ", nodes_missing_value_tracks_true = [1, 0, 0, 0, 0, 1, 0, 0]"}) {
        cases.push_back(
            {StrCat("x = ", x, "\n",
                    Node("y", "TreeEnsembleRegressor", "x", StrCat(Trees(mode, missing), kOne)))});
      }
    }
  }
  // Two votes of one leaf for the only target.
  for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
    cases.push_back({StrCat(kX, Node("y", "TreeEnsembleRegressor", "x",
                                     StrCat(Trees(),
                                            ", target_treeids = [1, 0, 0, 0, 0, 1], "
                                            "target_nodeids = [1, 2, 2, 3, 4, 2], "
                                            "target_ids = [0, 0, 0, 0, 0, 0], n_targets = 1, "
                                            "target_weights = [0.25, 0.1, 0.3, -0.2, 0.4, 0.15], ",
                                            "aggregate_function = \"", aggregate, "\"")))});
  }
  // Each node has a mode of its own.
  cases.push_back({StrCat(
      "x = float32[4,2]{0.5, -1, nan, nan, 0.5, 1, 2, 0}\n",
      Node("y", "TreeEnsembleRegressor", "x",
           StrCat("nodes_treeids = [0, 0, 0, 0, 0], nodes_nodeids = [0, 1, 2, 3, 4], "
                  "nodes_featureids = [0, 1, 0, 0, 0], nodes_truenodeids = [1, 2, 0, 0, 0], "
                  "nodes_falsenodeids = [4, 3, 0, 0, 0], nodes_modes = [\"BRANCH_NEQ\", "
                  "\"BRANCH_GT\", \"LEAF\", \"LEAF\", \"LEAF\"], nodes_values = "
                  "[2.0, -1, 0, 0, 0], nodes_missing_value_tracks_true = [0, 1, 0, 0, 0], "
                  "target_treeids = [0, 0, 0], target_nodeids = [2, 3, 4], "
                  "target_ids = [0, 0, 0], n_targets = 1, target_weights = [1.0, 2, 3]")))});
  // Numbers as tensors of doubles.
  cases.push_back(
      {StrCat("x = float64[2,2]{0.5, -1, 0.50000001, -1.00000001}\n",
              Node("y", "TreeEnsembleRegressor", "x",
                   StrCat(Trees("BRANCH_LEQ", "",
                                "nodes_values_as_tensor = tensor(float64[8]{0.500000005, "
                                "-1.000000005, 0, 0, 0, 1, 0, 0})"),
                          ", target_treeids = [0, 0, 0, 1, 1], target_nodeids = [2, 3, 4, 1, 2], "
                          "target_ids = [0, 0, 0, 0, 0], n_targets = 1, target_weights_as_tensor = "
                          "tensor(float64[5]{0.1, 0.3, -0.2, 0.25, 0.4}), base_values_as_tensor = "
                          "tensor(float64[1]{0.5})")))});
}

void AddClassifierCases(std::vector<MlCase>& cases) {
  struct Votes {
    const char *ids, *weights;
  };
  const Votes two_classes[] = {
      {"[1, 1, 1, 1, 1]", "[0.1, 0.3, 0.2, 0.25, 0.4]"},    // one-sided, positive
      {"[0, 0, 0, 0, 0]", "[0.1, 0.3, 0.2, 0.25, 0.4]"},    // the same for the first class
      {"[1, 1, 1, 1, 1]", "[0.1, -0.3, 0.2, -0.25, 0.4]"},  // one-sided, mixed
      {"[0, 0, 0, 0, 0]", "[0.1, -0.3, 0.2, -0.25, 0.4]"},
      {"[0, 1, 0, 1, 0]", "[0.1, 0.3, 0.2, 0.25, 0.4]"},
      {"[0, 1, 0, 1, 0]", "[0.1, -0.3, 0.2, -0.25, 0.4]"},
      {"[0, 1, 1, 0, 1]", "[-0.1, -0.3, 0.2, 0.25, -0.4]"},
  };
  constexpr std::string_view kPlaces =
      ", class_treeids = [0, 0, 0, 1, 1], class_nodeids = [2, 3, 4, 1, 2], class_ids = ";
  for (const Votes& votes : two_classes) {
    for (const char* base : {"", ", base_values = [0.3]", ", base_values = [0.2, -0.7]"}) {
      for (const std::string_view transform : kTransforms) {
        for (const char* labels : {"classlabels_int64s = [0, 1]", "classlabels_int64s = [5, 7]",
                                   "classlabels_strings = [\"a\", \"b\"]"}) {
          const bool strings = std::string_view(labels).find("strings") != std::string_view::npos;
          // One score for the first class: the second one would be anything.
          if (transform == "PROBIT" && std::string_view(votes.ids) == "[0, 0, 0, 0, 0]" &&
              std::string_view(base) != ", base_values = [0.2, -0.7]") {
            continue;
          }
          if (strings && transform != "NONE") continue;
          cases.push_back(
              {StrCat(kX,
                      Node(strings ? "s, z" : "y, z", "TreeEnsembleClassifier", "x",
                           StrCat(Trees(), kPlaces, votes.ids, ", class_weights = ", votes.weights,
                                  base, ", ", labels, ", post_transform = \"", transform, "\"")),
                      strings ? Numbered("y", "s") : ""),
               "y, z"});
        }
      }
    }
  }
  for (const char* base : {"", ", base_values = [0.2, -0.7, 0.1]"}) {
    for (const std::string_view transform : kTransforms) {
      for (const char* ids : {"[0, 1, 2, 1, 0]", "[2, 2, 2, 2, 2]", "[1, 2, 1, 2, 1]"}) {
        cases.push_back(
            {StrCat(kX, Node("y, z", "TreeEnsembleClassifier", "x",
                             StrCat(Trees(), kPlaces, ids,
                                    ", class_weights = [0.1, -0.3, 0.2, 0.25, -0.4]", base,
                                    ", classlabels_int64s = [4, 5, 6], "
                                    "post_transform = \"",
                                    transform, "\""))),
             "y, z"});
      }
    }
  }
  for (const std::string_view transform : kTransforms) {
    for (const char* base : {"", ", base_values = [0.3]"}) {
      cases.push_back(
          {StrCat(kX, Node("y, z", "TreeEnsembleClassifier", "x",
                           StrCat(Trees(), kPlaces, "[0, 0, 0, 0, 0]",
                                  ", class_weights = [0.1, -0.3, 0.2, 0.25, -0.4]", base,
                                  ", classlabels_int64s = [4], "
                                  "post_transform = \"",
                                  transform, "\""))),
           "y, z"});
    }
  }
}

// The regressor takes none in ONNX Runtime.
void AddIntegerCases(std::vector<MlCase>& cases) {
  for (const char* x : {"int64[3,2]{1, 1, 0, -1, 2, 3}", "int32[1,2]{0, 1}",
                        "float64[2,2]{0.5, -1, 0.50000001, -1.00000001}"}) {
    for (const char* mode : {"BRANCH_LEQ", "BRANCH_EQ"}) {
      cases.push_back(
          {StrCat("x = ", x, "\n",
                  Node("y, z", "TreeEnsembleClassifier", "x",
                       StrCat(Trees(mode),
                              ", class_treeids = [0, 0, 0, 1, 1], class_nodeids = [2, 3, 4, 1, 2], "
                              "class_ids = [0, 1, 2, 1, 0], class_weights = [0.1, -0.3, 0.2, 0.25, "
                              "-0.4], classlabels_int64s = [4, 5, 6]"))),
           "y, z"});
    }
  }
}

void AddEnsembleCases(std::vector<MlCase>& cases) {
  for (const char* type : {"float32", "float64"}) {
    for (int aggregate = 0; aggregate < 4; ++aggregate) {
      for (int transform = 0; transform < 5; ++transform) {
        // SOFTMAX and LOGISTIC; in ONNX Runtime the other way round.
        if (transform == 1 || transform == 2) continue;
        for (int targets = 1; targets < 3; ++targets) {
          cases.push_back(
              {StrCat(
                   "x = ", type, "[4,2]{1, -2, 0.5, 3, 0, 0, nan, 7}\n",
                   Node("y", "TreeEnsemble", "x",
                        StrCat("tree_roots = [0, 2], n_targets = ", targets,
                               ", aggregate_function = ", aggregate,
                               ", post_transform = ", transform,
                               ", nodes_featureids = [0, 1, 1], nodes_modes = "
                               "tensor(uint8[3]{0, 1, 6}), nodes_splits = tensor(",
                               type,
                               "[3]{0.5, -1, 0}), nodes_truenodeids = [1, 0, 3], "
                               "nodes_trueleafs = [0, 1, 1], "
                               "nodes_falsenodeids = [2, 1, 4], "
                               "nodes_falseleafs = [1, 1, 1], leaf_targetids = [0, 0, ",
                               targets - 1, ", 0, ", targets - 1, "], leaf_weights = tensor(", type,
                               "[5]{0.1, 0.3, 0.2, 0.25, 0.4}), membership_values = "
                               "tensor(",
                               type, "[4]{3, -2, 7, nan})"))),
               "y", 5});
        }
      }
    }
  }
}

}  // namespace

std::vector<MlCase> AllMlCases() {
  std::vector<MlCase> cases;
  AddFeatureCases(cases);
  AddLabelCases(cases);
  AddLinearCases(cases);
  AddSvmCases(cases);
  AddRegressorCases(cases);
  AddClassifierCases(cases);
  AddIntegerCases(cases);
  AddEnsembleCases(cases);
  return cases;
}

}  // namespace x2ir
