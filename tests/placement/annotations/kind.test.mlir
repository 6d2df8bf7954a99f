!t = !sv.tensor<f32[n]>

func.func @cheapest(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "kind:opencl"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  return %2 : !t
}

func.func @nearest(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "far_gpu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "kind:opencl"} : (!t) -> !t
  %4 = sv.abs %3 : (!t) -> !t
  return %4 : !t
}

func.func @scope(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "kind:opencl.global.fast"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "kind:cpu"} : (!t) -> !t
  %4 = sv.on_device %3 {place = ".global.fast"} : (!t) -> !t
  return %4 : !t
}

func.func @joined(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "far_gpu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "kind:opencl"} : (!t) -> !t
  %3 = sv.neg %2 : (!t) -> !t
  %4 = sv.on_device %3 {place = "kind:cpu"} : (!t) -> !t
  return %4 : !t
}

func.func @nested(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "gpu"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "kind:cpu"} : (!t) -> !t
  return %2 : !t
}

func.func @copied(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.device_copy %0 {to = "kind:opencl"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  return %2 : !t
}
