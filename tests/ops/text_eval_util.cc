// See text_eval_util.h.
#include "tests/ops/text_eval_util.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

absl::StatusOr<std::shared_ptr<Graph>> ParseIr(std::string_view inputs, std::string_view lines,
                                               std::string_view outputs) {
  X2IR_ASSIGN_OR_RETURN(
      std::shared_ptr<Graph> graph,
      ParseGraph(StrCat("graph g(", inputs, ") -> (", outputs, ") {\n", lines, "\n}")));
  for (Node* node : graph->nodes()) {
    const OpDef* def = FindOp(node->op());
    if (!def) return NotFound("op ", node->op().str());
    for (const AttrDef& attr : def->attrs()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
  }
  X2IR_RETURN_IF_ERROR(InferGraph(*graph));
  return graph;
}

std::string TensorText(const Tensor& tensor) {
  TextOptions options;
  options.max_constant_elements = 1000;
  std::string text = AttributeText(Attribute(tensor), options);
  return text.substr(7, text.size() - 8);  // without tensor( )
}

namespace {

absl::StatusOr<std::string> Eval(std::string_view lines, std::string_view outputs) {
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> graph, ParseIr("", lines, outputs));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*graph, {}));
  std::string text;
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& output = *graph->outputs()[i];
    const Tensor* tensor = results[i].tensor();
    if (!tensor) return Internal("an output is no tensor");
    StrAppend(&text, i > 0 ? "; " : "", TensorText(*tensor));
    const auto merged = MergeTypes(output.type(), tensor->type());
    if (!merged.ok() ||
        (output.shape() && output.shape()->is_static() && output.type() != tensor->type())) {
      return StrCat("inference: ", output.type().ToString(), " is ", tensor->type().ToString());
    }
    if (!output.elements()) continue;
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, tensor->ToInts());
    if (ints.size() != output.elements()->size()) return StrCat("inference: number of elements");
    for (size_t k = 0; k < ints.size(); ++k) {
      if (ProvablyDifferent(ints[k], (*output.elements())[k])) {
        return StrCat("inference: element ", k, " is ", (*output.elements())[k].ToString());
      }
    }
  }
  return text;
}

absl::StatusOr<std::string> Infer(std::string_view inputs, std::string_view lines,
                                  std::string_view outputs) {
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> graph, ParseIr(inputs, lines, outputs));
  std::string text;
  for (const Value* output : graph->outputs()) {
    StrAppend(&text, text.empty() ? "" : "; ", output->type().ToString());
    if (!output->elements()) continue;
    std::string elements;
    for (const Dim& d : *output->elements()) {
      StrAppend(&elements, elements.empty() ? "" : ", ", d.ToString());
    }
    StrAppend(&text, " {", elements, "}");
  }
  return text;
}

std::string TextOr(absl::StatusOr<std::string> text) {
  return text.ok() ? *std::move(text) : StrCat("error: ", std::string(text.status().message()));
}

}  // namespace

std::string EvalText(std::string_view lines, std::string_view outputs) {
  return TextOr(Eval(lines, outputs));
}

std::string InferText(std::string_view inputs, std::string_view lines, std::string_view outputs) {
  return TextOr(Infer(inputs, lines, outputs));
}

void ExpectText(const std::string& got, std::string_view want, std::string_view lines) {
  if (want.substr(0, 6) == "error ") {
    EXPECT_THAT(got, ::testing::HasSubstr("error: ")) << lines;
    EXPECT_THAT(got, ::testing::HasSubstr(std::string(want.substr(6)))) << lines;
  } else {
    EXPECT_EQ(got, want) << lines;
  }
}

}  // namespace x2ir
