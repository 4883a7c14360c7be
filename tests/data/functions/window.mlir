module {
  func.func public @main(%x: tensor<1x6xf32>) -> tensor<1x3xf32> {
    %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %a = func.call @pool(%x, %z) : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x3xf32>
    return %a : tensor<1x3xf32>
  }
  func.func private @pool(%x: tensor<1x6xf32>, %z: tensor<f32>) -> tensor<1x3xf32> {
    %0 = "stablehlo.reduce_window"(%x, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>} : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  }
}
