// The numbers of pieces of strings, the pieces, each piece twice, and whether it matches [a-z]+.
!s = !sv.tensor<str[n]>
!word = !sv.tensor<str[]>
!pieces = !sv.tensor<str[n, "$k"]>
!i = !sv.tensor<i64[n]>
func.func @main(%x: !s {sv.name = "x"})
    -> (!i {sv.name = "counts"}, !pieces {sv.name = "pieces"}, !pieces {sv.name = "twice"},
        !sv.tensor<bool[n, "$k"]> {sv.name = "matches"}) {
  %comma = sv.constant {value = dense<","> : tensor<!sv.str>} : !word
  %counts = sv.count_pieces %x, %comma {max_splits = 2 : i64} : (!s, !word) -> !i
  %most = sv.reduce_max %counts {axes = array<i64: 0>, keep_dims = false} : (!i) -> !sv.tensor<i64[]>
  sv.read_dims %most {symbols = ["$k"]} : !sv.tensor<i64[]>
  %pieces = sv.split_strings %x, %comma {count = #sv.dims<["$k"]>, max_splits = 2 : i64} : (!s, !word) -> !pieces
  %twice = sv.concat_strings %pieces, %pieces : (!pieces, !pieces) -> !pieces
  %before = sv.constant {value = dense<1> : tensor<97xi32>} : !sv.tensor<i32[97]>
  %letters = sv.constant {value = dense<2> : tensor<26xi32>} : !sv.tensor<i32[26]>
  %after = sv.constant {value = dense<1> : tensor<133xi32>} : !sv.tensor<i32[133]>
  %states = sv.constant {value = dense<[3, 0, -1, 1, 1, -1, 1]> : tensor<7xi32>} : !sv.tensor<i32[7]>
  %automaton = sv.concat %before, %letters, %after, %states {axis = 0 : i64} : (!sv.tensor<i32[97]>, !sv.tensor<i32[26]>, !sv.tensor<i32[133]>, !sv.tensor<i32[7]>) -> !sv.tensor<i32[263]>
  %matches = sv.match_strings %pieces, %automaton : (!pieces, !sv.tensor<i32[263]>) -> !sv.tensor<bool[n, "$k"]>
  return %counts, %pieces, %twice, %matches : !i, !pieces, !pieces, !sv.tensor<bool[n, "$k"]>
}
