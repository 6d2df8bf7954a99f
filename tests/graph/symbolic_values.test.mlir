func.func @arithmetic(%x: !sv.tensor<f32[n, 3]>) -> !sv.tensor<i64[3]> {
  %shape = sv.dims_tensor {dims = #sv.dims<[n, 3]>} : () -> !sv.tensor<i64[2]>
  %two = sv.constant {value = dense<2> : tensor<1xi64>} : !sv.tensor<i64[1]>
  %one = sv.constant {value = dense<1> : tensor<1xi64>} : !sv.tensor<i64[1]>
  %n = sv.slice %shape {starts = #sv.dims<[0]>, sizes = #sv.dims<[1]>, steps = array<i64: 1>} : (!sv.tensor<i64[2]>) -> !sv.tensor<i64[1]>
  %last = sv.gather %shape, %one {axis = 0 : i64} : (!sv.tensor<i64[2]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  %a = sv.mul %n, %two : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  %b = sv.add %a, %one : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  %c = sv.div %n, %two : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  %all = sv.concat %b, %c, %last {axis = 0 : i64} : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[3]>
  return %all : !sv.tensor<i64[3]>
}

// n - 5 can be negative, and sv.div rounds towards zero. The quotient is not a floordiv.
func.func @negative_division(%x: !sv.tensor<f32[n]>) -> !sv.tensor<i64[1]> {
  %n = sv.dims_tensor {dims = #sv.dims<["n-5"]>} : () -> !sv.tensor<i64[1]>
  %two = sv.constant {value = dense<2> : tensor<1xi64>} : !sv.tensor<i64[1]>
  %c = sv.div %n, %two : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  return %c : !sv.tensor<i64[1]>
}

// Exporters compute the shape of Expand as `shape == -1 ? 1 : shape`. A symbolic dim is never -1.
func.func @absent_dim(%x: !sv.tensor<f32[n]>) -> !sv.tensor<i64[2]> {
  %shape = sv.dims_tensor {dims = #sv.dims<[-1, n]>} : () -> !sv.tensor<i64[2]>
  %minus = sv.constant {value = dense<-1> : tensor<i64>} : !sv.tensor<i64[]>
  %one = sv.constant {value = dense<1> : tensor<i64>} : !sv.tensor<i64[]>
  %is = sv.equal %shape, %minus : (!sv.tensor<i64[2]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[2]>
  %y = sv.select %is, %one, %shape : (!sv.tensor<bool[2]>, !sv.tensor<i64[]>, !sv.tensor<i64[2]>) -> !sv.tensor<i64[2]>
  return %y : !sv.tensor<i64[2]>
}

func.func @numbers() -> !sv.tensor<i64[2]> {
  %a = sv.constant {value = dense<[3, -2]> : tensor<2xi64>} : !sv.tensor<i64[2]>
  %two = sv.constant {value = dense<2> : tensor<i64>} : !sv.tensor<i64[]>
  %y = sv.mul %a, %two : (!sv.tensor<i64[2]>, !sv.tensor<i64[]>) -> !sv.tensor<i64[2]>
  return %y : !sv.tensor<i64[2]>
}

// Tensor arithmetic wraps, dim arithmetic does not: the tensor stays data.
func.func @overflow(%x: !sv.tensor<f32[n]>) -> !sv.tensor<i64[1]> {
  %n = sv.dims_tensor {dims = #sv.dims<[n]>} : () -> !sv.tensor<i64[1]>
  %min = sv.constant {value = dense<-9223372036854775808> : tensor<1xi64>} : !sv.tensor<i64[1]>
  %y = sv.sub %min, %n : (!sv.tensor<i64[1]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[1]>
  return %y : !sv.tensor<i64[1]>
}
