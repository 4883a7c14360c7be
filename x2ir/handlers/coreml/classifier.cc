#include "x2ir/handlers/coreml/classifier.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/core/dialect.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

bool HasNote(const Value& value, const char* key) {
  const Annotations* notes = value.annotations().get();
  return notes && notes->extra.contains(key);
}

std::optional<int64_t> ElementsOf(const Value& value) {
  const Shape* shape = value.shape();
  const Dim count = shape ? shape->NumElements() : Dim();
  return count.is_static() ? std::optional(count.value()) : std::nullopt;
}

// --- Recognized in IR ----------------------------------------------------------------------------

// The value whose elements these are, in the same order.
Value* Unshaped(Value* value) {
  static constexpr const char* kSteps[] = {"identity", "reshape", "flatten", "squeeze",
                                           "unsqueeze"};
  for (Node* node; (node = value->producer()) && node->is_ir() && node->input(0);) {
    const bool step = std::any_of(std::begin(kSteps), std::end(kSteps),
                                  [&](const char* op) { return node->op().view() == op; });
    // A cast that changes no number.
    const DType from = node->input(0)->dtype(), to = value->dtype();
    const bool exact =
        node->Is("cast") && ((IsInteger(from) && IsInteger(to)) || from == to ||
                             (IsFloating(from) && IsFloating(to) && BitWidth(from) < BitWidth(to)));
    if (!step && !exact) break;
    value = node->input(0);
  }
  return value;
}

// The scores of which a value is the index of the greatest: one index, and as many scores as
// classes.
Value* ScoresOf(Value* place, int64_t classes) {
  const Node* node = Unshaped(place)->producer();
  if (!node || !node->Is("arg_max") || node->attrs().Int("select_last_index", 0) != 0) {
    return nullptr;
  }
  Value* scores = node->input(0);
  const Shape* shape = scores->shape();
  if (!shape || shape->rank() == 0 || ElementsOf(*scores) != classes ||
      !IsFloating(scores->dtype())) {
    return nullptr;
  }
  int64_t axis = node->attrs().Int("axis", 0);
  if (axis < 0) axis += shape->rank();
  const bool all = axis >= 0 && axis < shape->rank() && (*shape)[axis].is_static() &&
                   (*shape)[axis].value() == classes;
  return all ? scores : nullptr;
}

struct LabelsOfScores {
  Value* scores = nullptr;
  Attribute classes{};
};

Attribute ListOfLabels(const Tensor& table) {
  if (table.is_string()) {
    return Attribute(std::vector<std::string>(table.strings().begin(), table.strings().end()));
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < table.num_elements(); ++i) numbers.push_back(table.AsInt(i));
  return Attribute(std::move(numbers));
}

// A table of labels that an integer picks one of: a gather, or a map from places to labels.
std::optional<LabelsOfScores> LabelledBy(Value* label) {
  Node* node = Unshaped(label)->producer();
  if (!node || !node->is_ir()) return std::nullopt;
  std::optional<Tensor> table;
  Value* place = nullptr;
  if (node->Is("gather") || node->Is("array_feature_extractor")) {
    const std::optional<Tensor> known = KnownTensor(*node->input(0));
    const bool row =
        known && known->rank() == 2 && known->dim(0) == 1 && node->Is("array_feature_extractor");
    if (!known || (known->rank() != 1 && !row)) return std::nullopt;
    table = *known;
    place = node->input(1);
  } else if (node->Is("label_encoder")) {
    const Tensor* keys = node->attrs().Find("keys")->get<Tensor>();
    const Tensor* values = node->attrs().Find("values")->get<Tensor>();
    if (!keys || !values || !IsInteger(keys->dtype()) || !values->is_string() ||
        keys->is_sparse() || keys->num_elements() != values->num_elements()) {
      return std::nullopt;
    }
    // Places are 0, 1, ...: each must have a label.
    std::vector<std::string> labels(static_cast<size_t>(keys->num_elements()));
    std::vector<bool> has(labels.size());
    for (int64_t i = 0; i < keys->num_elements(); ++i) {
      const int64_t key = keys->AsInt(i);
      if (key < 0 || key >= keys->num_elements() || has[static_cast<size_t>(key)]) {
        return std::nullopt;
      }
      has[static_cast<size_t>(key)] = true;
      labels[static_cast<size_t>(key)] = values->strings()[static_cast<size_t>(i)];
    }
    table = Tensor::Strings({keys->num_elements()}, std::move(labels));
    place = node->input(0);
  }
  if (!table || ElementsOf(*label) != 1) return std::nullopt;
  Value* scores = ScoresOf(place, table->num_elements());
  if (!scores) return std::nullopt;
  return LabelsOfScores{scores, ListOfLabels(*table)};
}

