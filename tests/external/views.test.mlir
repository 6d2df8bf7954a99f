sv.extern @f : (!sv.tensor<f32[a, b]>, !sv.tensor<f32[a, b]>) -> !sv.tensor<f32[a, b]>
    {library = "lib", workspace = "4*a*$threads"}

func.func @main(%x: !sv.tensor<f32[n, 2, 4]> {sv.name = "x"})
    -> (!sv.tensor<f32["2*n", 4]> {sv.name = "y"}) {
  %0 = sv.reshape %x {dims = #sv.dims<["2*n", 4]>} : (!sv.tensor<f32[n, 2, 4]>) -> !sv.tensor<f32["2*n", 4]>
  %1 = sv.call_extern @f(%0, %0)
      : (!sv.tensor<f32["2*n", 4]>, !sv.tensor<f32["2*n", 4]>) -> !sv.tensor<f32["2*n", 4]>
  %2 = sv.loop %1 {trip_count = #sv.dims<[3]>, index = "$i"} : (!sv.tensor<f32["2*n", 4]>) -> !sv.tensor<f32["2*n", 4]> {
  ^bb0(%carried: !sv.tensor<f32["2*n", 4]>):
    %3 = sv.call_extern @f(%carried, %0)
        : (!sv.tensor<f32["2*n", 4]>, !sv.tensor<f32["2*n", 4]>) -> !sv.tensor<f32["2*n", 4]>
    sv.yield %3 : !sv.tensor<f32["2*n", 4]>
  }
  return %2 : !sv.tensor<f32["2*n", 4]>
}
