!t = !sv.tensor<f32[m]>

func.func @main(%x: !sv.tensor<f32[n]> {sv.name = "x"}) -> (!sv.tensor<f32[n]> {sv.name = "y"}, !sv.tensor<f32["3*n"]> {sv.name = "z"}) {
  %0 = sv.call @fast__2(%x) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %1 = sv.call @fast__2(%0) : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %2 = sv.concat %0, %1, %x {axis = 0 : i64} : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32["3*n"]>
  %3 = sv.call @fast__2(%2) : (!sv.tensor<f32["3*n"]>) -> !sv.tensor<f32["3*n"]>
  return %1, %3 : !sv.tensor<f32[n]>, !sv.tensor<f32["3*n"]>
}
func.func private @fast__2(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.device_copy %0 {from = "cpu.global", to = "cpu.global.fast"} : (!t) -> !t
  %2 = sv.abs %1 : (!t) -> !t
  return %2 : !t
}
