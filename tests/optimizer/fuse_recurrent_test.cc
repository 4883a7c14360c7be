// fuse_recurrent: loops that are recurrent layers, in the forms in which programs write their
// steps, and loops that are something else.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/optimizer/fusion_util.h"
#include "tests/optimizer/pass_util.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

// Five steps of a batch of two, of four features; three units.
constexpr std::string_view kInputs = "x: float32[5,2,4], h: float32[2,3], c: float32[2,3]";
constexpr std::string_view kWeights =
    "any_w: float32[4,12]\n any_u: float32[3,12]\n any_wu: float32[7,12]\n any_b: float32[12]\n"
    "any_gw: float32[4,9]\n any_gu: float32[3,9]\n any_gb: float32[9]\n any_gc: float32[3]\n"
    "any_wz: float32[7,6]\n any_wn: float32[7,3]\n any_n: float32[4,3]\n any_m: float32[3,3]\n "
    "any_o: float32[3]\n"
    "zero = int64[1]{0}\n three = int64[1]{3}\n six = int64[1]{6}\n nine = int64[1]{9}\n"
    "twelve = int64[1]{12}\n one = int64[1]{1}\n unit = float32[]{1.0}\n n = int64[]{5}\n"
    "last = int64[]{4}\n";

std::string Slice(std::string_view name, std::string_view of, std::string_view from,
                  std::string_view to) {
  return std::string(name) + " = slice(" + std::string(of) + ", " + std::string(from) + ", " +
         std::string(to) + ", one)\n";
}
// The gates a, b, d and e of "s", as sums.
const std::string kFour = Slice("a", "s", "zero", "three") + Slice("b", "s", "three", "six") +
                          Slice("d", "s", "six", "nine") + Slice("e", "s", "nine", "twelve");
const std::string kThree = Slice("a", "s", "zero", "three") + Slice("b", "s", "three", "six") +
                           Slice("d", "s", "six", "nine");
// c1 and h1 of the gates f, i, o and of the candidate g.
const std::string kCell =
    "k = mul(f, c0)\n l = mul(i1, g)\n c1 = add(k, l)\n t = tanh(c1)\n"
    "h1 = mul(o, t)\n";
const std::string kIfgo =
    kFour + "i1 = sigmoid(a)\n f = sigmoid(b)\n g = tanh(d)\n o = sigmoid(e)\n" + kCell;
const std::string kSum =
    "xw = matmul(xi, any_w)\n hu = matmul(h0, any_u)\n hb = add(hu, any_b)\n"
    "s = add(xw, hb)\n";

// A loop over the steps with two states, or one.
std::string Lstm(std::string_view step, std::string_view results = "h1, c1, h1",
                 std::string_view take = "xi = gather(x, i) { axis = 0 }\n") {
  return std::string(kWeights) +
         "hn, cn, y = loop(n, _, h, c) { body = graph b(i: int64[], go: bool[], h0: float32[2,3], "
         "c0: float32[2,3]) -> (go, " +
         std::string(results) + ") {\n" + std::string(take) + std::string(step) + "} }";
}
std::string OneState(std::string_view step, std::string_view results = "h1, h1") {
  return std::string(kWeights) +
         "hn, y = loop(n, _, h) { body = graph b(i: int64[], go: bool[], h0: float32[2,3]) -> "
         "(go, " +
         std::string(results) + ") {\n xi = gather(x, i) { axis = 0 }\n" + std::string(step) +
         "} }";
}

void ExpectLayers(const std::vector<std::string>& lines, std::string_view ops,
                  std::string_view inputs, std::string_view outputs) {
  std::vector<FusionRow> rows;
  for (const std::string& each : lines) {
    rows.push_back({.inputs = inputs, .lines = each, .ops = ops, .outputs = outputs});
  }
  ExpectFusions(DefaultPasses(), rows);
}

