!t = !sv.tensor<f32[n]>
!f = !sv.closure<(!t) -> !t>
func.func @main(%x: !t) -> (!t, !t) {
  %free = sv.closure @free() : () -> !f
  %bound = sv.closure @bound() : () -> !f
  %0 = sv.call_closure %free(%x) : (!f, !t) -> !t
  %1 = sv.call_closure %bound(%x) : (!f, !t) -> !t
  return %0, %1 : !t, !t
}
func.func private @free(%x: !t) -> !t {
  %0 = sv.softmax %x {axis = 0 : i64} : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_body = false, constrain_result = true} : (!t) -> !t
  return %1 : !t
}
func.func private @bound(%x: !t) -> !t {
  %0 = sv.softmax %x {axis = 0 : i64} : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_result = true} : (!t) -> !t
  return %1 : !t
}
