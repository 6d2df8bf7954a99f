!t = !sv.tensor<f32[n]>
func.func @on_device(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "gpu"} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @unconstrained(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "gpu", constrain_body = false} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @copy_to(%x: !t) -> !t {
  %0 = sv.device_copy %x {to = "gpu"} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @copy_from(%x: !t) -> !t {
  %0 = sv.device_copy %x {from = "gpu", to = "npu"} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @result(%x: !t) -> !sv.tensor<f32[n], @gpu> {
  %0 = sv.neg %x : (!t) -> !sv.tensor<f32[n], @gpu>
  return %0 : !sv.tensor<f32[n], @gpu>
}
// -----
!t = !sv.tensor<f32[n]>
func.func @no_name(%x: !t) -> !t {
  %0 = sv.on_device %x {place = ""} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @scope(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "npu.global.d"} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @empty_scope(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "npu."} : (!t) -> !t
  return %0 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @constants(%x: !t) -> !t {
  %0 = sv.on_device %x {place = "npu.global.constant"} : (!t) -> !t
  return %0 : !t
}
// -----
func.func @kernel(%x: !sv.tensor<f32[n], @npu>) -> !sv.tensor<f32[n], @npu> {
  %0 = sv.neg %x {sv.operand_scopes = ["global.d"]} : (!sv.tensor<f32[n], @npu>) -> !sv.tensor<f32[n], @npu>
  return %0 : !sv.tensor<f32[n], @npu>
}
