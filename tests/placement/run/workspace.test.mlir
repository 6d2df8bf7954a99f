func.func @main(%x: !sv.tensor<f32[n, 4]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 4]> {sv.name = "y"}) {
  %0 = sv.device_copy %x {to = "cpu.global.workspace"} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  %1 = sv.relu %0 {sv.operand_scopes = ["global.workspace"]} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> loc("first")
  %2 = sv.loop %1 {index = "$i", trip_count = #sv.dims<[3]>} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]> {
  ^bb0(%s: !sv.tensor<f32[n, 4]>):
    %3 = sv.tanh %s : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    %4 = sv.softmax %3 {axis = 1 : i64} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
    sv.yield %4 : !sv.tensor<f32[n, 4]>
  }
  return %2 : !sv.tensor<f32[n, 4]>
}
