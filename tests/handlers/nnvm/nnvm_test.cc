// NNVM's operators on constants, and what the IR becomes of them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/symbol_rows_util.h"
#include "x2ir/core/validate.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(Nnvm, DialectIsValid) { EXPECT_THAT(ValidateDialect("nnvm"), ::testing::IsEmpty()); }

TEST(Nnvm, Elementwise) {
  const SymbolRow rows[] = {
      {"relu", "", "float32[2]{-1, 2}", "float32[2]{0, 2}"},
      {"leaky_relu", "", "float32[2]{-4, 2}", "float32[2]{-1, 2}"},
      {"leaky_relu", "alpha = \"0.5\"", "float32[2]{-4, 2}", "float32[2]{-2, 2}"},
      {"prelu", "", "float32[1,2,1]{-4, -2};float32[2]{0.5, 2}", "float32[1,2,1]{-2, -4}"},
      {"elemwise_add", "", "float32[1]{1};float32[1]{2}", "float32[1]{3}"},
      {"broadcast_sub", "", "float32[2,1]{1, 2};float32[2]{1, 0}", "float32[2,2]{0, 1, 1, 2}"},
      {"elemwise_sum", "num_args = \"3\"", "float32[1]{1};float32[1]{2};float32[1]{4}",
       "float32[1]{7}"},
      {"__add_scalar__", "scalar = \"2\"", "float32[1]{1}", "float32[1]{3}"},
      {"__rsub_scalar__", "scalar = \"2\"", "float32[1]{0.5}", "float32[1]{1.5}"},
      {"__rdiv_scalar__", "scalar = \"2\"", "float32[1]{4}", "float32[1]{0.5}"},
      {"__rpow_scalar__", "scalar = \"2\"", "float32[1]{3}", "float32[1]{8}"},
      {"__pow_scalar__", "scalar = \"2\"", "float32[1]{3}", "float32[1]{9}"},
      {"broadcast_mod", "", "float32[2]{5, -5};float32[1]{3}", "float32[2]{2, -2}"},
      {"broadcast_greater", "", "float32[2]{5, -5};float32[1]{3}", "float32[2]{1, 0}"},
      {"logical_and", "", "float32[2]{1, 1};float32[2]{0, 1}", "float32[2]{0, 1}"},
      {"where", "", "float32[2]{1, 0};float32[2]{5, 6};float32[2]{7, 8}", "float32[2]{5, 8}"},
      {"clip", "a_min = \"0\", a_max = \"1\"", "float32[3]{-1, 0.5, 2}", "float32[3]{0, 0.5, 1}"},
      {"cast", "dtype = \"int32\"", "float32[2]{1.5, -1.5}", "int32[2]{1, -1}"},
      {"full", "shape = \"(2,)\", fill_value = \"3\"", "", "float32[2]{3, 3}"},
      {"full_like", "fill_value = \"3\"", "int32[2]{0, 0}", "int32[2]{3, 3}"},
      {"relu", "slope = \"1\"", "float32[2]{-1, 2}", "error slope"},
  };
  ExpectSymbolRows(rows, "nnvm");
}

