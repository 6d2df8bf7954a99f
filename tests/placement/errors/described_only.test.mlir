!t = !sv.tensor<f32[n]>
func.func @on_device(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "card"} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @copy_to(%x: !t) -> !t {
  %0 = sv.device_copy %x {to = "card.global.fast"} : (!t) -> !t
  return %0 : !t
}
// -----
func.func @parameter(%x: !sv.tensor<f32[n], @card>) -> !sv.tensor<f32[n]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n], @card>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
// -----
!t = !sv.tensor<f32[n]>
func.func @others(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.device_copy %0 {to = "npu.global.fast"} : (!t) -> !t
  %2 = sv.neg %1 : (!t) -> !t
  return %2 : !t
}