TEST(FuseRecurrent, Lstm) {
  // Gates in another order, with a number added to the gate that forgets.
  const std::string igfo =
      kFour +
      "i1 = sigmoid(a)\n g = tanh(b)\n p = add(d, unit)\n f = sigmoid(p)\n o = sigmoid(e)\n" +
      kCell;
  const std::string other_order =
      kFour +
      "i1 = sigmoid(a)\n f = sigmoid(b)\n g = tanh(d)\n o = sigmoid(e)\n"
      "k = mul(c0, f)\n l = mul(g, i1)\n c1 = add(l, k)\n t = tanh(c1)\n h1 = mul(t, o)\n";
  const std::string concat =
      "xh = concat(xi, h0) { axis = 1 }\n p = matmul(xh, any_wu)\n s = add(p, any_b)\n";
  const std::string gemms =
      "q = gemm(h0, any_u, any_b) { alpha = 1.0, beta = 1.0, transA = 0, "
      "transB = 0 }\n s = gemm(xi, any_w, q) { alpha = 1.0, beta = 1.0, "
      "transA = 0, transB = 0 }\n";
  const std::string split =
      "a, b, d, e = split(s) { axis = 1, num_outputs = 4 }\n i1 = sigmoid(a)\n f = sigmoid(b)\n"
      "g = relu(d)\n o = sigmoid(e)\n" +
      kCell;
  const std::string subtracted =
      "xw = matmul(xi, any_w)\n hu = matmul(h0, any_u)\n"
      "m = neg(xw)\n p = sub(m, hu)\n s = sub(p, any_b)\n";
  ExpectLayers(
      {Lstm(kSum + kIfgo), Lstm(kSum + igfo), Lstm(kSum + other_order), Lstm(concat + kIfgo),
       Lstm(gemms + kIfgo), Lstm(kSum + split), Lstm(subtracted + kIfgo)},
      "unsqueeze unsqueeze lstm squeeze squeeze squeeze", kInputs, "hn, cn, y");
}

TEST(FuseRecurrent, Gru) {
  const std::string sum = "xw = matmul(xi, any_gw)\n hu = matmul(h0, any_gu)\n";
  const std::string gates = Slice("a", "xw", "zero", "three") + Slice("b", "xw", "three", "six") +
                            Slice("d", "xw", "six", "nine") + Slice("e", "hu", "zero", "three") +
                            Slice("f", "hu", "three", "six") + Slice("g", "hu", "six", "nine") +
                            "j = add(a, e)\n r = sigmoid(j)\n k = add(b, f)\n z = sigmoid(k)\n";
  // flax: the reset gate multiplies the product and its bias.
  const std::string after = sum + gates +
                            "l = add(g, any_gc)\n m = mul(r, l)\n o = add(d, m)\n"
                            "nn = tanh(o)\n";
  // Keras before: it multiplies the state.
  const std::string before =
      sum + gates +
      "l = mul(r, h0)\n m = matmul(l, any_m)\n o = add(d, m)\n p = add(o, any_gc)\n"
      "nn = tanh(p)\n";
  const std::string blend = "u = sub(unit, z)\n v = mul(u, nn)\n w = mul(z, h0)\n h1 = add(v, w)\n";
  const std::string swapped =
      "u = sub(unit, z)\n v = mul(h0, u)\n w = mul(nn, z)\n h1 = add(v, w)\n";
  const std::string moved = "u = sub(h0, nn)\n v = mul(z, u)\n h1 = add(nn, v)\n";
  const std::string moved_back = "u = sub(nn, h0)\n v = mul(z, u)\n h1 = add(h0, v)\n";
  // Two gates are opened at once, and the candidate is of both side by side: TensorFlow, Haiku.
  const std::string at_once =
      "xh = concat(xi, h0) { axis = 1 }\n p = matmul(xh, any_wz)\n"
      "q = sigmoid(p)\n" +
      Slice("r", "q", "zero", "three") + Slice("z", "q", "three", "six") +
      "rh = mul(r, h0)\n xrh = concat(xi, rh) { axis = 1 }\n s = matmul(xrh, any_wn)\n"
      "o = add(s, any_gc)\n nn = relu(o)\n";
  std::vector<std::string> lines;
  for (const std::string& candidate : {after, before, at_once}) {
    for (const std::string& how : {blend, swapped, moved, moved_back}) {
      lines.push_back(OneState(candidate + how));
    }
  }
  ExpectLayers(lines, "unsqueeze gru squeeze squeeze", "x: float32[5,2,4], h: float32[2,3]",
               "hn, y");
}

TEST(FuseRecurrent, Rnn) {
  const std::string sum =
      "xw = matmul(xi, any_n)\n hu = matmul(h0, any_m)\n p = add(xw, hu)\n"
      "s = add(p, any_o)\n";
  ExpectLayers({OneState(sum + "h1 = tanh(s)\n"), OneState(sum + "h1 = relu(s)\n"),
                OneState(sum + "h1 = sigmoid(s)\n")},
               "unsqueeze rnn squeeze squeeze", "x: float32[5,2,4], h: float32[2,3]", "hn, y");
}

