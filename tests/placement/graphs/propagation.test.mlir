!t = !sv.tensor<f32[n]>

func.func @propagation(%x: !t) -> !t {
  %0 = sv.log %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.exp %d : (!t) -> !t
  %2 = sv.sqrt %d : (!t) -> !t
  %3 = sv.add %1, %2 : (!t, !t) -> !t
  %4 = sv.sub %1, %2 : (!t, !t) -> !t
  %5 = sv.mul %3, %4 : (!t, !t) -> !t
  return %5 : !t
}

func.func @between(%x: !t) -> !t {
  %0 = sv.log %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.exp %d : (!t) -> !t
  %2 = sv.sqrt %1 : (!t) -> !t
  %3 = sv.abs %2 : (!t) -> !t
  %e = sv.on_device %3 {place = "cpu"} : (!t) -> !t
  return %e : !t
}

func.func @where_it_is_smallest(%x: !sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> {
  %0 = sv.log %x : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  %d = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  %1 = sv.exp %d : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  %2 = sv.reduce_sum %1 {axes = array<i64: 1>, keep_dims = true} : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 1]>
  %3 = sv.expand %2 {dims = #sv.dims<[n, 64]>} : (!sv.tensor<f32[n, 1]>) -> !sv.tensor<f32[n, 64]>
  %4 = sv.abs %3 : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  return %4 : !sv.tensor<f32[n, 64]>
}

func.func @unpropagatable(%a: !t, %b: !t) -> !t {
  %0 = sv.add %a, %b : (!t, !t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.mul %d, %a : (!t, !t) -> !t
  %e = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  %2 = sv.sub %e, %b : (!t, !t) -> !t
  %f = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %f : !t
}
