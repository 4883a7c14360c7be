module {
  func.func public @main(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32> {
    %p = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>
    %w = stablehlo.constant dense<0.5> : tensor<3x3x1x1xf32>
    %a = func.call @conv(%x, %w, %p) : (tensor<1x5x5x1xf32>, tensor<3x3x1x1xf32>, tensor<2x2xi64>) -> tensor<1x5x5x1xf32>
    return %a : tensor<1x5x5x1xf32>
  }
  func.func private @conv(%x: tensor<1x5x5x1xf32>, %w: tensor<3x3x1x1xf32>, %p: tensor<2x2xi64>) -> tensor<1x5x5x1xf32> {
    %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {
      window_strides = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x5x5x1xf32>, tensor<3x3x1x1xf32>, tensor<2x2xi64>) -> tensor<1x5x5x1xf32>
    return %0 : tensor<1x5x5x1xf32>
  }
}
