#include "x2ir/core/edit/edit.h"

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// What formats keep there that is part of the meaning stays.
void StripWords(AnnotationsPtr& annotations) {
  if (!annotations.get()) return;
  annotations.GetOrMake().doc_string.clear();
  annotations.GetOrMake().metadata.clear();
}

void StripGraph(Graph& graph, const Graph& outermost, int64_t& next) {
  const auto strip = [&](Value* value) {
    StripWords(value->annotations());
    if (&graph == &outermost && (value->is_input() || value->is_graph_output())) return;
    std::string name;
    do {
      name = StrCat("v", next++);
    } while (outermost.Find(name));
    graph.Rename(value, name);
  };
  for (Value* input : graph.inputs()) strip(input);
  for (Value* constant : graph.constants()) strip(constant);
  for (Node* node : graph.nodes()) {
    node->set_name("");
    StripWords(node->annotations());
    for (Value* output : node->outputs()) {
      if (output) strip(output);
    }
    for (Graph* inner : node->subgraphs()) StripGraph(*inner, outermost, next);
  }
}

}  // namespace

void SetMetadata(Model& model, const NamePairs& metadata) {
  for (const auto& [key, value] : metadata) {
    auto& all = model.annotations.GetOrMake().metadata;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&key = key](const auto& entry) { return entry.first == key; });
    if (same == all.end()) {
      all.emplace_back(key, value);
    } else {
      same->second = value;
    }
  }
}

absl::Status RenameValues(Graph& graph, const NamePairs& names) {
  std::vector<Value*> values;
  absl::flat_hash_set<std::string> from, to;
  absl::flat_hash_set<const Value*> renamed;
  for (const auto& [old_name, new_name] : names) {
    Value* value = graph.Find(old_name);
    if (!value) {
      return OptionError("rename", "there is no value '", old_name, "'",
                         DidYouMean(old_name, NamesOfValues(graph)));
    }
    if (!from.insert(old_name).second) {
      return OptionError("rename", "'", old_name, "' is given twice");
    }
    if (!to.insert(new_name).second) {
      return OptionError("rename", "'", new_name, "' would be the name of two values");
    }
    values.push_back(value);
    renamed.insert(value);
  }
  for (const auto& [old_name, new_name] : names) {
    Value* has = graph.Find(new_name);
    if (!has || renamed.contains(has)) continue;
    if (has->is_input() || has->is_graph_output()) {
      return OptionError("rename", "'", new_name, "' is already the name of an ",
                         has->is_input() ? "input" : "output");
    }
    graph.Rename(has, graph.UniqueName(StrCat(new_name, "_was")));
  }
  for (Value* value : values) graph.Rename(value, graph.UniqueName("x2ir_renamed"));
  for (size_t i = 0; i < values.size(); ++i) graph.Rename(values[i], names[i].second);
  return graph.CheckNames();
}

namespace {

bool IsNumber(std::string_view text) {
  return text == "true" || text == "false" || ParseNumber<double>(text).has_value();
}

// What the text says as the one element of an input.
absl::StatusOr<Tensor> OneNumber(const Value& input, std::string_view text) {
  const Type& type = input.type();
  const DType t = type.is_tensor() ? type.dtype() : DType::kUndefined;
  if (!IsInteger(t) && !IsFloating(t) && t != DType::kBool) {
    return Invalid("it is ", type.ToString(), ", and ", text,
                   " is a single number; give the array in a .npy file");
  }
  std::vector<int64_t> dims(input.shape() ? static_cast<size_t>(input.shape()->rank()) : 0, 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& dim = (*input.shape())[static_cast<int64_t>(i)];
    if (dim.is_static() && dim.value() != 1) {
      return Invalid("it is ", type.ToString(), ", and ", text,
                     " is a single element; give the array in a .npy file");
    }
  }
  const bool is_word = text == "true" || text == "false";
  const double number = is_word ? text == "true" : *ParseNumber<double>(text);
  Tensor tensor = Tensor::ScalarOf(t, number);
  if (const auto whole = ParseNumber<int64_t>(text); t == DType::kInt64 && whole) {
    tensor = Tensor::Scalar<int64_t>(*whole);
  }
  if (!IsFloating(t) && tensor.AsDouble(0) != number) {
    return Invalid("it is ", type.ToString(), ", which cannot be ", text);
  }
  return tensor.Reshaped(std::move(dims));
}

}  // namespace

absl::Status FoldInputs(Graph& graph, const NamePairs& files) {
  for (const auto& [name, file] : files) {
    Value* input = graph.Find(name);
    if (!input || !input->is_input()) return NoSuchInput("fold_inputs", name, graph);
    absl::StatusOr<Tensor> tensor = IsNumber(file) ? OneNumber(*input, file) : ReadNpy(file);
    if (absl::IsNotFound(tensor.status())) {
      return OptionError("fold_inputs", "input '", name, "': '", file,
                         "' is neither a number nor a file");
    }
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("input '", name, "'"));
    const Type& type = input->type();
    bool fits = !type.is_known() || (type.is_tensor() && (type.dtype() == DType::kUndefined ||
                                                          type.dtype() == tensor->dtype()));
    if (const Shape* shape = input->shape(); fits && shape) {
      fits = shape->rank() == tensor->rank();
      for (int64_t i = 0; fits && i < shape->rank(); ++i) {
        fits = !(*shape)[i].is_static() || (*shape)[i].value() == tensor->dim(i);
      }
    }
    if (!fits) {
      return Invalid("input '", name, "' is ", type.ToString(), ", and '", file, "' holds ",
                     tensor->type().ToString());
    }
    // The file may be removed later and does not belong to the model: written files must not refer
    // to it.
    if (!tensor->is_string()) tensor->mutable_bytes();
    input->set_type(tensor->type());
    graph.SetDefault(input, *std::move(tensor));
    graph.FreezeInput(input);
  }
  return absl::OkStatus();
}

void StripNames(Graph& graph) {
  int64_t next = 0;
  StripGraph(graph, graph, next);
}

void ParamsAsInputs(Graph& graph) {
  for (Value* constant : graph.constants()) {
    const Tensor& tensor = *constant->constant();
    if (IsFloating(tensor.dtype()) && tensor.rank() > 0 && !constant->is_graph_output()) {
      graph.ThawConstant(constant);
    }
  }
}

}  // namespace x2ir
