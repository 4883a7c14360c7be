// Golden files: the IR of real networks as text. A change of the importer, of shape inference or
// of the printer shows here as a difference that a person can read.
//
//   X2IR_UPDATE_GOLDEN=1 build/tests/x2ir_golden_test     writes them anew
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/decode.h"
#include "x2ir/formats/coreml/mil_ops.h"
#include "x2ir/formats/oneflow/schema.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/paddle/names.h"
#include "x2ir/inspect/ops_table.h"
#include "x2ir/inspect/produced_ops.h"

namespace x2ir {
namespace {

TEST(Golden, ImportedNetworks) {
  struct Row {
    std::string_view model, golden;
  };
  const Row rows[] = {
      {"demo/model.onnx", "bert_tiny.txt"},       // opset 17
      {"gru/model.onnx", "gru.txt"},              // opset 11
      {"unet_tiny/model.onnx", "unet_tiny.txt"},  // opset 20
  };
  for (const Row& row : rows) {
    const auto model = Import(StrCat(X2IR_SOURCE_DIR, "/tests/data/", row.model));
    ASSERT_TRUE(model.ok()) << row.model << ": " << model.status();
    TextOptions options;
    options.node_names = true;
    const std::string text = ToText(*model->graph, options);
    ExpectGolden(StrCat("tests/golden/", row.golden), text);
    if (UpdatesGolden()) continue;
    // The text is one that can be read.
    const auto again = ParseGraph(text);
    ASSERT_TRUE(again.ok()) << row.model << ": " << again.status();
    EXPECT_EQ(FirstDifference(ToText(**again, options), text), "");
  }
}

TEST(Golden, DifferencesAreSeen) {
  EXPECT_EQ(FirstDifference("a\nb\n", "a\nb\n"), "");
  EXPECT_NE(FirstDifference("a\nc\n", "a\nb\n"), "");
  EXPECT_NE(FirstDifference("a\n", "a\nb\n"), "");
  EXPECT_NE(FirstDifference("a\nb\n", ""), "");
}

// The document of what is supported is what `x2ir ops --dialect onnx --markdown` prints.
TEST(Golden, SupportedOps) {
  const auto table = MakeOpsTable("onnx", std::nullopt);
  ASSERT_TRUE(table.ok()) << table.status();
  const std::string text = StrCat(
      "# Supported ops of ONNX\n\n"
      "<!-- Written by tests/golden/golden_test.cc with X2IR_UPDATE_GOLDEN=1. Do not edit. -->\n\n"
      "The same as `x2ir ops --dialect onnx --markdown`. A row is an op of ONNX; opsets are those "
      "of\n"
      "its own domain, and `7+` means from 7 to the newest. What an op is in IR can be written at\n"
      "every opset in its column; at older ones the lowerings say it with other ops where that is\n"
      "exact. Ops without a row's IR op are not mapped; docs/unmapped_ops.txt says why. Ops of\n"
      "frameworks that are only read, without their overloads, are where they become the same\n"
      "IR op.\n\n",
      table->ToMarkdown());
  ExpectGolden("docs/supported_ops.md", text);
}

// So is the reference of IR's own ops what `x2ir ops --reference --markdown` prints.
TEST(Golden, IrOps) {
  const auto table = MakeOpsTable("", std::nullopt);
  ASSERT_TRUE(table.ok()) << table.status();
  ExpectGolden(
      "docs/ir_ops.md",
      StrCat(
          "# The ops of the IR\n\n"
          "<!-- Written by tests/golden/golden_test.cc with X2IR_UPDATE_GOLDEN=1. Do not edit. "
          "-->\n\n"
          "The same as `x2ir ops --reference --markdown`; `x2ir ops NAME` prints one of them. "
          "Element types are\n"
          "those of the newest schema of the op of ONNX that says the same; where there are none, "
          "the text\n"
          "says what it takes. Opsets are those of an op's own domain, and `7+` means from 7 to "
          "the newest.\n"
          "`(read)`: no op of the IR is written as this one.\n",
          table->ReferenceMarkdown()));
}

// Operators of TFLite that no form reads, and why.
std::string WhyNot(std::string_view op) {
  static const auto& reasons = *new std::map<std::string_view, std::string_view>{
      {"CUSTOM", "a custom operator's own name counts"},
      {"DELEGATE", "made by runtimes, not in files"},
      {"PLACEHOLDER_FOR_GREATER_OP_CODES", "no operator"},
      {"CONCAT_EMBEDDINGS", "LiteRT has no kernel"},
      {"LSH_PROJECTION", "not mapped: hashes of bytes"},
      {"SKIP_GRAM", "not mapped: strings"},
      {"CALL_ONCE", "settled before nodes are looked at: what it sets are constants"},
      {"HASHTABLE", "settled before: a constant"},
      {"HASHTABLE_IMPORT", "settled before: what a table holds"},
      {"VAR_HANDLE", "settled before"},
      {"READ_VARIABLE", "settled before: the value that was set"},
      {"ASSIGN_VARIABLE", "settled before; no run sees what another one set"},
      {"STABLEHLO_SCATTER", "not mapped"},
      {"STABLEHLO_GATHER", "not mapped"},
      {"STABLEHLO_RNG_BIT_GENERATOR", "not mapped: no runtime gives the same bits"}};
  if (const auto found = reasons.find(op); found != reasons.end())
    return std::string(found->second);
  return op.starts_with("STABLEHLO_") ? "LiteRT has no kernel" : "";
}

// Which operators of a dialect become which ops of the IR, and are written from which.
struct OpsByName {
  std::map<std::string, std::vector<std::string>> read;
  std::map<std::string, std::set<std::string>> written;
};
OpsByName OpsOf(std::string_view dialect) {
  OpsByName ops;
  for (const Form* form : AllForms(dialect)) {
    if (form->imports && (!form->code || form->code->import)) {
      std::vector<std::string> made = ProducedOps(*form);
      // No test with nodes at run time converts it.
      if (made.empty()) made.push_back(StrCat(form->ir_op.view(), " and others"));
      std::vector<std::string>& listed = ops.read[form->op.str()];
      for (std::string& op : made) {
        if (std::find(listed.begin(), listed.end(), op) == listed.end()) listed.push_back(op);
      }
    }
    if (form->exports && (!form->code || form->code->export_)) {
      ops.written[form->op.str()].insert(form->ir_op.str());
    }
  }
  return ops;
}
template <typename Names>
std::string Listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) StrAppend(&text, text.empty() ? "" : ", ", name);
  return text;
}
std::string HeadOf(const std::string& name) {
  return ReadGolden(StrCat("tests/golden/", name, "_ops_head.md"));
}

