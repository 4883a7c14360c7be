// Every rule of the table in every order of axes: a node between transposes that undo each other is
// left alone with none, and gives the same numbers.
#include "x2ir/optimizer/transpose/flips.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "gtest/gtest.h"
#include "tests/optimizer/transpose_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

struct Row {
  std::string_view ops;     // that stand in the place of $, or ""
  std::string_view inputs;  // all may change order but those of int64 and of rank 0 and 1
  std::string_view line;
  std::string_view outputs = "y";
  bool always = false;  // every order of the first input passes
};

const Row kRows[] = {
    {"abs acos acosh asin asinh atan atanh ceil celu cos cosh elu erf exp floor gelu hard_sigmoid "
     "hard_swish identity is_inf is_nan leaky_relu log mish neg reciprocal relu round selu shrink "
     "sigmoid sign sin sinh softplus softsign sqrt swish tan tanh thresholded_relu",
     "x: float32[2,3,1,4]", "y = $(x)", "y", true},
    {"add div equal greater greater_or_equal less less_or_equal max mean min mul pow prelu sub sum "
     "swiglu",
     "x: float32[2,3,4], z: float32[2,3,4]", "y = $(x, z)", "y", true},
    {"add mul prelu", "x: float32[2,3,4], z: float32[2,1,4]", "y = $(x, z)", "y", true},
    {"add sub", "x: float32[n,3,4]", "c: float32[4] y = $(x, c)", "y", true},
    {"add sub max", "x: float32[n,3,4]", "c: float32[3,1] y = $(c, x)", "y", true},
    {"add prelu", "x: float32[n,3,4]", "c = float32[]{3} y = $(x, c)", "y", true},
    {"and or xor", "x: bool[2,3,4], z: bool[1,3,4]", "y = $(x, z)", "y", true},
    {"not", "x: bool[2,3,4]", "y = $(x)", "y", true},
    {"bitwise_and bitwise_or bitwise_xor mod", "x: int32[2,3,4]",
     "c = int32[4]{1, 2, 3, 4} y = $(x, c)", "y", true},
    {"bitwise_not", "x: int32[2,3,4]", "y = $(x)", "y", true},
    {"bit_shift", "x: uint32[2,3], z: uint32[2,3]", "y = $(x, z) { direction = \"LEFT\" }", "y",
     true},
    {"string_concat", "x: string[2,3], z: string[2,3]", "y = $(x, z)", "y", true},
    {"where", "x: bool[2,3,4], a: float32[2,3,1], b: float32[2,3,4]", "y = where(x, a, b)", "y",
     true},
    {"cast", "x: float32[2,3,4]", "y = cast(x) { to = \"int32\" }", "y", true},
    {"cast_like", "x: float32[2,3,4]", "c = int32[2]{1, 2} y = cast_like(x, c)", "y", true},
    {"clip", "x: float32[2,3,4]", "l = float32[]{-0.5} y = clip(x, l, _)", "y", true},
    {"dropout", "x: float32[2,3,4]", "y, m = dropout(x)", "y, m", true},
    {"quantize_linear", "x: float32[2,3,4]",
     "s = float32[3]{0.1, 0.2, 0.3} z = int8[3]{1, 2, 3} y = quantize_linear(x, s, z) { axis = 1 }",
     "y", true},
    {"quantize_linear", "x: float32[2,3,4]", "s = float32[]{0.1} y = quantize_linear(x, s)", "y",
     true},
    {"quantize_linear", "x: float32[2,3,4]",
     "s: float32[2,3,2] y = quantize_linear(x, s) { axis = 2, block_size = 2 }", "y", true},
    {"dequantize_linear", "x: uint8[2,3,4]",
     "s = float32[2]{0.1, 0.2} y = dequantize_linear(x, s) { axis = -3 }", "y", true},
    {"dynamic_quantize_linear", "x: float32[2,3,4]", "y, s, z = dynamic_quantize_linear(x)",
     "y, s, z", true},
    {"batch_normalization", "x: float32[2,3,4,5]",
     "s: float32[3] b: float32[3] m: float32[3] v: float32[3] "
     "y = batch_normalization(x, s, b, m, v)"},
    {"lrn", "x: float32[2,3,4,5]", "y = lrn(x) { size = 3 }"},
    {"instance_normalization", "x: float32[2,3,4,5]",
     "s: float32[3] b: float32[3] y = instance_normalization(x, s, b)"},
    {"group_normalization", "x: float32[2,4,3,5]",
     "s: float32[4] b: float32[4] y = group_normalization(x, s, b) { num_groups = 2 }"},
    {"global_average_pool global_max_pool global_lp_pool", "x: float32[2,3,4,5]", "y = $(x)"},
    {"layer_normalization", "x: float32[2,3,4,5]",
     "s: float32[5] y, m, d = layer_normalization(x, s)", "y, m, d"},
    {"rms_normalization", "x: float32[2,3,4,5]",
     "s: float32[4,5] y = rms_normalization(x, s) { axis = 2 }"},
    {"trilu", "x: float32[2,3,4,4]", "y = trilu(x)"},
    {"matmul", "x: float32[2,3,4,5], z: float32[2,1,5,6]", "y = matmul(x, z)"},
    {"matmul", "x: float32[2,3,4,5]", "w: float32[5,6] y = matmul(x, w)"},
    {"softmax log_softmax hardmax lp_normalization", "x: float32[2,3,4]", "y = $(x) { axis = 1 }",
     "y", true},
    {"softmax", "x: float32[2,3,4]", "y = softmax(x)", "y", true},
    {"concat", "x: float32[2,3,4], z: float32[2,1,4]", "y = concat(x, z) { axis = -2 }", "y", true},
    {"split", "x: float32[2,6,4]", "s = int64[2]{2, 4} y, z = split(x, s) { axis = 1 }", "y, z",
     true},
    {"top_k", "x: float32[2,6,4]", "k = int64[1]{2} y, z = top_k(x, k) { axis = 1 }", "y, z", true},
    {"gather_elements", "x: float32[3,3,4], z: int32[3,2,4]",
     "y = gather_elements(x, z) { axis = 1 }", "y", true},
    {"compress", "x: float32[2,3,4]",
     "c = bool[3]{true, false, true} y = compress(x, c) { axis = 1 }", "y", true},
    {"reverse_sequence", "x: float32[2,3,4]", "n = int64[3]{1, 2, 1} y = reverse_sequence(x, n)"},
    {"mean_variance_normalization", "x: float32[2,3,4]",
     "y = mean_variance_normalization(x) { axes = [0, 2] }", "y", true},
    {"cum_sum cum_prod", "x: float32[2,3,4]", "a = int64[]{-2} y = $(x, a)", "y", true},
    {"reduce_l1 reduce_l2 reduce_log_sum reduce_log_sum_exp reduce_max reduce_mean reduce_min "
     "reduce_prod reduce_sum reduce_sum_square",
     "x: float32[2,3,4,5]", "a = int64[2]{1, -1} y = $(x, a)", "y", true},
    {"reduce_sum reduce_max", "x: float32[2,3,4,5]",
     "a = int64[2]{0, 2} y = $(x, a) { keepdims = 0 }", "y", true},
    {"reduce_mean", "x: float32[2,3,4]", "y = $(x)", "y", true},
    {"reduce_mean", "x: float32[2,3,4]", "y = $(x) { keepdims = 0 }", "y", true},
    {"reduce_sum", "x: float32[2,3,4]", "y = $(x) { noop_with_empty_axes = 1 }", "y", true},
    {"arg_max arg_min", "x: float32[2,3,4]", "y = $(x) { axis = -1 }", "y", true},
    {"arg_max arg_min", "x: float32[2,3,4]", "y = $(x) { axis = 1, keepdims = 0 }", "y", true},
    {"squeeze", "x: float32[2,1,4,1]", "a = int64[2]{-1, 1} y = squeeze(x, a)", "y", true},
    {"squeeze", "x: float32[2,1,4,1]", "y = squeeze(x)", "y", true},
    {"unsqueeze", "x: float32[2,3,4]", "a = int64[2]{1, -1} y = unsqueeze(x, a)", "y", true},
    {"gather", "x: float32[2,3,4]", "i = int64[]{1} y = gather(x, i) { axis = 1 }", "y", true},
    {"gather", "x: float32[2,3,4]", "i = int64[2]{1, 0} y = gather(x, i) { axis = 2 }", "y", true},
    {"gather", "x: float32[2,3,4]", "i: int64[2,2] y = gather(x, i) { axis = -2 }", "y", true},
    {"slice", "x: float32[2,3,4]",
     "s = int64[2]{1, 0} e = int64[2]{3, 2} a = int64[2]{-1, 1} y = slice(x, s, e, a)", "y", true},
    {"slice", "x: float32[2,3,4]", "s = int64[2]{1, 0} e = int64[2]{3, 2} y = slice(x, s, e)", "y",
     true},
    {"pad", "x: float32[2,3,4]", "p = int64[6]{0, 1, 2, 3, 4, 0} y = pad(x, p)", "y", true},
    {"pad", "x: float32[2,3,4]", "p = int64[4]{1, 2, 0, 1} a = int64[2]{2, 0} y = pad(x, p, _, a)",
     "y", true},
    {"tile", "x: float32[2,3,4]", "r = int64[3]{1, 2, 3} y = tile(x, r)", "y", true},
    {"tile", "x: float32[2,3,4], r: int64[3]", "y = tile(x, r)", "y", true},
    {"expand", "x: float32[2,1,4]", "s = int64[3]{2, 3, 1} y = expand(x, s)", "y", true},
    {"expand", "x: float32[2,3,4]", "s = int64[1]{1} y = expand(x, s)", "y", true},
    {"resize", "x: float32[2,3,4,5]", "s = int64[4]{2, 3, 8, 7} y = resize(x, _, _, s)", "y", true},
    {"resize", "x: float32[2,3,4,5]",
     "r = float32[4]{1, 1, 2, 1.5} y = resize(x, _, r) { mode = \"linear\" }"},
    {"resize", "x: float32[2,3,4,5]", "s = int64[2]{6, 7} y = resize(x, _, _, s) { axes = [3, 1] }",
     "y", true},
    {"shape", "x: float32[2,3,4]", "y = shape(x) { start = 1 }", "y", true},
    {"shape", "x: float32[n,3,m]", "y = shape(x)", "y", true},
    {"size", "x: float32[2,3,4]", "y = size(x)", "y", true},
    {"reshape", "x: float32[2,3,4,6]", "s = int64[5]{0, 3, 4, 2, -1} y = reshape(x, s)"},
    {"reshape", "x: float32[n,3,4,6]", "s = int64[3]{0, 12, 6} y = reshape(x, s)"},
    {"reshape", "x: float32[n,1,1,6]", "s = int64[2]{-1, 6} y = reshape(x, s)", "y", true},
    {"flatten", "x: float32[n,1,1,6]", "y = flatten(x)", "y", true},
    {"flatten", "x: float32[2,3,4]", "y = flatten(x) { axis = 2 }"},
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const char c : text) {
    if (words.empty() || c == ' ') words.emplace_back();
    if (c != ' ') words.back() += c;
  }
  return words;
}

