module {
  func.func public @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %a = func.call @f(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %c = stablehlo.concatenate %a, %x, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %b = func.call @f(%c) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  }
  func.func private @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = stablehlo.tanh %x : tensor<?x4xf32>
    %1 = stablehlo.add %0, %x : tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
}
