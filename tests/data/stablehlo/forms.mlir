// The printed forms of operations: what each dialect has of its own.
#alias = dense<[1, 2]> : tensor<2xi32>
!pair = tuple<tensor<2xf32>, tensor<i1>>
module @forms attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<2x4xf32> {jax.arg_info = "x", mhlo.sharding = "{replicated}"} loc("x"), %n: tensor<i32>, %t: !stablehlo.token) -> (tensor<2xf32> {jax.result_info = "sum"}, tensor<2x2xf32>) {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %w = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<4x1xf32>
    %r = stablehlo.constant dense_resource<w0> : tensor<2xf32>
    %i = stablehlo.constant #alias
    %sum = stablehlo.reduce(%x init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %most:2 = stablehlo.reduce(%x init: %inf), (%x init: %cst) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>)  {
      %m = stablehlo.maximum %a, %b : tensor<f32>
      %s = stablehlo.add %c, %d : tensor<f32>
      stablehlo.return %m, %s : tensor<f32>, tensor<f32>
    }
    %flag = stablehlo.is_finite %cst : (tensor<f32>) -> tensor<i1>
    %pair = stablehlo.tuple %sum, %flag : !pair loc(#loc)
    %back = stablehlo.get_tuple_element %pair[0] : (!pair) -> tensor<2xf32>
    %dot = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
    %cut = stablehlo.slice %x [0:2, 1:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
    %loop:2 = stablehlo.while(%k = %n, %v = %sum) : tensor<i32>, tensor<2xf32>
     cond {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %more = stablehlo.compare  GT, %k, %zero,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %less = stablehlo.subtract %k, %one : tensor<i32>
      %twice = func.call @twice(%v) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %less, %twice : tensor<i32>, tensor<2xf32>
    }
    %both = stablehlo.add %loop#1, %most#0 : tensor<2xf32>
    func.return %both, %cut : tensor<2xf32>, tensor<2x2xf32>
  }
  func.func private @twice(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
#loc = loc("forms.py":1:2)

{-#
  dialect_resources: {
    builtin: {
      w0: "0x040000000000803F00000040"
    }
  }
#-}
