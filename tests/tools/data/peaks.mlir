// Values that are live at the peak but not read there: "turned" is cheap to compute again, "early"
// can be computed later, and "scaled" prevents that "soft" is stored in place of "wide".
!x = !sv.tensor<f32[n, 128]>
!turned = !sv.tensor<f32[128, n]>
!wide = !sv.tensor<f32[n, 1024]>
!row = !sv.tensor<f32[n, 1]>

func.func @main(%x: !x {sv.name = "x"}, %a: !sv.tensor<f32[128, 1024]> {sv.name = "a"},
                %b: !sv.tensor<f32[1024, 128]> {sv.name = "b"})
    -> (!x {sv.name = "y"}, !turned {sv.name = "z"}) {
  %early = sv.softmax %x {axis = 0} : (!x) -> !x loc("early")
  %turned = sv.transpose %x {permutation = array<i64: 1, 0>} : (!x) -> !turned loc("turned")
  %shifted = sv.cum_sum %turned {axis = 1} : (!turned) -> !turned loc("shifted")
  %wide = sv.matmul %x, %a : (!x, !sv.tensor<f32[128, 1024]>) -> !wide loc("wide")
  %soft = sv.softmax %wide {axis = 1} : (!wide) -> !wide loc("soft")
  %down = sv.matmul %soft, %b : (!wide, !sv.tensor<f32[1024, 128]>) -> !x loc("down")
  %back = sv.matmul %wide, %b : (!wide, !sv.tensor<f32[1024, 128]>) -> !x loc("back")
  %0 = sv.add %down, %early : (!x, !x) -> !x loc("first")
  %y = sv.add %0, %back : (!x, !x) -> !x loc("sum")
  %z = sv.mul %turned, %shifted : (!turned, !turned) -> !turned loc("product")
  return %y, %z : !x, !turned
}