// What `classify` takes where an output, a tensor or maps from labels, has these scores, or their
// softmax; null where it has not. The output may be a narrower float than the scores.
Value* OperandFor(Value* output, const LabelsOfScores& labels) {
  Node* node = output->producer();
  Value* const scores = Unshaped(labels.scores);
  if (node && node->Is("zip_map")) {
    const Attribute* names = node->attrs().Find(
        labels.classes.kind() == AttrKind::kInts ? "classlabels_int64s" : "classlabels_strings");
    const bool same = names && *names == labels.classes && Unshaped(node->input(0)) == scores;
    return same ? labels.scores : nullptr;
  }
  if (!output->type().is_tensor() || !IsFloating(output->dtype())) return nullptr;
  Value* value = Unshaped(output);
  node = value->producer();
  if (value != scores && node && node->Is("cast") && IsFloating(node->input(0)->dtype())) {
    value = Unshaped(node->input(0));
    node = value->producer();
  }
  if (value == scores) return labels.scores;
  if (!node || !node->Is("softmax") || Unshaped(node->input(0)) != scores) return nullptr;
  // Over all of them.
  const Shape* shape = value->shape();
  if (!shape || shape->rank() == 0) return nullptr;
  int64_t axis = node->attrs().Int("axis", -1);
  if (axis < 0) axis += shape->rank();
  const bool all = axis >= 0 && axis < shape->rank() && (*shape)[axis].is_static() &&
                   ElementsOf(*value) == (*shape)[axis].value();
  return all ? value : nullptr;
}

// Erases nodes that only computed labels, also where no passes run: no program has them.
void EraseUnusedNodes(Graph& graph) {
  for (Node* node = graph.last(); node;) {
    Node* const before = node->prev();
    const auto outputs = node->outputs();
    if (std::all_of(outputs.begin(), outputs.end(),
                    [](const Value* output) { return !output || output->is_unused(); })) {
      EraseWithConstants(node);
    }
    node = before;
  }
}

// A label that is picked in another way than a classifier does: what is wrong is not the gather.
absl::Status CheckNoLabel(Value& output) {
  const Node* node = Unshaped(&output)->producer();
  if (output.dtype() != DType::kString || !node ||
      !(node->Is("gather") || node->Is("array_feature_extractor")) ||
      !KnownTensor(*node->input(0))) {
    return absl::OkStatus();
  }
  return CannotExpress("output '", output.name(), "' ", output.type().ToString(),
                       ": strings are a program's output only as the one label of a classifier, "
                       "picked from constant ones by the arg_max of as many scores; ",
                       OptionText("shapes"), " makes one image of a batch");
}

// The dictionary of probabilities has each label once.
template <typename T>
absl::Status CheckLabels(std::vector<T> labels) {
  std::sort(labels.begin(), labels.end());
  const auto twice = std::adjacent_find(labels.begin(), labels.end());
  if (twice == labels.end()) return absl::OkStatus();
  return CannotExpress("a classifier that has the label '", *twice,
                       "' twice: the dictionary of probabilities has each once");
}
absl::Status CheckLabels(const Attribute& classes) {
  if (const auto* texts = classes.get<Attribute::Strings>()) return CheckLabels(*texts);
  return CheckLabels(*classes.get<Attribute::Ints>());
}

// --- Made ----------------------------------------------------------------------------------------

struct Classify {
  Node* node;
  Value *label, *dictionary;
};

Classify AddClassify(Graph& graph, Value* scores, Attribute classes, std::string_view label_name,
                     std::string_view dictionary_name) {
  const bool ints = classes.kind() == AttrKind::kInts;
  const DType key = ints ? DType::kInt64 : DType::kString;
  Node* node = graph.AppendNode(coreml::kDialect, "classify", std::vector<Value*>{scores});
  node->SetAttr(ints ? coreml::kIntClasses : "classes", std::move(classes));
  Value* label =
      graph.AddNodeOutput(node, graph.UniqueName(label_name), Type::Tensor(key, Shape()));
  Value* dictionary = graph.AddNodeOutput(node, graph.UniqueName(dictionary_name),
                                          Type::Map(key, Type::Tensor(DType::kFloat64, Shape())));
  return {node, label, dictionary};
}