TEST(Nnvm, Layers) {
  const SymbolRow rows[] = {
      {"conv2d", "channels = \"1\", kernel_size = \"[1L, 2L]\", use_bias = \"False\"",
       "float32[1,1,1,3]{1, 2, 3};float32[1,1,1,2]{1, 10}", "float32[1,1,1,2]{21, 32}"},
      {"conv2d",
       "channels = \"1\", kernel_size = \"(1, 2)\", padding = \"(0, 1)\", strides = \"(1, 2)\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,2]{1, 10};float32[1]{100}",
       "float32[1,1,1,2]{110, 102}"},
      {"conv2d",
       "channels = \"1\", kernel_size = \"(1, 1)\", layout = \"NHWC\", kernel_layout = \"HWIO\", "
       "use_bias = \"False\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,2,1]{10, 100}", "float32[1,1,1,1]{210}"},
      {"conv2d", "channels = \"1\", kernel_size = \"(1, 1)\", layout = \"NCHW8c\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,1]{10};float32[1]{0}", "error layout NCHW8c"},
      {"conv2d_transpose",
       "channels = \"1\", kernel_size = \"(1, 2)\", strides = \"(1, 2)\", use_bias = \"False\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,2]{1, 3}", "float32[1,1,1,4]{1, 3, 2, 6}"},
      {"max_pool2d", "pool_size = \"(1, 2)\", strides = \"(1, 2)\"", "float32[1,1,1,4]{1, 2, 4, 3}",
       "float32[1,1,1,2]{2, 4}"},
      {"max_pool2d", "pool_size = \"(1, 2)\", strides = \"(1, 2)\", ceil_mode = \"True\"",
       "float32[1,1,1,3]{1, 2, 4}", "float32[1,1,1,2]{2, 4}"},
      {"avg_pool2d", "pool_size = \"(1, 2)\", padding = \"(0, 1)\"", "float32[1,1,1,2]{1, 3}",
       "float32[1,1,1,3]{1, 2, 3}"},
      {"avg_pool2d",
       "pool_size = \"(1, 2)\", padding = \"(0, 1, 0, 1)\", count_include_pad = \"True\"",
       "float32[1,1,1,2]{1, 3}", "float32[1,1,1,3]{0.5, 2, 1.5}"},
      {"global_avg_pool2d", "", "float32[1,1,1,2]{1, 3}", "float32[1,1,1,1]{2}"},
      {"global_max_pool2d", "layout = \"NHWC\"", "float32[1,1,2,1]{1, 3}", "float32[1,1,1,1]{3}"},
      {"dense", "units = \"1\"", "float32[1,2]{1, 2};float32[1,2]{3, 4};float32[1]{5}",
       "float32[1,1]{16}"},
      {"dense", "units = \"1\", use_bias = \"False\"", "float32[1,2]{1, 2};float32[1,2]{3, 4}",
       "float32[1,1]{11}"},
      {"batch_norm", "epsilon = \"0\"",
       "float32[1,1]{5};float32[1]{10};float32[1]{1};float32[1]{1};float32[1]{4}",
       "float32[1,1]{21}"},
      {"batch_norm", "epsilon = \"0\", scale = \"False\", center = \"False\"",
       "float32[1,1]{5};float32[1]{10};float32[1]{1};float32[1]{1};float32[1]{4}",
       "float32[1,1]{2}"},
      {"softmax", "", "float32[1,2]{0, 0}", "float32[1,2]{0.5, 0.5}"},
      {"softmax", "axis = \"0\"", "float32[2,1]{0, 0}", "float32[2,1]{0.5, 0.5}"},
      {"upsampling", "scale = \"2\"", "float32[1,1,1,1]{3}", "float32[1,1,2,2]{3, 3, 3, 3}"},
      {"resize", "size = \"(1, 3)\", align_corners = \"True\"", "float32[1,1,1,2]{1, 2}",
       "float32[1,1,1,3]{1, 1.5, 2}"},
      {"l2_normalize", "eps = \"0\", axis = \"(1,)\"", "float32[1,2]{3, 4}",
       "float32[1,2]{0.6, 0.8}"},
      {"lrn", "size = \"1\", bias = \"0\", alpha = \"1\", beta = \"0.5\"", "float32[1,2,1,1]{3, 4}",
       "float32[1,2,1,1]{1, 1}"},
      {"matmul", "transpose_b = \"True\"", "float32[1,2]{1, 2};float32[1,2]{3, 4}",
       "float32[1,1]{11}"},
  };
  ExpectSymbolRows(rows, "nnvm");
}

