!t = !sv.tensor<f32[n]>

func.func @by_host(%x: !t) -> (!t, !t) {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "gpu"} : (!t) -> !t
  %1 = sv.neg %a : (!t) -> !t
  %b = sv.on_device %1 {place = "gpu2"} : (!t) -> !t
  %2 = sv.abs %a : (!t) -> !t
  %c = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  return %b, %c : !t, !t
}

func.func @input(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %a = sv.on_device %0 {place = "gpu"} : (!t) -> !t
  return %a : !t
}
