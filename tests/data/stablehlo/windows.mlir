// Operations in the generic form, windows, quantized types and checks.
func.func @main() {
  %x = stablehlo.iota dim = 2 : tensor<1x4x4x1xf32>
  %w = stablehlo.constant dense<1.0> : tensor<3x3x1x2xf32>
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x4x4x2xf32>
  %zero = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = "stablehlo.reduce_window"(%y, %zero) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %q = stablehlo.uniform_quantize %p : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2x!quant.uniform<i8:f32:3, {0.5:1,2.5e-1}>>
  %d = stablehlo.uniform_dequantize %q : (tensor<1x2x2x2x!quant.uniform<i8:f32:3, {0.5:1,2.5e-1}>>) -> tensor<1x2x2x2xf32>
  %i = stablehlo.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %g = "stablehlo.gather"(%p, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0, 1], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 2, 2>}> : (tensor<1x2x2x2xf32>, tensor<1x2xi32>) -> tensor<1x2x2xf32>
  %s:2 = "stablehlo.sort"(%g, %g) <{dimension = 2 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>):
    %l = stablehlo.compare  LT, %a, %b,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  check.expect_eq_const %p, dense<[[[[9.0, 9.0], [18.0, 18.0]], [[9.0, 9.0], [18.0, 18.0]]]]> : tensor<1x2x2x2xf32>
  check.expect_close %s#0, %s#1, max_ulp_difference = 0 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
  stablehlo.custom_call @check.expect_almost_eq(%d, %d) {has_side_effect = true} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> ()
  return
}
