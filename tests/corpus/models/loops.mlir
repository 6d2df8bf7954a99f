// `sum` is x times count + 1, and `sums` are the sums after each iteration. `grown` is x appended to
// itself until its sum reaches the limit; its length depends on the data. `chosen` depends on a
// condition.
!f = !sv.tensor<f32[]>
!b = !sv.tensor<bool[]>
!n = !sv.tensor<f32[n]>
func.func @main(%count: !sv.tensor<i64[]> {sv.name = "count"}, %x: !n {sv.name = "x"},
                %limit: !f {sv.name = "limit"}, %c: !b {sv.name = "c"})
    -> (!n {sv.name = "sum"}, !sv.tensor<f32["$count", n]> {sv.name = "sums"},
        !sv.tensor<f32["$m"]> {sv.name = "grown"}, !sv.tensor<f32["$k"]> {sv.name = "totals"},
        !sv.tensor<f32["$p"]> {sv.name = "chosen"}) {
  sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
  %0:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>}
      : (!n) -> (!n, !sv.tensor<f32["$count", n]>) {
  ^bb0(%s: !n):
    %1 = sv.add %s, %x : (!n, !n) -> !n
    sv.yield %1, %1 : !n, !n
  }
  %2:2 = sv.loop %x {carried_symbols = ["$s"], has_condition = true, index = "$j",
                     symbols = ["$m", "$k"], trip_count = #sv.dims<[]>}
      : (!n) -> (!sv.tensor<f32["$m"]>, !sv.tensor<f32["$k"]>) {
  ^bb0(%s: !sv.tensor<f32["$s"]>):
    %3 = sv.concat %s, %x {axis = 0 : i64} : (!sv.tensor<f32["$s"]>, !n) -> !sv.tensor<f32["$s+n"]>
    %4 = sv.reduce_sum %3 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32["$s+n"]>) -> !f
    %5 = sv.less %4, %limit : (!f, !f) -> !b
    sv.yield %5, %3, %4 : !b, !sv.tensor<f32["$s+n"]>, !f
  }
  %6 = sv.if %c {symbols = ["$p"]} : (!b) -> !sv.tensor<f32["$p"]> {
    sv.yield %x : !n
  } else {
    %7 = sv.concat %x, %x {axis = 0 : i64} : (!n, !n) -> !sv.tensor<f32["2*n"]>
    sv.yield %7 : !sv.tensor<f32["2*n"]>
  }
  %8 = sv.neg %6 : (!sv.tensor<f32["$p"]>) -> !sv.tensor<f32["$p"]>
  return %0#0, %0#1, %2#0, %2#1, %8
      : !n, !sv.tensor<f32["$count", n]>, !sv.tensor<f32["$m"]>, !sv.tensor<f32["$k"]>, !sv.tensor<f32["$p"]>
}
