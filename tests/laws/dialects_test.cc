// Laws of the dialects whose ops ONNX's kind of schema does not describe, or not all: PyTorch's
// operators, TensorFlow's ops and OneFlow's.
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

using Problems = std::vector<std::string>;
using ::testing::IsEmpty;

// What is written is read again: the op that a form names, at least. What is Python's alone stands
// in no file that is read.
Problems WrittenButNotRead(const std::vector<const Form*>& forms) {
  Problems problems;
  for (const Form* form : forms) {
    if (form->op.view().starts_with("python::")) continue;
    if (form->exports && !FindImportForm(form->dialect, form->op, form->opsets.first)) {
      problems.push_back(StrCat(form->op.str(), " is written, but not read"));
    }
  }
  return problems;
}

TEST(Dialects, WhatIsWrittenIsRead) {
  for (const char* dialect : {"keras", "torch", "tf", "oneflow", "relay", "nnef"}) {
    EXPECT_THAT(WrittenButNotRead(AllForms(dialect)), IsEmpty()) << dialect;
  }
}

TEST(Dialects, MostOpsOfTheIrAreWritten) {
  const std::map<std::string, size_t> least = {
      {"torch", 120}, {"tf", 115}, {"oneflow", 115}, {"relay", 125}};
  for (const auto& [dialect, count] : least) {
    size_t written = 0;
    for (const OpDef* op : AllOps()) written += FindExportForm(dialect, op->name(), 1) != nullptr;
    EXPECT_GE(written, count) << dialect;
  }
}

// Operators that PyTorch's registry has no more, or that write to an operand, which is why
// facts/torch-ops.json has them not.
const std::map<std::string_view, std::string_view> kNoSchema = {
    {"aten::__and__.Scalar_Tensor", "no overload of that operator: rows are of all three"},
    {"aten::__or__.Scalar_Tensor", "no overload of that operator: rows are of all three"},
    {"aten::__xor__.Scalar_Tensor", "no overload of that operator: rows are of all three"},
    {"aten::_batch_norm_with_update.default", "writes running statistics"},
    {"aten::_fused_moving_avg_obs_fq_helper.default", "writes the observer's range"},
    {"aten::_log_softmax_backward_data.default", "of backward passes"},
    {"aten::_native_batch_norm_legit.default", "writes running statistics"},
    {"aten::_scaled_dot_product_attention.default", "of older versions"},
    {"aten::_softmax_backward_data.default", "of backward passes"},
    {"aten::bernoulli.float", "what functionalizing makes of bernoulli_"},
    {"aten::cholesky.default", "of older versions"},
    {"aten::detach_.default", "writes to its operand"},
    {"aten::diag_embed_copy.default", "of older versions"},
    {"aten::fill_diagonal.default", "what functionalizing makes of fill_diagonal_"},
    {"aten::fused_moving_avg_obs_fake_quant.default", "writes the observer's range"},
    {"aten::max_pool2d_with_indices_backward.default", "of backward passes"},
    {"aten::native_dropout_backward.default", "of backward passes"},
    {"aten::normal.default", "what functionalizing makes of normal_"},
    {"aten::qr.default", "of older versions"},
    {"aten::rrelu_with_noise.default", "writes its noise"},
    {"aten::special_log_softmax.int", "of older versions"},
    {"aten::special_softmax.int", "of older versions"},
};

TEST(Dialects, PyTorchHasTheOperatorsThatAreRead) {
  Problems problems;
  for (const Form* form : AllForms("torch")) {
    const std::string_view op = form->op.view();
    if (!op.starts_with("aten::") || kNoSchema.contains(op) || FindTorchSchema(op)) continue;
    problems.push_back(std::string(op));
  }
  EXPECT_THAT(problems, IsEmpty());
  for (const auto& [op, reason] : kNoSchema) EXPECT_EQ(FindTorchSchema(op), nullptr) << op;
}

TEST(Dialects, PyTorchsSchemasAreUnderstood) {
  size_t count = 0;
  for (const TorchSchema* schema : AllTorchSchemas()) {
    ++count;
    EXPECT_FALSE(schema->results.empty()) << schema->name;
    bool optional = false;
    for (const TorchParameter& p : schema->parameters) {
      EXPECT_FALSE(p.name.empty() || p.type.empty()) << schema->name;
      EXPECT_EQ(p.type.find_first_of("()!"), p.type.npos) << schema->name << ": " << p.type;
      // What is positional and has no default stands before what has one.
      EXPECT_FALSE(optional && !p.keyword_only && p.default_value.empty()) << schema->name;
      optional = optional || (!p.keyword_only && !p.default_value.empty());
    }
  }
  EXPECT_GT(count, 1000u);
}

TEST(Dialects, TensorFlowsOpsThatAreWrittenHaveASignature) {
  for (const Form* form : AllForms("tf")) {
    if (!form->exports) continue;
    EXPECT_NE(FindTfSignature(form->op.view()), nullptr) << form->op.str();
  }
}

TEST(DialectLawsCanFail, WrittenButNotRead) {
  Form form;
  form.dialect = "tf";
  form.op = "NoSuchOp";
  form.ir_op = "relu";
  EXPECT_THAT(WrittenButNotRead({&form}), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace x2ir
