#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"

namespace x2ir {
namespace {

void Expect(const std::vector<PassRow>& rows) {
  for (const PassRow& row : rows) ExpectPass(row, {"simplify", "dead_code"});
}

constexpr std::string_view kX = "x: float32[n,4]";
constexpr std::string_view kOnes = "x: float32[n,1,4,1]";

TEST(SimplifyNumbers, Reductions) {
  Expect({
      {kOnes, "o = int64[2]{1, -1}\n a = reduce_sum(x, o)\n y = neg(a)", "y = neg(x)"},
      {kOnes, "o = int64[2]{1, -1}\n a = reduce_mean(x, o) { keepdims = 0 }\n y = neg(a)",
       "o = int64[2]{1, 3}\n a = squeeze(x, o)\n y = neg(a)"},
      {kOnes, "o = int64[1]{1}\n a = reduce_max(x, o)\n b = reduce_prod(a, o)\n y = neg(b)",
       "y = neg(x)"},
      {kOnes, "o = int64[1]{1}\n y = reduce_l2(x, o)", "y = abs(x)"},
      {kOnes, "o = int64[1]{1}\n y = reduce_l1(x, o) { keepdims = 0 }",
       "o = int64[1]{1}\n a = abs(x)\n y = squeeze(a, o)"},
      {kOnes, "a = reduce_min(x) { noop_with_empty_axes = 1 }\n y = neg(a)", "y = neg(x)"},
      {"x: float32[]", "a = reduce_sum(x)\n y = neg(a)", "y = neg(x)"},
      {"x: float32[1,1]", "a = reduce_sum(x) { keepdims = 0 }\n y = neg(a)",
       "o = int64[2]{0, 1}\n a = squeeze(x, o)\n y = neg(a)"},
      // All axes.
      {kOnes, "y = reduce_min(x)", ""},
      {kOnes, "o = int64[2]{1, 2}\n y = reduce_sum(x, o)", ""},
      {kOnes, "o = int64[1]{0}\n y = reduce_sum(x, o)", ""},
      {"x: float32[1,4], o: int64[1]", "y = reduce_sum(x, o)", ""},
      // These compute something of one element too.
      {kOnes, "o = int64[1]{1}\n y = reduce_log_sum(x, o)", ""},
      {kOnes, "o = int64[1]{1}\n y = reduce_log_sum_exp(x, o)", ""},
      {kOnes, "o = int64[1]{1}\n y = reduce_sum_square(x, o)", ""},
      {"x: int64[1]", "y = reduce_l2(x)", ""},
      {"x: float64[1]", "y = reduce_l2(x)", ""},
  });
}

TEST(SimplifyNumbers, Windows) {
  constexpr std::string_view kImage = "x: float32[n,3,8,8]";
  Expect({
      {kImage, "a = max_pool(x) { kernel_shape = [1, 1] }\n y = neg(a)", "y = neg(x)"},
      {kImage,
       "a = average_pool(x) { kernel_shape = [1, 1], strides = [1, 1], pads = [0, 0, 0, 0],\n"
       "count_include_pad = 1, ceil_mode = 1 }\n y = neg(a)",
       "y = neg(x)"},
      {kImage, "a = max_pool(x) { kernel_shape = [1, 1], strides = [2, 2] }\n y = neg(a)", ""},
      {kImage, "a = max_pool(x) { kernel_shape = [1, 2], auto_pad = \"SAME_UPPER\" }\n y = neg(a)",
       ""},
      {kImage, "a = max_pool(x) { kernel_shape = [1, 1], pads = [1, 0, 0, 1] }\n y = neg(a)", ""},
      {kImage, "a, y = max_pool(x) { kernel_shape = [1, 1] }", "", "a, y"},
      {"x: float32[n,3,1,1]", "a = global_average_pool(x)\n y = neg(a)", "y = neg(x)"},
      {"x: float32[n,3,1,m]", "a = global_max_pool(x)\n y = neg(a)", ""},
  });
}

TEST(SimplifyNumbers, Resizes) {
  Expect({
      {kX, "s = float32[2]{1, 1}\n a = resize(x, _, s) { mode = \"cubic\" }\n y = neg(a)",
       "y = neg(x)"},
      {kX,
       "s = int64[1]{4}\n a = resize(x, _, _, s) { axes = [1], mode = \"linear\" }\n y = neg(a)",
       "y = neg(x)"},
      {kX, "s = shape(x)\n a = resize(x, _, _, s)\n y = neg(a)", "y = neg(x)"},
      {kX, "s = float32[2]{1, 1.125}\n y = resize(x, _, s)", ""},
      {kX, "s = int64[2]{2, 4}\n y = resize(x, _, _, s)", ""},
      // The nearest of x + 1/2.
      {kX,
       "s = float32[2]{1, 1}\n y = resize(x, _, s) { nearest_mode = \"ceil\",\n"
       "coordinate_transformation_mode = \"tf_half_pixel_for_nn\" }",
       ""},
      {kX,
       "r = float32[4]{0, 0.25, 1, 1}\n s = float32[2]{1, 1}\n"
       "y = resize(x, r, s) { coordinate_transformation_mode = \"tf_crop_and_resize\" }",
       ""},
  });
}

TEST(SimplifyNumbers, Indices) {
  Expect({
      {kX, "i = int64[4]{0, 1, 2, 3}\n a = gather(x, i) { axis = 1 }\n y = neg(a)", "y = neg(x)"},
      {kX, "i = int32[4]{-4, 1, -2, 3}\n a = gather(x, i) { axis = -1 }\n y = neg(a)",
       "y = neg(x)"},
      {kX, "i = int64[4]{0, 1, 3, 2}\n y = gather(x, i) { axis = 1 }", ""},
      {kX, "i = int64[3]{0, 1, 2}\n y = gather(x, i) { axis = 1 }", ""},
      {kX, "i = int64[4]{0, 1, 2, 3}\n y = gather(x, i)", ""},
      {kX, "i = int64[1,4]{0, 1, 2, 3}\n y = gather(x, i) { axis = 1 }", ""},
      {"x: float32[n,4,2,2]", "a = depth_to_space(x) { blocksize = 1 }\n y = neg(a)", "y = neg(x)"},
  });
}

// Integers that are known to be from one number to another.
TEST(SimplifyNumbers, Ranges) {
  const std::string place = "i = arg_max(x) { axis = 1, keepdims = 0 }\n";
  const std::string rows[][2] = {
      {place + "a = int64[]{0}\n b = int64[]{4}\n y = clip(i, a, b)",
       "y = arg_max(x) { axis = 1, keepdims = 0 }"},
      {place + "a = int64[]{0}\n b = int64[]{3}\n y = clip(i, a, b)", ""},
      {place + "a = int64[]{-2}\n b = int64[]{7}\n p = max(i, a)\n y = min(b, p)",
       "y = arg_max(x) { axis = 1, keepdims = 0 }"},
      {place + "a = int64[]{4}\n p = sub(i, a)\n b = int64[]{0}\n y = min(p, b)",
       place + "a = int64[]{4}\n y = sub(i, a)"},
      {place + "a = int64[]{3}\n p = sub(i, a)\n b = int64[]{0}\n y = min(p, b)", ""},
      // Wraps in eight bits.
      {place + "a = uint8[]{255}\n j = cast(i) { to = \"uint8\" }\n p = add(j, a)\n"
               "y = max(p, a)",
       ""},
      {place + "a = int64[]{0}\n p = less(i, a)\n y = not(p)",
       "p = bool[3]{false,false,false}\n y = not(p)"},
      {place + "a = int64[]{5}\n y = less(i, a)", "y = bool[3]{true,true,true}"},
      {place + "a = int64[]{4}\n y = less(i, a)", ""},
      {place + "a = int64[]{5}\n p = equal(i, a)\n y = not(p)",
       "p = bool[3]{false,false,false}\n y = not(p)"},
      {place + "a = int64[]{4}\n p = greater(i, a)\n y = not(p)",
       "p = bool[3]{false,false,false}\n y = not(p)"},
      {place + "a = int64[]{4}\n y = greater_or_equal(i, a)", ""},
  };
  for (const auto& [before, after] : rows) {
    SCOPED_TRACE(before);
    ExpectPass({"x: float32[3,5]", before, after}, {"simplify", "dead_code"});
  }
}

TEST(SimplifyNumbers, Sorted) {
  const std::string top = "k = int64[1]{3}\n v, i = top_k(x, k) { axis = 1 }\n";
  const std::string bounds = "a = int64[1]{0}\n b = int64[1]{2}\n c = int64[1]{1}\n";
  const std::string first = top + bounds + "y = slice(v, a, b, c)\n z = slice(i, a, b, c)";
  const std::string second = top + bounds + "y = slice(v, c, b, c)\n z = slice(i, a, b, c)";
  Expect({{"x: float32[2,3]", first, "k = int64[1]{2}\n y, z = top_k(x, k) { axis = 1 }", "y, z"},
          {"x: float32[2,3]", second, "", "y, z"},
          {"x: float32[2,3]", top + bounds + "y = slice(v, a, b, c)\n z = neg(i)", "", "y, z"},
          {"x: float32[2,3]",
           top + "p = int32[2,3]{0,1,2,0,1,2}\n y = gather_elements(p, i) { axis = 1 }\n"
                 "z = neg(v)",
           top + "y = cast(i) { to = \"int32\" }\n z = neg(v)", "y, z"},
          {"x: float32[2,3]",
           top + "p = int32[2,3]{0,1,2,0,2,1}\n y = gather_elements(p, i) { axis = 1 }\n"
                 "z = neg(v)",
           "", "y, z"},
          {"x: float32[n,3]",
           top + "s = int64[]{0}\n e = int64[]{3}\n d = int64[]{1}\n p = range(s, e, d)\n"
                 "n = shape(x)\n q = expand(p, n)\n y = gather_elements(q, i) { axis = 1 }\n"
                 "z = neg(v)",
           "k = int64[1]{3}\n v, y = top_k(x, k) { axis = 1 }\n z = neg(v)", "y, z"}});
}

TEST(SimplifyNumbers, Clips) {
  const std::string_view six = "l = float32[]{0}\n h = float32[]{6}\n";
  const auto lines = [](std::string_view a, std::string_view b) {
    return std::string(a) + std::string(b);
  };
  const std::string relu6 = lines(six, "y = clip(x, l, h)");
  const std::string of_relu = lines(six, "a = relu(x)\n y = clip(a, _, h)");
  const std::string twice = lines(six, "m = float32[]{3}\n a = clip(x, l, h)\n y = clip(a, _, m)");
  const std::string twice_used = lines(twice, "\n z = neg(a)");
  const std::string relu_of = lines(six, "m = float32[]{-1}\n a = clip(x, m, h)\n y = relu(a)");
  const std::string inside = lines(six, "a = clip(x, l, h)\n b = relu(a)\n y = neg(b)");
  const std::string inside_is = lines(six, "a = clip(x, l, h)\n y = neg(a)");
  Expect({
      {kX, of_relu, relu6},
      {kX, relu_of, relu6},
      {kX, inside, inside_is},
      {kX, twice, "l = float32[]{0}\n m = float32[]{3}\n y = clip(x, l, m)"},
      {kX, twice_used, "", "y, z"},
      {kX, "m = float32[]{-inf}\n h = float32[]{6}\n y = clip(x, m, h)",
       "h = float32[]{6}\n y = clip(x, _, h)"},
      {kX, "m = float32[]{-inf}\n a = clip(x, m)\n y = neg(a)", "y = neg(x)"},
      // The largest finite number is a bound.
      {kX, "m = float32[]{-3.4028235e+38}\n a = clip(x, m)\n y = neg(a)", ""},
      {"x: uint8[n]",
       "l = uint8[]{0}\n h = uint8[]{255}\n a = clip(x, l, h)\n b = max(a, l)\n y = identity(b)",
       "y = identity(x)"},
      {"x: uint8[n]", "l = uint8[]{0}\n h = uint8[]{254}\n y = clip(x, l, h)",
       "h = uint8[]{254}\n y = clip(x, _, h)"},
      {kX, "m = float32[]{nan}\n y = clip(x, m)", ""},
      // Bounds that cross: the upper one wins.
      {kX, "l = float32[]{3}\n h = float32[]{1}\n a = relu(x)\n y = clip(a, l, h)", ""},
      {kX, "m = float32[1]{-inf}\n a = max(x, m)\n b = max(m, a)\n y = neg(b)", "y = neg(x)"},
      {kX, "m = float32[1]{inf}\n y = max(x, m)", ""},
      {kX, "m = float32[1,1,1]{-inf}\n y = max(x, m)", ""},
  });
}

TEST(SimplifyNumbers, OpsThatGiveTheirOperand) {
  Expect({
      {kX, "a = ceil(x)\n b = floor(a)\n y = neg(b)", "a = ceil(x)\n y = neg(a)"},
      {"x: int32[n]", "a = cast(x) { to = \"float32\" }\n b = round(a)\n y = neg(b)",
       "a = cast(x) { to = \"float32\" }\n y = neg(a)"},
      {"x: float16[n]", "a = cast(x) { to = \"float32\" }\n b = round(a)\n y = neg(b)", ""},
      {kX, "a = neg(x)\n y = abs(a)", "y = abs(x)"},
      {"x: uint8[3]", "a = neg(x)\n y = abs(a)", ""},
      {kX, "a = abs(x)\n b = relu(a)\n y = neg(b)", "a = abs(x)\n y = neg(a)"},
      // relu keeps -0, abs does not; the least integer stays negative.
      {kX, "a = relu(x)\n y = abs(a)", ""},
      {"x: int8[n]", "a = abs(x)\n y = relu(a)", ""},
      {kX, "a = max(x, x)\n b = min(a, a)\n y = neg(b)", "y = neg(x)"},
      {"x: float32[n,4], c: bool[4]", "a = where(c, x, x)\n y = neg(a)", "y = neg(x)"},
      {"x: float32[n,4], c: bool[n,4,1]", "y = where(c, x, x)", ""},
      {"x: bool[n]", "a = and(x, x)\n b = or(a, a)\n y = not(b)", "y = not(x)"},
  });
}

}  // namespace
}  // namespace x2ir
