module {
  func.func public @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0:2 = func.call @f(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %1:2 = func.call @f(%0#0, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    return %1#0, %1#1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %c = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = stablehlo.add %a, %c : tensor<2x3xf32>
    %1 = func.call @g(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.multiply %1, %b : tensor<2x3xf32>
    return %2, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.tanh %a : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
