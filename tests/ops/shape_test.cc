// shape, size, reshape, flatten, squeeze, unsqueeze, transpose, expand, tile, concat, split,
// slice, pad, and what makes tensors from sizes: values checked by hand, inference with symbols.
#include <limits>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"
#include "x2ir/ops/slice.h"

namespace x2ir {
namespace {

// "x = int32[2,3]{...}\n" and more in front of each row.
constexpr std::string_view kX = "x = int32[2,3]{1, 2, 3, 4, 5, 6}\n";

std::string WithX(std::string_view lines) { return std::string(kX) + std::string(lines); }

TEST(Shape, Eval) {
  const EvalRow rows[] = {
      {"y = shape(x)", "int64[2]{2, 3}"},
      {"y = shape(x) { start = -1 }", "int64[1]{3}"},
      {"y = shape(x) { start = 0, end = -1 }", "int64[1]{2}"},
      {"y = shape(x) { start = 2, end = 1 }", "int64[0]{}"},
      {"y = shape(x) { start = -9, end = 9 }", "int64[2]{2, 3}"},
      {"s = int8[]{1}\n y = shape(s)", "int64[0]{}"},
      {"y = size(x)", "int64[]{6}"},
      {"s = float32[0,5]{}\n y = size(s)", "int64[]{0}"},
      {"s = int64[2]{3, -1}\n y = reshape(x, s)", "int32[3,2]{1, 2, 3, 4, 5, 6}"},
      {"s = int64[3]{0, 1, -1}\n y = reshape(x, s)", "int32[2,1,3]{1, 2, 3, 4, 5, 6}"},
      {"s = int64[1]{6}\n y = reshape(x, s)", "int32[6]{1, 2, 3, 4, 5, 6}"},
      {"s = int64[2]{4, -1}\n y = reshape(x, s)", "error does not divide"},
      {"s = int64[2]{4, 2}\n y = reshape(x, s)", "error cannot be reshaped"},
      {"s = int64[2]{-1, -1}\n y = reshape(x, s)", "error more than one"},
      {"s = int64[2]{-2, 3}\n y = reshape(x, s)", "error size -2"},
      {"s = int64[3]{2, 3, 0}\n y = reshape(x, s)", "error copies"},
      {"e = float32[0,3]{}\n s = int64[2]{3, 0}\n y = reshape(e, s) { allowzero = 1 }",
       "float32[3,0]{}"},
      {"e = float32[0,3]{}\n s = int64[2]{0, 3}\n y = reshape(e, s)", "float32[0,3]{}"},
      {"e = float32[0,3]{}\n s = int64[2]{3, -1}\n y = reshape(e, s)", "float32[3,0]{}"},
      {"e = float32[0,3]{}\n s = int64[2]{0, -1}\n y = reshape(e, s) { allowzero = 1 }",
       "error exclude"},
      {"e = float32[0,3]{}\n s = int64[2]{0, -1}\n y = reshape(e, s)", "error does not divide"},
      {"e = float32[2,2,0]{}\n s = int64[3]{2, 4, 0}\n y = reshape(e, s)", "float32[2,4,0]{}"},
      {"e = float32[1]{7}\n s = int64[0]{}\n y = reshape(e, s)", "float32[]{7}"},
      {"y = flatten(x)", "int32[2,3]{1, 2, 3, 4, 5, 6}"},
      {"y = flatten(x) { axis = 0 }", "int32[1,6]{1, 2, 3, 4, 5, 6}"},
      {"y = flatten(x) { axis = 2 }", "int32[6,1]{1, 2, 3, 4, 5, 6}"},
      {"y = flatten(x) { axis = -2 }", "int32[1,6]{1, 2, 3, 4, 5, 6}"},
      {"y = flatten(x) { axis = -3 }", "error out of range"},
      {"e = int8[]{7}\n y = flatten(e) { axis = 0 }", "int8[1,1]{7}"},
      {"e = int8[1,2,1]{7, 8}\n y = squeeze(e)", "int8[2]{7, 8}"},
      {"e = int8[1,2,1]{7, 8}\n a = int64[1]{-1}\n y = squeeze(e, a)", "int8[1,2]{7, 8}"},
      {"e = int8[1,2,1]{7, 8}\n a = int64[0]{}\n y = squeeze(e, a)", "int8[1,2,1]{7, 8}"},
      {"e = int8[1,2,1]{7, 8}\n a = int64[1]{1}\n y = squeeze(e, a)", "error expected size 1"},
      {"e = int8[1,2,1]{7, 8}\n a = int64[2]{0, -3}\n y = squeeze(e, a)", "error named twice"},
      {"e = int8[1,2,1]{7, 8}\n a = int64[1]{3}\n y = squeeze(e, a)", "error out of range"},
      {"e = int8[2]{7, 8}\n a = int64[2]{0, -1}\n y = unsqueeze(e, a)", "int8[1,2,1]{7, 8}"},
      {"e = int8[]{7}\n a = int64[1]{0}\n y = unsqueeze(e, a)", "int8[1]{7}"},
      {"e = int8[2]{7, 8}\n a = int64[2]{2, 0}\n y = unsqueeze(e, a)", "int8[1,2,1]{7, 8}"},
      {"e = int8[2]{7, 8}\n a = int64[1]{2}\n y = unsqueeze(e, a)", "error out of range"},
  };
  for (const EvalRow& row : rows) {
    ExpectText(EvalText(WithX(row.lines), row.outputs), row.want, row.lines);
  }
}

TEST(Movement, Eval) {
  const EvalRow rows[] = {
      {"y = transpose(x) { perm = [1, 0] }", "int32[3,2]{1, 4, 2, 5, 3, 6}"},
      {"y = transpose(x)", "int32[3,2]{1, 4, 2, 5, 3, 6}"},
      {"y = transpose(x) { perm = [1, 1] }", "error no permutation"},
      {"y = transpose(x) { perm = [0] }", "error no permutation"},
      {"s = string[1,2]{\"a\", \"b\"}\n y = transpose(s)", "string[2,1]{\"a\", \"b\"}"},
      {"i = int4[3,1]{-8, 7, 1}\n y = transpose(i)", "int4[1,3]{-8, 7, 1}"},
      {"e = int8[]{7}\n y = transpose(e)", "int8[]{7}"},
      {"e = int8[2,1]{7, 8}\n s = int64[3]{2, 1, 3}\n y = expand(e, s)",
       "int8[2,2,3]{7, 7, 7, 8, 8, 8, 7, 7, 7, 8, 8, 8}"},
      {"e = int8[2]{7, 8}\n s = int64[1]{1}\n y = expand(e, s)", "int8[2]{7, 8}"},
      {"e = int8[1]{7}\n s = int64[1]{0}\n y = expand(e, s)", "int8[0]{}"},
      {"e = int8[]{7}\n s = int64[0]{}\n y = expand(e, s)", "int8[]{7}"},
      {"e = int8[2]{7, 8}\n s = int64[1]{3}\n y = expand(e, s)", "error broadcast"},
      {"e = int8[2]{7, 8}\n s = int64[1]{-1}\n y = expand(e, s)", "error negative"},
      {"e = int8[1]{7}\n s = int64[2]{4000000000, 4000000000}\n y = expand(e, s)", "error "},
      {"e = int8[1,2]{7, 8}\n r = int64[2]{2, 2}\n y = tile(e, r)",
       "int8[2,4]{7, 8, 7, 8, 7, 8, 7, 8}"},
      {"e = int8[2]{7, 8}\n r = int64[1]{0}\n y = tile(e, r)", "int8[0]{}"},
      {"e = int8[2]{7, 8}\n r = int64[2]{1, 1}\n y = tile(e, r)", "error expected 1 numbers"},
      {"e = string[2]{\"p\", \"q\"}\n r = int64[1]{2}\n y = tile(e, r)",
       "string[4]{\"p\", \"q\", \"p\", \"q\"}"},
      {"a = int32[2,1]{8, 9}\n y = concat(x, a) { axis = -1 }",
       "int32[2,4]{1, 2, 3, 8, 4, 5, 6, 9}"},
      {"a = int32[0,3]{}\n y = concat(a, x, a, x) { axis = 0 }",
       "int32[4,3]{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}"},
      {"y = concat(x) { axis = 0 }", "int32[2,3]{1, 2, 3, 4, 5, 6}"},
      {"a = int32[1,2]{8, 9}\n y = concat(x, a) { axis = 0 }", "error must be equal"},
      {"a = int64[2,3]\n y = concat(x, a) { axis = 0 }", "error another element type"},
      {"a = int4[1]{1}\n b = int4[2]{2, -3}\n y = concat(a, b) { axis = 0 }", "int4[3]{1, 2, -3}"},
      {"s = int64[2]{1, 2}\n y, z = split(x, s) { axis = 1 }",
       "int32[2,1]{1, 4}; "
       "int32[2,2]{2, 3, 5, 6}",
       "y, z"},
      {"y, z = split(x)", "int32[1,3]{1, 2, 3}; int32[1,3]{4, 5, 6}", "y, z"},
      {"y, z = split(x) { axis = 1 }", "error equal parts", "y, z"},
      {"y, z = split(x) { axis = 1, num_outputs = 2 }", "int32[2,2]{1, 2, 4, 5}; int32[2,1]{3, 6}",
       "y, z"},
      {"y, z = split(x) { axis = 1, num_outputs = 3 }", "error there are 2 outputs", "y, z"},
      {"v = int8[5]{1, 2, 3, 4, 5}\n a, b, c, y = split(v) { num_outputs = 4 }",
       "int8[2]{1, 2}; int8[2]{3, 4}; int8[1]{5}; int8[0]{}", "a, b, c, y"},
      {"s = int64[2]{1, 1}\n y, z = split(x, s) { axis = 1 }", "error add up", "y, z"},
      {"s = int64[2]{-1, 4}\n y, z = split(x, s) { axis = 1 }", "error negative", "y, z"},
      {"s = int64[2]{0, 2}\n y, z = split(x, s)", "int32[0,3]{}; int32[2,3]{1, 2, 3, 4, 5, 6}",
       "y, z"},
  };
  for (const EvalRow& row : rows) {
    ExpectText(EvalText(WithX(row.lines), row.outputs), row.want, row.lines);
  }
}

TEST(Slice, Eval) {
  constexpr std::string_view kV = "v = int8[5]{0, 1, 2, 3, 4}\n";
  struct Row {
    std::string_view bounds;  // starts, ends, steps
    std::string_view want;
  };
  const Row rows[] = {
      {"1 3 1", "int8[2]{1, 2}"},
      {"-2 9223372036854775807 1", "int8[2]{3, 4}"},
      {"-9223372036854775808 9223372036854775807 1", "int8[5]{0, 1, 2, 3, 4}"},
      {"-9 -9 1", "int8[0]{}"},
      {"3 1 1", "int8[0]{}"},
      {"0 5 2", "int8[3]{0, 2, 4}"},
      {"4 -9223372036854775808 -1", "int8[5]{4, 3, 2, 1, 0}"},
      {"9223372036854775807 0 -2", "int8[2]{4, 2}"},
      {"-1 -6 -2", "int8[3]{4, 2, 0}"},
      {"1 4 -1", "int8[0]{}"},
      {"0 5 9223372036854775807", "int8[1]{0}"},
      {"4 -6 -9223372036854775808", "int8[1]{4}"},
      {"5 6 1", "int8[0]{}"},
      {"0 5 0", "error step 0"},
  };
  for (const Row& row : rows) {
    std::string starts(row.bounds.substr(0, row.bounds.find(' ')));
    std::string rest(row.bounds.substr(row.bounds.find(' ') + 1));
    const std::string ends = rest.substr(0, rest.find(' ')),
                      steps = rest.substr(rest.find(' ') + 1);
    const std::string lines = std::string(kV) + "s = int64[1]{" + starts + "}\n e = int64[1]{" +
                              ends + "}\n p = int64[1]{" + steps + "}\n y = slice(v, s, e, _, p)";
    ExpectText(EvalText(lines), row.want, lines);
  }
  const EvalRow others[] = {
      {"x = int32[2,3]{1, 2, 3, 4, 5, 6}\n s = int32[2]{0, 2}\n e = int32[2]{-1, -4}\n "
       "a = int32[2]{0, -1}\n p = int32[2]{1, -1}\n y = slice(x, s, e, a, p)",
       "int32[1,3]{3, 2, 1}"},
      {"x = int32[0]{}\n s = int64[1]{-1}\n e = int64[1]{-9}\n p = int64[1]{-1}\n "
       "y = slice(x, s, e, _, p)",
       "int32[0]{}"},
      {"x = int32[2]{1, 2}\n s = int64[2]{0, 0}\n y = slice(x, s, s)", "error slices"},
  };
  ExpectRows(others);
}

TEST(Slice, LengthsAgreeWithCounting) {
  const int64_t bounds[] = {std::numeric_limits<int64_t>::min(), -7, -4, -1, 0, 1, 3, 4, 6,
                            std::numeric_limits<int64_t>::max()};
  for (int64_t size : {0, 1, 4}) {
    for (int64_t start : bounds) {
      for (int64_t end : bounds) {
        for (int64_t step : {-5, -2, -1, 1, 2, 5}) {
          const SliceRange range = ResolveSlice(size, start, end, step);
          // As Python counts, in wider arithmetic.
          __int128 s = start < 0 ? __int128{start} + size : start;
          __int128 e = end < 0 ? __int128{end} + size : end;
          const __int128 low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
          s = s < low ? low : s > high ? high : s;
          e = e < low ? low : e > high ? high : e;
          int64_t count = 0;
          for (__int128 i = s; step > 0 ? i < e : i > e; i += step) count += i >= 0 && i < size;
          // ONNX clamps a negative start to 0, where Python would give nothing.
          if (step < 0 && s < 0) continue;
          EXPECT_EQ(range.count, count) << size << " " << start << " " << end << " " << step;
        }
      }
    }
  }
}

TEST(Pad, Eval) {
  constexpr std::string_view kV = "v = int8[3]{1, 2, 3}\n p = int64[2]";
  const EvalRow rows[] = {
      {"{1, 2}\n y = pad(v, p)", "int8[6]{0, 1, 2, 3, 0, 0}"},
      {"{1, 2}\n c = int8[]{9}\n y = pad(v, p, c)", "int8[6]{9, 1, 2, 3, 9, 9}"},
      {"{-1, 1}\n y = pad(v, p)", "int8[3]{2, 3, 0}"},
      {"{-2, -1}\n y = pad(v, p)", "int8[0]{}"},
      {"{-2, -2}\n y = pad(v, p)", "error more is cut off"},
      {"{2, 4}\n y = pad(v, p) { mode = \"reflect\" }", "int8[9]{3, 2, 1, 2, 3, 2, 1, 2, 3}"},
      {"{2, 1}\n y = pad(v, p) { mode = \"edge\" }", "int8[6]{1, 1, 1, 2, 3, 3}"},
      {"{4, 2}\n y = pad(v, p) { mode = \"wrap\" }", "int8[9]{3, 1, 2, 3, 1, 2, 3, 1, 2}"},
      {"{-1, 2}\n y = pad(v, p) { mode = \"wrap\" }", "int8[4]{2, 3, 2, 3}"},
      {"{1, 2}\n y = pad(v, p) { mode = \"mirror\" }", "error expected constant"},
      {"{9223372036854775807, 2}\n y = pad(v, p)", "error "},
      {"{1, 1}\n c = int8[]{9}\n x = int8[1,2]{5, 6}\n a = int64[1]{-1}\n y = pad(x, p, c, a)",
       "int8[1,4]{9, 5, 6, 9}"},
      {"{1, 1}\n e = int8[0]{}\n y = pad(e, p) { mode = \"edge\" }", "error no elements"},
      {"{-3, 5}\n y = pad(v, p) { mode = \"edge\" }", "error no elements left"},
      {"{3, -4}\n y = pad(v, p) { mode = \"reflect\" }", "error no elements left"},
      {"{-3, 0}\n y = pad(v, p) { mode = \"edge\" }", "int8[0]{}"},
      {"{1, 1}\n e = int8[0]{}\n y = pad(e, p)", "int8[2]{0, 0}"},
      {"{1, 1}\n e = string[1]{\"x\"}\n y = pad(e, p)", "string[3]{\"\", \"x\", \"\"}"},
      {"{1, 1}\n e = int8[1]{5}\n y = pad(e, p) { mode = \"reflect\" }", "int8[3]{5, 5, 5}"},
  };
  ExpectRows(rows, kV);
}

TEST(Generate, Eval) {
  const EvalRow rows[] = {
      {"s = int64[2]{1, 2}\n y = constant_of_shape(s)", "float32[1,2]{0, 0}"},
      {"s = int64[0]{}\n y = constant_of_shape(s) { value = tensor(int8[1]{3}) }", "int8[]{3}"},
      {"s = int64[1]{0}\n y = constant_of_shape(s) { value = tensor(int64[1]{3}) }", "int64[0]{}"},
      {"s = int64[1]{-1}\n y = constant_of_shape(s)", "error negative"},
      {"s = int64[1]{2}\n y = constant_of_shape(s) { value = tensor(int8[2]{3, 4}) }",
       "error one element"},
      {"s = int64[2]{9000000000, 9000000000}\n y = constant_of_shape(s)", "error "},
      {"a = int32[]{1}\n b = int32[]{10}\n c = int32[]{4}\n y = range(a, b, c)",
       "int32[3]{1, 5, 9}"},
      {"a = int64[]{3}\n b = int64[]{0}\n c = int64[]{-1}\n y = range(a, b, c)",
       "int64[3]{3, 2, 1}"},
      {"a = int64[]{3}\n b = int64[]{0}\n c = int64[]{1}\n y = range(a, b, c)", "int64[0]{}"},
      {"a = int64[]{3}\n b = int64[]{0}\n c = int64[]{0}\n y = range(a, b, c)", "error delta is 0"},
      {"a = float32[]{0}\n b = float32[]{1}\n c = float32[]{0.25}\n y = range(a, b, c)",
       "float32[4]{0, 0.25, 0.5, 0.75}"},
      {"a = float32[]{0}\n b = float32[]{inf}\n c = float32[]{1}\n y = range(a, b, c)",
       "error no length"},
      {"a = int64[]{0}\n b = int64[]{9223372036854775807}\n c = int64[]{1}\n y = range(a, b, c)",
       "error "},
      {"i = int64[3]{0, -1, 7}\n d = int64[]{3}\n v = float32[2]{0.5, 2}\n y = one_hot(i, d, v)",
       "float32[3,3]{2, 0.5, 0.5, 0.5, 0.5, 2, 0.5, 0.5, 0.5}"},
      {"i = float32[2]{1, nan}\n d = float32[1]{2}\n v = string[2]{\"n\", \"y\"}\n "
       "y = one_hot(i, d, v) { axis = 0 }",
       "string[2,2]{\"n\", \"n\", \"y\", \"n\"}"},
      {"i = int64[]{1}\n d = int64[]{2}\n v = int8[2]{0, 1}\n y = one_hot(i, d, v)",
       "int8[2]{0, 1}"},
      {"i = int64[1]{1}\n d = int64[]{-2}\n v = int8[2]{0, 1}\n y = one_hot(i, d, v)",
       "error depth"},
      {"x = int32[2,3]\n y = eye_like(x) { k = 1 }", "int32[2,3]{0, 1, 0, 0, 0, 1}"},
      {"x = int32[2,2]\n y = eye_like(x) { k = -1, dtype = \"bool\" }",
       "bool[2,2]{false, false, true, false}"},
      {"x = int32[2,2]\n y = eye_like(x) { k = 9223372036854775807 }", "int32[2,2]{0, 0, 0, 0}"},
      {"x = int32[2]\n y = eye_like(x)", "error rank 2"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n y = trilu(x)", "int8[2,3]{1, 2, 3, 0, 5, 6}"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n k = int64[]{1}\n y = trilu(x, k)",
       "int8[2,3]{0, 2, 3, 0, 0, 6}"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n k = int64[1]{-1}\n y = trilu(x, k) { upper = 0 }",
       "int8[2,3]{0, 0, 0, 4, 0, 0}"},
      {"x = int8[0,3]{}\n y = trilu(x)", "int8[0,3]{}"},
      {"x = int8[3]{1, 2, 3}\n y = trilu(x)", "error rank 2"},
  };
  ExpectRows(rows);
}

TEST(Shape, Infer) {
  const InferRow rows[] = {
      {"x: float32[n,3,h]", "y = shape(x)", "int64[3] {n, 3, h}"},
      {"x: float32[n,3,h]", "y = shape(x) { start = 1 }", "int64[2] {3, h}"},
      {"x: float32[...]", "y = shape(x)", "int64[?]"},
      {"x: float32[n,3,h]", "y = size(x)", "int64[] {3*h*n}"},
      {"x: float32[n,12,64]", "s = int64[3]{0, -1, 32}\n y = reshape(x, s)", "float32[n,24,32]"},
      {"x: float32[?,12,64]", "s = int64[2]{0, -1}\n y = reshape(x, s)", "float32[?,768]"},
      {"x: float32[n,h,w]", "s = int64[2]{0, -1}\n y = reshape(x, s)", "float32[n,h*w]"},
      {"x: float32[n,h,w]", "s = int64[1]{-1}\n y = reshape(x, s)", "float32[h*n*w]"},
      {"x: float32[n,6]", "s = int64[2]{-1, 2}\n y = reshape(x, s)", "float32[3*n,2]"},
      {"x: float32[n,6], s: int64[3]", "y = reshape(x, s)", "float32[?,?,?]"},
      {"x: float32[n,6], s: int64[?]", "y = reshape(x, s)", "float32[...]"},
      {"x: float32[...]", "s = int64[2]{0, 4}\n y = reshape(x, s)", "float32[?,4]"},
      {"x: float32[4]", "s = int64[1]{3}\n y = reshape(x, s)", "error cannot be reshaped"},
      {"x: float32[0,3]", "s = int64[2]{0, 5}\n y = reshape(x, s)", "float32[0,5]"},
      {"x: float32[2,2,0]", "s = int64[3]{2, 4, 0}\n y = reshape(x, s)", "float32[2,4,0]"},
      // Attention: [n, s, 768] -> [n, s, 12, 64], the sizes computed from the shape.
      {"x: float32[n,s,768]",
       "sh = shape(x)\n i0 = int64[1]{0}\n i1 = int64[1]{1}\n a = gather(sh, i0)\n "
       "b = gather(sh, i1)\n c = int64[2]{12, 64}\n t = concat(a, b, c) { axis = 0 }\n "
       "y = reshape(x, t)",
       "float32[n,s,12,64]"},
      {"x: float32[n,s,768]",
       "sh = shape(x)\n i0 = int64[]{0}\n a = gather(sh, i0)\n ax = int64[1]{0}\n "
       "b = unsqueeze(a, ax)\n c = int64[1]{-1}\n t = concat(b, c) { axis = 0 }\n "
       "y = reshape(x, t)",
       "float32[n,768*s]"},
      // One size unknown and none -1: what is left.
      {"x: float32[n,6], k: int64[1]",
       "a = int64[1]{3}\n t = concat(k, a) { axis = 0 }\n "
       "y = reshape(x, t)",
       "float32[2*n,3]"},
      {"x: float32[n,3,h]", "y = flatten(x) { axis = 2 }", "float32[3*n,h]"},
      {"x: float32[...]", "y = flatten(x)", "float32[?,?]"},
      {"x: float32[1,n,1]", "a = int64[1]{0}\n y = squeeze(x, a)", "float32[n,1]"},
      {"x: float32[1,n,1]", "y = squeeze(x)", "float32[...]"},
      {"x: float32[1,n,1], a: int64[2]", "y = squeeze(x, a)", "float32[?]"},
      {"x: float32[n]", "a = int64[2]{0, -1}\n y = unsqueeze(x, a)", "float32[1,n,1]"},
      {"x: float32[n], a: int64[2]", "y = unsqueeze(x, a)", "float32[?,?,?]"},
      {"x: float32[n,3,h]", "y = transpose(x) { perm = [2, 0, 1] }", "float32[h,n,3]"},
      {"x: float32[...]", "y = transpose(x) { perm = [2, 0, 1] }", "float32[?,?,?]"},
      {"x: float32[1,3], r: float32[n,3]", "s = shape(r)\n y = expand(x, s)", "float32[n,3]"},
      {"x: float32[1,3], s: int64[3]", "y = expand(x, s)", "float32[?,?,3]"},
      {"x: float32[n,3]", "r = int64[2]{2, 3}\n y = tile(x, r)", "float32[2*n,9]"},
      {"x: float32[n,3], r: int64[2]", "y = tile(x, r)", "float32[?,?]"},
      {"x: float32[n,3], z: float32[m,3]", "y = concat(x, z) { axis = 0 }", "float32[m+n,3]"},
      {"x: float32[n,?], z: float32[m,3]", "y = concat(x, z) { axis = 0 }", "float32[m+n,3]"},
      {"x: float32[n,3], z: float32[...]", "y = concat(x, z) { axis = -1 }", "float32[n,?]"},
      {"x: float32[n,6]", "y, z = split(x) { axis = 1 }", "float32[n,3]; float32[n,3]", "y, z"},
      {"x: float32[2*n]", "y, z = split(x)", "float32[n]; float32[n]", "y, z"},
      {"x: float32[n,5]", "y, z = split(x) { axis = -1, num_outputs = 2 }",
       "float32[n,3]; float32[n,2]", "y, z"},
      {"x: float32[n]",
       "s = shape(x)\n a, b = split(s) { num_outputs = 2 }\n y = concat(b, a) "
       "{ axis = 0 }",
       "int64[1] {n}"},
      {"x: float32[n,4]", "s = shape(x)\n y, z = split(s)", "int64[1] {n}; int64[1] {4}", "y, z"},
      {"x: float32[n,h]", "p = int64[4]{0, 1, 0, 2}\n y = pad(x, p)", "float32[n,h+3]"},
      {"x: float32[n,h], p: int64[4]", "y = pad(x, p)", "float32[?,?]"},
      {"x: float32[n,h], p: int64[2]", "a = int64[1]{-1}\n y = pad(x, p, _, a)", "float32[n,?]"},
      {"x: float32[...], p: int64[4]", "y = pad(x, p)", "float32[?,?]"},
  };
  ExpectRows(rows);
}

TEST(Slice, Infer) {
  const InferRow rows[] = {
      {"x: float32[n,8]",
       "s = int64[1]{0}\n e = int64[1]{9223372036854775807}\n y = slice(x, s, e)", "float32[n,8]"},
      {"x: float32[n,8]",
       "s = int64[1]{0}\n e = int64[1]{2147483647}\n a = int64[1]{0}\n p = int64[1]{2}\n "
       "y = slice(x, s, e, a, p)",
       "float32[floordiv(n+1, 2),8]"},
      {"x: float32[n,8]",
       "s = int64[1]{1}\n e = int64[1]{-1}\n a = int64[1]{1}\n "
       "y = slice(x, s, e, a)",
       "float32[n,6]"},
      {"x: float32[n,8]", "s = int64[1]{0}\n e = int64[1]{5}\n y = slice(x, s, e)",
       "float32[min(n, 5),8]"},
      {"x: float32[n,8]",
       "s = int64[1]{-1}\n e = int64[1]{-9223372036854775808}\n p = int64[1]{-1}\n "
       "y = slice(x, s, e, _, p)",
       "float32[n,8]"},
      {"x: float32[n,8], s: int64[1], e: int64[1]", "a = int64[1]{1}\n y = slice(x, s, e, a)",
       "float32[n,?]"},
      {"x: float32[n,8], s: int64[2]", "y = slice(x, s, s)", "float32[?,?]"},
      {"x: float32[n,8], a: int64[1]", "s = int64[1]{1}\n y = slice(x, s, s, a)", "float32[?,?]"},
      {"x: float32[n,8], r: float32[k]",
       "e = shape(r)\n s = int64[1]{0}\n a = int64[1]{1}\n y = slice(x, s, e, a)",
       "float32[n,min(k, 8)]"},
      {"x: float32[a,b,c,d]",
       "t = shape(x)\n s = int64[1]{1}\n e = int64[1]{-1}\n y = slice(t, s, e)", "int64[2] {b, c}"},
      {"x: float32[a,b,c,d]",
       "t = shape(x)\n s = int64[1]{-1}\n e = int64[1]{-5}\n p = int64[1]{-2}\n "
       "y = slice(t, s, e, _, p)",
       "int64[2] {d, b}"},
  };
  ExpectRows(rows);
}

TEST(Generate, Infer) {
  const InferRow rows[] = {
      {"x: float32[n,3]", "s = shape(x)\n y = constant_of_shape(s)", "float32[n,3]"},
      {"s: int64[2]", "y = constant_of_shape(s)", "float32[?,?]"},
      {"s: int64[?]", "y = constant_of_shape(s) { value = tensor(int8[1]{3}) }", "int8[...]"},
      {"x: float32[n]",
       "s = int64[1]{2}\n y = constant_of_shape(s) { value = tensor(int64[1]{3}) }",
       "int64[2] {3, 3}"},
      {"x: float32[n]", "a = int64[]{0}\n b = size(x)\n c = int64[]{1}\n y = range(a, b, c)",
       "int64[n]"},
      {"x: float32[n]", "a = int64[]{1}\n b = size(x)\n c = int64[]{2}\n y = range(a, b, c)",
       "int64[floordiv(n, 2)]"},
      {"b: int64[]", "a = int64[]{0}\n c = int64[]{1}\n y = range(a, b, c)", "int64[?]"},
      {"", "a = int64[]{0}\n b = int64[]{6}\n c = int64[]{2}\n y = range(a, b, c)",
       "int64[3] {0, 2, 4}"},
      {"i: int64[n]", "d = int64[]{5}\n v = float32[2]{0, 1}\n y = one_hot(i, d, v)",
       "float32[n,5]"},
      {"i: int64[n], d: int64[]", "v = float32[2]{0, 1}\n y = one_hot(i, d, v) { axis = 0 }",
       "float32[?,n]"},
      {"x: float32[n,m]", "y = eye_like(x) { dtype = \"int32\" }", "int32[n,m]"},
      {"x: float32[n,m]", "y = trilu(x)", "float32[n,m]"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
