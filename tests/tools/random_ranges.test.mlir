// Returns its input.
func.func @main(%x: !sv.tensor<TYPE[2]> {sv.name = "x"}) -> (!sv.tensor<TYPE[2]> {sv.name = "y"}) {
  return %x : !sv.tensor<TYPE[2]>
}
