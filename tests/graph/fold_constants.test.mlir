func.func @elementwise() -> !sv.tensor<f32[2]> {
  %a = sv.constant {value = dense<[1.0, 4.0]> : tensor<2xf32>} : !sv.tensor<f32[2]>
  %six = sv.constant {value = dense<6.0> : tensor<f32>} : !sv.tensor<f32[]>
  %root = sv.sqrt %a : (!sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
  %y = sv.add %root, %six : (!sv.tensor<f32[2]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[2]>
  return %y : !sv.tensor<f32[2]>
}

// Swaps the rows with a negative step, transposes, and gathers rows of the transposed tensor.
func.func @movement() -> !sv.tensor<i32[3, 2]> {
  %a = sv.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : !sv.tensor<i32[2, 3]>
  %rows = sv.constant {value = dense<[1, 2, 0]> : tensor<3xi64>} : !sv.tensor<i64[3]>
  %s = sv.slice %a {starts = #sv.dims<[1, 0]>, sizes = #sv.dims<[2, 3]>, steps = array<i64: -1, 1>} : (!sv.tensor<i32[2, 3]>) -> !sv.tensor<i32[2, 3]>
  %t = sv.transpose %s {permutation = array<i64: 1, 0>} : (!sv.tensor<i32[2, 3]>) -> !sv.tensor<i32[3, 2]>
  %g = sv.gather %t, %rows {axis = 0 : i64} : (!sv.tensor<i32[3, 2]>, !sv.tensor<i64[3]>) -> !sv.tensor<i32[3, 2]>
  return %g : !sv.tensor<i32[3, 2]>
}

func.func @not_larger() -> !sv.tensor<f32[100, 100]> {
  %a = sv.constant {value = dense<1.0> : tensor<f32>} : !sv.tensor<f32[]>
  %y = sv.expand %a {dims = #sv.dims<[100, 100]>} : (!sv.tensor<f32[]>) -> !sv.tensor<f32[100, 100]>
  return %y : !sv.tensor<f32[100, 100]>
}

func.func @half() -> !sv.tensor<f16[]> {
  %a = sv.constant {value = dense<3.0> : tensor<f16>} : !sv.tensor<f16[]>
  %b = sv.constant {value = dense<2.0> : tensor<f16>} : !sv.tensor<f16[]>
  %y = sv.div %a, %b : (!sv.tensor<f16[]>, !sv.tensor<f16[]>) -> !sv.tensor<f16[]>
  return %y : !sv.tensor<f16[]>
}

// Sums of the columns of quantised weights.
func.func @byte_product() -> !sv.tensor<i32[1, 2]> {
  %a = sv.constant {value = dense<1> : tensor<1x3xui8>} : !sv.tensor<u8[1, 3]>
  %b = sv.constant {value = dense<[[1, -128], [2, -128], [3, 127]]> : tensor<3x2xi8>} : !sv.tensor<i8[3, 2]>
  %y = sv.matmul %a, %b : (!sv.tensor<u8[1, 3]>, !sv.tensor<i8[3, 2]>) -> !sv.tensor<i32[1, 2]>
  return %y : !sv.tensor<i32[1, 2]>
}

func.func @saturating_cast() -> !sv.tensor<u8[3]> {
  %a = sv.constant {value = dense<[-3.5, 255.5, 3.0e9]> : tensor<3xf32>} : !sv.tensor<f32[3]>
  %y = sv.cast %a {to = "u8"} : (!sv.tensor<f32[3]>) -> !sv.tensor<u8[3]>
  return %y : !sv.tensor<u8[3]>
}

// The operand has more dims than the result, so the folder must not treat it as broadcast.
func.func @reduction() -> !sv.tensor<f64[1]> {
  %a = sv.constant {value = dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf64>} : !sv.tensor<f64[2, 1, 2]>
  %y = sv.reduce_sum %a {axes = array<i64: 0, 2>, keep_dims = false} : (!sv.tensor<f64[2, 1, 2]>) -> !sv.tensor<f64[1]>
  return %y : !sv.tensor<f64[1]>
}

// An integer above 2^53 is rounded to f32 directly. Rounding to f64 first would give 2^53.
func.func @rounded_once() -> !sv.tensor<f32[]> {
  %a = sv.constant {value = dense<9007199791611905> : tensor<i64>} : !sv.tensor<i64[]>
  %y = sv.cast %a {to = "f32"} : (!sv.tensor<i64[]>) -> !sv.tensor<f32[]>
  return %y : !sv.tensor<f32[]>
}
