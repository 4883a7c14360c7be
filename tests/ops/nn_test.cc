// The neural-network family: evaluation of small inputs against values worked out by hand,
// inference with symbolic dims, and errors.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// A graph from text whose nodes have the defaults of what the text leaves out.
absl::StatusOr<std::shared_ptr<Graph>> Parse(const std::string& text) {
  X2IR_ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, ParseGraph(text));
  for (Node* node : graph->nodes()) {
    const OpDef* def = FindOp(node->op());
    if (def == nullptr) return NotFound("no op ", node->op().str());
    for (const AttrDef& attr : def->attrs()) {
      if (attr.default_value && !node->attrs().Has(attr.name)) {
        node->SetAttr(attr.name, *attr.default_value);
      }
    }
  }
  return graph;
}

absl::StatusOr<std::vector<Tensor>> RunText(const std::string& text) {
  X2IR_ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, Parse(text));
  X2IR_RETURN_IF_ERROR(InferGraph(*graph));
  X2IR_ASSIGN_OR_RETURN(std::vector<Datum> data, RunGraph(*graph, {}));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i].tensor() == nullptr) return Internal("no tensor");
    tensors.push_back(*data[i].tensor());
    // What inference said must hold.
    const Shape* shape = graph->outputs()[i]->shape();
    if (shape == nullptr || !shape->is_static() || shape->Static() != tensors.back().dims() ||
        graph->outputs()[i]->dtype() != tensors.back().dtype()) {
      return Internal("inferred ", graph->outputs()[i]->type().ToString(), ", got ",
                      tensors.back().type().ToString());
    }
  }
  return tensors;
}

std::string Difference(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return absl::StrCat("got ", got.type().ToString(), ", want ", want.type().ToString());
  }
  if (got.is_string()) return got.strings() == want.strings() ? "" : "strings differ";
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double a = got.AsDouble(i), b = want.AsDouble(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a != b && !(std::abs(a - b) <= 1e-5 + 1e-5 * std::abs(b))) {
      return absl::StrCat("element ", i, ": got ", a, ", want ", b);
    }
  }
  return "";
}

struct EvalRow {
  const char* name;
  const char* body;     // lines of a graph whose results are `results`
  const char* results;  // names
  const char* want;     // constants named a, b, ... one for each result
};

