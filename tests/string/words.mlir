// upper is x in upper case. same is true for each element that is "red".
func.func @main(%x: !sv.tensor<str[n]> {sv.name = "x"})
    -> (!sv.tensor<str[n]> {sv.name = "upper"}, !sv.tensor<bool[n]> {sv.name = "same"}) {
  %red = sv.constant {value = dense<"red"> : tensor<!sv.str>} : !sv.tensor<str[]>
  %0 = sv.change_case %x {upper = true} : (!sv.tensor<str[n]>) -> !sv.tensor<str[n]>
  %1 = sv.equal %x, %red : (!sv.tensor<str[n]>, !sv.tensor<str[]>) -> !sv.tensor<bool[n]>
  return %0, %1 : !sv.tensor<str[n]>, !sv.tensor<bool[n]>
}
