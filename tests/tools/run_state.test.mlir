// hn = h + x, y = hn * hn
func.func @main(%x: !sv.tensor<f32[n, 2]> {sv.name = "x"}, %h: !sv.tensor<f32[n, 2]> {sv.name = "h"}) -> (!sv.tensor<f32[n, 2]> {sv.name = "y"}, !sv.tensor<f32[n, 2]> {sv.name = "hn"}) {
  %0 = sv.add %x, %h : (!sv.tensor<f32[n, 2]>, !sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
  %1 = sv.mul %0, %0 : (!sv.tensor<f32[n, 2]>, !sv.tensor<f32[n, 2]>) -> !sv.tensor<f32[n, 2]>
  return %1, %0 : !sv.tensor<f32[n, 2]>, !sv.tensor<f32[n, 2]>
}