// Dialects of symbols have no schema: the table has what the rows have.
TEST(Golden, MxnetOps) {
  const OpsByName ops = OpsOf("mxnet");
  std::string text = HeadOf("mxnet") + "| operator | becomes |\n|---|---|\n";
  for (const auto& [op, ir] : ops.read) StrAppend(&text, "| ", op, " | ", Listed(ir), " |\n");
  StrAppend(&text, "\n", ops.read.size(), " names of operators.\n");
  ExpectGolden("docs/mxnet_ops.md", text);
}

// Frameworks whose files hold no schemas, as those of symbols.
TEST(Golden, OpsOfLayers) {
  for (const std::string world : {"caffe", "caffe2", "darknet", "ncnn"}) {
    const OpsByName ops = OpsOf(world);
    std::string text = HeadOf(world) + "| name | becomes |\n|---|---|\n";
    for (const auto& [op, ir] : ops.read) StrAppend(&text, "| ", op, " | ", Listed(ir), " |\n");
    StrAppend(&text, "\n", ops.read.size(), " names.\n");
    ExpectGolden(StrCat("docs/", world, "_ops.md"), text);
  }
}

// Those that are written, too.
TEST(Golden, OpsReadAndWritten) {
  for (const std::string world : {"keras", "nnef", "nnvm", "relay"}) {
    const OpsByName ops = OpsOf(world);
    std::set<std::string> names;
    for (const auto& [op, ir] : ops.read) names.insert(op);
    for (const auto& [op, ir] : ops.written) names.insert(op);
    std::string text = HeadOf(world) + "| operator | becomes | written from |\n|---|---|---|\n";
    const auto of = [](const auto& all, const std::string& op) {
      const auto found = all.find(op);
      return found == all.end() ? std::string() : Listed(found->second);
    };
    for (const std::string& op : names) {
      StrAppend(&text, "| ", op, " | ", of(ops.read, op), " | ", of(ops.written, op), " |\n");
    }
    StrAppend(&text, "\n", ops.read.size(), " operators are read, ", ops.written.size(),
              " are written.\n");
    ExpectGolden(StrCat("docs/", world, "_ops.md"), text);
  }
}

TEST(Golden, TfliteOps) {
  OpsByName ops = OpsOf("tflite");
  auto& [read, written] = ops;
  std::string text = HeadOf("tflite");
  text += "| number | operator | becomes | written from |\n|---|---|---|---|\n";
  int count = 0;
  const auto names = tflite::OperatorNames();
  for (const std::string_view op : names) {
    const std::string name(op);
    std::string as = Listed(read[name]);
    count += !as.empty();
    if (as.empty()) as = WhyNot(op);
    EXPECT_FALSE(as.empty()) << op << " has no form, and nothing says why";
    EXPECT_TRUE(read[name].empty() || WhyNot(op).empty() || op.starts_with("STABLEHLO_")) << op;
    StrAppend(&text, "| ", *tflite::OperatorNumber(op), " | ", op, " | ",
              read[name].empty() ? StrCat("*", as, "*") : as, " | ", Listed(written[name]), " |\n");
  }
  text += "\nOther operators:\n\n| operator | read as |\n|---|---|\n";
  for (const auto& [op, ir] : read) {
    if (!ir.empty() && !tflite::OperatorNumber(op)) {
      StrAppend(&text, "| ", op == "FLEX" ? "Flex... (TensorFlow's own)" : op, " | ",
                op == "FLEX" ? "what TensorFlow's op is" : Listed(ir), " |\n");
    }
  }
  StrAppend(&text, "\n", count, " of ", names.size(),
            " builtin operators of the schema are read.\n");
  ExpectGolden("docs/tflite_ops.md", text);
}

