// The 4-bit elements of x plus 1, modulo 16, and the bits of y.
func.func @main(%x: !sv.tensor<u4[n]> {sv.name = "x"}, %y: !sv.tensor<f8e5m2[]> {sv.name = "y"})
    -> (!sv.tensor<u4[n]> {sv.name = "next"}, !sv.tensor<i2[n]> {sv.name = "low"},
        !sv.tensor<f8e5m2[]> {sv.name = "same"}) {
  %a = sv.unpack_bits %x : (!sv.tensor<u4[n]>) -> !sv.tensor<u8[n]>
  %one = sv.constant {value = dense<1> : tensor<ui8>} : !sv.tensor<u8[]>
  %b = sv.add %a, %one : (!sv.tensor<u8[n]>, !sv.tensor<u8[]>) -> !sv.tensor<u8[n]>
  %c = sv.pack_bits %b {to = "u4"} : (!sv.tensor<u8[n]>) -> !sv.tensor<u4[n]>
  %d = sv.pack_bits %b {to = "i2"} : (!sv.tensor<u8[n]>) -> !sv.tensor<i2[n]>
  %e = sv.unpack_bits %y : (!sv.tensor<f8e5m2[]>) -> !sv.tensor<u8[]>
  %f = sv.pack_bits %e {to = "f8e5m2"} : (!sv.tensor<u8[]>) -> !sv.tensor<f8e5m2[]>
  return %c, %d, %f : !sv.tensor<u4[n]>, !sv.tensor<i2[n]>, !sv.tensor<f8e5m2[]>
}
