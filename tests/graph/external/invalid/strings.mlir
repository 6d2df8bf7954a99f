func.func @f(%x: !sv.tensor<str[n]>, %y: !sv.tensor<str[n]>) -> !sv.tensor<bool[n]> {
  %0 = sv.equal %x, %y : (!sv.tensor<str[n]>, !sv.tensor<str[n]>) -> !sv.tensor<bool[n]>
  return %0 : !sv.tensor<bool[n]>
}
