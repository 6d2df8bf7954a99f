!x = !sv.tensor<f32[n]>
!s = !sv.tensor<f32[]>
!b = !sv.tensor<bool[]>
!state = tuple<!x, tuple<!s, !x>>
!placed = tuple<tuple<>, !sv.tensor<f32[n], @gpu>>
func.func private @step(%s: !state, %y: !x) -> !state {
  %a = sv.tuple_get %s[0] : !state
  %i = sv.tuple_get %s[1] : !state
  %b = sv.tuple_get %i[0] : tuple<!s, !x>
  %c = sv.tuple_get %i[1] : tuple<!s, !x>
  %0 = sv.add %a, %y : (!x, !x) -> !x
  %1 = sv.mul %b, %b : (!s, !s) -> !s
  %2 = sv.sub %c, %0 : (!x, !x) -> !x
  %3 = sv.tuple %1, %2 : tuple<!s, !x>
  %4 = sv.tuple %0, %3 : !state
  return %4 : !state
}
func.func @main(%c: !b, %s: !state {sv.name = "state"}, %p: !placed {sv.name = "p"})
    -> (!state {sv.name = "next"}, tuple<!sv.tensor<f32[3, n]>>) {
  %q = sv.tuple_get %p[1] : !placed
  %y = sv.neg %q : (!sv.tensor<f32[n], @gpu>) -> !x
  %0 = sv.if %c : (!b) -> !state {
    %1 = sv.call @step(%s, %y) : (!state, !x) -> !state
    sv.yield %1 : !state
  } else {
    sv.yield %s : !state
  }
  %2:2 = sv.loop %0 {index = "$i", trip_count = #sv.dims<[3]>} : (!state) -> (!state, tuple<!sv.tensor<f32[3, n]>>) {
  ^bb0(%t: !state):
    %f = sv.closure @step(%t) : (!state) -> !sv.closure<(!x) -> !state>
    %3 = sv.call_closure %f(%y) : (!sv.closure<(!x) -> !state>, !x) -> !state
    %4 = sv.tuple_get %3[0] : !state
    %5 = sv.tuple %4 : tuple<!x>
    sv.yield %3, %5 : !state, tuple<!x>
  }
  return %2#0, %2#1 : !state, tuple<!sv.tensor<f32[3, n]>>
}
