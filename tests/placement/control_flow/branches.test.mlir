!t = !sv.tensor<f32[n]>
!bool = !sv.tensor<bool[]>

func.func @one_branch_elsewhere(%c: !bool, %x: !t) -> !t {
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.neg %x : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %2 : !t
  } else {
    %1 = sv.abs %x : (!t) -> !t
    sv.yield %1 : !t
  }
  return %0 : !t
}

func.func @both_branches_elsewhere(%c: !bool, %x: !t) -> !t {
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.neg %x : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %2 : !t
  } else {
    %1 = sv.abs %x : (!t) -> !t
    %2 = sv.on_device %1 {place = "npu"} : (!t) -> !t
    sv.yield %2 : !t
  }
  %3 = sv.exp %0 : (!t) -> !t
  %4 = sv.on_device %3 {place = "npu"} : (!t) -> !t
  return %4 : !t
}

func.func @annotated(%c: !bool, %x: !t) -> !t {
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.neg %x : (!t) -> !t
    sv.yield %1 : !t
  } else {
    sv.yield %x : !t
  }
  %2 = sv.on_device %0 {place = "npu"} : (!t) -> !t
  return %2 : !t
}

func.func @condition(%c: !bool, %x: !t) -> !t {
  %0 = sv.not %c : (!bool) -> !bool
  %1 = sv.on_device %0 {place = "npu"} : (!bool) -> !bool
  %2 = sv.if %1 : (!bool) -> !t {
    %3 = sv.neg %x : (!t) -> !t
    sv.yield %3 : !t
  } else {
    sv.yield %x : !t
  }
  sv.assert %1 {message = "no"} : !bool
  return %2 : !t
}

func.func @copies_in_branches(%c: !bool, %x: !t) -> !t {
  %a = sv.neg %x : (!t) -> !t
  %b = sv.on_device %a {place = "npu"} : (!t) -> !t
  %d = sv.exp %x : (!t) -> !t
  %e = sv.on_device %d {place = "npu"} : (!t) -> !t
  %0 = sv.if %c : (!bool) -> !t {
    %1 = sv.add %b, %e : (!t, !t) -> !t
    %2 = sv.on_device %1 {place = "cpu"} : (!t) -> !t
    sv.yield %2 : !t
  } else {
    %1 = sv.abs %e : (!t) -> !t
    %2 = sv.on_device %1 {place = "cpu"} : (!t) -> !t
    sv.yield %2 : !t
  }
  return %0 : !t
}
