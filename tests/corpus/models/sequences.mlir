// ys: xs with its element i doubled in length before the first element, and element i after the last
// one, without the second element. pair: a sequence of x and its negation. p: an optional.
!list = !sv.list<sequence f32[?]>
func.func @main(%xs: !list {sv.name = "xs"}, %i: !sv.tensor<i64[]> {sv.name = "i"},
                %x: !sv.tensor<f32[n]> {sv.name = "x"}, %o: !sv.list<optional i64[...]> {sv.name = "o"})
    -> (!list {sv.name = "ys"}, !sv.tensor<i64[1]> {sv.name = "size"}, !list {sv.name = "pair"},
        !sv.list<optional i64[...]> {sv.name = "p"}) {
  sv.read_dims %i {is_signed = true, symbols = ["$i"]} : !sv.tensor<i64[]>
  %0 = sv.list_get %xs {index = #sv.dims<["$i-$i.neg"]>, symbols = ["$d"]} : (!list) -> !sv.tensor<f32["$d"]>
  %1 = sv.concat %0, %0 {axis = 0 : i64} : (!sv.tensor<f32["$d"]>, !sv.tensor<f32["$d"]>) -> !sv.tensor<f32["2*$d"]>
  %2 = sv.list_insert %xs, %1 {index = #sv.dims<[0]>} : (!list, !sv.tensor<f32["2*$d"]>) -> !list
  %3 = sv.list_insert %2, %0 {index = #sv.dims<[]>} : (!list, !sv.tensor<f32["$d"]>) -> !list
  %4 = sv.list_erase %3 {index = #sv.dims<[1]>} : (!list) -> !list
  sv.list_size %4 {symbol = "$size"} : (!list) -> ()
  %5 = sv.dims_tensor {dims = #sv.dims<["$size"]>} : () -> !sv.tensor<i64[1]>
  %6 = sv.neg %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %7 = sv.list %x, %6 : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !list
  return %4, %5, %7, %o : !list, !sv.tensor<i64[1]>, !list, !sv.list<optional i64[...]>
}
