module {
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %z = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
    %w = func.call @sq(%z) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %r = stablehlo.real %w : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %i = func.call @inside(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %r, %i : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @sq(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
    %0 = stablehlo.multiply %z, %z : tensor<4xcomplex<f32>>
    return %0 : tensor<4xcomplex<f32>>
  }
  func.func private @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
    %z = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
    %0 = func.call @sq(%z) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %i = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    return %i : tensor<4xf32>
  }
}
