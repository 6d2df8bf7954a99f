!t = !sv.tensor<f32[n]>

func.func @kinds(%x: !t) -> !t {
  %0 = sv.abs %x : (!t) -> !t
  %1 = sv.add %0, %0 : (!t, !t) -> !t
  %2 = sv.sqrt %1 : (!t) -> !t
  return %2 : !t
}

func.func @names(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t loc("first_node")
  %1 = sv.exp %0 : (!t) -> !t loc("second")
  return %1 : !t
}

func.func @text(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %2 = sv.exp %1 : (!t) -> !sv.tensor<f32[n], @cpu>
  %3 = sv.device_copy %2 {from = "cpu", to = "npu"} : (!sv.tensor<f32[n], @cpu>) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  return %4 : !t
}
