module {
  func.func public @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
    %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %a = func.call @f(%x, %s) : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %d = stablehlo.convert %a : (tensor<?x?xf32>) -> tensor<2x3xf32>
    return %d : tensor<2x3xf32>
  }
  func.func private @f(%x: tensor<6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
    %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %1 = stablehlo.tanh %0 : tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
}
