// Four layers: products with weights of 64 KiB each, and a residual sum.
func.func @main(%x: !sv.tensor<f32[n, 128]>) -> !sv.tensor<f32[n, 128]> {
  %a = sv.constant {value = dense<0.5> : tensor<128x128xf32>} : !sv.tensor<f32[128, 128]>
  %b = sv.constant {value = dense<0.25> : tensor<128x128xf32>} : !sv.tensor<f32[128, 128]>
  %c = sv.constant {value = dense<-0.5> : tensor<128x128xf32>} : !sv.tensor<f32[128, 128]>
  %d = sv.constant {value = dense<-0.25> : tensor<128x128xf32>} : !sv.tensor<f32[128, 128]>
  %0 = sv.matmul %x, %a : (!sv.tensor<f32[n, 128]>, !sv.tensor<f32[128, 128]>) -> !sv.tensor<f32[n, 128]>
  %1 = sv.relu %0 : (!sv.tensor<f32[n, 128]>) -> !sv.tensor<f32[n, 128]>
  %2 = sv.matmul %1, %b : (!sv.tensor<f32[n, 128]>, !sv.tensor<f32[128, 128]>) -> !sv.tensor<f32[n, 128]>
  %3 = sv.add %2, %x : (!sv.tensor<f32[n, 128]>, !sv.tensor<f32[n, 128]>) -> !sv.tensor<f32[n, 128]>
  %4 = sv.matmul %3, %c : (!sv.tensor<f32[n, 128]>, !sv.tensor<f32[128, 128]>) -> !sv.tensor<f32[n, 128]>
  %5 = sv.relu %4 : (!sv.tensor<f32[n, 128]>) -> !sv.tensor<f32[n, 128]>
  %6 = sv.matmul %5, %d : (!sv.tensor<f32[n, 128]>, !sv.tensor<f32[128, 128]>) -> !sv.tensor<f32[n, 128]>
  return %6 : !sv.tensor<f32[n, 128]>
}
