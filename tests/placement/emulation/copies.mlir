// Contains only copies: to the device npu, then to another scope of npu, then back to cpu.
!t = !sv.tensor<f32[n, 16]>

func.func @main(%x: !sv.tensor<f32[n, 16], @cpu> {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.device_copy %x {to = "npu"} : (!sv.tensor<f32[n, 16], @cpu>) -> !t loc("down")
  %1 = sv.device_copy %0 {from = "npu", to = "npu.global.fast"} : (!t) -> !t loc("in")
  %2 = sv.device_copy %1 {from = "npu.global.fast", to = "cpu"} : (!t) -> !t loc("up")
  return %2 : !t
}
