// The rows whose first element is at least `least`, their numbers, and how many there are.
sv.extern @"example.keep"
    : (!sv.tensor<f32[n, k]>) -> (!sv.tensor<f32[n, k]>, !sv.tensor<i64[n]>, !sv.tensor<i64[1]>)
    {library = "test", op_name = "example.Keep",
     op_results = [!sv.tensor<f32["$rows", k]>, !sv.tensor<i64["$rows"]>]}