// `value` replaces an output and takes its name; an annotation has the output's name and type.
void TakeOutput(Graph& graph, size_t i, Value* value) {
  Value* old = graph.outputs()[i];
  value->annotations().GetOrMake().extra[coreml::kPort] =
      StrCat(old->name(), "|", old->type().ToString());
  graph.SetOutput(i, value);
  if (!old->is_input() && !old->is_graph_output()) graph.SwapNames(old, value);
}

// --- By options ----------------------------------------------------------------------------------

// A label a line. Where all are integers they are integers.
absl::StatusOr<Attribute> ReadLabels(const std::string& path) {
  const auto fail = [&](const auto&... what) {
    return OptionError("labels", "'", path, "': ", what...);
  };
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return OptionError("labels", file.status().message());
  std::string_view text = (*file)->view();
  if (!IsValidUtf8(text)) return fail("it is no text in UTF-8");
  std::vector<std::string> labels;
  std::vector<int64_t> numbers;
  std::map<std::string, size_t, std::less<>> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    if (line.empty()) return fail("line ", labels.size(), " has no label");
    const auto [it, fresh] = lines.try_emplace(labels.back(), labels.size());
    if (!fresh) {
      return fail("lines ", it->second, " and ", labels.size(), " have the same label '", line,
                  "', and the dictionary of probabilities has each label once");
    }
    if (const auto number = ParseNumber<int64_t>(line)) numbers.push_back(*number);
  }
  if (labels.empty()) return fail("it has no labels");
  if (numbers.size() == labels.size()) return Attribute(std::move(numbers));
  return Attribute(std::move(labels));
}

size_t CountOf(const Attribute& classes) {
  if (const auto* texts = classes.get<Attribute::Strings>()) return texts->size();
  return classes.get<Attribute::Ints>()->size();
}

// Which output has the probabilities.
absl::StatusOr<size_t> ProbabilitiesOf(const Graph& graph, const FormatOptions& options,
                                       int64_t classes) {
  const std::string& name = options.Text("probabilities");
  const auto outputs = graph.outputs();
  std::vector<std::string> names;
  std::string all;
  std::vector<size_t> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& output = *outputs[i];
    names.push_back(output.name());
    StrAppend(&all, all.empty() ? "" : ", ", output.name(), " ", output.type().ToString());
    const Shape* shape = output.shape();
    const bool floats = output.type().is_tensor() && IsFloating(output.dtype());
    const Dim last = shape && shape->rank() > 0 ? (*shape)[shape->rank() - 1] : Dim();
    if (name.empty() ? floats && last.is_static() && last.value() == classes
                     : output.name() == name) {
      found.push_back(i);
    }
  }
  if (found.empty() && !name.empty()) {
    const std::string meant = DidYouMean(name, names);
    return OptionError("probabilities", "there is no output '", name, "'",
                       meant.empty() ? StrCat("; outputs are: ", all) : meant);
  }
  if (found.size() != 1) {
    return OptionError(
        "labels", classes, " labels, and ",
        found.empty() ? "no output" : StrCat(found.size(), " outputs"),
        " of floats whose last size is that; outputs are: ", all,
        found.empty() ? "" : StrCat("; ", OptionText("probabilities"), " says which"));
  }
  const Value& output = *outputs[found[0]];
  if (!output.type().is_tensor() || !IsFloating(output.dtype())) {
    return OptionError("probabilities", "output '", output.name(), "' is ",
                       output.type().ToString(), "; expected floats");
  }
  if (ElementsOf(output) == classes) return found[0];
  std::string hint;
  if (const Shape* shape = output.shape(); shape && !shape->Static()) {
    hint = StrCat("; ", OptionText("shapes"), " says the sizes of inputs");
  }
  return OptionError(name.empty() ? "labels" : "probabilities", "output '", output.name(), "' is ",
                     output.type().ToString(), ", which is not one probability for each of ",
                     classes, " labels", hint);
}

