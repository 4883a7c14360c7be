module {
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x3xf32> {
    %w = stablehlo.constant dense<[[0.5, -0.25, 1.0], [2.0, 0.75, -1.0], [0.125, 0.0, 1.0], [1.0, -0.5, 0.25]]> : tensor<4x3xf32>
    %y = call @dense(%x, %w) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
  func.func private @dense(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