std::string Filled(std::string_view line, std::string_view op) {
  std::string text(line);
  if (const size_t at = text.find('$'); at != std::string::npos) text.replace(at, 1, op);
  return text;
}

Node* OnlyNode(Model& model) { return model.graph->first(); }

// The node between transposes: inputs come in the order of the flip, and go back to their own
// before it; results go to the order of the flip.
void Wrap(Model& model, const Flip& flip) {
  Graph& graph = *model.graph;
  Node* node = OnlyNode(model);
  for (size_t i = 0; i < flip.in.size(); ++i) {
    Value* input = node->input(i);
    if (!input || !input->is_input() || flip.in[i].empty()) continue;
    Builder b(graph, graph.first());
    const Type own = input->type();
    Type moved = own;
    moved.set_shape(Permuted(*own.shape(), flip.in[i]));
    input->set_type(moved);
    node->SetInput(i, b.Op("transpose", {input}, {{"perm", AsInts(Inverse(flip.in[i]))}}));
    graph.NameValues(b.made()[0], StrCat(input->name(), "_own"));
  }
  const std::vector<Value*> outputs = graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Perm& p = flip.out[outputs[i]->output_index()];
    if (p.empty()) continue;
    Builder b(graph, nullptr);
    Value* moved = b.Op("transpose", {outputs[i]}, {{"perm", AsInts(p)}});
    graph.NameValues(b.made()[0], StrCat(outputs[i]->name(), "_moved"));
    graph.SetOutput(i, moved);
  }
}

