// A library that embeds x2ir and is loaded late, as a host's plug-in is. Two of them are built of
// this file (copies_test.cc): with the same names registered, and different meanings.
#include <string>

#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/pass.h"

namespace {

// X2IR_COPY: "a" or "b".
X2IR_OP(copied_op).In("x").Out("y").Attr(X2IR_COPY, 1).Infer(x2ir::SameAsFirst).Doc("Its operand.");
[[maybe_unused]] const bool kDialect = x2ir::RegisterDialect({.name = "copied"});
X2IR_PASS(copied_pass, "Does nothing.",
          [](x2ir::Graph&, const x2ir::PassContext&) { return absl::StatusOr<int64_t>(0); });
X2IR_SPEC("copied", relu).Is("Rectify_" X2IR_COPY, x2ir::Since(1));
X2IR_SPEC("copied", copied_op).Is("Copied", x2ir::Since(1), x2ir::Same(X2IR_COPY));

std::string TextOf(const x2ir::Model& model) { return x2ir::ToText(*model.graph); }

std::string Convert() {
  x2ir::Model model;
  model.source_dialect = "copied";
  model.SetOpset("", 1);
  x2ir::Graph& graph = *model.graph;
  x2ir::Value* value =
      graph.AddInput("x", x2ir::Type::Tensor(x2ir::DType::kFloat32, x2ir::Shape::FromInts({2})));
  for (const char* op : {"Rectify_" X2IR_COPY, "Copied"}) {
    value = graph.AddNodeOutput(graph.AppendNode("copied", op, {value}), op);
  }
  graph.AddOutput(value);
  std::string text;
  if (const absl::Status status = x2ir::ToIr(model); !status.ok()) return status.ToString();
  text += TextOf(model);
  if (const absl::Status status = x2ir::FromIr(model, "copied"); !status.ok()) {
    return status.ToString();
  }
  text += TextOf(model);
  for (const std::string& problem : x2ir::ValidateDialect("copied")) text += problem + "\n";
  return text;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* x2ir_copy_convert() {
  static std::string text;
  text = Convert();
  return text.c_str();
}