TEST(FuseRecurrent, WhereStepsAre) {
  const std::string step = kSum + kIfgo;
  // The last slice first, and the batch before the steps.
  const std::string back =
      Lstm(step, "h1, c1, h1", "j = sub(last, i)\n xi = gather(x, j) { axis = 0 }\n");
  const std::string batch_first = Lstm(step, "h1, c1, h1", "xi = gather(x, i) { axis = 1 }\n");
  const std::string scan =
      std::string(kWeights) +
      "hn, cn, y = scan(h, c, x) { num_scan_inputs = 1, scan_input_axes = [0], "
      "scan_input_directions = [1], scan_output_axes = [0], scan_output_directions = [1],\n"
      "body = graph b(h0: float32[2,3], c0: float32[2,3], xi: float32[2,4]) -> (h1, c1, h1) {\n" +
      step + "} }";
  // As many rounds as there are steps, however many.
  std::string open = Lstm(step);
  open.replace(open.find(" n = int64[]{5}\n"), 16, "");
  open.insert(open.find("hn, cn"), "sn = shape(x) { start = 0, end = 1 }\n n = squeeze(sn)\n");
  constexpr std::string_view kLayer = "unsqueeze unsqueeze lstm squeeze squeeze squeeze";
  ExpectLayers({scan}, kLayer, kInputs, "hn, cn, y");
  ExpectLayers({back}, "unsqueeze unsqueeze lstm squeeze squeeze squeeze slice", kInputs,
               "hn, cn, y");
  ExpectLayers({batch_first}, "transpose unsqueeze unsqueeze lstm squeeze squeeze squeeze",
               "x: float32[2,5,4], h: float32[2,3], c: float32[2,3]", "hn, cn, y");
  ExpectLayers({open}, kLayer, "x: float32[t,b,4], h: float32[b,3], c: float32[b,3]", "hn, cn, y");
}

// As TensorFlow has it: a condition of two counters, from which slices are taken, and a tensor of
// which rows are replaced.
TEST(FuseRecurrent, LoopsWithCounters) {
  const auto lines = [](std::string_view bound) {
    return std::string(kWeights) +
           "go0 = bool[]{true}\n z = int32[]{0}\n o1 = int32[]{1}\n all = int32[]{" +
           std::string(bound) +
           "}\n sizes = int64[2]{1,1}\n at, kn, y, hn = loop(_, go0, z, z, rows, h) { body = graph "
           "b(i: int64[], go: bool[], k: int32[], m: int32[], r0: float32[5,2,3], h0: "
           "float32[2,3]) -> (more, k1, m1, r1, h1) {\n xi = gather(x, m) { axis = 0 }\n"
           "xw = matmul(xi, any_n)\n hu = matmul(h0, any_m)\n s = add(xw, hu)\n h1 = tanh(s)\n"
           "p = reshape(m, sizes) { allowzero = 0 }\n u = unsqueeze(h1, zero)\n"
           "r1 = scatter_nd(r0, p, u) { reduction = \"none\" }\n k1 = add(k, o1)\n m1 = add(m, "
           "o1)\n"
           "a = less(k1, all)\n b = less(m1, all)\n more = and(a, b)\n} }";
  };
  constexpr std::string_view kRows = "x: float32[5,2,4], h: float32[2,3], rows: float32[5,2,3]";
  const std::string counted = lines("5"), fewer = lines("4");
  ExpectFusions(DefaultPasses(),
                {{.inputs = kRows,
                  .lines = counted,
                  .ops = "unsqueeze rnn squeeze squeeze",
                  .outputs = "y, hn, kn"},
                 {.inputs = kRows, .lines = fewer, .ops = "loop", .outputs = "y, hn, kn"}});
  ExpectFusions("fuse_recurrent",
                {{.inputs = kRows, .lines = counted, .ops = "loop", .outputs = "y, hn, kn"}});
}

