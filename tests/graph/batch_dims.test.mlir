// Convolution, pooling, a reshape that keeps the rows first, a product, a softmax of each row.
func.func @classifier(%x: !sv.tensor<f32[n, 3, 8, 8]>, %w: !sv.tensor<f32[4, 3, 3, 3]>,
    %m: !sv.tensor<f32[144, 5]>) -> !sv.tensor<f32[n, 5]> {
  %0 = sv.conv %x, %w {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
      : (!sv.tensor<f32[n, 3, 8, 8]>, !sv.tensor<f32[4, 3, 3, 3]>) -> !sv.tensor<f32[n, 4, 6, 6]>
  %1 = sv.relu %0 : (!sv.tensor<f32[n, 4, 6, 6]>) -> !sv.tensor<f32[n, 4, 6, 6]>
  %2 = sv.reshape %1 {dims = #sv.dims<[n, 144]>} : (!sv.tensor<f32[n, 4, 6, 6]>) -> !sv.tensor<f32[n, 144]>
  %3 = sv.matmul %2, %m : (!sv.tensor<f32[n, 144]>, !sv.tensor<f32[144, 5]>) -> !sv.tensor<f32[n, 5]>
  %4 = sv.softmax %3 {axis = 1 : i64} : (!sv.tensor<f32[n, 5]>) -> !sv.tensor<f32[n, 5]>
  return %4 : !sv.tensor<f32[n, 5]>
}

// The heads of attention: [n, t, 8] -> [n, 2, t, 4], products of each row with itself.
func.func @attention(%x: !sv.tensor<f32[n, t, 8]>) -> !sv.tensor<f32[n, t, 8]> {
  %0 = sv.reshape %x {dims = #sv.dims<[n, t, 2, 4]>} : (!sv.tensor<f32[n, t, 8]>) -> !sv.tensor<f32[n, t, 2, 4]>
  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (!sv.tensor<f32[n, t, 2, 4]>) -> !sv.tensor<f32[n, 2, t, 4]>
  %2 = sv.matmul %1, %1 {transpose_b = true} : (!sv.tensor<f32[n, 2, t, 4]>, !sv.tensor<f32[n, 2, t, 4]>) -> !sv.tensor<f32[n, 2, t, t]>
  %3 = sv.softmax %2 {axis = 3 : i64} : (!sv.tensor<f32[n, 2, t, t]>) -> !sv.tensor<f32[n, 2, t, t]>
  %4 = sv.matmul %3, %1 : (!sv.tensor<f32[n, 2, t, t]>, !sv.tensor<f32[n, 2, t, 4]>) -> !sv.tensor<f32[n, 2, t, 4]>
  %5 = sv.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (!sv.tensor<f32[n, 2, t, 4]>) -> !sv.tensor<f32[n, t, 2, 4]>
  %6 = sv.reshape %5 {dims = #sv.dims<[n, t, 8]>} : (!sv.tensor<f32[n, t, 2, 4]>) -> !sv.tensor<f32[n, t, 8]>
  return %6 : !sv.tensor<f32[n, t, 8]>
}

// Rows of n*t elements: those of an element of n are together, and so are those of one of t*n.
func.func @blocks(%x: !sv.tensor<f32[n, t, 8]>, %w: !sv.tensor<f32[8, 8]>) -> !sv.tensor<f32[n, t, 8]> {
  %0 = sv.reshape %x {dims = #sv.dims<["n*t", 8]>} : (!sv.tensor<f32[n, t, 8]>) -> !sv.tensor<f32["n*t", 8]>
  %1 = sv.matmul %0, %w : (!sv.tensor<f32["n*t", 8]>, !sv.tensor<f32[8, 8]>) -> !sv.tensor<f32["n*t", 8]>
  %2 = sv.reshape %1 {dims = #sv.dims<[n, t, 8]>} : (!sv.tensor<f32["n*t", 8]>) -> !sv.tensor<f32[n, t, 8]>
  return %2 : !sv.tensor<f32[n, t, 8]>
}

// The elements of a row are apart: [4, n] -> [4*n]. Half of them are not those of half of the rows.
func.func @mixed_blocks(%x: !sv.tensor<f32[4, n]>) -> (!sv.tensor<f32[4, n]>, !sv.tensor<f32["8*n"]>) {
  %0 = sv.reshape %x {dims = #sv.dims<["4*n"]>} : (!sv.tensor<f32[4, n]>) -> !sv.tensor<f32["4*n"]>
  %1 = sv.neg %0 : (!sv.tensor<f32["4*n"]>) -> !sv.tensor<f32["4*n"]>
  %2 = sv.reshape %1 {dims = #sv.dims<[4, n]>} : (!sv.tensor<f32["4*n"]>) -> !sv.tensor<f32[4, n]>
  %3 = sv.tile %0 {repeats = #sv.dims<[2]>} : (!sv.tensor<f32["4*n"]>) -> !sv.tensor<f32["8*n"]>
  return %2, %3 : !sv.tensor<f32[4, n]>, !sv.tensor<f32["8*n"]>
}

// A recurrence over t with rows along the second axis of x; t is the number of iterations.
func.func @recurrence(%x: !sv.tensor<f32[t, n, 3]>, %h: !sv.tensor<f32[n, 3]>) -> (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[t, n, 3]>) {
  %0:2 = sv.loop %h {index = "$i", trip_count = #sv.dims<[t]>}
      : (!sv.tensor<f32[n, 3]>) -> (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[t, n, 3]>) {
  ^bb0(%s: !sv.tensor<f32[n, 3]>):
    %1 = sv.slice %x {starts = #sv.dims<["$i", 0, 0]>, sizes = #sv.dims<[1, n, 3]>, steps = array<i64: 1, 1, 1>}
        : (!sv.tensor<f32[t, n, 3]>) -> !sv.tensor<f32[1, n, 3]>
    %2 = sv.reshape %1 {dims = #sv.dims<[n, 3]>} : (!sv.tensor<f32[1, n, 3]>) -> !sv.tensor<f32[n, 3]>
    %3 = sv.add %2, %s : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
    sv.yield %3, %3 : !sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>
  }
  return %0#0, %0#1 : !sv.tensor<f32[n, 3]>, !sv.tensor<f32[t, n, 3]>
}

// After the first iteration, a carried value has the sum of its rows.
func.func @carried_sum(%x: !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> {
  %0:2 = sv.loop %x, %x {index = "$i", trip_count = #sv.dims<[4]>}
      : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) {
  ^bb0(%s: !sv.tensor<f32[n, 3]>, %r: !sv.tensor<f32[n, 3]>):
    %1 = sv.reduce_sum %s {axes = array<i64: 0>} : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[1, 3]>
    %2 = sv.add %s, %1 : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[1, 3]>) -> !sv.tensor<f32[n, 3]>
    sv.yield %2, %s : !sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>
  }
  return %0#1 : !sv.tensor<f32[n, 3]>
}

// The dynamic range of all elements scales each row; that of each row does not matter.
func.func @range(%x: !sv.tensor<f32[n, k]>) -> !sv.tensor<f32[n, k]> {
  %0 = sv.abs %x : (!sv.tensor<f32[n, k]>) -> !sv.tensor<f32[n, k]>
  %1 = sv.reduce_max %0 {axes = array<i64: 0, 1>} : (!sv.tensor<f32[n, k]>) -> !sv.tensor<f32[1, 1]>
  %2 = sv.div %x, %1 : (!sv.tensor<f32[n, k]>, !sv.tensor<f32[1, 1]>) -> !sv.tensor<f32[n, k]>
  return %2 : !sv.tensor<f32[n, k]>
}
func.func @range_of_rows(%x: !sv.tensor<f32[n, k]>) -> !sv.tensor<f32[n, k]> {
  %0 = sv.abs %x : (!sv.tensor<f32[n, k]>) -> !sv.tensor<f32[n, k]>
  %1 = sv.reduce_max %0 {axes = array<i64: 1>} : (!sv.tensor<f32[n, k]>) -> !sv.tensor<f32[n, 1]>
  %2 = sv.div %x, %1 : (!sv.tensor<f32[n, k]>, !sv.tensor<f32[n, 1]>) -> !sv.tensor<f32[n, k]>
  return %2 : !sv.tensor<f32[n, k]>
}

// The number of a row, the number of rows, and the last row.
func.func @position(%x: !sv.tensor<i64[n]>) -> !sv.tensor<i64[n]> {
  %0 = sv.iota {size = #sv.dims<[n]>, start = 0 : i64, step = 1 : i64, dtype = "i64"} : () -> !sv.tensor<i64[n]>
  %1 = sv.add %x, %0 : (!sv.tensor<i64[n]>, !sv.tensor<i64[n]>) -> !sv.tensor<i64[n]>
  return %1 : !sv.tensor<i64[n]>
}
func.func @count(%x: !sv.tensor<i64[n]>) -> !sv.tensor<i64[n]> {
  %0 = sv.dims_tensor {dims = #sv.dims<[n]>} : () -> !sv.tensor<i64[1]>
  %1 = sv.add %x, %0 : (!sv.tensor<i64[n]>, !sv.tensor<i64[1]>) -> !sv.tensor<i64[n]>
  return %1 : !sv.tensor<i64[n]>
}
func.func @last(%x: !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[1, 3]> {
  %0 = sv.slice %x {starts = #sv.dims<["n-1", 0]>, sizes = #sv.dims<[1, 3]>, steps = array<i64: 1, 1>}
      : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[1, 3]>
  return %0 : !sv.tensor<f32[1, 3]>
}

// Each element moves to the next row: the dims are those of x.
func.func @shifted(%x: !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> {
  %0 = sv.pad %x {pads = #sv.dims<[1, 0, -1, 0]>, mode = "constant"} : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
  return %0 : !sv.tensor<f32[n, 3]>
}
func.func @reversed(%x: !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> {
  %0 = sv.slice %x {starts = #sv.dims<["n-1", 0]>, sizes = #sv.dims<[n, 3]>, steps = array<i64: -1, 1>}
      : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
  return %0 : !sv.tensor<f32[n, 3]>
}

// A reshape that moves elements between rows.
func.func @mixed(%x: !sv.tensor<f32[4, n]>) -> !sv.tensor<f32[n, 4]> {
  %0 = sv.reshape %x {dims = #sv.dims<[n, 4]>} : (!sv.tensor<f32[4, n]>) -> !sv.tensor<f32[n, 4]>
  return %0 : !sv.tensor<f32[n, 4]>
}

// An index counts the elements of the images before.
func.func @indices(%x: !sv.tensor<f32[n, c, 4]>) -> !sv.tensor<i64[n, c, 2]> {
  %0:2 = sv.max_pool_indices %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (!sv.tensor<f32[n, c, 4]>) -> (!sv.tensor<f32[n, c, 2]>, !sv.tensor<i64[n, c, 2]>)
  return %0#1 : !sv.tensor<i64[n, c, 2]>
}

// A table without rows, looked up for each row; and a table with rows.
func.func @lookup(%t: !sv.tensor<f32[v, 4]>, %i: !sv.tensor<i64[n, m]>) -> !sv.tensor<f32[n, m, 4]> {
  %0 = sv.gather %t, %i {axis = 0 : i64} : (!sv.tensor<f32[v, 4]>, !sv.tensor<i64[n, m]>) -> !sv.tensor<f32[n, m, 4]>
  return %0 : !sv.tensor<f32[n, m, 4]>
}

// The assertion that all indices are positive combines rows, and prevents nothing.
func.func @lookup_and_sum(%t: !sv.tensor<f32[v, 4]>, %i: !sv.tensor<i64[n]>) -> !sv.tensor<f32[n, 4]> {
  %zero = sv.constant {value = dense<0> : tensor<i64>} : !sv.tensor<i64[]>
  %0 = sv.greater %i, %zero : (!sv.tensor<i64[n]>, !sv.tensor<i64[]>) -> !sv.tensor<bool[n]>
  %1 = sv.reduce_min %0 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<bool[n]>) -> !sv.tensor<bool[]>
  sv.assert %1 {message = "no"} : !sv.tensor<bool[]>
  %2 = sv.gather %t, %i {axis = 0 : i64} : (!sv.tensor<f32[v, 4]>, !sv.tensor<i64[n]>) -> !sv.tensor<f32[n, 4]>
  %3 = sv.cum_sum %2 {axis = 0 : i64} : (!sv.tensor<f32[n, 4]>) -> !sv.tensor<f32[n, 4]>
  return %3 : !sv.tensor<f32[n, 4]>
}

// A branch by a value without rows, and by one of a row.
func.func @branch(%c: !sv.tensor<bool[]>, %x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.if %c : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
    %1 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %1 : !sv.tensor<f32[n]>
  } else {
    sv.yield %x : !sv.tensor<f32[n]>
  }
  return %0 : !sv.tensor<f32[n]>
}
func.func @branch_by_data(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %0 = sv.reduce_sum %x {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[]>
  %1 = sv.greater %0, %0 : (!sv.tensor<f32[]>, !sv.tensor<f32[]>) -> !sv.tensor<bool[]>
  %2 = sv.if %1 : (!sv.tensor<bool[]>) -> !sv.tensor<f32[n]> {
    %3 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %3 : !sv.tensor<f32[n]>
  } else {
    sv.yield %x : !sv.tensor<f32[n]>
  }
  return %2 : !sv.tensor<f32[n]>
}

// A size that an input without rows determines, and one that the rows determine.
func.func @read_size(%k: !sv.tensor<i64[]>, %x: !sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n]> {
  sv.read_dims %k {symbols = ["$k"]} : !sv.tensor<i64[]>
  sv.require {dims = #sv.dims<[8, "$k"]>, kind = "at_least", message = "k is {1}"}
  %0 = sv.slice %x {starts = #sv.dims<[0, 0]>, sizes = #sv.dims<[n, "$k"]>, steps = array<i64: 1, 1>}
      : (!sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n, "$k"]>
  %1 = sv.reduce_sum %0 {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<f32[n, "$k"]>) -> !sv.tensor<f32[n]>
  return %1 : !sv.tensor<f32[n]>
}
func.func @data_size(%i: !sv.tensor<i64[n]>, %x: !sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n]> {
  %k = sv.reduce_max %i {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<i64[n]>) -> !sv.tensor<i64[]>
  sv.read_dims %k {symbols = ["$k"]} : !sv.tensor<i64[]>
  %0 = sv.slice %x {starts = #sv.dims<[0, 0]>, sizes = #sv.dims<[n, "$k"]>, steps = array<i64: 1, 1>}
      : (!sv.tensor<f32[n, 8]>) -> !sv.tensor<f32[n, "$k"]>
  %1 = sv.reduce_sum %0 {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<f32[n, "$k"]>) -> !sv.tensor<f32[n]>
  return %1 : !sv.tensor<f32[n]>
}

// A check of the request, an assertion, and an input with the dimension twice.
func.func @check(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  sv.require {dims = #sv.dims<[n, 4]>, kind = "at_least", message = "n is {0}"}
  return %x : !sv.tensor<f32[n]>
}
func.func @assertion(%x: !sv.tensor<bool[n]>) -> !sv.tensor<bool[n]> {
  %0 = sv.slice %x {starts = #sv.dims<[0]>, sizes = #sv.dims<[1]>, steps = array<i64: 1>} : (!sv.tensor<bool[n]>) -> !sv.tensor<bool[1]>
  sv.assert %0 {message = "no"} : !sv.tensor<bool[1]>
  return %x : !sv.tensor<bool[n]>
}
func.func @assertion_of_all(%x: !sv.tensor<bool[n, 4]>, %y: !sv.tensor<bool[n]>) -> !sv.tensor<bool[n, 4]> {
  %0 = sv.reduce_min %x {axes = array<i64: 0, 1>, keep_dims = false} : (!sv.tensor<bool[n, 4]>) -> !sv.tensor<bool[]>
  %1 = sv.reduce_min %y {axes = array<i64: 0>} : (!sv.tensor<bool[n]>) -> !sv.tensor<bool[1]>
  %2 = sv.reshape %1 {dims = #sv.dims<[]>} : (!sv.tensor<bool[1]>) -> !sv.tensor<bool[]>
  %3 = sv.and %0, %2 : (!sv.tensor<bool[]>, !sv.tensor<bool[]>) -> !sv.tensor<bool[]>
  sv.assert %3 {message = "no"} : !sv.tensor<bool[]>
  return %x : !sv.tensor<bool[n, 4]>
}
func.func @assertion_of_any(%x: !sv.tensor<bool[n]>) -> !sv.tensor<bool[n]> {
  %0 = sv.reduce_max %x {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<bool[n]>) -> !sv.tensor<bool[]>
  sv.assert %0 {message = "no"} : !sv.tensor<bool[]>
  return %x : !sv.tensor<bool[n]>
}
func.func @square(%x: !sv.tensor<f32[n, n]>) -> !sv.tensor<f32[n, n]> {
  return %x : !sv.tensor<f32[n, n]>
}
func.func @twice(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32["2*n"]> {
  %0 = sv.expand %x {dims = #sv.dims<[2, n]>} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[2, n]>
  %1 = sv.transpose %0 {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[2, n]>) -> !sv.tensor<f32[n, 2]>
  %2 = sv.reshape %1 {dims = #sv.dims<["2*n"]>} : (!sv.tensor<f32[n, 2]>) -> !sv.tensor<f32["2*n"]>
  return %2 : !sv.tensor<f32["2*n"]>
}

// The loop has an iteration for each row.
func.func @loop_over_rows(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n, 2]> {
  %c = sv.constant {value = dense<1.0> : tensor<2xf32>} : !sv.tensor<f32[2]>
  %0 = sv.loop {index = "$i", trip_count = #sv.dims<[n]>} : () -> !sv.tensor<f32[n, 2]> {
    %1 = sv.slice %x {starts = #sv.dims<["$i"]>, sizes = #sv.dims<[1]>, steps = array<i64: 1>} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[1]>
    %2 = sv.add %1, %c : (!sv.tensor<f32[1]>, !sv.tensor<f32[2]>) -> !sv.tensor<f32[2]>
    sv.yield %2 : !sv.tensor<f32[2]>
  }
  return %0 : !sv.tensor<f32[n, 2]>
}
