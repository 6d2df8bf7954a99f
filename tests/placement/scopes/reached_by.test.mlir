!t = !sv.tensor<f32[n]>

func.func @through_shared(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !t
  %e = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  return %e : !t
}

func.func @from_the_host(%x: !t) -> !sv.tensor<f32[n], @npu> {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !sv.tensor<f32[n], @npu>
  return %1 : !sv.tensor<f32[n], @npu>
}
