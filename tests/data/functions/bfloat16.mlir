module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %b = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
    %a = func.call @f(%b) : (tensor<4xbf16>) -> tensor<4xbf16>
    %y = stablehlo.convert %a : (tensor<4xbf16>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xbf16>) -> tensor<4xbf16> {
    %0 = stablehlo.exponential %x : tensor<4xbf16>
    %1 = stablehlo.log %0 : tensor<4xbf16>
    return %1 : tensor<4xbf16>
  }
}
