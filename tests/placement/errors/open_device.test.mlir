!t = !sv.tensor<f32[n]>
func.func @lacks(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %e = sv.on_device %d {place = ".global.a", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  %f = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  return %f : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @lacked(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "cpu", constrain_result = true} : (!t) -> !t
  %e = sv.on_device %d {place = ".global.a"} : (!t) -> !t
  return %e : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @in_two(%x: !sv.tensor<f32[n]> {sv.place = ".global.both"}) -> !t {
  %e = sv.on_device %x {place = "npu.global.a"} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  return %1 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @nowhere(%x: !t) -> !t {
  %e = sv.on_device %x {place = ".global.z"} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  return %1 : !t
}
