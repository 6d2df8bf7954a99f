!t = !sv.tensor<f32[n]>

func.func @cheapest(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "target:x86-64-v2"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  return %2 : !t
}

func.func @features(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "target:x86-64-v2,-sse4.2"} : (!t) -> !t
  return %1 : !t
}

func.func @joined(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = ".global.fast"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "kind:cpu"} : (!t) -> !t
  %3 = sv.on_device %2 {place = "target:x86-64-v2"} : (!t) -> !t
  return %3 : !t
}

func.func @scope(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "target:x86-64-v2.global.fast"} : (!t) -> !t
  return %1 : !t
}

func.func @nested(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "dsp"} : (!t) -> !t
  %2 = sv.on_device %1 {place = "target:x86-64-v2,-sse4.2"} : (!t) -> !t
  return %2 : !t
}