TEST(Nnvm, Movement) {
  const char* const m = "float32[2,3]{0, 1, 2, 3, 4, 5}";
  const SymbolRow rows[] = {
      {"reshape", "shape = \"(0, -1, 1)\"", m, "float32[2,3,1]{0, 1, 2, 3, 4, 5}"},
      {"reshape", "shape = \"(-3,)\"", m, "float32[6]{0, 1, 2, 3, 4, 5}"},
      {"transpose", "", m, "float32[3,2]{0, 3, 1, 4, 2, 5}"},
      {"transpose", "axes = \"(1, 0)\"", m, "float32[3,2]{0, 3, 1, 4, 2, 5}"},
      {"concatenate", "", "float32[1,1]{1};float32[1,1]{2}", "float32[1,2]{1, 2}"},
      {"concatenate", "axis = \"0\"", "float32[1,1]{1};float32[1,1]{2}", "float32[2,1]{1, 2}"},
      {"expand_dims", "axis = \"0\", num_newaxis = \"2\"", "float32[1]{1}", "float32[1,1,1]{1}"},
      {"squeeze", "axis = \"(0,)\"", "float32[1,1]{1}", "float32[1]{1}"},
      {"split", "indices_or_sections = \"3\", axis = \"1\"", m,
       "float32[2,1]{0, 3}; float32[2,1]{1, 4}; float32[2,1]{2, 5}"},
      {"split", "indices_or_sections = \"(1,)\"", m,
       "float32[2,1]{0, 3}; float32[2,2]{1, 2, 4, 5}"},
      {"strided_slice", "begin = \"(0, 1)\", end = \"(2, 3)\"", m, "float32[2,2]{1, 2, 4, 5}"},
      {"strided_slice", "begin = \"(1, 2)\", end = \"(2, 0)\", stride = \"(1, -1)\"", m,
       "float32[1,2]{5, 4}"},
      {"slice_like", "", "float32[2,3]{0, 1, 2, 3, 4, 5};float32[1,2]{0, 0}", "float32[1,2]{0, 1}"},
      {"flip", "axis = \"1\"", m, "float32[2,3]{2, 1, 0, 5, 4, 3}"},
      {"take", "axis = \"0\"", "float32[3]{1, 2, 3};int32[2]{2, 9}", "float32[2]{3, 3}"},
      {"gather_nd", "", "float32[2,2]{0, 1, 2, 3};int32[2,1]{1, 0}", "float32[1]{2}"},
      {"pad", "pad_width = \"((0, 0), (1, 2))\", pad_value = \"9\"", "float32[1,1]{1}",
       "float32[1,4]{9, 1, 9, 9}"},
      {"sum", "axis = \"(1,)\"", m, "float32[2]{3, 12}"},
      {"sum", "", m, "float32[1]{15}"},
      {"mean", "axis = \"(0,)\", exclude = \"True\", keepdims = \"True\"", m, "float32[2,1]{1, 4}"},
      {"argmax", "axis = \"(1,)\"", m, "int32[2]{2, 2}"},
      {"broadcast_to", "shape = \"(2, 0)\"", "float32[1,2]{1, 2}", "float32[2,2]{1, 2, 1, 2}"},
      {"flatten", "", "float32[1,2,2]{1, 2, 3, 4}", "float32[1,4]{1, 2, 3, 4}"},
  };
  ExpectSymbolRows(rows, "nnvm");
}

// What the IR becomes of; read again it is the same.
TEST(Nnvm, Written) {
  struct Row {
    const char *type, *line, *want;
  };
  const Row rows[] = {
      {"float32[1,2]", "y = relu(x)", "y = nnvm.relu(x)"},
      {"float32[1,2]", "y = softmax(x) { axis = -1 }", "y = nnvm.softmax(x)"},
      {"float32[1,2]", "y = softmax(x) { axis = 0 }", "y = nnvm.softmax(x) { axis = \"0\" }"},
      {"float32[1,2]", "y = leaky_relu(x) { alpha = 0.25 }", "y = nnvm.leaky_relu(x)"},
      {"float32[1,2]", "y = leaky_relu(x) { alpha = 0.01 }",
       "y = nnvm.leaky_relu(x) { alpha = \"0.01\" }"},
      {"float32[1,2]", "y = add(x, x)", "y = nnvm.elemwise_add(x, x)"},
      {"float32[1,2]", "c = float32[]{2}\ny = mul(x, c)",
       "y = nnvm.__mul_scalar__(x) { scalar = \"2\" }"},
      {"float32[1,2]", "c = float32[]{2}\ny = sub(c, x)",
       "y = nnvm.__rsub_scalar__(x) { scalar = \"2\" }"},
      {"float32[1,2]", "y = transpose(x) { perm = [1, 0] }",
       "y = nnvm.transpose(x) { axes = \"(1, 0)\" }"},
      {"float32[1,2]", "y = concat(x, x) { axis = 1 }", "y = nnvm.concatenate(x, x)"},
      {"float32[1,2]", "s = int64[1]{-1}\ny = reshape(x, s) { allowzero = 0 }",
       "y = nnvm.reshape(x) { shape = \"(-1,)\" }"},
      {"float32[1,2]",
       "s = int64[1]{1}\ny = reduce_sum(x, s) { keepdims = 0, noop_with_empty_axes = 0 }",
       "y = nnvm.sum(x) { axis = \"(1,)\", keepdims = \"False\" }"},
      {"float32[1,2]", "y = reduce_sum(x) { keepdims = 0, noop_with_empty_axes = 0 }",
       "without axes"},
      {"float32[1,2,4,4]", "y = global_average_pool(x) { layout = \"channels_first\" }",
       "y = nnvm.global_avg_pool2d(x)"},
      {"float32[1,2,4]", "y = global_average_pool(x) { layout = \"channels_first\" }",
       "two spatial axes"},
      {"float32[1,2]", "y = erf(x)", "erf (1 node)"},
  };
  ConvertTextOptions options;
  options.dialect = "nnvm";
  for (const Row& row : rows) {
    const std::string ir =
        std::string("graph g(x: ") + row.type + ") -> (y) {\n" + row.line + "\n}";
    EXPECT_THAT(FromIrText(ir, 1, options), HasSubstr(row.want)) << row.line;
  }
}

}  // namespace
}  // namespace x2ir
