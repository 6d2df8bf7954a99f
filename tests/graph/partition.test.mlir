func.func @largest_first(%x: !sv.tensor<f32[2, rows, 4]>, %w: !sv.tensor<f32[8, 4]>, %b: !sv.tensor<f32[8]>) -> !sv.tensor<f32[2, rows, 8]> {
  %p = sv.matmul %x, %w {transpose_b = true} : (!sv.tensor<f32[2, rows, 4]>, !sv.tensor<f32[8, 4]>) -> !sv.tensor<f32[2, rows, 8]>
  %s = sv.add %b, %p : (!sv.tensor<f32[8]>, !sv.tensor<f32[2, rows, 8]>) -> !sv.tensor<f32[2, rows, 8]>
  %y = sv.relu %s : (!sv.tensor<f32[2, rows, 8]>) -> !sv.tensor<f32[2, rows, 8]>
  return %y : !sv.tensor<f32[2, rows, 8]>
}
func.func @used_outside(%x: !sv.tensor<f32[n, 4]>, %w: !sv.tensor<f32[4, 8]>, %b: !sv.tensor<f32[8]>) -> (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[n, 8]>) {
  %p = sv.matmul %x, %w : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 8]>) -> !sv.tensor<f32[n, 8]>
  %s = sv.add %p, %b : (!sv.tensor<f32[n, 8]>, !sv.tensor<f32[8]>) -> !sv.tensor<f32[n, 8]>
  %y = sv.relu %s : (!sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n, 8]>
  return %y, %s : !sv.tensor<f32[n, 8]>, !sv.tensor<f32[n, 8]>
}
func.func @returned_value(%a: !sv.tensor<f32[n]>, %b: !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %s = sv.add %a, %b : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %e = sv.exp %s : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %m = sv.neg %s : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %e, %m : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
func.func @used_too_early(%a: !sv.tensor<f32[n]>, %b: !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %s = sv.add %a, %b : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %m = sv.neg %s : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %e = sv.exp %s : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %e, %m : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
func.func @constants(%x: !sv.tensor<f32[n]>, %y: !sv.tensor<f64[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f64[n]>) {
  %half = sv.constant {value = dense<0.5> : tensor<1xf32>} : !sv.tensor<f32[1]>
  %two = sv.constant {value = dense<2.0> : tensor<f32>} : !sv.tensor<f32[]>
  %wide = sv.constant {value = dense<0.5> : tensor<f64>} : !sv.tensor<f64[]>
  %a = sv.mul %half, %x : (!sv.tensor<f32[1]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %b = sv.mul %a, %two : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  %c = sv.mul %y, %wide : (!sv.tensor<f64[n]>, !sv.tensor<f64[]>) -> !sv.tensor<f64[n]>
  return %b, %c : !sv.tensor<f32[n]>, !sv.tensor<f64[n]>
}
func.func @constrained(%x: !sv.tensor<f32[n, 4]>, %w: !sv.tensor<f32[4, 8]>) -> !sv.tensor<f32[n, 8]> {
  %p = sv.matmul %x, %w {sv.device = "cpu"} : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 8]>) -> !sv.tensor<f32[n, 8]>
  return %p : !sv.tensor<f32[n, 8]>
}
func.func @branches(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n, 4]>, %w: !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]> {
  %r = sv.if %c : (!sv.tensor<bool[]>) -> (!sv.tensor<f32[n, 4]>) {
    %p = sv.matmul %x, %w : (!sv.tensor<f32[n, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %p : !sv.tensor<f32[n, 4]>
  } else {
    sv.yield %x : !sv.tensor<f32[n, 4]>
  }
  return %r : !sv.tensor<f32[n, 4]>
}
func.func @checked(%x: !sv.tensor<f32[n, a]>, %w: !sv.tensor<f32[b, 8]>, %y: !sv.tensor<f32[a]>, %z: !sv.tensor<f32[b]>) -> (!sv.tensor<f32[n, 8]>, !sv.tensor<f32["max(a, b)"]>) {
  %p = sv.matmul %x, %w : (!sv.tensor<f32[n, a]>, !sv.tensor<f32[b, 8]>) -> !sv.tensor<f32[n, 8]>
  %s = sv.add %y, %z : (!sv.tensor<f32[a]>, !sv.tensor<f32[b]>) -> !sv.tensor<f32["max(a, b)"]>
  %e = sv.exp %s : (!sv.tensor<f32["max(a, b)"]>) -> !sv.tensor<f32["max(a, b)"]>
  return %p, %e : !sv.tensor<f32[n, 8]>, !sv.tensor<f32["max(a, b)"]>
}
