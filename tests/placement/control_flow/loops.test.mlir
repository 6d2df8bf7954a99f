!t = !sv.tensor<f32[n]>
!bool = !sv.tensor<bool[]>

func.func @carried(%x: !t) -> !t {
  %s = sv.exp %x : (!t) -> !t
  %s0 = sv.on_device %s {place = "cpu"} : (!t) -> !t
  %0 = sv.loop %s0 {index = "$i", trip_count = #sv.dims<[10]>} : (!t) -> !t {
  ^bb0(%c: !t):
    %1 = sv.neg %c : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    %3 = sv.abs %2 : (!t) -> !t
    sv.yield %3 : !t
  }
  return %0 : !t
}

func.func @copy_before_the_loop(%x: !t, %y: !t) -> !t {
  %s = sv.exp %y : (!t) -> !t
  %s0 = sv.on_device %s {place = "cpu"} : (!t) -> !t
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[10]>} : (!t) -> !t {
  ^bb0(%c: !t):
    %1 = sv.add %c, %s0 : (!t, !t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %2 : !t
  }
  return %0 : !t
}

func.func @copies_in_the_loop(%x: !t) -> !t {
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[10]>} : (!t) -> !t {
  ^bb0(%c: !t):
    %1 = sv.neg %c : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    %3 = sv.exp %2 : (!t) -> !t
    %4 = sv.on_device %3 {place = "cpu"} : (!t) -> !t
    sv.yield %4 : !t
  }
  return %0 : !t
}

func.func @gathers(%x: !t) -> !t {
  %0:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<[10]>} : (!t) -> (!t, !sv.tensor<f32[10, n]>) {
  ^bb0(%c: !t):
    %1 = sv.neg %c : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %2, %2 : !t, !t
  }
  %3 = sv.reduce_sum %0#1 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32[10, n]>) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  return %4 : !t
}

func.func @grows(%x: !sv.tensor<f32[1]>, %limit: !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]> {
  %0:2 = sv.loop %x {has_condition = true, index = "$i", symbols = ["$count"], trip_count = #sv.dims<[]>}
      : (!sv.tensor<f32[1]>) -> (!sv.tensor<f32[1]>, !sv.tensor<f32["$count", 1]>) {
  ^bb0(%s: !sv.tensor<f32[1]>):
    %1 = sv.add %s, %s : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
    %2 = sv.on_device %1 {place = "npu"} : (!sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
    %3 = sv.less %2, %limit : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<bool[1]>
    sv.yield %3, %2, %2 : !sv.tensor<bool[1]>, !sv.tensor<f32[1]>, !sv.tensor<f32[1]>
  }
  %4 = sv.reduce_sum %0#1 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32["$count", 1]>) -> !sv.tensor<f32[1]>
  %5 = sv.on_device %4 {place = "npu"} : (!sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
  return %5 : !sv.tensor<f32[1]>
}

func.func @swapped(%x: !t, %y: !t) -> !t {
  %0:2 = sv.loop %x, %y {index = "$i", trip_count = #sv.dims<[10]>} : (!t, !t) -> (!t, !t) {
  ^bb0(%a: !t, %b: !t):
    %1 = sv.neg %a : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %b, %2 : !t, !t
  }
  return %0#1 : !t
}