// Whether the rule let it pass.
bool Check(const Row& row, const std::string& line, Slot slot, const Perm& p) {
  auto before = IrFromText(row.inputs, line, row.outputs);
  auto after = IrFromText(row.inputs, line, row.outputs);
  if (!before.ok()) {
    ADD_FAILURE() << line << ": " << before.status().message();
    return true;
  }
  const Node& node = *OnlyNode(*before);
  const auto flip = FlipOf(node, slot, p, {});
  if (!flip) return false;
  EXPECT_EQ(flip->at(slot), p) << line;
  Wrap(*before, *flip);
  Wrap(*after, *flip);
  EXPECT_EQ(RunTransposes(*before, *after), "") << ToText(*before->graph) << ToText(*after->graph);
  EXPECT_EQ(CountOps(*after->graph, "transpose"), 0)
      << ToText(*before->graph) << ToText(*after->graph);
  return true;
}

TEST(Flips, EveryRuleInEveryOrder) {
  std::set<std::string> seen;
  for (const Row& row : kRows) {
    for (const std::string& op : Words(row.ops)) {
      seen.insert(op);
      const std::string line = Filled(row.line, op);
      auto model = IrFromText(row.inputs, line, row.outputs);
      ASSERT_TRUE(model.ok()) << line << ": " << model.status().message();
      const Node& node = *OnlyNode(*model);
      int passed = 0;
      for (const Slot slot : {Slot{false, 0}, Slot{true, 0}}) {
        Perm p(RankOf(slot.output ? node.output(0) : node.input(0)));
        std::iota(p.begin(), p.end(), 0);
        while (std::next_permutation(p.begin(), p.end())) {
          const bool passes = Check(row, line, slot, p);
          passed += passes;
          EXPECT_TRUE(passes || !row.always || slot.output) << line;
        }
      }
      EXPECT_GT(passed, 0) << line;
    }
  }
  for (const OpDef* op : AllOps()) {
    EXPECT_EQ(seen.contains(op->name().str()), op->axes().spread != nullptr)
        << op->name().str() << " has a rule but no row, or a row but no rule";
  }
}

}  // namespace
}  // namespace x2ir
