!t = !sv.tensor<f32[n]>

func.func @read_dims(%x: !t, %k: !sv.tensor<i64[1]>) -> !t {
  %0 = sv.abs %k : (!sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  %1 = sv.on_device %0 {place = "npu"} : (!sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  sv.read_dims %1 {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %2 = sv.reduce_sum %x {axes = array<i64: 0>, keep_dims = true} : (!t) -> !sv.tensor<f32[1]>
  %3 = sv.on_device %2 {place = "npu"} : (!sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
  %4 = sv.expand %3 {dims = #sv.dims<["$k"]>} : (!sv.tensor<f32[1]>) -> !sv.tensor<f32["$k"]>
  %5 = sv.reduce_sum %4 {axes = array<i64: 0>, keep_dims = true} : (!sv.tensor<f32["$k"]>) -> !sv.tensor<f32[1]>
  %6 = sv.on_device %5 {place = "npu"} : (!sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
  %7 = sv.add %x, %6 : (!t, !sv.tensor<f32[1]>) -> !t
  return %7 : !t
}

func.func @shape(%x: !sv.tensor<f32[n, 4]>) -> (!sv.tensor<i64[2]>, !sv.tensor<f32[n, 4]>) {
  %0 = sv.neg %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %1 = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %2 = sv.dims_tensor {dims = #sv.dims<[n, 4]>} : () -> !sv.tensor<i64[2]>
  return %2, %1 : !sv.tensor<i64[2]>, !sv.tensor<f32[n, 4]>
}

func.func @reshape(%x: !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32["4*n"]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %1 = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %2 = sv.reshape %1 {dims = #sv.dims<["4*n"]>} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32["4*n"]>
  %3 = sv.abs %2 : (!sv.tensor<f32["4*n"]>) -> !sv.tensor<f32["4*n"]>
  %4 = sv.on_device %3 {place = "npu"} : (!sv.tensor<f32["4*n"]>) -> !sv.tensor<f32["4*n"]>
  return %4 : !sv.tensor<f32["4*n"]>
}

func.func @constants(%x: !t) -> (!t, !t) {
  %c = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %c : (!t, !sv.tensor<f32[]>) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.add %x, %c : (!t, !sv.tensor<f32[]>) -> !t
  return %1, %2 : !t, !t
}
