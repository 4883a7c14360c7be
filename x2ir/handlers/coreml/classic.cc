// Models that are no networks: trees, linear models, support vectors and what prepares features.
// Their numbers are doubles in the file and float32 here, as those of ONNX's operators are.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/classes.h"
#include "x2ir/handlers/coreml/detection.h"
#include "x2ir/handlers/coreml/nn.h"

namespace x2ir {
namespace {

std::vector<double> Doubles(NnArgs& a, Symbol name) {
  a.Ignore(name);
  const Attribute* attr = a.attrs().Find(name);
  if (!attr) return {};
  if (const float* one = attr->get<float>()) return {*one};
  if (const double* one = attr->get<double>()) return {*one};
  std::vector<double> numbers;
  if (const auto* floats = attr->get<Attribute::Floats>()) {
    numbers.assign(floats->begin(), floats->end());
    return numbers;
  }
  const Tensor* tensor = attr->get<Tensor>();
  if (!tensor) {
    a.Fail(Invalid("attribute '", name.view(), "' is no list of numbers"));
    return {};
  }
  for (int64_t i = 0; i < tensor->num_elements(); ++i) numbers.push_back(tensor->AsDouble(i));
  return numbers;
}
std::vector<float> Floats(NnArgs& a, Symbol name) {
  const std::vector<double> numbers = Doubles(a, name);
  return {numbers.begin(), numbers.end()};
}
Tensor AsTensor(const std::vector<float>& numbers) {
  return Tensor::Of<float>({static_cast<int64_t>(numbers.size())}, numbers);
}

// The operand as one row.
Expr Row(NnArgs& a) {
  a.Ignore("inputs#");
  a.Ignore("outputs#");
  a.Require(a.count() == 1, "features in several inputs");
  return Reshape(a.X().To(DType::kFloat32), {1, -1});
}
Expr Vector(NnArgs& a) { return Reshape(Row(a), {-1}); }

// Probabilities of all classes, labels of the best of them.
Values Labelled(NnArgs& a, const Expr& scores) {
  const Symbol strings("stringClassLabels.vector"), ints("int64ClassLabels.vector");
  for (const Symbol name : {strings, ints}) a.Ignore(name);
  const Attribute* labels = a.attrs().Find(strings);
  if (!labels) labels = a.attrs().Find(ints);
  return ClassesOf(a, scores, labels);
}
size_t CountOfLabels(NnArgs& a) {
  const Attribute* strings = a.attrs().Find("stringClassLabels.vector");
  const Attribute* ints = a.attrs().Find("int64ClassLabels.vector");
  if (const auto* list = strings ? strings->get<Attribute::Strings>() : nullptr)
    return list->size();
  if (const auto* list = ints ? ints->get<Attribute::Ints>() : nullptr) return list->size();
  return 0;
}

Expr Sigmoid(const Expr& x) { return x.Op("sigmoid"); }
Expr Probit(const Expr& x) { return ((x * std::sqrt(0.5)).Op("erf") + 1.0) * 0.5; }
// With the rest as the first of two classes.
Expr WithRest(const Expr& p) { return Concat(p.builder(), {1.0 - p, p}, 0); }
Expr WithZero(const Expr& scores) {
  return Concat(scores.builder(), {NumbersAs(scores.builder(), scores.dtype(), {1}, {0.0}), scores},
                0);
}
Expr Softmax(const Expr& x) { return x.Op("softmax", {}, {{"axis", 0}}); }

// --- Trees
// ----------------------------------------------------------------------------------------

std::vector<int64_t> Column(NnArgs& a, std::string_view name, size_t count) {
  std::vector<int64_t> all = a.IntList(Symbol(StrCat("treeEnsemble.nodes.", name)), {});
  if (all.empty()) all.assign(count, 0);
  a.Require(all.size() == count, StrCat("a node without ", name));
  return all;
}

// Scores of all dimensions: [n].
Expr Trees(NnArgs& a) {
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"BranchOnValueLessThanEqual", "BRANCH_LEQ"},
      {"BranchOnValueLessThan", "BRANCH_LT"},
      {"BranchOnValueGreaterThanEqual", "BRANCH_GTE"},
      {"BranchOnValueGreaterThan", "BRANCH_GT"},
      {"BranchOnValueEqual", "BRANCH_EQ"},
      {"BranchOnValueNotEqual", "BRANCH_NEQ"},
      {"LeafNode", "LEAF"}};
  const std::vector<std::string> behaviors = a.StringList("treeEnsemble.nodes.nodeBehavior");
  const size_t count = behaviors.size();
  std::vector<std::string> modes;
  for (const std::string& behavior : behaviors) {
    for (const auto& [core, ours] : kModes) {
      if (core == behavior) modes.emplace_back(ours);
    }
  }
  a.Require(count > 0 && modes.size() == count, "nodes of another kind");
  const std::vector<int64_t> trees = Column(a, "treeId", count), ids = Column(a, "nodeId", count);
  std::vector<float> values = Floats(a, "treeEnsemble.nodes.branchFeatureValue");
  if (values.empty()) values.assign(count, 0);
  a.Require(values.size() == count, "a node without a value");
  a.Ignore("treeEnsemble.nodes.relativeHitRate");
  // What leaves say: so many entries of each node.
  std::vector<int64_t> each = a.IntList("treeEnsemble.nodes.evaluationInfo#", {});
  std::vector<int64_t> targets = a.IntList("treeEnsemble.nodes.evaluationInfo.evaluationIndex", {});
  std::vector<float> votes = Floats(a, "treeEnsemble.nodes.evaluationInfo.evaluationValue");
  if (targets.empty()) targets.assign(votes.size(), 0);
  if (votes.empty()) votes.assign(targets.size(), 0);
  a.Require(each.size() == count && targets.size() == votes.size(), "leaves without values");
  std::vector<int64_t> vote_trees, vote_nodes;
  for (size_t i = 0; i < count; ++i) {
    a.Require(each[i] >= 0 && static_cast<size_t>(each[i]) <= votes.size() - vote_trees.size(),
              "leaves of other numbers of values");
    vote_trees.insert(vote_trees.end(), static_cast<size_t>(each[i]), trees[i]);
    vote_nodes.insert(vote_nodes.end(), static_cast<size_t>(each[i]), ids[i]);
  }
  a.Require(vote_trees.size() == votes.size(), "leaves of other numbers of values");
  int64_t dimensions = a.Int("treeEnsemble.numPredictionDimensions", 1);
  const std::vector<float> base = Floats(a, "treeEnsemble.basePredictionValue");
  AttributeMap attrs = {
      {"nodes_treeids", trees},
      {"nodes_nodeids", ids},
      {"nodes_modes", modes},
      {"nodes_featureids", Column(a, "branchFeatureIndex", count)},
      {"nodes_truenodeids", Column(a, "trueChildNodeId", count)},
      {"nodes_falsenodeids", Column(a, "falseChildNodeId", count)},
      {"nodes_missing_value_tracks_true", Column(a, "missingValueTracksTrueChild", count)},
      {"nodes_values", AsTensor(values)},
      {"target_ids", targets},
      {"target_treeids", vote_trees},
      {"target_nodeids", vote_nodes},
      {"target_weights", AsTensor(votes)},
      {"n_targets", dimensions}};
  if (!base.empty()) {
    a.Require(static_cast<int64_t>(base.size()) == dimensions, "bases of other dimensions");
    attrs.Set("base_values", AsTensor(base));
  }
  return Reshape(Row(a).Op("tree_ensemble_regressor", {}, std::move(attrs)), {-1});
}