absl::Status ClassifyAsAsked(Graph& graph, const FormatOptions& options) {
  for (const char* option : {"label_name", "probabilities"}) {
    if (!options.Text("labels").empty() || options.Text(option).empty()) continue;
    return OptionError(option, "needs ", OptionText("labels"));
  }
  if (options.Text("labels").empty()) return absl::OkStatus();
  for (const Node* node : graph.nodes()) {
    if (IsClassify(node)) return OptionError("labels", "the model gives labels of its own");
  }
  X2IR_ASSIGN_OR_RETURN(Attribute classes, ReadLabels(options.Text("labels")));
  X2IR_ASSIGN_OR_RETURN(const size_t at,
                        ProbabilitiesOf(graph, options, static_cast<int64_t>(CountOf(classes))));
  const std::string name =
      options.Text("label_name").empty() ? "classLabel" : options.Text("label_name");
  const std::string dictionary = StrCat(name, "_probs");
  for (const std::string& taken : {name, dictionary}) {
    const Value* holder = graph.Find(taken);
    if (holder && (holder->is_input() || holder->is_graph_output())) {
      return OptionError("label_name", "the model has '", taken, "' already, as an ",
                         holder->is_input() ? "input" : "output");
    }
  }
  const Classify made =
      AddClassify(graph, graph.outputs()[at], std::move(classes), name, dictionary);
  for (const auto& [value, wanted] :
       {std::pair(made.label, &name), std::pair(made.dictionary, &dictionary)}) {
    if (value->name() != *wanted) graph.SwapNames(value, graph.Find(*wanted));
  }
  // They come first, as coremltools has them, in place of the probabilities.
  std::vector<Value*> outputs = graph.outputs();
  outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(at));
  outputs.insert(outputs.begin(), {made.label, made.dictionary});
  graph.ClearOutputs();
  for (Value* output : outputs) graph.AddOutput(output);
  return absl::OkStatus();
}

}  // namespace

bool IsClassify(const Node* node) {
  return node && !node->is_ir() && node->dialect().view() == coreml::kDialect &&
         node->op().view() == "classify";
}

absl::Status ReadyForCoreml(Graph& graph) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* output = graph.outputs()[i];
    const bool may_be = output->type().is_tensor() &&
                        (output->dtype() == DType::kString || HasNote(*output, coreml::kLabel));
    if (!may_be || output->is_input()) continue;
    const std::optional<LabelsOfScores> labelled = LabelledBy(output);
    if (!labelled) {
      X2IR_RETURN_IF_ERROR(CheckNoLabel(*output));
      continue;
    }
    X2IR_RETURN_IF_ERROR(CheckLabels(labelled->classes));
    // One classifier a program.
    Value* scores = labelled->scores;
    std::optional<size_t> at;
    for (size_t k = 0; k < graph.outputs().size() && !at; ++k) {
      Value* operand = k == i ? nullptr : OperandFor(graph.outputs()[k], *labelled);
      if (!operand) continue;
      scores = operand;
      at = k;
    }
    const Classify made =
        AddClassify(graph, scores, labelled->classes, output->name(),
                    at ? graph.outputs()[*at]->name() : StrCat(output->name(), "_probs"));
    made.node->annotations().GetOrMake().extra[kMadeForTarget] = "1";
    TakeOutput(graph, i, made.label);
    if (at) {
      TakeOutput(graph, *at, made.dictionary);
    } else {
      made.dictionary->annotations().GetOrMake().extra[coreml::kPort] = coreml::kNoPort;
      graph.AddOutput(made.dictionary);
    }
    EraseUnusedNodes(graph);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status FinishClassifier(Graph& graph, const FormatOptions& options) {
  X2IR_RETURN_IF_ERROR(ClassifyAsAsked(graph, options));
  for (Node* node : graph.nodes()) {
    if (!IsClassify(node)) continue;
    graph.MoveBefore(node, nullptr);
    Value* scores = node->input(0);
    if (scores->dtype() == DType::kFloat32) break;
    Node* cast = graph.InsertNode(node, coreml::kDialect, "cast", std::vector<Value*>{scores});
    cast->SetAttr("dtype", "fp32");
    Type type = scores->type();
    type.set_dtype(DType::kFloat32);
    node->SetInput(
        0, graph.AddNodeOutput(cast, graph.UniqueName(StrCat(scores->name(), "_fp32")), type));
    break;
  }
  return absl::OkStatus();
}

}  // namespace x2ir
