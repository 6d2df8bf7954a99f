!t = !sv.tensor<f32[m, 4]>

func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"}) -> (!sv.tensor<f32["2*n", 4]> {sv.name = "y"}) {
  %0 = sv.call @rows(%x) : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %1 = sv.concat %0, %x {axis = 0 : i64} : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[n, 4]>) -> !sv.tensor<f32["2*n", 4]>
  %2 = sv.loop %1 {index = "$i", trip_count = #sv.dims<[3]>} : (!sv.tensor<f32["2*n", 4]>) -> !sv.tensor<f32["2*n", 4]> {
  ^bb0(%s: !sv.tensor<f32["2*n", 4]>):
    %3 = sv.call @twice(%s) : (!sv.tensor<f32["2*n", 4]>) -> !sv.tensor<f32["2*n", 4]>
    sv.yield %3 : !sv.tensor<f32["2*n", 4]>
  }
  return %2 : !sv.tensor<f32["2*n", 4]>
}
func.func private @twice(%x: !sv.tensor<f32[k, 4]>) -> !sv.tensor<f32[k, 4]> {
  %0 = sv.call @rows(%x) : (!sv.tensor<f32[k, 4]>) -> !sv.tensor<f32[k, 4]>
  %1 = sv.call @rows(%0) : (!sv.tensor<f32[k, 4]>) -> !sv.tensor<f32[k, 4]>
  return %1 : !sv.tensor<f32[k, 4]>
}
func.func private @rows(%x: !t) -> !t {
  %0 = sv.abs %x : (!t) -> !t
  %1 = sv.neg %0 : (!t) -> !t
  %2 = sv.add %1, %x : (!t, !t) -> !t
  return %2 : !t
}
