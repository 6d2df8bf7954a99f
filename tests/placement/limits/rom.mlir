// The packed panels of %w take 2048 bytes, twice as many as the constant.
func.func @main(%x: !sv.tensor<f32[n, 16]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 16]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<0.5> : tensor<16x16xf32>} : !sv.tensor<f32[16, 16]>
  %rom = sv.on_device %w {place = "cpu.global.rom"} : (!sv.tensor<f32[16, 16]>) -> !sv.tensor<f32[16, 16]>
  %y = sv.matmul %x, %rom : (!sv.tensor<f32[n, 16]>, !sv.tensor<f32[16, 16]>) -> !sv.tensor<f32[n, 16]>
  return %y : !sv.tensor<f32[n, 16]>
}
