// The results of both calls are required in a pool of the accelerator.
!row = !sv.tensor<f32[n]>
func.func @main(%x: !row {sv.name = "x"}, %z: !row {sv.name = "z"}) -> (!row {sv.name = "y"}) {
  %0 = sv.call @normalise(%x) : (!row) -> !row
  %1 = sv.on_device %0 {place = "npu.global.fast"} : (!row) -> !row
  %2 = sv.call @normalise(%z) : (!row) -> !row
  %3 = sv.on_device %2 {place = "npu.global.fast"} : (!row) -> !row
  %4 = sv.add %1, %3 : (!row, !row) -> !row
  return %4 : !row
}
func.func private @normalise(%x: !row) -> !row {
  %0 = sv.softmax %x {axis = 0 : i64} : (!row) -> !row
  return %0 : !row
}
