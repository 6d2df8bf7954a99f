!v = !sv.tensor<f32[4]>
func.func private @unused(%x: !v) -> !v {
  return %x : !v
}
func.func private @island_a(%x: !v) -> !v {
  %0 = sv.call @island_b(%x) : (!v) -> !v
  return %0 : !v
}
func.func private @island_b(%x: !v) -> !v {
  %0 = sv.call @island_a(%x) : (!v) -> !v
  return %0 : !v
}
func.func private @used(%x: !v) -> !v {
  %0 = sv.neg %x : (!v) -> !v
  %1 = sv.reshape %x {dims = #sv.dims<[4]>} : (!v) -> !v
  return %1 : !v
}
func.func private @through(%x: !v) -> !v {
  %0 = sv.call @used(%x) : (!v) -> !v
  return %0 : !v
}
func.func @main(%x: !v) -> !v {
  %0 = sv.call @through(%x) : (!v) -> !v
  return %0 : !v
}
