!t = !sv.tensor<f32[n, 8]>
!v = !sv.tensor<f32[n, 2]>
!i = !sv.tensor<i64[n, 2]>

func.func @one_field(%x: !t) -> (!v, !i) {
  %0:2 = sv.top_k %x {k = #sv.dims<[2]>, axis = 1 : i64, largest = true} : (!t) -> (!v, !i)
  %d = sv.on_device %0#0 {place = "npu"} : (!v) -> !v
  %1 = sv.neg %0#1 : (!i) -> !i
  %e = sv.on_device %1 {place = "npu"} : (!i) -> !i
  %2 = sv.abs %d : (!v) -> !v
  %f = sv.on_device %2 {place = "cpu"} : (!v) -> !v
  return %f, %e : !v, !i
}

func.func @fields_of_a_call(%x: !t) -> (!t, !t) {
  %0:2 = sv.call @both(%x) : (!t) -> (!t, !t)
  %1 = sv.abs %0#1 : (!t) -> !t
  %d = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %0#0, %d : !t, !t
}
func.func private @both(%x: !t) -> (!t, !t) {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.exp %x : (!t) -> !t
  %d = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %0, %d : !t, !t
}
