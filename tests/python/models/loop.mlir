// sum: x times count + 1, in a loop that a deadline or a cancellation ends.
!n = !sv.tensor<f32[n]>
func.func @main(%count: !sv.tensor<i64[]> {sv.name = "count"}, %x: !n {sv.name = "x"})
    -> (!n {sv.name = "sum"}) {
  sv.read_dims %count {symbols = ["$count"]} : !sv.tensor<i64[]>
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<["$count"]>} : (!n) -> !n {
  ^bb0(%s: !n):
    %1 = sv.add %s, %x : (!n, !n) -> !n
    sv.yield %1 : !n
  }
  return %0 : !n
}
