!c = !sv.tensor<f32[n], @cpu>
!g = !sv.tensor<f32[n], @gpu>
func.func @operand(%x: !g, %y: !c) -> !c {
  %0 = sv.add %x, %y : (!g, !c) -> !c
  return %0 : !c
}

// -----
!g = !sv.tensor<f32[n], @gpu>
func.func @result(%x: !g) -> !g {
  %0 = sv.neg %x {sv.device = "cpu"} : (!g) -> !g
  return %0 : !g
}
// -----
func.func @no_place(%x: !sv.tensor<f32[n], @cpu>)
    -> !sv.tensor<f32[n]> {
  %0 = sv.neg %x : (!sv.tensor<f32[n], @cpu>) -> !sv.tensor<f32[n]>
  return %0 : !sv.tensor<f32[n]>
}
// -----
func.func @view(%x: !sv.tensor<f32[n], @cpu>)
    -> !sv.tensor<f32[n, 1], @gpu> {
  %0 = sv.reshape %x {dims = #sv.dims<[n, 1]>} : (!sv.tensor<f32[n], @cpu>) -> !sv.tensor<f32[n, 1], @gpu>
  return %0 : !sv.tensor<f32[n, 1], @gpu>
}
// -----
!c = !sv.tensor<f32[n], @cpu>
func.func @copy(%x: !c) -> !c {
  %0 = sv.device_copy %x {to = "cpu"} : (!c) -> !c
  return %0 : !c
}
// -----
!g = !sv.tensor<f32[n], @gpu>
func.func @function(%x: !g) -> !sv.tensor<f32[n], @cpu> {
  %0 = sv.neg %x : (!g) -> !g
  return %0 : !g
}
// -----
!g = !sv.tensor<f32[n], @gpu>
func.func @branches(%x: !g, %is: !sv.tensor<bool[], @cpu>) -> !sv.tensor<f32[n], @cpu> {
  %0 = sv.if %is : (!sv.tensor<bool[], @cpu>) -> !sv.tensor<f32[n], @cpu> {
    sv.yield %x : !g
  } else {
    sv.yield %x : !g
  }
  return %0 : !sv.tensor<f32[n], @cpu>
}
// -----
!g = !sv.tensor<f32[n], @gpu>
func.func @loop(%x: !sv.tensor<f32[n], @cpu>) -> !g {
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[4]>} : (!sv.tensor<f32[n], @cpu>) -> !g {
  ^bb0(%s: !g):
    sv.yield %s : !g
  }
  return %0 : !g
}
// -----
!g = !sv.tensor<f32[n], @gpu>
func.func @call(%x: !sv.tensor<f32[n], @cpu>) -> !g {
  %0 = sv.call @callee(%x) : (!sv.tensor<f32[n], @cpu>) -> !g
  return %0 : !g
}
func.func private @callee(%x: !g) -> !g {
  %0 = sv.neg %x : (!g) -> !g
  return %0 : !g
}
