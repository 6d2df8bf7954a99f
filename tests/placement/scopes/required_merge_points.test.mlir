!t = !sv.tensor<f32[n, 4]>
!k = !sv.tensor<f32[4]>
!bool = !sv.tensor<bool[]>

func.func @main(%x: !t {sv.name = "x"}, %z: !t {sv.name = "z"}, %c: !bool {sv.name = "c"}, %k: !k {sv.name = "k"})
    -> (!t {sv.name = "of_if"}, !t {sv.name = "of_loop"}, !k {sv.name = "of_constant"}, !t {sv.name = "of_call"}, !t {sv.name = "of_both"}) {
  %0 = sv.tanh %x : (!t) -> !t
  %1 = sv.if %c : (!bool) -> !t {
    %2 = sv.add %0, %0 : (!t, !t) -> !t
    sv.yield %2 : !t
  } else {
    sv.yield %0 : !t
  }
  %3 = sv.on_device %1 {place = "npu.global.a"} : (!t) -> !t

  %4 = sv.loop %z {index = "$i", trip_count = #sv.dims<[3]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %5 = sv.sub %s, %x : (!t, !t) -> !t
    sv.yield %5 : !t
  }
  %6 = sv.on_device %4 {place = ".global.b"} : (!t) -> !t

  %7 = sv.constant {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : !k
  %8 = sv.if %c : (!bool) -> !k {
    sv.yield %7 : !k
  } else {
    %9 = sv.neg %k : (!k) -> !k
    sv.yield %9 : !k
  }
  %10 = sv.on_device %8 {place = "npu.global.a"} : (!k) -> !k

  %11 = sv.call @called(%z) : (!t) -> !t
  %12 = sv.on_device %11 {place = "npu.global.b"} : (!t) -> !t

  %13 = sv.loop %x {index = "$j", trip_count = #sv.dims<[2]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %14 = sv.if %c : (!bool) -> !t {
      %15 = sv.exp %s : (!t) -> !t
      sv.yield %15 : !t
    } else {
      sv.yield %s : !t
    }
    sv.yield %14 : !t
  }
  %16 = sv.on_device %13 {place = "npu.global.c"} : (!t) -> !t
  return %3, %6, %10, %12, %16 : !t, !t, !k, !t, !t
}

func.func private @called(%p: !t) -> !t {
  %0 = sv.on_device %p {place = "npu.global.a"} : (!t) -> !t
  %1 = sv.abs %0 : (!t) -> !t
  return %1 : !t
}
