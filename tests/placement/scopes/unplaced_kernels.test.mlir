!t = !sv.tensor<f32[n, 8]>

func.func @main(%x: !t, %w: !sv.tensor<f32[8, 8]>) -> !t {
  %0 = sv.matmul %x, %w {sv.operand_scopes = ["global.fast", ""]} : (!t, !sv.tensor<f32[8, 8]>) -> !t
  return %0 : !t
}
