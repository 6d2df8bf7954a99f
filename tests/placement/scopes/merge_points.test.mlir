!t = !sv.tensor<f32[n]>
!bool = !sv.tensor<bool[]>

func.func @branch(%c: !bool, %x: !t) -> !t {
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.neg %x : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu.global.a", constrain_result = true} : (!t) -> !t
    sv.yield %2 : !t
  } else {
    sv.yield %x : !t
  }
  return %0 : !t
}

func.func @loop(%x: !t) -> !t {
  %0 = sv.loop %x {index = "$i", trip_count = #sv.dims<[4]>} : (!t) -> !t {
  ^bb0(%s: !t):
    %1 = sv.neg %s : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu.global.a", constrain_body = false, constrain_result = true} : (!t) -> !t
    sv.yield %2 : !t
  }
  return %0 : !t
}

func.func @result(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %1 = sv.on_device %0 {place = "npu.global.a", constrain_result = true} : (!t) -> !t
  return %1 : !t
}

func.func @calls(%x: !t) -> (!t, !t) {
  %0 = sv.on_device %x {place = "npu.global.a", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.call @f(%0) : (!t) -> !t
  %2 = sv.call @f(%x) : (!t) -> !t
  return %1, %2 : !t, !t
}
func.func private @f(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  return %0 : !t
}
