// An axis is in [0, rank).
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.softmax %x {axis = 1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis -1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.log_softmax %x {axis = -1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.cum_sum %x {axis = 1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>, %s: !sv.tensor<f32[]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.layer_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{x must have rank 2 or more, but is f32[n]}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.trilu %x {k = 0 : i64, upper = true} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}
