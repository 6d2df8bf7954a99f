func.func @main(%arg0: !sv.tensor<f32[w, 17]>) -> !sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]> {
    %0 = sv.slice %arg0 {sizes = #sv.dims<["floordiv(w, 2)", 17]>, starts = #sv.dims<[0, 0]>, steps = array<i64: 2, 1>} : (!sv.tensor<f32[w, 17]>) -> !sv.tensor<f32["floordiv(w, 2)", 17]>
    %2 = sv.mul %0, %arg0 : (!sv.tensor<f32["floordiv(w, 2)", 17]>, !sv.tensor<f32[w, 17]>) -> !sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>
    %3 = sv.mul %2, %arg0 : (!sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>, !sv.tensor<f32[w, 17]>) -> !sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>
    %4 = sv.mul %3, %0 : (!sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>, !sv.tensor<f32["floordiv(w, 2)", 17]>) -> !sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>
    return %4 : !sv.tensor<f32["min(1, w, floordiv(w, 2))*max(w, floordiv(w, 2))", 17]>
}
