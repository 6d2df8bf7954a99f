!t = !sv.tensor<f32[n]>

func.func @elements(%a: !t, %b: !t, %i: !sv.tensor<i64[]>) -> !t {
  %0 = sv.neg %a : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %2 = sv.exp %b : (!t) -> !t
  %3 = sv.on_device %2 {place = "npu"} : (!t) -> !t
  %l = sv.list %1, %3 : (!t, !t) -> !sv.list<sequence f32[?]>
  %4 = sv.list_get %l {index = #sv.dims<[0]>, symbols = ["$d"]} : (!sv.list<sequence f32[?]>) -> !sv.tensor<f32["$d"]>
  %5 = sv.abs %4 : (!sv.tensor<f32["$d"]>) -> !sv.tensor<f32["$d"]>
  %6 = sv.on_device %5 {place = "npu"} : (!sv.tensor<f32["$d"]>) -> !sv.tensor<f32["$d"]>
  %7 = sv.reduce_sum %6 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32["$d"]>) -> !sv.tensor<f32[]>
  %8 = sv.mul %a, %7 : (!t, !sv.tensor<f32[]>) -> !t
  return %8 : !t
}

func.func @each_element(%xs: !sv.list<sequence f32[?]>) -> !sv.list<sequence f32[?]> {
  sv.list_size %xs {symbol = "$n"} : (!sv.list<sequence f32[?]>) -> ()
  %empty = sv.list : () -> !sv.list<sequence f32>
  %0 = sv.loop %empty {index = "$i", trip_count = #sv.dims<["$n"]>}
      : (!sv.list<sequence f32>) -> !sv.list<sequence f32[?]> {
  ^bb0(%l: !sv.list<sequence f32[?]>):
    %1 = sv.list_get %xs {index = #sv.dims<["$i"]>, symbols = ["$d"]}
        : (!sv.list<sequence f32[?]>) -> !sv.tensor<f32["$d"]>
    %2 = sv.add %1, %1 : (!sv.tensor<f32["$d"]>, !sv.tensor<f32["$d"]>) -> !sv.tensor<f32["$d"]>
    %3 = sv.on_device %2 {place = "npu"} : (!sv.tensor<f32["$d"]>) -> !sv.tensor<f32["$d"]>
    %4 = sv.list_insert %l, %3 {index = #sv.dims<[]>}
        : (!sv.list<sequence f32[?]>, !sv.tensor<f32["$d"]>) -> !sv.list<sequence f32[?]>
    sv.yield %4 : !sv.list<sequence f32[?]>
  }
  return %0 : !sv.list<sequence f32[?]>
}
