!t = !sv.tensor<f32[n, 4]>
!i = !sv.tensor<i64[n, 4]>

// Two sums of a partial value: each rank adds that of the other one.
func.func @exchange(%x: !t, %w: !t) -> (!t, !t) {
  %a = sv.neg %x {name = "a"} : (!t) -> !t
  %a0 = sv.on_device %a {place = "cpu"} : (!t) -> !t
  %b = sv.exp %w : (!t) -> !t
  %b1 = sv.on_device %b {place = "other"} : (!t) -> !t
  %s0 = sv.add %a0, %b1 : (!t, !t) -> !t
  %p0 = sv.on_device %s0 {place = "cpu"} : (!t) -> !t
  %s1 = sv.add %a0, %b1 : (!t, !t) -> !t
  %p1 = sv.on_device %s1 {place = "other"} : (!t) -> !t
  return %p0, %p1 : !t, !t
}

// The rank that receives a value computes another one before.
func.func @memory(%x: !t) -> !t {
  %a = sv.neg %x : (!t) -> !t
  %a0 = sv.on_device %a {place = "cpu"} : (!t) -> !t
  %b = sv.exp %x : (!t) -> !t
  %b1 = sv.on_device %b {place = "other"} : (!t) -> !t
  %c = sv.sqrt %b1 : (!t) -> !t
  %c1 = sv.on_device %c {place = "other"} : (!t) -> !t
  %s = sv.add %a0, %c1 : (!t, !t) -> !t
  %s1 = sv.on_device %s {place = "other"} : (!t) -> !t
  return %s1 : !t
}
