!t = !sv.tensor<f32[n]>
!s = !sv.tensor<f32[1]>

func.func @to_the_larger(%x: !t, %y: !sv.tensor<f32[1000000]>) -> !s {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %1 = sv.neg %y : (!sv.tensor<f32[1000000]>) -> !sv.tensor<f32[1000000]>
  %e = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[1000000]>) -> !sv.tensor<f32[1000000]>
  %2 = sv.concat %d, %e {axis = 0 : i64} : (!t, !sv.tensor<f32[1000000]>) -> !sv.tensor<f32["n+1000000"]>
  %3 = sv.reduce_sum %2 {axes = array<i64: 0>, keep_dims = true} : (!sv.tensor<f32["n+1000000"]>) -> !s
  return %3 : !s
}

func.func @dynamic_input(%x: !t, %y: !sv.tensor<f32[8]>) -> !s {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %1 = sv.neg %y : (!sv.tensor<f32[8]>) -> !sv.tensor<f32[8]>
  %e = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[8]>) -> !sv.tensor<f32[8]>
  %2 = sv.concat %d, %e {axis = 0 : i64} : (!t, !sv.tensor<f32[8]>) -> !sv.tensor<f32["n+8"]>
  %3 = sv.reduce_sum %2 {axes = array<i64: 0>, keep_dims = true} : (!sv.tensor<f32["n+8"]>) -> !s
  return %3 : !s
}