Expr TreeRegressor(NnArgs& a) {
  const std::string transform = a.Enum("postEvaluationTransform", "NoTransform");
  const Expr y = Trees(a);
  if (transform == "NoTransform") return y;
  if (transform == "Regression_Logistic") return Sigmoid(y);
  if (transform == "Classification_SoftMax") return Softmax(y);
  a.Require(false, StrCat("the transform ", transform));
  return y;
}

Values TreeClassifier(NnArgs& a) {
  const std::string transform = a.Enum("postEvaluationTransform", "NoTransform");
  const int64_t dimensions = a.Int("treeEnsemble.numPredictionDimensions", 1);
  const Expr scores = Trees(a);
  Expr y = scores;
  if (transform == "Classification_SoftMax") y = Softmax(scores);
  if (transform == "Regression_Logistic") y = Sigmoid(scores);
  if (transform == "Classification_SoftMaxWithZeroClassReference") y = Softmax(WithZero(scores));
  const bool complement = dimensions == 1 && CountOfLabels(a) == 2 &&
                          transform != "Classification_SoftMaxWithZeroClassReference";
  return Labelled(a, complement ? WithRest(y) : y);
}

// --- Linear models
// --------------------------------------------------------------------------------

struct LinearScores {
  Expr scores = nullptr;
  size_t rows = 0;
};
LinearScores Linear(NnArgs& a) {
  const std::vector<int64_t> lengths = a.IntList("weights.value#", {});
  const std::vector<float> weights = Floats(a, "weights.value"), offset = Floats(a, "offset");
  const size_t rows = lengths.size();
  a.Require(rows > 0 && offset.size() == rows, "as many offsets as rows of weights");
  for (const int64_t length : lengths) a.Require(length == lengths[0], "rows of different sizes");
  a.Require(weights.size() == rows * static_cast<size_t>(lengths[0]), "rows of other sizes");
  const Expr y = Row(a).Op(
      "linear_regressor", {},
      {{"coefficients", weights}, {"intercepts", offset}, {"targets", static_cast<int64_t>(rows)}});
  return {Reshape(y, {-1}), rows};
}
Expr LinearRegressor(NnArgs& a) {
  const std::string transform = a.Enum("postEvaluationTransform", "NoTransform");
  const Expr y = Linear(a).scores;
  if (transform == "Logit") return Sigmoid(y);
  if (transform == "Probit") return Probit(y);
  return y;
}
Values LinearClassifier(NnArgs& a) {
  const std::string transform = a.Enum("postEvaluationTransform", "Logit"),
                    encoding = a.Enum("classEncoding", "ReferenceClass");
  const auto [scores, rows] = Linear(a);
  const Expr p = transform == "Probit" ? Probit(scores) : Sigmoid(scores);
  if (rows == 1) return Labelled(a, WithRest(p));
  if (encoding == "OneVsRest") return Labelled(a, p / Sum(p, 0, true));
  a.Require(transform == "Logit", "several classes by probit");
  return Labelled(a, Softmax(WithZero(scores)));
}

