// docs/where.md: where the rows of every operator are, made of what is registered; and the
// questions that somebody asks who sees the tree for the first time, whose answers follow from its
// rule.
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/golden/golden_util.h"
#include "tests/laws/families_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// "handlers/torch/conv.cc:34" without the root and with the folder left out: "conv.cc:34".
std::string Place(const SourcePlace& place, std::string_view below) {
  std::string_view file = place.file;
  const size_t at = file.rfind(below);
  if (at != file.npos) file.remove_prefix(at + below.size());
  return StrCat(file, ":", place.line);
}

std::string Joined(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) StrAppend(&all, all.empty() ? "" : ", ", text);
  return all;
}

// Operators of one dialect: the places of the rows that read and that write them.
struct Operator {
  std::set<std::string> read, written;
};

std::string WhereText() {
  std::string text =
      "# Where rows are\n\n"
      "<!-- Written by tests/laws/where_test.cc with X2IR_UPDATE_GOLDEN=1. Do not edit. -->\n\n"
      "A row says what an operator of a framework is in the IR. The rows of a dialect are in its "
      "folder,\n`x2ir/handlers/<dialect>/`, in files that are named after families of IR ops; "
      "readers and writers are\nside by side. `nn_` marks rows of Core ML's NeuralNetwork, "
      "`contrib_` of ONNX Runtime's operators,\n`function_` of functions in Keras models. What "
      "only one framework has is in files of its own, which\ntests/golden/family_exceptions.txt "
      "lists. `x2ir ops NAME` says what an op means.\n\n"
      "| file | rows of the ops of `x2ir/ops/` |\n|---|---|\n";
  for (const RowFamily& family : RowFamilies()) {
    std::string files;
    for (std::string_view file : family.files) {
      StrAppend(&files, files.empty() ? "" : ", ", file, ".cc");
    }
    StrAppend(&text, "| ", family.name, ".cc | ", files, " |\n");
  }
  std::map<std::string, std::map<std::string, Operator>> dialects;
  std::map<std::string, std::map<std::string, std::set<std::string>>> writers;  // by IR op
  for (const Form* form : AllForms("")) {
    const std::optional<RowFile> file = RowFileOf(*form);
    if (!file) continue;
    const std::string folder = StrCat("x2ir/handlers/", file->folder, "/");
    Operator& op = dialects[file->folder][form->op.str()];
    const std::string place = Place(form->place, folder);
    if (form->imports) op.read.insert(place);
    if (form->exports) {
      op.written.insert(place);
      writers[form->ir_op.str()][file->folder].insert(place);
    }
  }
  for (const auto& [dialect, operators] : dialects) {
    StrAppend(&text, "\n## ", dialect, "\n\nIn `x2ir/handlers/", dialect,
              "/`.\n\n| operator | read | written |\n|---|---|---|\n");
    for (const auto& [name, op] : operators) {
      StrAppend(&text, "| ", name, " | ", Joined(op.read), " | ", Joined(op.written), " |\n");
    }
  }
  StrAppend(&text,
            "\n## Ops of the IR\n\nWhere an op is defined, in `x2ir/ops/`, and where rows "
            "write it.\n\n| op | defined | written |\n|---|---|---|\n");
  for (const OpDef* def : AllOps()) {
    std::string written;
    for (const auto& [dialect, places] : writers[def->name().str()]) {
      StrAppend(&written, written.empty() ? "" : "; ", dialect, ": ", Joined(places));
    }
    StrAppend(&text, "| ", def->name().view(), " | ", Place(def->place(), "x2ir/ops/"), " | ",
              written, " |\n");
  }
  return text;
}

TEST(Where, TheTableIsTrue) { ExpectGolden("docs/where.md", WhereText()); }

// Thirty first guesses. A question about an operator names its dialect; its answer is the file of
// the row. Others ask for a file by what it holds.
TEST(Where, FirstGuessesAreRight) {
  const struct {
    const char *dialect, *op;
    bool written;
    const char* file;
  } rows[] = {
      {"torch", "aten::conv2d.default", false, "torch/conv.cc"},
      {"torch", "aten::conv2d.default", true, "torch/conv.cc"},
      {"torch", "aten::lstm.input", true, "torch/rnn.cc"},
      {"torch", "aten::max_pool2d.default", true, "torch/pool.cc"},
      {"torch", "aten::layer_norm.default", false, "torch/normalization.cc"},
      {"tf", "Conv2D", true, "tf/conv.cc"},
      {"tf", "MaxPool", false, "tf/pool.cc"},
      {"tf", "ResizeBilinear", true, "tf/resize.cc"},
      {"tflite", "AVERAGE_POOL_2D", false, "tflite/pool.cc"},
      {"tflite", "AVERAGE_POOL_2D", true, "tflite/pool.cc"},
      {"tflite", "FULLY_CONNECTED", true, "tflite/matmul.cc"},
      {"tflite", "QUANTIZE", true, "tflite/quantize.cc"},
      {"onnx", "GridSample", false, "onnx/resize.cc"},
      {"onnx", "RoiAlign", true, "onnx/detection.cc"},
      {"onnx", "Col2Im", false, "onnx/shape_ops.cc"},
      {"onnx", "LSTM", true, "onnx/rnn.cc"},
      {"keras", "LSTM", false, "keras/rnn.cc"},
      {"keras", "Conv2D", false, "keras/conv.cc"},
      {"keras", "Conv2D", true, "keras/write_conv.cc"},
      {"mxnet", "RNN", false, "mxnet/rnn.cc"},
      {"caffe2", "LSTMUnit", false, "caffe2/rnn.cc"},
      {"caffe", "Pooling", false, "caffe/pool.cc"},
      {"oneflow", "fused_lstm_cell", false, "oneflow/rnn.cc"},
      {"paddle", "batch_norm", false, "paddle/normalization.cc"},
      {"darknet", "maxpool", false, "darknet/pool.cc"},
      {"ncnn", "Convolution", false, "ncnn/conv.cc"},
  };
  for (const auto& row : rows) {
    std::set<std::string> files;
    for (const Form* form : AllForms(row.dialect)) {
      if (form->op == row.op && (row.written ? form->exports : form->imports)) {
        files.insert(RowFileOf(*form)->ToString());
      }
    }
    EXPECT_EQ(Joined(files), row.file) << row.dialect << " " << row.op;
  }
  for (const char* file : {
           "ops/resize.cc",               // what resize means
           "builder/layers/window.h",     // how SAME padding becomes numbers
           "builder/layers/recurrent.h",  // how gates are put in order
           "builder/layers/resize.h",     // which target says which sampling
           "formats/tflite/reader.cc",    // how a .tflite file is read
           "optimizer/lowerings/pool.cc"  // how a pool is said with other ops
       }) {
    EXPECT_TRUE(std::filesystem::exists(StrCat(X2IR_SOURCE_DIR, "/x2ir/", file))) << file;
  }
}

}  // namespace
}  // namespace x2ir
