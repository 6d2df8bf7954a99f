func.func @transposes(%x: !sv.tensor<f32[n, 3, m]>) -> !sv.tensor<f32[n, 3, m]> {
  %a = sv.transpose %x {permutation = array<i64: 1, 2, 0>} : (!sv.tensor<f32[n, 3, m]>) -> !sv.tensor<f32[3, m, n]>
  %b = sv.transpose %a {permutation = array<i64: 2, 0, 1>} : (!sv.tensor<f32[3, m, n]>) -> !sv.tensor<f32[n, 3, m]>
  return %b : !sv.tensor<f32[n, 3, m]>
}

func.func @transposed_product(%x: !sv.tensor<f32[n, 3]>, %y: !sv.tensor<f32[m, 3]>) -> !sv.tensor<f32[n, m]> {
  %t = sv.transpose %y {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[m, 3]>) -> !sv.tensor<f32[3, m]>
  %z = sv.matmul %x, %t : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[3, m]>) -> !sv.tensor<f32[n, m]>
  return %z : !sv.tensor<f32[n, m]>
}

func.func @square(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %two = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %y = sv.pow %x, %two : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// The factor is one, but it broadcasts x, so the product is not removed.
func.func @not_the_same_shape(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[2, n]> {
  %one = sv.constant {value = dense<1.0> : tensor<2x1xf32>} : !sv.tensor<f32[2, 1]>
  %y = sv.mul %x, %one : (!sv.tensor<f32[n]>, !sv.tensor<f32[2, 1]>) -> !sv.tensor<f32[2, n]>
  return %y : !sv.tensor<f32[2, n]>
}

// The convolution has two uses, so its weights do not absorb the factor.
func.func @shared_convolution(%x: !sv.tensor<f32[n, 1, 8]>) -> (!sv.tensor<f32[n, 1, 8]>, !sv.tensor<f32[n, 1, 8]>) {
  %w = sv.constant {value = dense<2.0> : tensor<1x1x1xf32>} : !sv.tensor<f32[1, 1, 1]>
  %three = sv.constant {value = dense<3.0> : tensor<f32>} : !sv.tensor<f32[]>
  %c = sv.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (!sv.tensor<f32[n, 1, 8]>, !sv.tensor<f32[1, 1, 1]>) -> !sv.tensor<f32[n, 1, 8]>
  %y = sv.mul %c, %three : (!sv.tensor<f32[n, 1, 8]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 1, 8]>
  return %c, %y : !sv.tensor<f32[n, 1, 8]>, !sv.tensor<f32[n, 1, 8]>
}

func.func @zeros(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %plus = sv.constant {value = dense<0.0> : tensor<f32>} : !sv.tensor<f32[]>
  %minus = sv.constant {value = dense<-0.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.add %x, %minus : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  %1 = sv.sub %0, %plus : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  %2 = sv.add %1, %plus : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %2 : !sv.tensor<f32[n]>
}

func.func @divided_factor(%x: !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> {
  %six = sv.constant {value = dense<6.0> : tensor<f32>} : !sv.tensor<f32[]>
  %three = sv.constant {value = dense<3.0> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %q = sv.div %x, %six : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 4]>
  %y = sv.mul %three, %q : (!sv.tensor<f32[1]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  return %y : !sv.tensor<f32[n, 4]>
}

func.func @divided_small_factor(%x: !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> {
  %large = sv.constant {value = dense<1.0e+20> : tensor<f32>} : !sv.tensor<f32[]>
  %small = sv.constant {value = dense<1.0e-20> : tensor<f32>} : !sv.tensor<f32[]>
  %q = sv.div %x, %large : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 4]>
  %y = sv.mul %q, %small : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 4]>
  return %y : !sv.tensor<f32[n, 4]>
}

// The quotient has two uses, so the division remains.
func.func @shared_quotient(%x: !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %six = sv.constant {value = dense<6.0> : tensor<f32>} : !sv.tensor<f32[]>
  %q = sv.div %x, %six : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  %y = sv.mul %q, %six : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %q, %y : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
