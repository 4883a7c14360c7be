#include "tests/handlers/tf/text_util.h"

#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir::tf_text {

std::string N(const std::string& name, const std::string& op,
              const std::vector<std::string>& inputs,
              const std::vector<std::pair<std::string, std::string>>& attrs,
              const std::string& field) {
  std::string text = StrCat(field, " { name: '", name, "' op: '", op, "'");
  for (const std::string& input : inputs) StrAppend(&text, " input: '", input, "'");
  for (const auto& [key, value] : attrs) {
    StrAppend(&text, " attr { key: '", key, "' value { ", value, " } }");
  }
  return text + " }\n";
}
std::string In(const std::string& name, const std::string& dtype, const std::string& dims) {
  return N(name, "Placeholder", {},
           {{"dtype", "type: " + dtype}, {"shape", "shape { " + dims + " }"}});
}
std::string Const(const std::string& name, int64_t value, const std::vector<std::string>& after,
                  const std::string& field) {
  return N(name, "Const", after,
           {{"value", StrCat("tensor { dtype: DT_INT32 tensor_shape {} int_val: ", value, " }")},
            {"dtype", "type: DT_INT32"}},
           field);
}
std::string Vector(const std::string& name, const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) StrAppend(&text, " int_val: ", value);
  return N(name, "Const", {},
           {{"value", StrCat("tensor { dtype: DT_INT32 tensor_shape { dim { size: ", values.size(),
                             " } }", text, " }")}});
}

absl::StatusOr<Model> Load(const std::string& text, const std::vector<std::string>& outputs) {
  TensorFlowOptions options;
  options.outputs = outputs;
  X2IR_ASSIGN_OR_RETURN(Model model,
                        ParseTensorFlow(text + "versions { producer: 1000 }", options));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  if (const auto problems = model.graph->Validate(); !problems.empty())
    return Internal(problems[0]);
  return model;
}

std::string Results(const std::string& text, const std::vector<std::string>& outputs,
                    const std::vector<Tensor>& inputs) {
  absl::StatusOr<Model> model = Load(text, outputs);
  if (!model.ok()) return model.status().ToString();
  std::string results[2];
  for (std::string& result : results) {
    const auto got = RunGraph(*model->graph, std::vector<Datum>(inputs.begin(), inputs.end()));
    if (!got.ok()) return got.status().ToString() + ToText(*model->graph);
    for (const Datum& datum : *got) {
      if (!datum.tensor()) return "no tensor";
      for (int64_t i = 0; i < datum.tensor()->num_elements(); ++i) {
        StrAppend(&result, result.empty() ? "" : " ", datum.tensor()->AsDouble(i));
      }
    }
    if (const auto s = RunPasses(*model->graph, DefaultPasses()); !s.ok()) {
      return s.status().ToString();
    }
  }
  if (results[0] != results[1]) return StrCat(results[0], " became ", results[1]);
  for (const int opset : {13, 18}) {
    Model copy;
    copy.graph = model->graph->Clone();
    ExportOptions options;
    options.opset = opset;
    options.check = true;
    if (const absl::Status s = FromIr(copy, "onnx", options); !s.ok()) return s.ToString();
  }
  return results[0];
}

}  // namespace x2ir::tf_text
