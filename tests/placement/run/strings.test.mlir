!s = !sv.tensor<str[n]>
func.func @main(%x: !s {sv.name = "x"}, %i: !sv.tensor<i64[m]> {sv.name = "i"},
                %flag: !sv.tensor<bool[]> {sv.name = "flag"}) -> !sv.tensor<str[m]> {
  %0 = sv.change_case %x {upper = true} : (!s) -> !s
  %1 = sv.if %flag : (!sv.tensor<bool[]>) -> !s {
    sv.yield %0 : !s
  } else {
    sv.yield %x : !s
  }
  %2 = sv.gather %1, %i {axis = 0 : i64} : (!s, !sv.tensor<i64[m]>) -> !sv.tensor<str[m]>
  return %2 : !sv.tensor<str[m]>
}
