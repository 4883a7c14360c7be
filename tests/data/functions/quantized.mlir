module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.05:3>>
    %r = func.call @f(%q, %q) : (tensor<4x!quant.uniform<i8:f32, 0.05:3>>, tensor<4x!quant.uniform<i8:f32, 0.05:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-5>>
    %s = stablehlo.uniform_dequantize %r : (tensor<4x!quant.uniform<i8:f32, 0.1:-5>>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
  func.func private @f(%a: tensor<4x!quant.uniform<i8:f32, 0.05:3>>, %b: tensor<4x!quant.uniform<i8:f32, 0.05:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-5>> {
    %0 = stablehlo.add %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.05:3>>, tensor<4x!quant.uniform<i8:f32, 0.05:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-5>>
    return %0 : tensor<4x!quant.uniform<i8:f32, 0.1:-5>>
  }
}