// --- Support vectors
// ------------------------------------------------------------------------------

// Rows side by side, and how many there are.
struct Supports {
  std::vector<float> values;
  int64_t count = 0;
};
Supports SupportsOf(NnArgs& a) {
  Supports all;
  const std::vector<int64_t> dense = a.IntList("denseSupportVectors.vectors.values#", {});
  const std::vector<int64_t> sparse = a.IntList("sparseSupportVectors.vectors.nodes#", {});
  a.Given("denseSupportVectors");
  a.Given("sparseSupportVectors");
  if (!dense.empty()) {
    all.values = Floats(a, "denseSupportVectors.vectors.values");
    all.count = static_cast<int64_t>(dense.size());
    for (const int64_t size : dense) a.Require(size == dense[0], "vectors of different sizes");
    return all;
  }
  a.Require(!sparse.empty(), "no vectors");
  // Features are counted from 1.
  const std::vector<int64_t> at = a.IntList("sparseSupportVectors.vectors.nodes.index", {});
  const std::vector<float> values = Floats(a, "sparseSupportVectors.vectors.nodes.value");
  const Dim width = DimAt(Row(a), 1);
  a.Require(width.is_static() && at.size() == values.size(), "sparse vectors of unknown width");
  all.count = static_cast<int64_t>(sparse.size());
  const int64_t features = width.value();
  a.Require(features > 0 && all.count < (int64_t{1} << 28) / features, "that many numbers");
  all.values.assign(static_cast<size_t>(all.count * features), 0);
  size_t next = 0;
  for (size_t i = 0; i < sparse.size(); ++i) {
    for (int64_t k = 0; k < sparse[i]; ++k, ++next) {
      a.Require(next < at.size() && at[next] >= 1 && at[next] <= features,
                "a feature that is none");
      all.values[i * static_cast<size_t>(features) + static_cast<size_t>(at[next] - 1)] =
          values[next];
    }
  }
  a.Require(next == at.size(), "vectors of other sizes");
  return all;
}

