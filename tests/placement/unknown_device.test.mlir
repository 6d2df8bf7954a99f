func.func @main(%x: !sv.tensor<f32[n], @npu>) -> !sv.tensor<f32[n], @npu> {
  return %x : !sv.tensor<f32[n], @npu>
}