const EvalRow kEval[] = {
    // --- conv
    {"conv",
     "x = float32[1,1,3,3]{1,2,3,4,5,6,7,8,9}\nw = float32[1,1,2,2]{1,1,1,1}\n"
     "y = conv(x, w)",
     "y", "a = float32[1,1,2,2]{12,16,24,28}"},
    {"conv same upper",
     "x = float32[1,1,3,3]{1,2,3,4,5,6,7,8,9}\n"
     "w = float32[1,1,3,3]{1,1,1,1,1,1,1,1,1}\ny = conv(x, w) { auto_pad = \"SAME_UPPER\" }",
     "y", "a = float32[1,1,3,3]{12,21,16,27,45,33,24,39,28}"},
    {"conv same lower",
     "x = float32[1,1,3,3]{1,2,3,4,5,6,7,8,9}\n"
     "w = float32[1,1,2,2]{1,1,1,1}\ny = conv(x, w) { auto_pad = \"SAME_LOWER\" }",
     "y", "a = float32[1,1,3,3]{1,3,5,5,12,16,11,24,28}"},
    {"conv pads, stride",
     "x = float32[1,1,3]{1,2,3}\nw = float32[1,1,2]{1,10}\n"
     "y = conv(x, w) { strides = [2], pads = [1, 2] }",
     "y", "a = float32[1,1,3]{10,32,0}"},
    {"conv of one element, as many results as operands",
     "x = float32[1,2,4]{1,2,3,4,10,20,30,40}\nw = float32[1,2,1]{1,1}\n"
     "y = conv(x, w) { strides = [2], pads = [2, 2] }",
     "y", "a = float32[1,1,4]{0,11,33,0}"},
    {"conv dilation",
     "x = float32[1,1,3,3]{1,2,3,4,5,6,7,8,9}\nw = float32[1,1,2,2]{1,1,1,1}\n"
     "y = conv(x, w) { dilations = [2, 2] }",
     "y", "a = float32[1,1,1,1]{20}"},
    {"conv depthwise",
     "x = float32[1,2,1,3]{1,2,3,10,20,30}\nw = float32[2,1,1,2]{1,1,1,-1}\n"
     "y = conv(x, w) { group = 2 }",
     "y", "a = float32[1,2,1,2]{3,5,-10,-10}"},
    {"conv groups and bias",
     "x = float32[1,4,1,1]{1,2,3,4}\nw = float32[2,2,1,1]{1,1,2,1}\n"
     "b = float32[2]{1,-1}\ny = conv(x, w, b) { group = 2 }",
     "y", "a = float32[1,2,1,1]{4,9}"},
    {"conv channels last",
     "x = float32[1,1,3,2]{1,10,2,20,3,30}\nw = float32[2,1,1,2]{1,1,1,-1}\n"
     "y = conv(x, w) { group = 2, layout = \"channels_last\" }",
     "y", "a = float32[1,1,2,2]{3,-10,5,-10}"},
    {"conv two channels, strided columns",
     "x = float32[1,2,4]{1,2,3,4,10,20,30,40}\n"
     "w = float32[1,2,2]{1,2,3,4}\ny = conv(x, w) { strides = [2], pads = [1, 1] }",
     "y", "a = float32[1,1,3]{42,188,124}"},
    {"conv 3-D",
     "x = float32[1,1,2,2,2]{1,2,3,4,5,6,7,8}\nw = float32[1,1,2,2,2]{1,1,1,1,1,1,1,1}\n"
     "y = conv(x, w)",
     "y", "a = float32[1,1,1,1,1]{36}"},
    {"conv of no images", "x = float32[0,1,3,3]{}\nw = float32[1,1,2,2]{1,1,1,1}\ny = conv(x, w)",
     "y", "a = float32[0,1,2,2]{}"},
    {"conv float16", "x = float16[1,1,2]{1,2}\nw = float16[1,1,2]{0.5,0.25}\ny = conv(x, w)", "y",
     "a = float16[1,1,1]{1}"},
    {"conv float64", "x = float64[1,1,2]{1,2}\nw = float64[1,1,2]{0.5,0.25}\ny = conv(x, w)", "y",
     "a = float64[1,1,1]{1}"},
    // --- conv_transpose
    {"conv_transpose",
     "x = float32[1,1,2,2]{1,2,3,4}\nw = float32[1,1,2,2]{1,1,1,1}\n"
     "y = conv_transpose(x, w)",
     "y", "a = float32[1,1,3,3]{1,3,2,4,10,6,3,7,4}"},
    {"conv_transpose stride, output padding",
     "x = float32[1,1,2]{1,2}\nw = float32[1,1,2]{1,10}\n"
     "y = conv_transpose(x, w) { strides = [2], output_padding = [1] }",
     "y", "a = float32[1,1,5]{1,10,2,20,0}"},
    {"conv_transpose groups, bias",
     "x = float32[1,2,1,1]{2,3}\nw = float32[2,1,1,2]{1,2,10,20}\n"
     "b = float32[2]{1,0}\ny = conv_transpose(x, w, b) { group = 2 }",
     "y", "a = float32[1,2,1,2]{3,5,30,60}"},
    {"conv_transpose pads",
     "x = float32[1,1,2]{1,2}\nw = float32[1,1,3]{1,10,100}\n"
     "y = conv_transpose(x, w) { pads = [1, 0] }",
     "y", "a = float32[1,1,3]{12,120,200}"},
    // One to cut: SAME_UPPER cuts it at the end, everything else at the beginning.
    {"conv_transpose same upper",
     "x = float32[1,1,2]{1,2}\nw = float32[1,1,3]{1,10,100}\n"
     "y = conv_transpose(x, w) { strides = [2], auto_pad = \"SAME_UPPER\" }",
     "y", "a = float32[1,1,4]{1,10,102,20}"},
    {"conv_transpose output shape",
     "x = float32[1,1,2]{1,2}\nw = float32[1,1,3]{1,10,100}\n"
     "y = conv_transpose(x, w) { strides = [2], output_shape = [4] }",
     "y", "a = float32[1,1,4]{10,102,20,200}"},
    {"conv_transpose channels last",
     "x = float32[1,2,1]{1,2}\nw = float32[1,2,1]{1,10}\n"
     "y = conv_transpose(x, w) { layout = \"channels_last\" }",
     "y", "a = float32[1,2,2]{1,10,2,20}"},
    // --- pools
    {"max_pool",
     "x = float32[1,1,4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}\n"
     "y, i = max_pool(x) { kernel_shape = [2, 2], strides = [2, 2] }",
     "y, i", "a = float32[1,1,2,2]{6,8,14,16}\nb = int64[1,1,2,2]{5,7,13,15}"},
    {"max_pool column-major",
     "x = float32[1,1,4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}\n"
     "y, i = max_pool(x) { kernel_shape = [2, 2], strides = [2, 2], storage_order = 1 }",
     "i", "a = int64[1,1,2,2]{5,13,7,15}"},
    {"max_pool ceil",
     "x = float32[1,1,3,3]{1,2,3,4,5,6,7,8,9}\n"
     "y = max_pool(x) { kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1 }",
     "y", "a = float32[1,1,2,2]{5,6,8,9}"},
    {"max_pool leaves out a window in padding",
     "x = float32[1,1,2]{1,2}\n"
     "y = max_pool(x) { kernel_shape = [1], strides = [2], pads = [0, 1], ceil_mode = 1 }",
     "y", "a = float32[1,1,1]{1}"},
    {"max_pool padding never wins",
     "x = int8[1,1,2]{-3,-5}\n"
     "y = max_pool(x) { kernel_shape = [2], pads = [1, 1] }",
     "y", "a = int8[1,1,3]{-3,-3,-5}"},
    {"max_pool NaN and infinity",
     "x = float32[1,1,4]{nan,1,-inf,-inf}\n"
     "y = max_pool(x) { kernel_shape = [2] }",
     "y", "a = float32[1,1,3]{nan,1,-inf}"},
    {"max_pool channels last",
     "x = float32[1,2,2]{1,8,3,4}\n"
     "y, i = max_pool(x) { kernel_shape = [2], layout = \"channels_last\" }",
     "y, i", "a = float32[1,1,2]{3,8}\nb = int64[1,1,2]{1,2}"},
    {"max_pool dilation",
     "x = uint8[1,1,4]{9,1,2,200}\n"
     "y = max_pool(x) { kernel_shape = [2], dilations = [2] }",
     "y", "a = uint8[1,1,2]{9,200}"},
    {"average_pool",
     "x = float32[1,1,2,2]{1,1,1,1}\n"
     "y = average_pool(x) { kernel_shape = [3, 3], pads = [1, 1, 1, 1] }",
     "y", "a = float32[1,1,2,2]{1,1,1,1}"},
    {"average_pool with padding",
     "x = float32[1,1,2,2]{9,9,9,9}\n"
     "y = average_pool(x) { kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1 }",
     "y", "a = float32[1,1,2,2]{4,4,4,4}"},
    // What ceil_mode adds past the padding does not count.
    {"average_pool ceil",
     "x = float32[1,1,3]{1,2,3}\n"
     "y = average_pool(x) { kernel_shape = [2], strides = [2], ceil_mode = 1, "
     "count_include_pad = 1 }",
     "y", "a = float32[1,1,2]{1.5,3}"},
    {"lp_pool",
     "x = float32[1,1,3]{3,-4,0}\ny = lp_pool(x) { kernel_shape = [2] }\n"
     "z = lp_pool(x) { kernel_shape = [2], p = 1 }",
     "y, z", "a = float32[1,1,2]{5,4}\nb = float32[1,1,2]{7,4}"},
    {"global pools",
     "x = float32[1,2,2]{3,-4,5,7}\ny = global_average_pool(x)\n"
     "z = global_max_pool(x)\nl = global_lp_pool(x)",
     "y, z, l",
     "a = float32[1,2,1]{-0.5,6}\nb = float32[1,2,1]{3,7}\nc = float32[1,2,1]{5,8.6023253}"},
    {"global pool channels last",
     "x = float32[1,2,2]{3,-4,5,7}\n"
     "y = global_average_pool(x) { layout = \"channels_last\" }",
     "y", "a = float32[1,1,2]{4,1.5}"},
    {"max_unpool",
     "x = float32[1,1,1,2]{5,6}\ni = int64[1,1,1,2]{4,3}\n"
     "y = max_unpool(x, i) { kernel_shape = [2, 2], strides = [2, 2] }",
     "y", "a = float32[1,1,2,4]{0,0,0,6,5,0,0,0}"},
    {"max_unpool output shape",
     "x = float32[1,1,1,1]{5}\ni = int64[1,1,1,1]{3}\n"
     "s = int64[4]{1,1,3,3}\ny = max_unpool(x, i, s) { kernel_shape = [2, 2], strides = [2, 2] }",
     "y", "a = float32[1,1,3,3]{0,0,0,0,5,0,0,0,0}"},
    // --- normalizations
    {"batch_normalization",
     "x = float32[1,2,2]{1,3,5,7}\ns = float32[2]{2,1}\nb = float32[2]{1,0}\n"
     "m = float32[2]{1,5}\nv = float32[2]{4,1}\ny = batch_normalization(x, s, b, m, v) "
     "{ epsilon = 0.0 }",
     "y", "a = float32[1,2,2]{1,3,0,2}"},
    {"batch_normalization channels last",
     "x = float32[1,2,2]{1,5,3,7}\ns = float32[2]{2,1}\n"
     "b = float32[2]{1,0}\nm = float32[2]{1,5}\nv = float32[2]{4,1}\n"
     "y = batch_normalization(x, s, b, m, v) { epsilon = 0.0, layout = \"channels_last\" }",
     "y", "a = float32[1,2,2]{1,0,3,2}"},
    {"batch_normalization training",
     "x = float32[2,1]{1,3}\ns = float32[1]{1}\nb = float32[1]{0}\n"
     "m = float32[1]{0}\nv = float32[1]{1}\ny, rm, rv = batch_normalization(x, s, b, m, v) "
     "{ epsilon = 0.0, training_mode = 1 }",
     "y, rm, rv", "a = float32[2,1]{-1,1}\nb = float32[1]{0.2}\nc = float32[1]{1}"},
    {"instance_normalization",
     "x = float32[1,2,2]{1,3,10,30}\ns = float32[2]{1,2}\n"
     "b = float32[2]{0,5}\ny = instance_normalization(x, s, b) { epsilon = 0.0 }",
     "y", "a = float32[1,2,2]{-1,1,3,7}"},
    {"layer_normalization",
     "x = float32[1,2]{1,3}\ns = float32[2]{2,3}\nb = float32[2]{1,1}\n"
     "y, m, i = layer_normalization(x, s, b) { epsilon = 0.0 }",
     "y, m, i", "a = float32[1,2]{-1,4}\nb = float32[1,1]{2}\nc = float32[1,1]{1}"},
    {"layer_normalization of rows without elements",
     "x = float32[2,0]{}\ns = float32[0]{}\ny, m, i = layer_normalization(x, s)", "y, m, i",
     "a = float32[2,0]{}\nb = float32[2,1]{nan, nan}\nc = float32[2,1]{nan, nan}"},
    {"layer_normalization axis 0, no bias",
     "x = float32[2,1]{1,3}\ns = float32[1]{2}\n"
     "y = layer_normalization(x, s) { epsilon = 0.0, axis = 0 }",
     "y", "a = float32[2,1]{-2,2}"},
    {"group_normalization",
     "x = float32[1,4,1]{1,3,2,6}\ns = float32[4]{1,2,3,4}\n"
     "b = float32[4]{0,0,0,1}\ny = group_normalization(x, s, b) { epsilon = 0.0, num_groups = 2 }",
     "y", "a = float32[1,4,1]{-1,2,-3,5}"},
    {"rms_normalization",
     "x = float32[1,2]{3,4}\ns = float32[2]{1,2}\n"
     "y = rms_normalization(x, s) { epsilon = 0.0 }",
     "y", "a = float32[1,2]{0.8485281,2.2627417}"},
    {"lrn", "x = float32[1,2,1]{1,2}\ny = lrn(x) { size = 2, alpha = 2.0, beta = 1.0, bias = 0.0 }",
     "y", "a = float32[1,2,1]{0.2,0.5}"},
    {"lp_normalization",
     "x = float32[2,2]{3,4,0,0}\ny = lp_normalization(x)\n"
     "z = lp_normalization(x) { p = 1, axis = 0 }",
     "y, z", "a = float32[2,2]{0.6,0.8,0,0}\nb = float32[2,2]{1,1,0,0}"},
    {"mean_variance_normalization",
     "x = float32[2,1]{1,3}\n"
     "y = mean_variance_normalization(x) { axes = [0] }",
     "y", "a = float32[2,1]{-1,1}"},
    // --- recurrent networks: h = relu(x + h) adds up
    {"rnn forward",
     "x = float32[3,1,1]{1,2,3}\nw = float32[1,1,1]{1}\nr = float32[1,1,1]{1}\n"
     "y, h = rnn(x, w, r) { activations = [\"Relu\"] }",
     "y, h", "a = float32[3,1,1,1]{1,3,6}\nb = float32[1,1,1]{6}"},
    {"rnn reverse",
     "x = float32[3,1,1]{1,2,3}\nw = float32[1,1,1]{1}\nr = float32[1,1,1]{1}\n"
     "y, h = rnn(x, w, r) { activations = [\"relu\"], direction = \"reverse\" }",
     "y, h", "a = float32[3,1,1,1]{6,5,3}\nb = float32[1,1,1]{6}"},
    {"rnn both ways, short sequence",
     "x = float32[3,1,1]{1,2,3}\nw = float32[2,1,1]{1,10}\n"
     "r = float32[2,1,1]{1,1}\nl = int32[1]{2}\n"
     "y, h = rnn(x, w, r, _, l) { activations = [\"Relu\", \"Relu\"], "
     "direction = \"bidirectional\" }",
     "y, h", "a = float32[3,2,1,1]{1,30,3,20,0,0}\nb = float32[2,1,1]{3,30}"},
    {"rnn batch first, initial state, clip",
     "x = float32[1,3,1]{1,2,3}\nw = float32[1,1,1]{1}\n"
     "r = float32[1,1,1]{1}\nb = float32[1,2]{0.25,0.25}\nh0 = float32[1,1,1]{-1}\n"
     "y, h = rnn(x, w, r, b, _, h0) { activations = [\"Relu\"], batch_first = 1, clip = 2.0 }",
     "y, h", "a = float32[1,3,1,1]{0.5,2,2}\nb = float32[1,1,1]{2}"},
    // Gates of 1/2: candidate = x + (h/2)*1 + 1 = 5; h = 5/2 + 4/2.
    {"gru",
     "x = float32[1,1,1]{2}\nw = float32[1,3,1]{0,0,1}\nr = float32[1,3,1]{0,0,1}\n"
     "b = float32[1,6]{0,0,0,0,0,1}\nh0 = float32[1,1,1]{4}\n_, h = gru(x, w, r, b, _, h0) "
     "{ activations = [\"Affine\", \"Relu\"], activation_alpha = [0.0], activation_beta = [0.5] }",
     "h", "a = float32[1,1,1]{4.5}"},
    // candidate = x + (h + 1)/2.
    {"gru linear before reset",
     "x = float32[1,1,1]{2}\nw = float32[1,3,1]{0,0,1}\n"
     "r = float32[1,3,1]{0,0,1}\nb = float32[1,6]{0,0,0,0,0,1}\nh0 = float32[1,1,1]{4}\n"
     "_, h = gru(x, w, r, b, _, h0) { activations = [\"Affine\", \"Relu\"], "
     "activation_alpha = [0.0], activation_beta = [0.5], linear_before_reset = 1 }",
     "h", "a = float32[1,1,1]{4.25}"},
    // Gates of 1/2: c = 4/2 + 2/2 = 3, h = 3/2.
    {"lstm",
     "x = float32[1,1,1]{2}\nw = float32[1,4,1]{0,0,0,1}\nr = float32[1,4,1]{0,0,0,0}\n"
     "h0 = float32[1,1,1]{0}\nc0 = float32[1,1,1]{4}\ny, h, c = lstm(x, w, r, _, _, h0, c0) "
     "{ activations = [\"Affine\", \"Relu\", \"Affine\"], activation_alpha = [0.0, 1.0], "
     "activation_beta = [0.5, 0.0] }",
     "y, h, c", "a = float32[1,1,1,1]{1.5}\nb = float32[1,1,1]{1.5}\nc = float32[1,1,1]{3}"},
    // Gates are relu(peephole * c): input 4, forget 1 - 4 = -3, c = -3*4 + 4*2 = -4, output
    // relu(3 * -4) = 0.
    {"lstm peepholes, coupled gates",
     "x = float32[1,1,1]{2}\nw = float32[1,4,1]{0,0,0,1}\n"
     "r = float32[1,4,1]{0,0,0,0}\nh0 = float32[1,1,1]{0}\nc0 = float32[1,1,1]{4}\n"
     "p = float32[1,3]{1,3,7}\n_, h, c = lstm(x, w, r, _, _, h0, c0, p) "
     "{ activations = [\"Relu\", \"Relu\", \"Affine\"], input_forget = 1 }",
     "h, c", "a = float32[1,1,1]{0}\nb = float32[1,1,1]{-4}"},
    // --- resize
    {"resize nearest", "x = float32[1,2]{1,2}\ns = float32[2]{2,2}\ny = resize(x, _, s)", "y",
     "a = float32[2,4]{1,1,2,2,1,1,2,2}"},
    {"resize linear",
     "x = float32[2]{1,2}\ns = float32[1]{2}\n"
     "y = resize(x, _, s) { mode = \"linear\" }",
     "y", "a = float32[4]{1,1.25,1.75,2}"},
    {"resize align corners",
     "x = float32[2]{1,2}\ns = int64[1]{3}\n"
     "y = resize(x, _, _, s) { mode = \"linear\", coordinate_transformation_mode = "
     "\"align_corners\" }",
     "y", "a = float32[3]{1,1.5,2}"},
    {"resize asymmetric floor and ceil",
     "x = float32[3]{1,2,3}\ns = int64[1]{2}\n"
     "y = resize(x, _, _, s) { nearest_mode = \"floor\", coordinate_transformation_mode = "
     "\"asymmetric\" }\nz = resize(x, _, _, s) { nearest_mode = \"ceil\", "
     "coordinate_transformation_mode = \"asymmetric\" }",
     "y, z", "a = float32[2]{1,2}\nb = float32[2]{1,3}"},
    {"resize halves: rounding",
     "x = float32[4]{1,2,3,4}\ns = float32[1]{0.5}\n"
     "y = resize(x, _, s)\nz = resize(x, _, s) { nearest_mode = \"round_prefer_ceil\" }",
     "y, z", "a = float32[2]{1,3}\nb = float32[2]{2,4}"},
    // Positions 1/4 - 1/2 ... : Catmull-Rom like weights, at 1/2: (-3/32, 19/32, 19/32, -3/32).
    {"resize cubic",
     "x = float32[4]{0,32,64,0}\ns = int64[1]{2}\n"
     "y = resize(x, _, _, s) { mode = \"cubic\" }",
     "y", "a = float32[2]{13,35}"},
    {"resize cubic, outside excluded",
     "x = float32[2]{32,64}\ns = int64[1]{1}\n"
     "y = resize(x, _, _, s) { mode = \"cubic\", exclude_outside = 1 }",
     "y", "a = float32[1]{48}"},
    // The filter is twice as wide: weights 1/8, 3/8, 3/8, 1/8.
    {"resize antialias",
     "x = float32[4]{0,8,16,8}\ns = float32[1]{0.5}\n"
     "y = resize(x, _, s) { mode = \"linear\", antialias = 1, exclude_outside = 1 }",
     "y", "a = float32[2]{5.7142859,11.4285717}"},
    {"resize axes",
     "x = float32[1,2]{1,2}\ns = int64[1]{4}\n"
     "y = resize(x, _, _, s) { axes = [-1], coordinate_transformation_mode = \"asymmetric\", "
     "nearest_mode = \"floor\" }",
     "y", "a = float32[1,4]{1,1,2,2}"},
    {"resize not larger",
     "x = float32[2,4]{1,2,3,4,5,6,7,8}\ns = int64[2]{1,3}\n"
     "y = resize(x, _, _, s) { keep_aspect_ratio_policy = \"not_larger\" }",
     "y", "a = float32[1,2]{1,3}"},
    {"resize crop",
     "x = float32[3]{1,2,3}\nr = float32[2]{0.5,1.5}\ns = int64[1]{3}\n"
     "y = resize(x, r, _, s) { mode = \"linear\", coordinate_transformation_mode = "
     "\"tf_crop_and_resize\", extrapolation_value = 9.0 }",
     "y", "a = float32[3]{2,3,9}"},
    {"resize of whole numbers",
     "x = int32[2]{0,5}\ns = int64[1]{4}\n"
     "y = resize(x, _, _, s) { mode = \"linear\" }",
     "y", "a = int32[4]{0,1,3,5}"},
    {"resize strings", "x = string[2]{\"a\",\"b\"}\ns = int64[1]{4}\ny = resize(x, _, _, s)", "y",
     "a = string[4]{\"a\",\"a\",\"b\",\"b\"}"},
    {"resize of nothing", "x = float32[0,2]{}\ns = float32[2]{2,2}\ny = resize(x, _, s)", "y",
     "a = float32[0,4]{}"},
    // --- space
    {"depth_to_space",
     "x = int64[1,8,1,1]{0,1,2,3,4,5,6,7}\ny = depth_to_space(x) { blocksize = 2 }\n"
     "z = depth_to_space(x) { blocksize = 2, mode = \"CRD\" }\ns = space_to_depth(y) "
     "{ blocksize = 2 }",
     "y, z, s",
     "a = int64[1,2,2,2]{0,2,4,6,1,3,5,7}\nb = int64[1,2,2,2]{0,1,2,3,4,5,6,7}\n"
     "c = int64[1,8,1,1]{0,1,2,3,4,5,6,7}"},
    {"depth_to_space channels last",
     "x = int64[1,1,1,8]{0,1,2,3,4,5,6,7}\n"
     "y = depth_to_space(x) { blocksize = 2, layout = \"channels_last\" }",
     "y", "a = int64[1,2,2,2]{0,1,2,3,4,5,6,7}"},
};

