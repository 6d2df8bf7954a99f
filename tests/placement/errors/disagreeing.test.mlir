!t = !sv.tensor<f32[n]>
func.func @two_annotations(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.on_device %0 {place = "cpu"} : (!t) -> !t
  %3 = sv.add %1, %2 : (!t, !t) -> !t
  return %3 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @readers(%x: !t, %y: !t) -> !t {
  %1 = sv.on_device %x {place = "npu", constrain_body = false, constrain_result = true} : (!t) -> !t
  %2 = sv.on_device %y {place = "cpu", constrain_body = false, constrain_result = true} : (!t) -> !t
  %3 = sv.add %1, %2 : (!t, !t) -> !t
  return %3 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @inner_reader(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_result = true} : (!t) -> !t
  %2 = sv.on_device %1 {place = "cpu"} : (!t) -> !t
  return %2 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @copied_from(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.device_copy %1 {from = "cpu", to = "npu"} : (!t) -> !t
  return %2 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @parameter(%x: !sv.tensor<f32[n], @npu>) -> !t {
  %0 = sv.on_device %x {place = "cpu"} : (!sv.tensor<f32[n], @npu>) -> !sv.tensor<f32[n], @npu>
  %1 = sv.neg %0 : (!sv.tensor<f32[n], @npu>) -> !t
  return %1 : !t
}
// -----
!t = !sv.tensor<f32[n]>
func.func @main(%x: !t) -> !t {
  %0 = sv.call @to_npu(%x) : (!t) -> !sv.tensor<f32[n], @npu>
  %1 = sv.on_device %0 {place = "cpu"} : (!sv.tensor<f32[n], @npu>) -> !t
  return %1 : !t
}
func.func private @to_npu(%x: !t) -> !sv.tensor<f32[n], @npu> {
  %0 = sv.neg %x : (!t) -> !sv.tensor<f32[n], @npu>
  return %0 : !sv.tensor<f32[n], @npu>
}
// -----
!t = !sv.tensor<f32[n]>
func.func @scopes(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  %2 = sv.on_device %0 {place = "npu.global.b"} : (!t) -> !t
  %3 = sv.add %1, %2 : (!t, !t) -> !t
  return %3 : !t
}
