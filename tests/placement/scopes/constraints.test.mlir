!t = !sv.tensor<f32[n]>

func.func @joins(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  %e = sv.on_device %d {place = "npu", constrain_body = false} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  %f = sv.on_device %1 {place = "npu.global.a"} : (!t) -> !t
  return %f : !t
}

func.func @reached(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  %1 = sv.exp %x : (!t) -> !t
  %e = sv.on_device %1 {place = "npu.global.b"} : (!t) -> !t
  %2 = sv.add %d, %e : (!t, !t) -> !t
  %f = sv.on_device %2 {place = "npu"} : (!t) -> !t
  return %f : !t
}

func.func @a_to_b(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu.global.a"} : (!t) -> !t
  %e = sv.on_device %d {place = "npu.global.b", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.abs %e : (!t) -> !t
  %f = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %f : !t
}

func.func @copy(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.device_copy %0 {from = "npu.global.a", to = "npu.global.b"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !t
  %e = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %e : !t
}

func.func @two_readers(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu"} : (!t) -> !t
  %a = sv.on_device %d {place = "npu.global.a", constrain_body = false, constrain_result = true} : (!t) -> !t
  %1 = sv.abs %a : (!t) -> !t
  %b = sv.on_device %d {place = "npu.global.b", constrain_body = false, constrain_result = true} : (!t) -> !t
  %2 = sv.exp %b : (!t) -> !t
  %3 = sv.add %1, %2 : (!t, !t) -> !t
  %e = sv.on_device %3 {place = "npu"} : (!t) -> !t
  return %e : !t
}

func.func @global(%x: !t) -> !t {
  %0 = sv.neg %x : (!t) -> !t
  %d = sv.on_device %0 {place = "npu.global"} : (!t) -> !t
  %1 = sv.abs %d : (!t) -> !t
  %e = sv.on_device %1 {place = "npu"} : (!t) -> !t
  return %e : !t
}
