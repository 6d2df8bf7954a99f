!t = !sv.tensor<f32[n]>

func.func @open(%x: !t {sv.name = "x"}) -> (!t {sv.name = "y"}) {
  %0 = sv.neg %x : (!t) -> !t
  return %0 : !t
}

func.func @said(%x: !sv.tensor<f32[n], @npu> {sv.name = "xt"}) -> (!sv.tensor<f32[n], @npu> {sv.name = "yt"}) {
  %0 = sv.neg %x : (!sv.tensor<f32[n], @npu>) -> !sv.tensor<f32[n], @npu>
  return %0 : !sv.tensor<f32[n], @npu>
}

func.func @annotated(%x: !t {sv.name = "z"}) -> (!t {sv.name = "yt"}) {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu", constrain_result = true} : (!t) -> !t
  return %1 : !t
}
