#include "tests/optimizer/transpose_util.h"

#include <vector>

#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {

void SetDefaults(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) SetDefaults(*inner);
    const OpDef* def = FindOp(node->op());
    if (!def) continue;
    for (const AttrDef& attr : def->attrs()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
  }
}

namespace {

void FillZeros(Graph& graph) {
  uint64_t state = 1;
  for (Value* value : graph.constants()) {
    const Tensor& tensor = *value->constant();
    if (tensor.dtype() != DType::kFloat32 || tensor.num_elements() < 2) continue;
    bool zeros = true;
    for (const std::byte b : tensor.bytes()) zeros &= b == std::byte{0};
    if (!zeros) continue;
    Tensor filled = Tensor::Zeros(DType::kFloat32, tensor.dims());
    for (float& x : filled.mutable_span<float>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = 0.05f + static_cast<float>(state >> 40) / static_cast<float>(1 << 24) / 4;
    }
    graph.ReplaceConstant(value, std::move(filled));
  }
}

void ForgetTypes(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Value* output : node->outputs()) {
      if (!output || output->is_graph_output()) continue;
      output->set_type(Type());
      output->clear_elements();
    }
  }
}

std::string Untrue(const Graph& graph) {
  const std::shared_ptr<Graph> anew = graph.Clone();
  ForgetTypes(*anew);
  if (absl::Status s = InferGraph(*anew); !s.ok()) return std::string(s.message());
  Node* other = anew->first();
  for (const Node* node : graph.nodes()) {
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (!node->output(i)) continue;
      const auto merged = MergeTypes(node->output(i)->type(), other->output(i)->type());
      if (!merged.ok() || *merged != node->output(i)->type()) {
        return StrCat(ToText(*node), "\nis inferred as ", other->output(i)->type().ToString());
      }
    }
    other = other->next();
  }
  return "";
}

}  // namespace

absl::StatusOr<Model> IrFromText(std::string_view inputs, std::string_view lines,
                                 std::string_view outputs) {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelFromText(StrCat("graph g(", inputs, ") -> (", outputs, ") {\n", lines, "\n}"), "", 0));
  SetDefaults(*model.graph);
  FillZeros(*model.graph);
  X2IR_RETURN_IF_ERROR(InferGraph(*model.graph));
  return model;
}

int64_t CountOps(const Graph& graph, std::string_view op) {
  int64_t count = 0;
  for (const Node* node : graph.nodes()) {
    count += node->Is(op);
    for (const Graph* inner : node->subgraphs()) count += CountOps(*inner, op);
  }
  return count;
}

std::string RunTransposes(const Model& before, Model& after) {
  auto results = RunPasses(*after.graph, {"transposes", "dead_code"});
  if (!results.ok()) return std::string(results.status().message());
  if (const auto problems = after.graph->Validate(); !problems.empty()) return problems[0];
  if (std::string untrue = Untrue(*after.graph); !untrue.empty()) return untrue;
  for (uint64_t seed : {1, 2}) {
    auto io = RandomCase(*before.graph, seed, nullptr);
    if (!io.ok()) return std::string(io.status().message());
    const auto verification = VerifyModels(before, after, {*io});
    if (!verification.ok()) return std::string(verification.status().message());
    if (!verification->agrees()) return verification->ToText();
  }
  return "";
}

std::string TransposesText(std::string_view inputs, std::string_view lines,
                           std::string_view outputs) {
  auto before = IrFromText(inputs, lines, outputs), after = IrFromText(inputs, lines, outputs);
  if (!before.ok()) return StrCat("error: ", std::string(before.status().message()));
  if (std::string wrong = RunTransposes(*before, *after); !wrong.empty()) {
    return StrCat("error: ", wrong, "\n", ToText(*after->graph));
  }
  return Body(ToText(*after->graph, {.max_constant_elements = 64, .types = false}));
}

}  // namespace x2ir