TEST(NnEval, Rows) {
  for (const EvalRow& row : kEval) {
    SCOPED_TRACE(row.name);
    const auto got = RunText(absl::StrCat("graph g() -> (", row.results, ") {\n", row.body, "\n}"));
    ASSERT_TRUE(got.ok()) << got.status();
    const char* names[] = {"a", "a, b", "a, b, c"};
    ASSERT_TRUE(got->size() >= 1 && got->size() <= 3);
    const auto want = ParseGraph(
        absl::StrCat("graph w() -> (", names[got->size() - 1], ") {\n", row.want, "\n}"));
    ASSERT_TRUE(want.ok()) << want.status();
    for (size_t i = 0; i < got->size(); ++i) {
      const Tensor* tensor = (*want)->outputs()[i]->constant();
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(Difference((*got)[i], *tensor), "") << "result " << i;
    }
  }
}

struct InferRow {
  const char* inputs;
  const char* node;  // the right side
  const char* want;  // types of its results, or "error: ..." (a part of the message)
};

const InferRow kInfer[] = {
    {"x: float32[n,3,h,w], k: float32[8,3,3,3]",
     "conv(x, k) { strides = [2, 2], pads = [1, 1, 1, 1] }",
     "float32[n,8,floordiv(h-1,2)+1,floordiv(w-1,2)+1]"},
    {"x: float32[n,3,h,w], k: float32[8,3,3,3]", "conv(x, k) { pads = [1, 1, 1, 1] }",
     "float32[n,8,h,w]"},
    {"x: float32[n,3,h,w], k: float32[8,3,3,3]",
     "conv(x, k) { strides = [2, 2], auto_pad = \"SAME_UPPER\" }",
     "float32[n,8,floordiv(h+1,2),floordiv(w+1,2)]"},
    {"x: float32[n,h,w,3], k: float32[8,3,1,1]", "conv(x, k) { layout = \"channels_last\" }",
     "float32[n,h,w,8]"},
    {"x: float32[...], k: float32[8,3,3,3]", "conv(x, k)", "float32[?,8,?,?]"},
    {"x: float32[1,3,8,8], k: float32[...]", "conv(x, k)", "float32[1,?,?,?]"},
    {"x: ?, k: float32[...]", "conv(x, k)", "float32[...]"},
    {"x: float32[1,3,8,8], k: float32[8,4,3,3]", "conv(x, k)", "error: x: expected 4 channels"},
    {"x: float32[1,3,8,8], k: float32[8,1,3,3]", "conv(x, k) { group = 3 }",
     "error: w has 8 output channels"},
    {"x: float32[1,3,2,8], k: float32[8,3,3,3]", "conv(x, k)", "error: kernel covers 3 elements"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { strides = [0, 1] }",
     "error: strides: expected numbers from 1, got 0"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { strides = [1] }",
     "error: strides: expected 2 numbers, got 1"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { dilations = [1, 9000000000] }",
     "error: dilations"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { pads = [0, 0, -1, 0] }",
     "error: pads: expected numbers from 0"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { auto_pad = \"SAME\" }",
     "error: auto_pad"},
    {"x: float32[1,3,8,8], k: float32[8,3,3,3]", "conv(x, k) { layout = \"NHWC\" }",
     "error: layout"},
    {"x: float32[1,3,8,8], k: float16[8,3,3,3]", "conv(x, k)", "error: "},
    {"x: float32[n,3,h,w], k: float32[3,8,2,2]", "conv_transpose(x, k) { strides = [2, 2] }",
     "float32[n,8,2*h,2*w]"},
    {"x: float32[n,3,h,w], k: float32[3,8,3,3]",
     "conv_transpose(x, k) { strides = [2, 2], auto_pad = \"SAME_LOWER\" }",
     "float32[n,8,2*h,2*w]"},
    {"x: float32[n,4,h,w], k: float32[4,8,3,3]",
     "conv_transpose(x, k) { group = 2, output_shape = [10, 12] }", "float32[n,16,10,12]"},
    {"x: float32[n,c,h,w]", "max_pool(x) { kernel_shape = [2, 2], strides = [2, 2] }",
     "float32[n,c,floordiv(h-2,2)+1,floordiv(w-2,2)+1]"},
    {"x: float32[n,c,h]", "max_pool(x) { kernel_shape = [3], strides = [2], ceil_mode = 1 }",
     "float32[n,c,floordiv(h-2,2)+1]"},
    {"x: float32[n,c,h]", "max_pool(x) { kernel_shape = []:ints }", "error: "},
    {"x: float32[n,c,h]", "average_pool(x) { kernel_shape = [3, 3] }", "error: x: expected rank 4"},
    {"x: float32[n,c,h,w]", "global_average_pool(x)", "float32[n,c,1,1]"},
    {"x: float32[n,h,w,c]", "global_max_pool(x) { layout = \"channels_last\" }",
     "float32[n,1,1,c]"},
    {"x: float32[n,c,h,w], s: float32[8]", "instance_normalization(x, s, s)", "float32[n,c,h,w]"},
    {"x: float32[n,4,h,w], s: float32[8]", "instance_normalization(x, s, s)",
     "error: operand 'scale': expected shape [4]"},
    {"x: float32[n,8,h,w], s: float32[8]", "group_normalization(x, s, s) { num_groups = 3 }",
     "error: num_groups 3 does not divide 8"},
    {"x: float16[b,s,64], g: float16[64]", "layer_normalization(x, g)", "float16[b,s,64]"},
    {"x: float16[b,s,64], g: float16[32]", "layer_normalization(x, g)", "error: operand 'scale'"},
    {"x: float16[b,s,64], g: float32[64]", "rms_normalization(x, g)", "float32[b,s,64]"},
    {"x: float32[t,b,8], w: float32[1,40,8], r: float32[1,40,10]",
     "lstm(x, w, r) { activations = [\"Sigmoid\", \"Tanh\", \"Tanh\"] }", "float32[t,1,b,10]"},
    {"x: float32[t,b,8], w: float32[1,40,8], r: float32[1,40,12]",
     "lstm(x, w, r) { activations = [\"Sigmoid\", \"Tanh\", \"Tanh\"] }", "error: r: expected 48"},
    {"x: float32[t,b,8], w: float32[1,40,8], r: float32[1,40,10]",
     "lstm(x, w, r) { activations = [\"Sigmoid\"] }", "error: activations: expected 3 names"},
    {"x: float32[t,b,8], w: float32[1,30,8], r: float32[1,30,10]",
     "gru(x, w, r) { activations = [\"Sigmoid\", \"Swoosh\"] }", "error: activations: unknown"},
    {"x: float32[1,4,h,w]", "depth_to_space(x) { blocksize = 2 }", "float32[1,1,2*h,2*w]"},
    {"x: float32[1,6,h,w]", "depth_to_space(x) { blocksize = 2 }", "error: channels: expected"},
    {"x: float32[1,c,8,8]", "space_to_depth(x) { blocksize = 4 }", "float32[1,16*c,2,2]"},
};

std::string InferText(const InferRow& row) {
  const auto graph =
      Parse(absl::StrCat("graph g(", row.inputs, ") -> (y) {\n y = ", row.node, "\n}"));
  if (!graph.ok()) return absl::StrCat("parse error: ", graph.status().message());
  const absl::Status status = InferGraph(**graph);
  if (!status.ok()) {
    const std::string message(status.message());
    const std::string want(row.want);
    if (want.rfind("error: ", 0) == 0 && message.find(want.substr(7)) != std::string::npos &&
        absl::IsInvalidArgument(status)) {
      return want;
    }
    return absl::StrCat("error: ", status.ToString());
  }
  return (*graph)->outputs()[0]->type().ToString();
}

TEST(NnInfer, Rows) {
  for (const InferRow& row : kInfer) {
    SCOPED_TRACE(row.node);
    const std::string want = row.want;
    const std::string canonical =
        want.rfind("error", 0) == 0 ? want : Type::Parse(want)->ToString();
    EXPECT_EQ(InferText(row), canonical);
  }
}

TEST(NnInfer, ResizeSizes) {
  const struct {
    const char* inputs;
    const char* body;
    const char* want;
  } rows[] = {
      {"x: float32[n,3,h,w]", "s = float32[4]{1,1,2,2}\ny = resize(x, _, s)",
       "float32[n,3,2*h,2*w]"},
      {"x: float32[n,3,h,w]", "s = float32[4]{1,1,0.5,0.3}\ny = resize(x, _, s)",
       "float32[n,3,floordiv(h,2),?]"},
      {"x: float32[n,3,h,w]", "s = int64[2]{7,9}\ny = resize(x, _, _, s) { axes = [2, 3] }",
       "float32[n,3,7,9]"},
      {"x: float32[n,3,h,w], s: float32[4]", "y = resize(x, _, s)", "float32[?,?,?,?]"},
      {"x: float32[1,3,10,20]",
       "s = int64[2]{5,5}\ny = resize(x, _, _, s) { axes = [2, 3], "
       "keep_aspect_ratio_policy = \"not_larger\" }",
       "float32[1,3,3,5]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    const auto graph = Parse(absl::StrCat("graph g(", row.inputs, ") -> (y) {\n", row.body, "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_TRUE(InferGraph(**graph).ok()) << InferGraph(**graph);
    EXPECT_EQ((*graph)->outputs()[0]->type().ToString(), Type::Parse(row.want)->ToString());
  }
}

// Values that only a run sees: an error, never a crash.
TEST(NnEval, Errors) {
  const struct {
    const char* body;
    const char* want;
  } rows[] = {
      {"x = float32[1,1,1,1]{5}\ni = int64[1,1,1,1]{4}\n"
       "y = max_unpool(x, i) { kernel_shape = [2, 2], strides = [2, 2] }",
       "indices: 4"},
      {"x = float32[2]{1,2}\ns = float32[1]{0}\ny = resize(x, _, s)", "scales"},
      {"x = float32[2]{1,2}\ns = float32[1]{nan}\ny = resize(x, _, s)", "scales"},
      {"x = float32[2]{1,2}\ns = float32[1]{1e30}\ny = resize(x, _, s)", "size"},
      {"x = float32[2]{1,2}\ns = int64[1]{9000000000000000000}\ny = resize(x, _, _, s)", ""},
      {"x = float32[0]{}\ns = int64[1]{4}\ny = resize(x, _, _, s)", "empty axis"},
      {"x = float32[2,1,1]{1,2}\nw = float32[1,1,1]{1}\nr = float32[1,1,1]{1}\nl = int32[1]{3}\n"
       "y, h = rnn(x, w, r, _, l) { activations = [\"Relu\"] }",
       "sequence_lens"},
      {"x = string[1,1,2]{\"a\",\"b\"}\ny = average_pool(x) { kernel_shape = [1] }", "string"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.body);
    const auto got = RunText(absl::StrCat("graph g() -> (y) {\n", row.body, "\n}"));
    ASSERT_FALSE(got.ok());
    EXPECT_NE(std::string(got.status().message()).find(row.want), std::string::npos)
        << got.status();
  }
}

}  // namespace
}  // namespace x2ir
