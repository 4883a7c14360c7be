module {
  func.func public @main(%x: tensor<6xf32>) -> tensor<4x6xf32> {
    %s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
    %n = stablehlo.constant dense<3> : tensor<i64>
    %a = func.call @f(%x, %s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<4x6xf32>
    return %a : tensor<4x6xf32>
  }
  func.func private @f(%x: tensor<6xf32>, %s: tensor<2xi64>) -> tensor<4x6xf32> {
    %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<6xf32>, tensor<2xi64>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}
