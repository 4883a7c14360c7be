module {
  func.func private @step(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = func.call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %j, %y : tensor<i32>, tensor<4xf32>
  }
  func.func private @half(%x: tensor<4xf32>) -> tensor<4xf32> {
    %h = stablehlo.constant dense<0.5> : tensor<4xf32>
    %y = stablehlo.multiply %x, %h : tensor<4xf32>
    %z = stablehlo.sine %y : tensor<4xf32>
    return %z : tensor<4xf32>
  }
  func.func private @less(%i: tensor<i32>, %n: tensor<i32>) -> tensor<i1> {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %c : tensor<i1>
  }
  func.func public @main(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
      cond {
        %c = func.call @less(%i, %five) : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %s:2 = func.call @step(%i, %v) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
        stablehlo.return %s#0, %s#1 : tensor<i32>, tensor<4xf32>
      }
    %b = "stablehlo.if"(%p) ({
      %t = func.call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %t : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %r#1, %b : tensor<4xf32>, tensor<4xf32>
  }
}
