// The sequence with its last element twice, and the optional as it is.
func.func @main(%xs: !sv.list<sequence f32[?, 2]> {sv.name = "xs"},
                %o: !sv.list<optional i64[...]> {sv.name = "o"})
    -> (!sv.list<sequence f32[?, 2]> {sv.name = "ys"}, !sv.list<optional i64[...]> {sv.name = "p"}) {
  %0 = sv.list_get %xs {index = #sv.dims<[-1]>, symbols = ["$d"]}
      : (!sv.list<sequence f32[?, 2]>) -> !sv.tensor<f32["$d", 2]>
  %1 = sv.list_insert %xs, %0 {index = #sv.dims<[]>}
      : (!sv.list<sequence f32[?, 2]>, !sv.tensor<f32["$d", 2]>) -> !sv.list<sequence f32[?, 2]>
  return %1, %o : !sv.list<sequence f32[?, 2]>, !sv.list<optional i64[...]>
}