void SetKernel(NnArgs& a, AttributeMap* attrs) {
  const auto number = [&](std::string_view name) {
    return static_cast<float>(a.Number(Symbol(StrCat("kernel.", name))));
  };
  std::string type;
  std::vector<float> params = {0, 0, 0};
  if (a.Given("kernel.linearKernel")) type = "LINEAR";
  if (a.Given("kernel.rbfKernel")) {
    type = "RBF";
    params[0] = number("rbfKernel.gamma");
  }
  if (a.Given("kernel.polyKernel")) {
    type = "POLY";
    params = {number("polyKernel.gamma"), number("polyKernel.c"),
              static_cast<float>(a.Int("kernel.polyKernel.degree"))};
  }
  if (a.Given("kernel.sigmoidKernel")) {
    type = "SIGMOID";
    params = {number("sigmoidKernel.gamma"), number("sigmoidKernel.c"), 0};
  }
  a.Require(!type.empty(), "a kernel of another kind");
  attrs->Set("kernel_type", type);
  attrs->Set("kernel_params", params);
}

// Core ML takes rho away, ONNX adds it.
std::vector<float> Negated(std::vector<float> numbers) {
  for (float& number : numbers) number = -number;
  return numbers;
}

Expr SvmRegressor(NnArgs& a) {
  AttributeMap attrs;
  SetKernel(a, &attrs);
  const Supports supports = SupportsOf(a);
  attrs.Set("support_vectors", supports.values);
  attrs.Set("n_supports", supports.count);
  attrs.Set("coefficients", Floats(a, "coefficients.alpha"));
  attrs.Set("rho", std::vector<float>{-static_cast<float>(a.Number("rho"))});
  return Reshape(Row(a).Op("svm_regressor", {}, std::move(attrs)), {-1});
}

Values SvmClassifier(NnArgs& a) {
  AttributeMap attrs;
  SetKernel(a, &attrs);
  const Supports supports = SupportsOf(a);
  attrs.Set("support_vectors", supports.values);
  attrs.Set("vectors_per_class", a.IntList("numberOfSupportVectorsPerClass", {}));
  a.Ignore("coefficients.alpha#");
  attrs.Set("coefficients", Floats(a, "coefficients.alpha"));
  attrs.Set("rho", Negated(Floats(a, "rho")));
  const std::vector<float> pa = Floats(a, "probA"), pb = Floats(a, "probB");
  if (!pa.empty()) {
    attrs.Set("prob_a", pa);
    attrs.Set("prob_b", pb);
  }
  a.Require(!pa.empty() || !a.wants(1), "probabilities of a classifier that has none");
  for (const auto& [core, ours] : {std::pair("stringClassLabels.vector", "classlabels_strings"),
                                   std::pair("int64ClassLabels.vector", "classlabels_ints")}) {
    a.Ignore(core);
    if (const Attribute* labels = a.attrs().Find(core)) attrs.Set(ours, *labels);
  }
  const Values made = a.b().Ops("svm_classifier", {Row(a)}, std::move(attrs), {true, a.wants(1)});
  return {made[0], made[1] ? Reshape({a, made[1]}, {-1}).value() : nullptr};
}

// --- Neighbours
// -----------------------------------------------------------------------------------

// Classes by their first sample, and the number of each sample's class.
template <typename List>
std::pair<List, std::vector<int64_t>> Distinct(const List& labels) {
  List classes;
  std::vector<int64_t> numbers;
  absl::flat_hash_map<typename List::value_type, int64_t> seen;
  for (const auto& label : labels) {
    const auto [it, added] = seen.try_emplace(label, static_cast<int64_t>(classes.size()));
    if (added) classes.push_back(label);
    numbers.push_back(it->second);
  }
  return {classes, numbers};
}