TEST(FuseRecurrent, OtherLoopsStay) {
  const std::string step = kSum + kIfgo;
  const std::string whole = Lstm(step);
  std::string fewer = whole;
  fewer.replace(fewer.find("n = int64[]{5}"), 14, "n = int64[]{4}");
  const std::string states[] = {
      // Fewer steps than slices.
      fewer,
      // What is stacked is the cell, or a gate.
      Lstm(step, "h1, c1, c1"),
      Lstm(step, "h1, c1, o"),
      // Always the same slice.
      Lstm(step, "h1, c1, h1", "j = sub(i, i)\n xi = gather(x, j) { axis = 0 }\n"),
      // The output is of the cell before.
      Lstm(kSum + kFour +
           "i1 = sigmoid(a)\n f = sigmoid(b)\n g = tanh(d)\n o = sigmoid(e)\n"
           "k = mul(f, c0)\n l = mul(i1, g)\n c1 = add(k, l)\n t = tanh(c0)\n"
           "h1 = mul(o, t)\n"),
      // A gate of the cell.
      Lstm(kSum + kFour +
           "i1 = sigmoid(a)\n q = add(b, c0)\n f = sigmoid(q)\n g = tanh(d)\n"
           "o = sigmoid(e)\n" +
           kCell),
      // A gate of one column, for all units.
      Lstm(kSum + kFour +
           "q = sigmoid(s)\n f = slice(q, zero, one, one)\n i1 = sigmoid(a)\n"
           "g = tanh(d)\n o = sigmoid(e)\n" +
           kCell),
      // A gate that is a tanh.
      Lstm(kSum + kFour + "i1 = sigmoid(a)\n f = tanh(b)\n g = tanh(d)\n o = sigmoid(e)\n" + kCell),
  };
  std::vector<FusionRow> rows;
  for (const std::string& each : states) {
    rows.push_back({.inputs = kInputs, .lines = each, .ops = "loop", .outputs = "hn, cn, y"});
  }
  rows.push_back({.inputs = kInputs,
                  .lines = whole,
                  .ops = "loop",
                  .lacking = {"lstm"},
                  .outputs = "hn, cn, y"});
  ExpectFusions("fuse_recurrent", rows);
}

// A tensor of which round i replaces row i is a stack, in the order of the rounds or the other way.
TEST(FuseRecurrent, RowsThatAreReplaced) {
  const auto before = [](std::string_view place) {
    return std::string(
               "n = int64[]{5}\n vn, y = loop(n, _, v, rows) { body = graph b(i: int64[], "
               "go: bool[], v0: float32[2], r0: float32[5,2]) -> (go, v1, r1) {\n"
               "v1 = sin(v0)\n first = int64[1]{0}\n sizes = int64[2]{1,1}\n"
               "u = unsqueeze(v1, first)\n") +
           std::string(place) +
           "q = reshape(p, sizes) { allowzero = 0 }\n"
           "r1 = scatter_nd(r0, q, u) { reduction = \"none\" }\n} }";
  };
  const std::string stack =
      "n = int64[]{5}\n vn, %s = loop(n, _, v) { body = graph b(i: int64[], go: bool[], v0: "
      "float32[2]) -> (go, v1, row) {\n v1 = sin(v0)\n row = identity(v1)\n} }";
  std::string forward = stack, backward = stack;
  forward.replace(forward.find("%s"), 2, "y");
  backward.replace(backward.find("%s"), 2, "s");
  backward +=
      "\n from = int64[1]{-1}\n to = int64[1]{-9223372036854775807}\n zero = int64[1]{0}\n"
      "step = int64[1]{-1}\n y = slice(s, from, to, zero, step)";
  const std::string cast = "p = cast(i) { to = \"int32\", saturate = 1, round_mode = \"up\" }\n";
  const std::string from_last = "last = int64[]{4}\n p = sub(last, i)\n";
  const std::string two_in_one = "p = mul(i, i)\n";
  std::string summed = before(cast), looked_at = before(cast);
  summed.replace(summed.find("\"none\""), 6, "\"add\"");
  looked_at.replace(looked_at.find("sin(v0)"), 7, "add(v0, g)");
  looked_at.insert(looked_at.find("v1 = add"), "g = gather(r0, i) { axis = 0 }\n");
  const std::string rows[][2] = {{before(cast), forward},
                                 {before(from_last), backward},
                                 {before(two_in_one), ""},
                                 {summed, ""},
                                 {looked_at, ""}};
  for (const auto& [lines, after] : rows) {
    SCOPED_TRACE(lines);
    ExpectPass({"v: float32[2], rows: float32[5,2]", lines, after, "vn, y"},
               {"simplify", "dead_code"});
  }
}

}  // namespace
}  // namespace x2ir
