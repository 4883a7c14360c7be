#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"

namespace x2ir {
namespace {

void Expect(const std::vector<PassRow>& rows) {
  for (const PassRow& row : rows) ExpectPass(row, {"simplify", "dead_code"});
}

constexpr std::string_view kX = "x: float32[n,4]";

TEST(Simplify, OpsThatChangeNothing) {
  Expect({
      {kX, "a = identity(x)\n y = relu(a)", "y = relu(x)"},
      {kX, "a = neg(x)\n y = identity(a)", "y = neg(x)"},
      {kX, "y = identity(x)", ""},
      {kX, "a = dropout(x)\n y = neg(a)", "y = neg(x)"},
      {kX, "t = bool[]{true}\n r = float32[]{0}\n a = dropout(x, r, t)\n y = neg(a)", "y = neg(x)"},
      {kX, "t = bool[]{true}\n r = float32[]{0.5}\n a = dropout(x, r, t)\n y = neg(a)", ""},
      {kX, "a, y = dropout(x)", "", "a, y"},
      {"x: float32[2,1]", "a, m = dropout(x)\n y = neg(a)\n z = not(m)",
       "m = bool[2,1]{true,true}\n y = neg(x)\n z = not(m)", "y, z"},
      {"x: float32[2,1]", "y, m = dropout(x)", "", "y, m"},
      {"x: float32[n,4], z: float32[4]", "y = sum(x, z)", "y = add(x, z)"},
      {kX, "y = sum(x, x, x)", ""},
      {"c: bool[4], x: float32[n,4], z: float32[4]", "n = not(c)\n y = where(n, x, z)",
       "y = where(c, z, x)"},
      {"c: bool[4], x: float32[n,4], z: float32[4]", "n = not(c)\n y = where(n, x, z)",
       "n = not(c)\n y = where(c, z, x)", "y, n"},
      {kX, "a = cast(x) { to = \"float32\" }\n y = neg(a)", "y = neg(x)"},
      {kX, "a = cast(x) { to = \"float32\" }\n y = identity(a)", "y = identity(x)"},
      {kX, "a = clip(x)\n y = neg(a)", "y = neg(x)"},
      {kX, "m = float32[]{0}\n a = clip(x, m)\n y = neg(a)", ""},
      {kX, "a = max(x)\n b = sum(a)\n c = concat(b) { axis = 0 }\n y = neg(c)", "y = neg(x)"},
      {kX, "a = neg(x)\n b = neg(a)\n y = abs(b)", "y = abs(x)"},
      {kX, "a = relu(x)\n y = relu(a)", "y = relu(x)"},
      {kX, "a = exp(x)\n y = exp(a)", ""},
      {kX, "c = bool[1]{true}\n a = where(c, x, x)\n y = neg(a)", "y = neg(x)"},
      {"x: float32[n,4], z: float32[4]", "c = bool[]{false}\n a = where(c, x, z)\n y = neg(a)", ""},
      {"x: float32[n,4], z: float32[4]", "c = bool[]{true}\n y = where(c, z, x)", ""},
  });
}

TEST(Simplify, ReductionsToTheirShape) {
  constexpr std::string_view kPlaces = "x: float32[n,4,5,6]";
  Expect({
      {kPlaces, "a = int64[2]{1,2} s = int64[2]{-1,6}\n m = reduce_mean(x, a)\n y = reshape(m, s)",
       "a = int64[2]{1,2}\n y = reduce_mean(x, a) { keepdims = 0 }"},
      {kPlaces, "a = int64[1]{1}\n m = reduce_sum(x, a)\n y = squeeze(m, a)",
       "a = int64[1]{1}\n y = reduce_sum(x, a) { keepdims = 0 }"},
      {kPlaces, "m = arg_max(x) { axis = 3, keepdims = 0 }\n a = int64[1]{-1} y = unsqueeze(m, a)",
       "y = arg_max(x) { axis = 3, keepdims = 1 }"},
      {kPlaces,
       "a = int64[2]{1,2} s = int64[4]{-1,1,1,6}\n m = reduce_max(x, a) { keepdims = 0 }\n"
       "y = reshape(m, s)",
       "a = int64[2]{1,2}\n y = reduce_max(x, a) { keepdims = 1 }"},
      // Other axes, others who use it, axes that are not known.
      {kPlaces,
       "a = int64[1]{1} b = int64[1]{0} m = reduce_sum(x, a) { keepdims = 0 }\n"
       "y = unsqueeze(m, b)",
       ""},
      {kPlaces, "a = int64[1]{1}\n y = reduce_sum(x, a)\n z = squeeze(y, a)", "", "y, z"},
      {"x: float32[n,4], a: int64[1]",
       "s = int64[1]{-1}\n m = reduce_sum(x, a)\n y = reshape(m, s)", ""},
  });
}

TEST(Simplify, NeutralOperands) {
  Expect({
      {kX, "o = float32[]{1}\n a = mul(x, o)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[1,4]{1, 1, 1, 1}\n a = mul(o, x)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[1,1,4]{1, 1, 1, 1}\n a = mul(o, x)\n y = neg(a)", ""},
      {kX, "o = float32[4]{1, 1, 2, 1}\n a = mul(x, o)\n y = neg(a)", ""},
      {"x: float32[n,1]", "o = float32[4]{1, 1, 1, 1}\n a = mul(x, o)\n y = neg(a)", ""},
      {"x: float32[?,?]", "o = float32[4]{1, 1, 1, 1}\n a = mul(x, o)\n y = neg(a)", ""},
      // -0 + 0 is 0, which is the same number; a division, a power or text tells them apart.
      {kX, "o = float32[]{0}\n a = add(x, o)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[]{0}\n a = add(x, o)\n b = neg(a)\n y = reciprocal(b)", ""},
      {kX, "o = float32[]{0}\n a = add(x, o)\n y = div(x, a)", ""},
      {kX, "o = float32[]{0}\n a = add(x, o)\n y = div(a, x)", "y = div(x, x)"},
      {kX, "o = float32[]{0}\n p = float32[]{-1}\n a = add(o, x)\n y = pow(a, p)", ""},
      {kX, "o = float32[]{0}\n a = add(x, o)\n y = cast(a) { to = \"string\" }", ""},
      {kX, "o = float32[]{0}\n a = add(x, o)\n y = cast(a) { to = \"int32\" }",
       "y = cast(x) { to = \"int32\" }"},
      // What forgets it on the way, or does not.
      {kX, "o = float32[]{0}\n a = add(x, o)\n b = exp(a)\n y = reciprocal(b)",
       "b = exp(x)\n y = reciprocal(b)"},
      {kX,
       "o = float32[]{0}\n e = float32[]{0.5}\n a = add(x, o)\n b = add(a, e)\n y = reciprocal(b)",
       "e = float32[]{0.5}\n b = add(x, e)\n y = reciprocal(b)"},
      {kX, "o = float32[]{0}\n a = add(x, o)\n b = add(a, x)\n y = reciprocal(b)", ""},
      {"c: bool[], x: float32[2]",
       "o = float32[]{0}\n b = if(c) { then_branch = graph t() -> (p) { p = add(x, o) },\n"
       "else_branch = graph e() -> (q) { q = neg(x) } }\n y = reciprocal(b)",
       ""},
      {kX, "o = float32[]{-0}\n a = add(x, o)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[]{0}\n a = sub(x, o)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[]{0}\n a = sub(o, x)\n y = neg(a)", ""},
      {"x: int32[n]", "o = int32[]{0}\n a = add(o, x)\n y = neg(a)", "y = neg(x)"},
      {kX, "o = float32[]{1}\n a = div(x, o)\n b = pow(a, o)\n y = neg(b)", "y = neg(x)"},
      {kX, "o = float32[]{1}\n a = div(o, x)\n y = neg(a)", ""},
      {"x: bool[n]", "o = bool[]{true}\n a = and(x, o)\n y = not(a)", "y = not(x)"},
      {"x: bool[n]", "o = bool[]{true}\n a = or(x, o)\n y = not(a)", ""},
  });
}

TEST(Simplify, Casts) {
  Expect({
      {"x: float16[n]", "a = cast(x) { to = \"float32\" }\n y = cast(a) { to = \"int32\" }",
       "y = cast(x) { to = \"int32\" }"},
      {"x: int64[n]", "a = cast(x) { to = \"int32\" }\n y = cast(a) { to = \"int8\" }",
       "y = cast(x) { to = \"int8\" }"},
      {"x: int64[n]", "a = cast(x) { to = \"int32\" }\n y = cast(a) { to = \"int64\" }", ""},
      {"x: int32[n]",
       "a = cast(x) { to = \"int64\" }\n b = cast(a) { to = \"int32\" }\n y = neg(b)",
       "y = neg(x)"},
      {"x: float32[n]", "a = cast(x) { to = \"int32\" }\n y = cast(a) { to = \"float32\" }", ""},
      {"x: int32[n]", "a = cast(x) { to = \"float32\" }\n y = cast(a) { to = \"int32\" }", ""},
      {"x: int16[n]", "a = cast(x) { to = \"bfloat16\" }\n y = cast(a) { to = \"int16\" }", ""},
      {"x: float32[n]", "a = cast(x) { to = \"float64\" }\n y = cast(a) { to = \"string\" }", ""},
      {"x: int64[n], t: int8[]", "a = cast(x) { to = \"bool\" }\n y = cast_like(a, t)",
       "a = cast(x) { to = \"bool\" }\n y = cast(a) { to = \"int8\" }"},
  });
}

TEST(Simplify, Moves) {
  Expect({
      {"x: float32[a,b,c]", "p = transpose(x) { perm = [0, 1, 2] }\n y = neg(p)", "y = neg(x)"},
      {"x: float32[a,b,c]",
       "p = transpose(x) { perm = [1, 2, 0] }\n y = transpose(p) { perm = [1, 0, 2] }",
       "y = transpose(x) { perm = [2, 1, 0] }"},
      {"x: float32[a,b,c]",
       "p = transpose(x) { perm = [1, 2, 0] }\n q = transpose(p) { perm = [2, 0, 1] }\n"
       "y = neg(q)",
       "y = neg(x)"},
      {kX, "p = int64[4]{0, 0, 0, 0}\n a = pad(x, p)\n y = neg(a)", "y = neg(x)"},
      {kX, "p = int64[4]{0, 1, 0, -1}\n a = pad(x, p)\n y = neg(a)", ""},
      {kX, "r = int64[2]{1, 1}\n a = tile(x, r)\n y = neg(a)", "y = neg(x)"},
      {kX, "r = int64[2]{1, 2}\n a = tile(x, r)\n y = neg(a)", ""},
      {kX, "s = int64[2]{1, 4}\n a = expand(x, s)\n y = neg(a)", "y = neg(x)"},
      {"x: float32[?,4]", "s = int64[2]{2, 4}\n a = expand(x, s)\n y = neg(a)", ""},
      {"x: float32[n,1]",
       "s = shape(x) { end = 1 }\n f = int64[1]{5}\n e = concat(s, f) { axis = 0 }\n"
       "y = expand(x, e)",
       "k = int64[2]{1, 5}\n y = expand(x, k)"},
      {kX, "a = split(x) { axis = 0, num_outputs = 1 }\n y = neg(a)", "y = neg(x)"},
      {"x: float32[a,b,c]",
       "i = int64[]{2}\n g = gather(x, i) { axis = 1 }\n o = int64[1]{-2}\n y = unsqueeze(g, o)",
       "i = int64[1]{2}\n y = gather(x, i) { axis = 1 }"},
      {"x: float32[a,b,c]",
       "i = int64[]{2}\n g = gather(x, i) { axis = 1 }\n o = int64[1]{0}\n y = unsqueeze(g, o)",
       ""},
      {"x: float32[a,b,c]",
       "i = int64[]{2}\n g = gather(x, i) { axis = 1 }\n o = int64[1]{1}\n y = unsqueeze(g, o)\n"
       "z = neg(g)",
       "", "y, z"},
      // Axes that are taken apart, moved and put together again.
      {"x: float32[2,3,4,6]",
       "g = int64[5]{2,3,2,2,6}\n p = reshape(x, g)\n q = transpose(p) { perm = [0,2,3,1,4] }\n"
       "s = int64[4]{2,4,3,6}\n y = reshape(q, s)",
       "y = transpose(x) { perm = [0,2,1,3] }"},
      {"x: float32[2,3,4,6]",
       "g = int64[5]{2,3,2,2,6}\n p = reshape(x, g)\n q = transpose(p) { perm = [0,3,2,1,4] }\n"
       "s = int64[4]{2,4,3,6}\n y = reshape(q, s)",
       ""},
      {"x: float32[1,4,3,6]",
       "g = int64[5]{1,2,2,3,6}\n p = reshape(x, g)\n q = transpose(p) { perm = [0,3,1,2,4] }\n"
       "s = int64[2]{3,24}\n y = reshape(q, s)",
       "t = transpose(x) { perm = [0,2,1,3] }\n s = int64[2]{3,24}\n y = reshape(t, s)"},
      // A split of heads that become columns again.
      {"x: float32[a,3,32]",
       "s = int64[4]{0,0,8,4}\n p = reshape(x, s)\n n = int64[2]{6,2}\n a, b = split(p, n) { axis "
       "= "
       "2 }\n f = int64[3]{0,0,24}\n e = int64[3]{0,0,8}\n y = reshape(a, f)\n z = reshape(b, e)",
       "n = int64[2]{24,8}\n y, z = split(x, n) { axis = 2 }", "y, z"},
      {"x: float32[a,3,32]",
       "s = int64[4]{0,0,8,4}\n p = reshape(x, s)\n n = int64[2]{6,2}\n a, b = split(p, n) { axis "
       "= "
       "2 }\n f = int64[3]{0,0,24}\n y = reshape(a, f)\n z = neg(b)",
       "", "y, z"},
  });
}

TEST(Simplify, Slices) {
  Expect({
      {kX, "s = int64[1]{0}\n e = int64[1]{9223372036854775807}\n a = slice(x, s, e)\n y = neg(a)",
       "y = neg(x)"},
      {kX,
       "s = int64[1]{-1}\n e = int64[1]{-100}\n o = int64[1]{1}\n m = int64[1]{-1}\n"
       "a = slice(x, s, e, o, m)\n y = neg(a)",
       ""},
      {"x: float32[10,n]",
       "s = int64[1]{1}\n e = int64[1]{9}\n z = int64[1]{0}\n a = slice(x, s, e, z)\n"
       "t = int64[1]{-1}\n f = int64[1]{-100}\n m = int64[1]{-3}\n y = slice(a, t, f, z, m)",
       "p = int64[1]{8}\n q = int64[1]{1}\n r = int64[1]{0}\n u = int64[1]{-3}\n"
       "y = slice(x, p, q, r, u)"},
      {"x: float32[m,n]",
       "s = int64[1]{1}\n e = int64[1]{9}\n z = int64[1]{0}\n a = slice(x, s, e, z)\n"
       "t = int64[1]{2}\n f = int64[1]{100}\n y = slice(a, t, f, z)",
       "p = int64[1]{3}\n q = int64[1]{9}\n r = int64[1]{0}\n u = int64[1]{1}\n"
       "y = slice(x, p, q, r, u)"},
      {"x: float32[m,n]",
       "s = int64[1]{1}\n e = int64[1]{-1}\n z = int64[1]{0}\n a = slice(x, s, e, z)\n"
       "t = int64[1]{2}\n y = slice(a, t, e, z)",
       ""},
      {"x: float32[m,n]",
       "s = int64[1]{1}\n e = int64[1]{9}\n z = int64[1]{0}\n a = slice(x, s, e, z)\n"
       "o = int64[1]{-1}\n y = slice(a, s, e, o)",
       "p = int64[2]{1, 1}\n q = int64[2]{9, 9}\n r = int64[2]{0, 1}\n u = int64[2]{1, 1}\n"
       "y = slice(x, p, q, r, u)"},
  });
}

TEST(Simplify, Concats) {
  const std::string_view two = "x: float32[2], z: float32[3]";
  Expect({
      {two, "a = concat(x, z) { axis = 0 }\n y = concat(z, a, x) { axis = -1 }",
       "y = concat(z, x, z, x) { axis = -1 }"},
      {two, "a = concat(x, z) { axis = 0 }\n b = neg(a)\n y = concat(b, a) { axis = 0 }", ""},
      // A value that was cut and is put together again, and one that is rolled.
      {"x: float32[2,7]",
       "o = int64[1]{0}\n m = int64[1]{3}\n e = int64[1]{9}\n i = int64[1]{1}\n"
       "a = slice(x, o, m, i)\n b = slice(x, m, e, i)\n c = concat(a, b) { axis = -1 }\n"
       "y = neg(c)",
       "y = neg(x)"},
      {"x: float32[2,7]",
       "o = int64[1]{0}\n m = int64[1]{3}\n e = int64[1]{9}\n i = int64[1]{1}\n"
       "a = slice(x, o, m, i)\n b = slice(x, m, e, i)\n y = concat(b, a) { axis = 1 }",
       "s = int64[2]{3, 4}\n a, b = split(x, s) { axis = 1 }\n y = concat(b, a) { axis = 1 }"},
      {"x: float32[2,7]",
       "s = int64[3]{3, 2, 2}\n a, b, c = split(x, s) { axis = 1 }\n"
       "d = concat(a, b, c) { axis = 1 }\n y = add(d, x)",
       "y = add(x, x)"},
      {"x: float32[2,7]",
       "s = int64[3]{3, 2, 2}\n a, b, c = split(x, s) { axis = 1 }\n y = concat(b, a) { axis = 1 }",
       ""},
      {"x: float32[2,7]",
       "o = int64[1]{0}\n m = int64[1]{3}\n e = int64[1]{9}\n i = int64[1]{1}\n"
       "a = slice(x, o, m, i)\n b = slice(x, m, e, i)\n y = concat(b, a) { axis = 1 }",
       "", "y, a"},
      {"x: float32[2], z: float32[0]", "a = concat(z, x, z) { axis = 0 }\n y = neg(a)",
       "y = neg(x)"},
      {"x: float32[2,2], z: float32[2,3]",
       "a = concat(x, z) { axis = 1 }\n y = concat(a, a) { axis = 0 }", ""},
  });
}

TEST(Simplify, Reshapes) {
  Expect({
      {kX, "s = int64[2]{0, 4}\n a = reshape(x, s)\n y = neg(a)", "y = neg(x)"},
      {kX, "s = int64[2]{4, -1}\n a = reshape(x, s)\n y = neg(a)", ""},
      {kX, "s = int64[3]{-1, 2, 2}\n a = reshape(x, s)\n t = int64[2]{-1, 8}\n y = reshape(a, t)",
       "k = int64[2]{-1, 8}\n y = reshape(x, k)"},
      {"x: float32[a,b,4]",
       "o = int64[1]{1}\n p = unsqueeze(x, o)\n q = squeeze(p, o)\n y = neg(q)", "y = neg(x)"},
      {"x: float32[?,?,4]",
       "o = int64[1]{1}\n p = unsqueeze(x, o)\n q = squeeze(p, o)\n y = neg(q)", "y = neg(x)"},
      {"x: float32[n,2,3]", "f = flatten(x)\n s = int64[3]{0, 3, 2}\n y = reshape(f, s)",
       "k = int64[3]{0, 3, 2}\n y = reshape(x, k)"},
      // n may be 0: [0, -1] would say nothing then.
      {"x: float32[n,h,w]", "f = flatten(x)\n o = int64[1]{0}\n y = unsqueeze(f, o)", ""},
      {"x: float32[2,0,3]",
       "s = int64[2]{0, 5}\n a = reshape(x, s) { allowzero = 1 }\n o = int64[1]{0}\n"
       "y = unsqueeze(a, o)",
       "k = int64[3]{1, 0, 5}\n y = reshape(x, k) { allowzero = 1 }"},
      // Axes of size 1 behind a transpose.
      {"x: float32[n,8]",
       "s = int64[3]{0, 2, 4}\n a = reshape(x, s)\n t = transpose(a) { perm = [1, 0, 2] }\n"
       "o = int64[1]{0}\n y = unsqueeze(t, o)",
       "k = int64[4]{1, -1, 2, 4}\n r = reshape(x, k)\n"
       "y = transpose(r) { perm = [0, 2, 1, 3] }"},
      {"x: float32[3,8]",
       "s = int64[4]{3, 2, 1, 4}\n a = reshape(x, s)\n t = transpose(a) { perm = [3, 0, 2, 1] }\n"
       "o = int64[1]{2}\n y = squeeze(t, o)",
       "k = int64[3]{3, 2, 4}\n r = reshape(x, k)\n y = transpose(r) { perm = [2, 0, 1] }"},
      {"x: float32[3,8]",
       "s = int64[3]{3, 2, 4}\n a = reshape(x, s)\n t = transpose(a) { perm = [1, 0, 2] }\n"
       "o = int64[2]{6, 4}\n y = reshape(t, o)",
       ""},
      {"x: float32[n,8]",
       "s = int64[3]{0, 2, 4}\n a = reshape(x, s)\n t = transpose(a) { perm = [1, 0, 2] }\n"
       "o = int64[1]{0}\n y = unsqueeze(t, o)\n z = neg(t)",
       "", "y, z"},
  });
}

TEST(Simplify, ComputedSizes) {
  Expect({
      {"x: float32[n,s,6]",
       "a = shape(x) { end = 2 }\n b = int64[2]{2, 3}\n c = concat(a, b) { axis = 0 }\n"
       "y = reshape(x, c)",
       "k = int64[4]{0, 0, 2, 3}\n y = reshape(x, k)"},
      {"x: float32[n,s,6]",
       "a = shape(x) { end = 1 }\n b = shape(x) { start = 1, end = 2 }\n m = mul(a, b)\n"
       "d = int64[1]{6}\n c = concat(m, d) { axis = 0 }\n y = reshape(x, c)",
       "k = int64[2]{-1, 6}\n y = reshape(x, k)"},
      // As before, -1 beside n.
      {"x: float32[n,s,6]",
       "a = shape(x) { end = 1 }\n d = int64[1]{-1}\n c = concat(a, d) { axis = 0 }\n"
       "y = reshape(x, c)",
       "k = int64[2]{0, -1}\n y = reshape(x, k)"},
      // n may be 0, which -1 beside it could not say.
      {"x: float32[n,s,6]",
       "a = shape(x) { end = 1 }\n b = shape(x) { start = 1, end = 2 }\n d = int64[1]{6}\n"
       "m = mul(b, d)\n c = concat(a, m) { axis = 0 }\n y = reshape(x, c)",
       "y = flatten(x)"},
      {"x: float32[n,s,6]",
       "a = shape(x) { end = 1 }\n b = shape(x) { start = 1, end = 2 }\n d = int64[1]{6}\n"
       "m = mul(a, d)\n c = concat(b, m) { axis = 0 }\n y = reshape(x, c)",
       ""},
      {"x: float32[n,2,3,6]",
       "h = int64[1]{3}\n w = int64[1]{6}\n a = shape(x) { end = 2 }\n m = mul(h, w)\n"
       "c = concat(a, m) { axis = 0 }\n y = reshape(x, c)",
       "k = int64[3]{0, 2, 18}\n y = reshape(x, k)"},
      {"x: float32[n,6], i: int64[1]",
       "d = int64[1]{3}\n c = concat(i, d) { axis = 0 }\n y = reshape(x, c)",
       "k = int64[2]{-1, 3}\n y = reshape(x, k)"},
      {"x: float32[n,6], i: int64[2]",
       "d = int64[1]{3}\n c = concat(i, d) { axis = 0 }\n y = reshape(x, c)", ""},
  });
}

}  // namespace
}  // namespace x2ir
