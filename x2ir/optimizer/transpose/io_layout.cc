#include "x2ir/optimizer/transpose/io_layout.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/perm.h"

namespace x2ir {
namespace {

// The values of those names among the inputs or outputs.
absl::StatusOr<std::vector<Value*>> Named(const std::vector<Value*>& among,
                                          const std::vector<std::string>& names,
                                          std::string_view option, std::string_view what) {
  std::vector<Value*> found;
  for (const std::string& name : names) {
    const auto it = std::find_if(among.begin(), among.end(),
                                 [&](const Value* value) { return value->name() == name; });
    if (it == among.end()) {
      std::string known;
      for (const Value* value : among) {
        StrAppend(&known, known.empty() ? "" : ", ", value->name());
      }
      return OptionError(option, "the model has no ", what, " '", name, "'; its ", what,
                         "s are: ", known);
    }
    Value* value = *it;
    if (std::find(found.begin(), found.end(), value) != found.end()) {
      return OptionError(option, what, " '", name, "' is named twice");
    }
    const int64_t rank = value->type().is_tensor() && value->shape() ? value->shape()->rank() : -1;
    if (rank < 3 || rank > 5) {
      return OptionError(option, what, " '", name, "' is ", value->type().ToString(),
                         "; expected a tensor of rank 3, 4 or 5");
    }
    if (value->is_graph_output() && (value->is_input() || value->graph_output_count() > 1)) {
      return OptionError(option, what, " '", name, "' is ",
                         value->is_input() ? "an input and an output" : "several outputs",
                         " of the model, which would have to have one layout");
    }
    found.push_back(value);
  }
  return found;
}

// A transpose without an operand yet.
Node* InsertTranspose(Graph& graph, Node* before, const Perm& p) {
  Node* node = graph.InsertNode(before, kIrDialect, "transpose", std::vector<Value*>{nullptr});
  node->SetAttr("perm", AsInts(p));
  return node;
}

absl::Status PermuteInputs(Graph& graph, const std::vector<std::string>& names,
                           std::string_view option, Perm (*perm)(int64_t), const char* suffix) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> inputs,
                        Named(graph.inputs(), names, option, "input"));
  for (Value* input : inputs) {
    X2IR_RETURN_IF_ERROR(PermuteInput(graph, input, perm(input->shape()->rank()), suffix));
  }
  return absl::OkStatus();
}

absl::Status PermuteOutputs(Graph& graph, const std::vector<std::string>& names,
                            std::string_view option, Perm (*perm)(int64_t), const char* suffix) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> outputs,
                        Named(graph.outputs(), names, option, "output"));
  for (Value* output : outputs) {
    PermuteOutput(graph, output, perm(output->shape()->rank()), suffix);
  }
  return absl::OkStatus();
}

}  // namespace

Perm ToChannelsFirst(int64_t rank) {
  Perm p = {0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) p.push_back(i);
  return p;
}

Perm ToChannelsLast(int64_t rank) { return Inverse(ToChannelsFirst(rank)); }

absl::Status PermuteInput(Graph& graph, Value* input, const Perm& p, const std::string& suffix) {
  Node* node = InsertTranspose(graph, graph.first(), Inverse(p));
  Value* inside = graph.AddNodeOutput(node, "", input->type());
  graph.NameValues(node, StrCat(input->name(), suffix));
  graph.ReplaceAllUses(input, inside);
  node->SetInput(0, input);
  Type type = input->type();
  type.set_shape(Permuted(*input->shape(), p));
  input->set_type(std::move(type));
  if (const Tensor* tensor = input->constant()) {
    X2IR_ASSIGN_OR_RETURN(const Tensor dense, tensor->ToDense());
    graph.SetDefault(input, TransposeTensor(dense.AlignedCopyIfNeeded(), p));
  }
  return absl::OkStatus();
}

void PermuteOutput(Graph& graph, Value* output, const Perm& p, const std::string& suffix) {
  Node* node = InsertTranspose(graph, nullptr, p);
  Type type = output->type();
  type.set_shape(Permuted(*output->shape(), p));
  Value* outside = graph.AddNodeOutput(node, "", std::move(type));
  graph.NameValues(node, StrCat(output->name(), suffix));
  const auto at = std::find(graph.outputs().begin(), graph.outputs().end(), output);
  graph.SetOutput(at - graph.outputs().begin(), outside);
  graph.SwapNames(output, outside);
  outside->annotations().MergeFrom(output->annotations());
  node->SetInput(0, output);
}

absl::Status InputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names) {
  return PermuteInputs(graph, names, "inputs_as_nchw", ToChannelsFirst, "_nhwc");
}
absl::Status InputsAsChannelsLast(Graph& graph, const std::vector<std::string>& names) {
  return PermuteInputs(graph, names, "inputs_as_nhwc", ToChannelsLast, "_nchw");
}
absl::Status OutputsAsChannelsFirst(Graph& graph, const std::vector<std::string>& names) {
  return PermuteOutputs(graph, names, "outputs_as_nchw", ToChannelsFirst, "_nhwc");
}
absl::Status OutputsAsChannelsLast(Graph& graph, const std::vector<std::string>& names) {
  return PermuteOutputs(graph, names, "outputs_as_nhwc", ToChannelsLast, "_nchw");
}

}  // namespace x2ir
