!x = !sv.tensor<f32[n, 16, 8, 8]>
!w = !sv.tensor<f32[16, 16, 3, 3]>

func.func @conv_network(%x: !x, %a: !w, %b: !w, %c: !w) -> !x {
  %0 = sv.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  %1 = sv.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  %2 = sv.add %0, %1 : (!x, !x) -> !x
  %3 = sv.conv %2, %c {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  return %3 : !x
}

func.func @sum_elsewhere(%x: !x, %a: !w, %b: !w, %c: !w) -> !x {
  %0 = sv.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  %1 = sv.conv %x, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  %2 = sv.add %0, %1 : (!x, !x) -> !x
  %s = sv.on_device %2 {place = "cpu"} : (!x) -> !x
  %3 = sv.conv %s, %c {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!x, !w) -> !x
  return %3 : !x
}