TEST(Golden, PaddleOps) {
  std::map<std::string, std::set<std::string>> pir;
  const auto read = OpsOf("paddle").read;
  for (const PirName& name : AllPirNames()) {
    const std::string program(name.program.empty() ? name.pir : name.program);
    EXPECT_TRUE(read.contains(program))
        << "PIR's " << name.pir << " is " << program << ", which has no form";
    pir[program].insert(std::string(name.pir));
  }
  std::string text = HeadOf("paddle");
  text += "| operator | of PIR | becomes |\n|---|---|---|\n";
  for (const auto& [op, ir] : read) {
    StrAppend(&text, "| ", op, " | ", Listed(pir[op]), " | ", Listed(ir), " |\n");
  }
  StrAppend(&text, "\n", read.size(), " operators, ", AllPirNames().size(),
            " operations of PIR among them.\n");
  ExpectGolden("docs/paddle_ops.md", text);
}

// Operators of OneFlow: what they are read as, and what is written as them.
TEST(Golden, OneflowOps) {
  OpsByName ops = OpsOf(oneflow::kDialect);
  auto& [read, written] = ops;
  std::string text = HeadOf("oneflow");
  text += "| operator | operands | becomes | written from |\n|---|---|---|---|\n";
  std::string others;
  int64_t rest = 0;
  for (const oneflow::OpSpec& op : oneflow::AllOps()) {
    const std::string name(op.name);
    if (read[name].empty()) {
      // What computes gradients and what updates weights is of training.
      if (name.find("_grad") == name.npos && !name.ends_with("_update") &&
          !name.starts_with("multi_tensor_")) {
        StrAppend(&others, others.empty() ? "" : ", ", name);
      }
      ++rest;
      continue;
    }
    std::string operands;
    for (const oneflow::OperandSpec& operand : op.inputs) {
      StrAppend(&operands, operands.empty() ? "" : ", ", operand.name,
                operand.count == oneflow::Count::kMany       ? "..."
                : operand.count == oneflow::Count::kOptional ? "?"
                                                             : "");
    }
    StrAppend(&text, "| ", name, " | ", operands, " | ", Listed(read[name]), " | ",
              Listed(written[name]), " |\n");
  }
  int64_t count = 0;
  for (const auto& [op, ir] : read) count += !ir.empty();
  StrAppend(
      &text, "\n", count, " operators are read. ", rest,
      " more of the facts are not: those of training (gradients, updates of weights), and\n\n",
      others, ".\n");
  ExpectGolden("docs/oneflow_ops.md", text);
}

// Operations of StableHLO and CHLO, both ways.
TEST(Golden, StablehloOps) {
  OpsByName ops = OpsOf(stablehlo::kDialect);
  auto& [read, written] = ops;
  for (const auto& [name, ir] : written) read[name];
  std::string text = HeadOf("stablehlo");
  text += "| operation | becomes | written from |\n|---|---|---|\n";
  int64_t count = 0;
  for (const auto& [name, ir] : read) {
    count += !ir.empty();
    StrAppend(&text, "| ", name, " | ", Listed(ir), " | ", Listed(written[name]), " |\n");
  }
  StrAppend(&text, "\n", count, " operations are read.\n");
  ExpectGolden("docs/stablehlo_ops.md", text);
}

// Core ML: MIL's operations, both ways, and layers of networks and other models, which are read.
TEST(Golden, CoremlOps) {
  OpsByName ops = OpsOf(coreml::kDialect);
  auto& [read, written] = ops;
  std::string text = HeadOf("coreml");
  text +=
      "## ML Programs\n\n| operation | from | becomes | written from "
      "|\n|---|---|---|---|\n";
  int64_t known = 0;
  for (const coreml::MilOp& op : coreml::AllMilOps()) {
    const std::string name(op.name);
    known += !read[name].empty();
    StrAppend(&text, "| ", name, " | iOS", op.since + 10, " | ", Listed(read[name]), " | ",
              Listed(written[name]), " |\n");
  }
  StrAppend(&text, "\n", known, " of ", coreml::AllMilOps().size(), " operations are read.\n");
  // What a message says a file may hold from a number on.
  const auto table = [&](std::string_view title, const ProtoMessage& message,
                         std::string_view domain, uint32_t from) {
    StrAppend(&text, "\n## ", title, "\n\n| ", title, " | becomes |\n|---|---|\n");
    int64_t all = 0, some = 0;
    for (const ProtoField& field : message.fields) {
      if (field.number < from) continue;
      const std::string ir = Listed(read[StrCat(domain, field.name)]);
      ++all;
      some += !ir.empty();
      StrAppend(&text, "| ", field.name, " | ", ir, " |\n");
    }
    StrAppend(&text, "\n", some, " of ", all, " are read.\n");
  };
  table("Layers", coreml::NeuralNetworkLayerMessage(), "nn::", 100);
  table("Models", coreml::ModelMessage(), "model::", 200);
  ExpectGolden("docs/coreml_ops.md", text);
}

}  // namespace
}  // namespace x2ir
