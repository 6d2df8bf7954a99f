// A skip connection: "skip" is live but unused while the wide layer uses most of the memory.
!x = !sv.tensor<f32[n, 64]>
!wide = !sv.tensor<f32[n, 512]>
!skip = !sv.tensor<f32[n, 256]>
!w64_256 = !sv.tensor<f32[64, 256]>

func.func @main(%x: !x {sv.name = "x"}, %a: !w64_256 {sv.name = "a"},
                %b: !sv.tensor<f32[256, 512]> {sv.name = "b"},
                %c: !sv.tensor<f32[512, 64]> {sv.name = "c"}) -> (!skip {sv.name = "y"}) {
  %skip = sv.matmul %x, %a : (!x, !w64_256) -> !skip loc("skip")
  %0 = sv.softmax %skip {axis = 1} : (!skip) -> !skip loc("narrow")
  %wide = sv.matmul %0, %b : (!skip, !sv.tensor<f32[256, 512]>) -> !wide loc("wide")
  %soft = sv.softmax %wide {axis = 1} : (!wide) -> !wide loc("soft")
  %1 = sv.matmul %soft, %c : (!wide, !sv.tensor<f32[512, 64]>) -> !x loc("down")
  %2 = sv.matmul %1, %a : (!x, !w64_256) -> !skip loc("up")
  %y = sv.add %2, %skip : (!skip, !skip) -> !skip loc("sum")
  return %y : !skip
}
