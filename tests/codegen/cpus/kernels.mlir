// Kernels of each kind of code that depends on CPU features: products of f32 and of bytes, a
// reduction with a masked tail, exponentials, conversions, a transposed copy, and integer and
// bitwise arithmetic.
func.func @main(%x: !sv.tensor<f32[n, 37]> {sv.name = "x"},
                %w: !sv.tensor<f32[37, m]> {sv.name = "w"},
                %a: !sv.tensor<u8[n, 40]> {sv.name = "a"},
                %b: !sv.tensor<i8[40, m]> {sv.name = "b"},
                %h: !sv.tensor<f16[n, m]> {sv.name = "h"},
                %i: !sv.tensor<i64[n, m]> {sv.name = "i"},
                %j: !sv.tensor<i8[n, m]> {sv.name = "j"})
    -> (!sv.tensor<f32[n, m]> {sv.name = "product"}, !sv.tensor<i32[n, m]> {sv.name = "bytes"},
        !sv.tensor<f32[n, 1]> {sv.name = "sum"}, !sv.tensor<f16[m, n]> {sv.name = "halves"},
        !sv.tensor<bf16[n, m]> {sv.name = "short"}, !sv.tensor<i64[n, m]> {sv.name = "integers"},
        !sv.tensor<i8[n, m]> {sv.name = "bits"}) {
  %product = sv.matmul %x, %w
      : (!sv.tensor<f32[n, 37]>, !sv.tensor<f32[37, m]>) -> !sv.tensor<f32[n, m]>
  %positive = sv.relu %product : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  %bytes = sv.matmul %a, %b
      : (!sv.tensor<u8[n, 40]>, !sv.tensor<i8[40, m]>) -> !sv.tensor<i32[n, m]>
  %exp = sv.exp %x : (!sv.tensor<f32[n, 37]>) -> !sv.tensor<f32[n, 37]>
  %sum = sv.reduce_sum %exp {axes = array<i64: 1>, keep_dims = true}
      : (!sv.tensor<f32[n, 37]>) -> !sv.tensor<f32[n, 1]>
  %double = sv.add %h, %h : (!sv.tensor<f16[n, m]>, !sv.tensor<f16[n, m]>) -> !sv.tensor<f16[n, m]>
  %halves = sv.transpose %double {permutation = array<i64: 1, 0>}
      : (!sv.tensor<f16[n, m]>) -> !sv.tensor<f16[m, n]>
  %short = sv.cast %positive {to = "bf16"} : (!sv.tensor<f32[n, m]>) -> !sv.tensor<bf16[n, m]>
  %square = sv.mul %i, %i : (!sv.tensor<i64[n, m]>, !sv.tensor<i64[n, m]>) -> !sv.tensor<i64[n, m]>
  %integers = sv.max %square, %i
      : (!sv.tensor<i64[n, m]>, !sv.tensor<i64[n, m]>) -> !sv.tensor<i64[n, m]>
  %and = sv.bit_and %j, %j : (!sv.tensor<i8[n, m]>, !sv.tensor<i8[n, m]>) -> !sv.tensor<i8[n, m]>
  %not = sv.bit_not %and : (!sv.tensor<i8[n, m]>) -> !sv.tensor<i8[n, m]>
  %bits = sv.mul %not, %j : (!sv.tensor<i8[n, m]>, !sv.tensor<i8[n, m]>) -> !sv.tensor<i8[n, m]>
  return %positive, %bytes, %sum, %halves, %short, %integers, %bits
      : !sv.tensor<f32[n, m]>, !sv.tensor<i32[n, m]>, !sv.tensor<f32[n, 1]>, !sv.tensor<f16[m, n]>,
        !sv.tensor<bf16[n, m]>, !sv.tensor<i64[n, m]>, !sv.tensor<i8[n, m]>
}
