// A library of the test computes @negate, of a view. The call fails unless the condition holds.
sv.extern @negate : (!sv.tensor<f32[a, b]>) -> !sv.tensor<f32[a, b]> {library = "test", workspace = "4*a*$threads"}

func.func @main(%c: !sv.tensor<bool[]> {sv.name = "c"}, %x: !sv.tensor<f32[n, 2, 2]> {sv.name = "x"})
    -> (!sv.tensor<f32["2*n", 2]> {sv.name = "y"}) {
  sv.assert %c {message = "the switch must be on"} : !sv.tensor<bool[]>
  %0 = sv.reshape %x {dims = #sv.dims<["2*n", 2]>} : (!sv.tensor<f32[n, 2, 2]>) -> !sv.tensor<f32["2*n", 2]>
  %1 = sv.call_extern @negate(%0) : (!sv.tensor<f32["2*n", 2]>) -> !sv.tensor<f32["2*n", 2]>
  return %1 : !sv.tensor<f32["2*n", 2]>
}
