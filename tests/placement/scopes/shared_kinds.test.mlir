!t = !sv.tensor<f32[n]>

func.func @turns(%x: !t) -> !t {
  %0 = sv.exp %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "gpu"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "cpu"} : (!t) -> !t
  %4 = sv.exp %3 : (!t) -> !t
  %5 = sv.on_device %4 {place = "gpu"} : (!t) -> !t
  %6 = sv.neg %5 : (!t) -> !t
  return %6 : !t
}

func.func @result(%x: !sv.tensor<f32[n], @cpu.global.shared>) -> !sv.tensor<f32[n], @gpu.global.shared> {
  %0 = sv.exp %x : (!sv.tensor<f32[n], @cpu.global.shared>) -> !sv.tensor<f32[n], @gpu.global.shared>
  return %0 : !sv.tensor<f32[n], @gpu.global.shared>
}

func.func @closure(%x: !t) -> !t {
  %0 = sv.closure @negated() : () -> !sv.closure<(!t) -> !t>
  %1 = sv.call_closure %0(%x) : (!sv.closure<(!t) -> !t>, !t) -> !t
  %2 = sv.exp %1 : (!t) -> !t
  %3 = sv.on_device %2 {place = "gpu"} : (!t) -> !t
  return %3 : !t
}

func.func private @negated(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  return %0 : !t
}