// The nearest samples vote; nearer ones more where it says so, and those at no distance alone.
Values Neighbours(NnArgs& a) {
  const std::string at = "nearestNeighborsIndex.";
  const std::vector<int64_t> lengths = a.IntList(Symbol(at + "floatSamples.vector#"), {});
  const std::vector<float> samples = Floats(a, Symbol(at + "floatSamples.vector"));
  const int64_t size = a.Int(Symbol(at + "numberOfDimensions")),
                count = static_cast<int64_t>(lengths.size());
  const int64_t most = std::min(a.Int("numberOfNeighbors.defaultValue"), count);
  for (const char* name : {"linearIndex", "singleKdTreeIndex", "squaredEuclideanDistance"}) {
    a.Given(at + name);
  }
  for (const char* name :
       {"nearestNeighborsIndex.singleKdTreeIndex.leafSize", "numberOfNeighbors.set.values",
        "numberOfNeighbors.range.minValue", "numberOfNeighbors.range.maxValue",
        "defaultStringLabel", "defaultInt64Label"}) {
    a.Ignore(name);
  }
  a.Given("uniformWeighting");
  const bool inverse = a.Given("inverseDistanceWeighting");
  const Symbol texts("stringClassLabels.vector"), ints("int64ClassLabels.vector");
  const bool named = a.HasAttr(texts);
  a.Require(count > 0 && size > 0 && most > 0, "no samples");
  for (const int64_t length : lengths) a.Require(length == size, "samples of other sizes");
  a.Require(samples.size() / static_cast<size_t>(size) == lengths.size(), "other samples");
  Attribute classes;
  std::vector<int64_t> numbers;
  if (named) {
    auto [list, of_samples] = Distinct(a.StringList(texts));
    classes = Attribute(list);
    numbers = std::move(of_samples);
  } else {
    auto [list, of_samples] = Distinct(a.IntList(ints, {}));
    classes = Attribute(list);
    numbers = std::move(of_samples);
  }
  a.Require(static_cast<int64_t>(numbers.size()) == count, "a label for each sample");
  const int64_t kinds = *std::max_element(numbers.begin(), numbers.end()) + 1;
  const Expr points = {a.b(), a.b().Constant(Tensor::Of<float>({count, size}, samples))};
  const Expr squares = Sum(Square(points - Vector(a)), 1);
  const auto [distances, nearest] = TopOf(squares, a.b().Ints({most}), 0, /*largest=*/false);
  Expr weights = distances * 0.0 + 1.0;
  if (inverse) {
    const Expr none = distances == 0.0;
    weights = Where(Any(none, {0}, true), none.To(DType::kFloat32), 1.0 / distances);
  }
  const Expr own = Gather({a.b(), a.b().Ints(numbers)}, nearest, 0);
  const Expr table = Unsqueeze(own, {1}) == Ints(a.b(), CountedFrom(0, kinds));
  const Expr votes = Sum(Where(table, Unsqueeze(weights, {1}), 0.0), 0);
  return ClassesOf(a, votes / SumAll(votes), &classes);
}

// --- Features
// -------------------------------------------------------------------------------------

absl::StatusOr<Value*> FeatureVector(NnArgs& a) {
  const std::vector<std::string> names = a.StringList("inputs#"),
                                 columns = a.StringList("inputList.inputColumn");
  a.Ignore("inputList.inputDimensions");
  a.Ignore("outputs#");
  std::vector<Value*> parts;
  for (const std::string& column : columns) {
    const auto it = std::find(names.begin(), names.end(), column);
    if (it == names.end()) return Invalid("no input is '", column, "'");
    parts.push_back(
        Reshape(a.X(static_cast<size_t>(it - names.begin())).To(DType::kFloat32), {-1}));
  }
  if (parts.empty()) return Invalid("a vector of nothing");
  return Concat(a.b(), parts, 0).value();
}

Expr Scaler(NnArgs& a) {
  const Expr x = Vector(a);
  Expr y = x;
  const std::vector<double> shift = Doubles(a, "shiftValue"), scale = Doubles(a, "scaleValue");
  const auto constant = [&](const std::vector<double>& numbers) {
    return NumbersAs(a.b(), DType::kFloat32, {static_cast<int64_t>(numbers.size())}, numbers);
  };
  if (!shift.empty()) y = y + constant(shift);
  if (!scale.empty()) y = y * constant(scale);
  return y.value() == x.value() ? x.Op("identity") : y;
}

Expr Normalizer(NnArgs& a) {
  const std::string norm = a.Enum("normType", "LMax");
  // Whether the greatest number is one by its size is not said.
  a.Require(norm == "L1" || norm == "L2", StrCat("the norm ", norm));
  return Reshape(Row(a).Op("ml_normalizer", {}, {{"norm", norm}}), {-1});
}

Expr Imputer(NnArgs& a) {
  std::vector<float> values = Floats(a, "imputedDoubleArray.vector");
  const std::vector<float> one = Floats(a, "imputedDoubleValue");
  if (values.empty()) values = one;
  a.Require(!values.empty(), "what is put in, which is no number");
  const std::vector<float> missing = Floats(a, "replaceDoubleValue");
  return Reshape(
      Row(a).Op("imputer", {},
                {{"imputed_value_floats", values},
                 {"replaced_value_float", missing.empty() ? std::nanf("") : missing[0]}}),
      {-1});
}

