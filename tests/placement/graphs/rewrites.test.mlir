!t = !sv.tensor<f32[n, 4]>
!s = !sv.tensor<f32[4, n]>

func.func @transposes(%x: !t) -> !t {
  %0 = sv.transpose %x {permutation = array<i64: 1, 0>} : (!t) -> !s
  %a = sv.on_device %0 {place = "npu.global.a"} : (!s) -> !s
  %1 = sv.transpose %a {permutation = array<i64: 1, 0>} : (!s) -> !t
  %b = sv.on_device %1 {place = "npu.global.b"} : (!t) -> !t
  return %b : !t
}

func.func @no_transpose(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %a = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  %1 = sv.transpose %a {permutation = array<i64: 0, 1>} : (!t) -> !t
  %b = sv.on_device %1 {place = "npu.global.b"} : (!t) -> !t
  return %b : !t
}

func.func @product(%x: !t, %y: !t) -> !sv.tensor<f32[n, n]> {
  %0 = sv.transpose %y {permutation = array<i64: 1, 0>} : (!t) -> !s
  %a = sv.on_device %0 {place = "npu.global.a"} : (!s) -> !s
  %1 = sv.matmul %x, %a : (!t, !s) -> !sv.tensor<f32[n, n]>
  %b = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[n, n]>) -> !sv.tensor<f32[n, n]>
  return %b : !sv.tensor<f32[n, n]>
}

func.func @product_of_one_place(%x: !t, %y: !t) -> !sv.tensor<f32[n, n]> {
  %0 = sv.transpose %y {permutation = array<i64: 1, 0>} : (!t) -> !s
  %a = sv.on_device %0 {place = "npu"} : (!s) -> !s
  %1 = sv.matmul %x, %a : (!t, !s) -> !sv.tensor<f32[n, n]>
  %b = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[n, n]>) -> !sv.tensor<f32[n, n]>
  return %b : !sv.tensor<f32[n, n]>
}

func.func @scaled_convolution(%x: !sv.tensor<f32[n, 1, 5]>) -> !sv.tensor<f32[n, 1, 3]> {
  %w = sv.constant {value = dense<1.0> : tensor<1x1x3xf32>} : !sv.tensor<f32[1, 1, 3]>
  %c = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1} : (!sv.tensor<f32[n, 1, 5]>, !sv.tensor<f32[1, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  %a = sv.on_device %0 {place = "npu.global.a"} : (!sv.tensor<f32[n, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  %1 = sv.mul %a, %c : (!sv.tensor<f32[n, 1, 3]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 1, 3]>
  %b = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[n, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  return %b : !sv.tensor<f32[n, 1, 3]>
}

func.func @scaled_convolution_of_one_place(%x: !sv.tensor<f32[n, 1, 5]>) -> !sv.tensor<f32[n, 1, 3]> {
  %w = sv.constant {value = dense<1.0> : tensor<1x1x3xf32>} : !sv.tensor<f32[1, 1, 3]>
  %c = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1} : (!sv.tensor<f32[n, 1, 5]>, !sv.tensor<f32[1, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  %a = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[n, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  %1 = sv.mul %a, %c : (!sv.tensor<f32[n, 1, 3]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 1, 3]>
  %b = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[n, 1, 3]>) -> !sv.tensor<f32[n, 1, 3]>
  return %b : !sv.tensor<f32[n, 1, 3]>
}

func.func @layer_norm(%x: !t, %scale: !sv.tensor<f32[m]>, %bias: !sv.tensor<f32[4]>) -> !t {
  %0 = sv.layer_norm %x, %scale, %bias {axis = 1, epsilon = 1.0e-5 : f32} : (!t, !sv.tensor<f32[m]>, !sv.tensor<f32[4]>) -> !t
  %a = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  return %a : !t
}
