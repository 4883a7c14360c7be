module {
  func.func public @main(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3x4xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %s = func.call @plus(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
    %1 = func.call @softmax(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    return %0, %1 : tensor<3xf32>, tensor<3x4xf32>
  }
  func.func private @plus(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.exponential %x : tensor<3x4xf32>
    %0 = stablehlo.reduce(%e init: %z) across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %s = func.call @plus(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
    %b = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
    %d = stablehlo.divide %e, %b : tensor<3x4xf32>
    return %d : tensor<3x4xf32>
  }
}