Expr OneHotEncoder(NnArgs& a) {
  a.Ignore("inputs#");
  a.Ignore("outputs#");
  a.Require(!a.Flag("outputSparse"), "a dictionary of categories");
  const bool unknown = a.Enum("handleUnknown", "ErrorOnUnknown") == "IgnoreUnknown";
  AttributeMap attrs = {{"zeros", unknown ? 1 : 0}};
  for (const auto& [core, ours] : {std::pair("stringCategories.vector", "cats_strings"),
                                   std::pair("int64Categories.vector", "cats_int64s")}) {
    a.Ignore(core);
    if (const Attribute* list = a.attrs().Find(core)) attrs.Set(ours, *list);
  }
  return Reshape(a.X().Op("one_hot_encoder", {}, std::move(attrs)), {-1});
}

Expr CategoricalMapping(NnArgs& a) {
  a.Ignore("inputs#");
  a.Ignore("outputs#");
  const bool names = a.HasAttr("stringToInt64Map.map.key");
  const std::string_view at = names ? "stringToInt64Map.map." : "int64ToStringMap.map.";
  const Symbol keys(StrCat(at, "key")), values(StrCat(at, "value"));
  const std::vector<std::string> strings = a.StringList(names ? keys : values);
  const std::vector<int64_t> ints = a.IntList(names ? values : keys, {});
  a.Require(!strings.empty() && strings.size() == ints.size(), "a map of other sizes");
  // An element that is not there is an error in Core ML.
  return a.X().Op("category_mapper", {},
                  {{"cats_strings", strings},
                   {"cats_int64s", ints},
                   {"default_int64", a.Int("int64Value")},
                   {"default_string", a.String("strValue", "")}});
}

// The values of a dictionary's words, by the list of these; 0 for one that is not there.
Expr DictVector(NnArgs& a) {
  a.Ignore("inputs#");
  a.Ignore("outputs#");
  const Symbol strings("stringToIndex.vector"), ints("int64ToIndex.vector");
  AttributeMap attrs;
  if (a.HasAttr(strings)) {
    attrs.Set("string_vocabulary", a.StringList(strings));
  } else {
    attrs.Set("int64_vocabulary", a.IntList(ints, {}));
  }
  return Reshape(a.X().Op("dict_vectorizer", {}, std::move(attrs)), {-1});
}

Expr Extractor(NnArgs& a) { return Gather(Vector(a), a.b().Ints(a.List("extractIndex", {0})), 0); }
Expr Same(NnArgs& a) {
  a.Ignore("inputs#");
  a.Ignore("outputs#");
  return a.X().Op("identity");
}

Values Classes(NnArgs& a) {
  a.Ignore("classes");
  return ClassesOf(a, a.X(), a.attrs().Find("classes"));
}

#define X2IR_MODEL(ir_op) X2IR_ROWS(::x2ir::CoremlModels, ir_op)

X2IR_MODEL(tree_ensemble_regressor).From("treeEnsembleRegressor", TreeRegressor);
X2IR_MODEL(tree_ensemble_classifier).From("treeEnsembleClassifier", TreeClassifier);
X2IR_MODEL(linear_regressor).From("glmRegressor", LinearRegressor);
X2IR_MODEL(linear_classifier).From("glmClassifier", LinearClassifier);
X2IR_MODEL(svm_regressor).From("supportVectorRegressor", SvmRegressor);
X2IR_MODEL(svm_classifier).From("supportVectorClassifier", SvmClassifier);
X2IR_MODEL(top_k).From("kNearestNeighborsClassifier", Neighbours);
X2IR_MODEL(feature_vectorizer).From("featureVectorizer", FeatureVector);
X2IR_MODEL(ml_scaler).From("scaler", Scaler);
X2IR_MODEL(ml_normalizer).From("normalizer", Normalizer);
X2IR_MODEL(imputer).From("imputer", Imputer);
X2IR_MODEL(one_hot_encoder).From("oneHotEncoder", OneHotEncoder);
X2IR_MODEL(category_mapper).From("categoricalMapping", CategoricalMapping);
X2IR_MODEL(array_feature_extractor)
    .From({{"arrayFeatureExtractor", Extractor}, {"classes", Classes}});
X2IR_MODEL(dict_vectorizer).From("dictVectorizer", DictVector);
X2IR_MODEL(non_max_suppression).From("nonMaximumSuppression", BestBoxes);
X2IR_MODEL(identity).From("identity", Same);

}  // namespace
}  // namespace x2ir
