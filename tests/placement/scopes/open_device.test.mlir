!t = !sv.tensor<f32[n]>

func.func @only_one_has_it(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = ".global.a"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !t
  return %1 : !t
}

func.func @joined(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %e = sv.on_device %d {place = ".global.a", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  %f = sv.on_device %1 {place = ".global.both"} : (!t) -> !t
  %2 = sv.tanh %f : (!t) -> !t
  %g = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %g : !t
}

func.func @open(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = ".global.both"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !t
  return %1 : !t
}
