// Strings in upper case, compared with a constant, and converted to and from numbers.
!s = !sv.tensor<str[n]>
func.func @main(%x: !s {sv.name = "x"}, %y: !sv.tensor<i64[n]> {sv.name = "y"})
    -> (!s {sv.name = "upper"}, !sv.tensor<bool[n]> {sv.name = "same"}, !s {sv.name = "digits"},
        !sv.tensor<f32[n]> {sv.name = "numbers"}) {
  %red = sv.constant {value = dense<"red"> : tensor<!sv.str>} : !sv.tensor<str[]>
  %0 = sv.change_case %x {upper = true} : (!s) -> !s
  %1 = sv.equal %x, %red : (!s, !sv.tensor<str[]>) -> !sv.tensor<bool[n]>
  %2 = sv.number_to_string %y : (!sv.tensor<i64[n]>) -> !s
  %3 = sv.string_to_number %2 {to = "f32"} : (!s) -> !sv.tensor<f32[n]>
  return %0, %1, %2, %3 : !s, !sv.tensor<bool[n]>, !s, !sv.tensor<f32[n]>
}
