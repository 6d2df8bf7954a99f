// Returns its input.
func.func @main(%xs: !sv.list<sequence str[?]> {sv.name = "xs"})
    -> (!sv.list<sequence str[?]> {sv.name = "ys"}) {
  return %xs : !sv.list<sequence str[?]>
}
