!t = !sv.tensor<f32[n]>
!i = !sv.tensor<i64[]>
!b = !sv.tensor<bool[]>
func.func @main(%x: !t {sv.name="x"}) -> (!t {sv.name="y"}) {
  %k = sv.constant {value = dense<5> : tensor<i64>} : !i
  %0 = sv.call @f(%x, %k) : (!t, !i) -> !t
  return %0 : !t
}
func.func private @f(%x: !t, %n: !i) -> !t {
  %one = sv.constant {value = dense<1> : tensor<i64>} : !i
  %c = sv.less_equal %n, %one : (!i, !i) -> !b
  %0 = sv.if %c : (!b) -> !t {
    sv.yield %x : !t
  } else {
    %1 = sv.sub %n, %one : (!i, !i) -> !i
    %s = sv.softmax %x {axis = 0 : i64} : (!t) -> !t
    %2 = sv.call @f(%s, %1) : (!t, !i) -> !t
    %3 = sv.mul %2, %x : (!t, !t) -> !t
    sv.yield %3 : !t
  }
  return %0 : !t
}
