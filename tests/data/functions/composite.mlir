module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "my.gelu" %x {composite_attributes = {n = 1 : i64, approximate = "none"}, decomposition = @my.gelu.impl, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @my.gelu.impl(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %x : tensor<4xf32>
    %1 = stablehlo.multiply %0, %x : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
