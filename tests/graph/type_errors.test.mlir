// An axis is in [0, rank).
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.softmax %x {axis = 1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis -1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.log_softmax %x {axis = -1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.cum_sum %x {axis = 1 : i64} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>, %s: !sv.tensor<f32[]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{axis 1 is out of range for f32[n] of rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.layer_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{x must have rank 2 or more, but is f32[n]}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.trilu %x {k = 0 : i64, upper = true} : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 2, 5]>, %w: !sv.tensor<f32[2, 3, 2]>, %b: !sv.tensor<f32[]>) -> !sv.tensor<f32[1, 3, 6]> {
  // expected-error@+2 {{the bias must have rank 1, but is f32[]}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.conv_transpose %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_pads = array<i64: 0>, group = 1 : i64} : (!sv.tensor<f32[1, 2, 5]>, !sv.tensor<f32[2, 3, 2]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[1, 3, 6]>
  return %y : !sv.tensor<f32[1, 3, 6]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 2, 5]>, %w: !sv.tensor<f32[2, 3, 2]>) -> !sv.tensor<f32[1, 3, 6]> {
  // expected-error@+2 {{group is 0, expected 1 to 1048576}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_pads = array<i64: 0>, group = 0 : i64} : (!sv.tensor<f32[1, 2, 5]>, !sv.tensor<f32[2, 3, 2]>) -> !sv.tensor<f32[1, 3, 6]>
  return %y : !sv.tensor<f32[1, 3, 6]>
}

// -----

func.func @main(%x: !sv.tensor<i64[n]>, %v: !sv.tensor<f32[1]>) -> !sv.tensor<f32[n, 4]> {
  // expected-error@+2 {{values must have 2 elements, off and on, but is f32[1]}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.one_hot %x, %v {depth = #sv.dims<[4]>, axis = 1 : i64} : (!sv.tensor<i64[n]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[n, 4]>
  return %y : !sv.tensor<f32[n, 4]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+2 {{operand 0 is f32[n], expected element type bool}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.not %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  return %y : !sv.tensor<f32[n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  // expected-error@+1 {{gathers f32[n] into closure () -> (), expected tensors}}
  %y:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<[3]>} : (!sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.closure<() -> ()>) {
  ^bb0(%s: !sv.tensor<f32[n]>):
    sv.yield %s, %s : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
  }
  return %y#0 : !sv.tensor<f32[n]>
}

// -----

// The trip count is 3, so the result of a gather has 3 rows.
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[4000, n]> {
  // expected-error@+1 {{gathers into f32[4000, n], expected the trip count 3 as dim 0}}
  %y:2 = sv.loop %x {index = "$i", trip_count = #sv.dims<[3]>} : (!sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[4000, n]>) {
  ^bb0(%s: !sv.tensor<f32[n]>):
    sv.yield %s, %s : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
  }
  return %y#1 : !sv.tensor<f32[4000, n]>
}

// -----

// The convolution of blocked images.
func.func @main(%x: !sv.tensor<f16[1, 1, 4, 4, 16]>, %w: !sv.tensor<f16[4, 2, 3, 3]>) -> !sv.tensor<f16[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{the element types must be f32, or u8 and i8}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f16[1, 1, 4, 4, 16]>, !sv.tensor<f16[4, 2, 3, 3]>) -> !sv.tensor<f16[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f16[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[m, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{the weight must be static and have rank 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[m, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[16, 16, 0, 3]>) -> !sv.tensor<f32[1, 1, 5, 2, 16]> {
  // expected-error@+2 {{the weight must have elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[16, 16, 0, 3]>) -> !sv.tensor<f32[1, 1, 5, 2, 16]>
  return %y : !sv.tensor<f32[1, 1, 5, 2, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 40, 40, 16]>, %w: !sv.tensor<f32[16, 1, 31, 31]>) -> !sv.tensor<f32[1, 1, 10, 10, 16]> {
  // expected-error@+2 {{with groups of 1, 2, 4 or 8 channels, the window must have at most 49 elements, and strides and dilations must be small}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 16 : i64} : (!sv.tensor<f32[1, 1, 40, 40, 16]>, !sv.tensor<f32[16, 1, 31, 31]>) -> !sv.tensor<f32[1, 1, 10, 10, 16]>
  return %y : !sv.tensor<f32[1, 1, 10, 10, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f16[1, 1, 4, 4, 16]>, %w: !sv.tensor<f16[64, 16, 1, 1]>) -> !sv.tensor<f16[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{the element type must be f32}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f16[1, 1, 4, 4, 16]>, !sv.tensor<f16[64, 16, 1, 1]>) -> !sv.tensor<f16[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f16[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<u8[1, 3, 4, 4]>, %w: !sv.tensor<i8[16, 3, 1, 1]>) -> !sv.tensor<i32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{x must be blocked if it is u8}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<u8[1, 3, 4, 4]>, !sv.tensor<i8[16, 3, 1, 1]>) -> !sv.tensor<i32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<i32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<u8[1, 3, 4, 4]>, %w: !sv.tensor<i8[5, 3, 1, 1]>, %b: !sv.tensor<i32[5]>) -> !sv.tensor<i32[1, 5, 4, 4]> {
  // expected-error@+2 {{a convolution of bytes has no bias}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<u8[1, 3, 4, 4]>, !sv.tensor<i8[5, 3, 1, 1]>, !sv.tensor<i32[5]>) -> !sv.tensor<i32[1, 5, 4, 4]>
  return %y : !sv.tensor<i32[1, 5, 4, 4]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[16, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{winograd requires a blocked x of f32 and a window of 3x3 elements with strides, dilations and group 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, winograd} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[16, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[16, 16, 3, 3]>) -> !sv.tensor<f32[1, 1, 2, 2, 16]> {
  // expected-error@+2 {{schedule excludes winograd and groups of 1, 2, 4 or 8 channels}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, winograd, schedule = "direct in groups of 1 block"} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[16, 16, 3, 3]>) -> !sv.tensor<f32[1, 1, 2, 2, 16]>
  return %y : !sv.tensor<f32[1, 1, 2, 2, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 2, 4, 4, 16]>, %w: !sv.tensor<f32[96, 16, 1, 1]>) -> !sv.tensor<f32[1, 6, 4, 4, 16]> {
  // expected-error@+2 {{the schedule is "direct in groups of 2 blocks", expected groups of a divisor of 3 blocks}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, schedule = "direct in groups of 2 blocks"} : (!sv.tensor<f32[1, 2, 4, 4, 16]>, !sv.tensor<f32[96, 16, 1, 1]>) -> !sv.tensor<f32[1, 6, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 6, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[48, 16, 1, 1]>) -> !sv.tensor<f32[1, 3, 4, 4, 16]> {
  // expected-error@+2 {{the schedule is "direct in groups of 4 blocks", expected groups of at most 3 blocks}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, schedule = "direct in groups of 4 blocks"} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[48, 16, 1, 1]>) -> !sv.tensor<f32[1, 3, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 3, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[80, 16, 1, 1]>) -> !sv.tensor<f32[1, 5, 4, 4, 16]> {
  // expected-error@+2 {{unknown schedule "direct in groups of 6 blocks"}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, schedule = "direct in groups of 6 blocks"} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[80, 16, 1, 1]>) -> !sv.tensor<f32[1, 5, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 5, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 2, 4, 4, 16]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{12 channels from channel 24 on are not in f32[1, 2, 4, 4, 16]}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_concat %x {starts = array<i64: 24>, counts = array<i64: 12>} : (!sv.tensor<f32[1, 2, 4, 4, 16]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 32, 4, 4]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{f32[1, 32, 4, 4] is not a blocked image}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_concat %x {starts = array<i64: 0>, counts = array<i64: 12>} : (!sv.tensor<f32[1, 32, 4, 4]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %z: !sv.tensor<f32[1, 1, 4, 5, 16]>) -> !sv.tensor<f32[1, 2, 4, 4, 16]> {
  // expected-error@+2 {{operands f32[1, 1, 4, 4, 16] and f32[1, 1, 4, 5, 16] differ in dim 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_concat %x, %z {starts = array<i64: 0, 0>, counts = array<i64: 12, 12>} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[1, 1, 4, 5, 16]>) -> !sv.tensor<f32[1, 2, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 2, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{expected 2 kernel dims and 2 output_pads}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f32[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 16, 4, 4]>, %w: !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{x must have rank 5, and its last dim must be 16}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f32[1, 16, 4, 4]>, !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f32[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{pads must be less than the kernel dims}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 2, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[64, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f32[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[60, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{expected a multiple of 64 rows}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[60, 16, 1, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f32[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[64, 16, 2, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]> {
  // expected-error@+2 {{expected 1 taps in dim 2 of the weight}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv_transpose %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_pads = array<i64: 0, 0>} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[64, 16, 2, 1]>) -> !sv.tensor<f32[1, 1, 8, 8, 16]>
  return %y : !sv.tensor<f32[1, 1, 8, 8, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 16]>, %w: !sv.tensor<f32[6, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{group is 2, expected 1, groups of whole blocks of channels, or groups of 1, 2, 4 or 8 channels with as many output channels}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 2 : i64} : (!sv.tensor<f32[1, 1, 4, 4, 16]>, !sv.tensor<f32[6, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 4, 16]>, %w: !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{x must have rank 4, or rank 5 if it is blocked}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 1, 4, 4, 4, 16]>, !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 4, 4, 4]>, %w: !sv.tensor<f32[4, 1, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{with several groups, x must be blocked}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 4 : i64} : (!sv.tensor<f32[1, 4, 4, 4]>, !sv.tensor<f32[4, 1, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 1, 4, 4, 8]>, %w: !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{the last dim of x must be 16}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 1, 4, 4, 8]>, !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[1, 2, 4, 4, 16]>, %w: !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]> {
  // expected-error@+2 {{expected 2 channels}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.blocked_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (!sv.tensor<f32[1, 2, 4, 4, 16]>, !sv.tensor<f32[4, 2, 3, 3]>) -> !sv.tensor<f32[1, 1, 4, 4, 16]>
  return %y : !sv.tensor<f32[1, 1, 4, 4, 16]>
}

// -----

func.func @main(%x: !sv.tensor<f32[2, n]>, %part: !sv.tensor<f32[3, 1]>) -> !sv.tensor<f32[2, n]> {
  // expected-error@+2 {{f32[3, 1] cannot be a part of f32[2, n] along axis 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.insert_slice %x, %part {axis = 1 : i64, start = #sv.dims<[0]>} : (!sv.tensor<f32[2, n]>, !sv.tensor<f32[3, 1]>) -> !sv.tensor<f32[2, n]>
  return %y : !sv.tensor<f32[2, n]>
}

// -----

func.func @main(%x: !sv.tensor<f32[2, n]>, %part: !sv.tensor<f32[2, 1]>) -> !sv.tensor<f32[2, n]> {
  // expected-error@+2 {{2 starts given, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = sv.insert_slice %x, %part {axis = 1 : i64, start = #sv.dims<[0, 0]>} : (!sv.tensor<f32[2, n]>, !sv.tensor<f32[2, 1]>) -> !sv.tensor<f32[2, n]>
  return %y : !sv.tensor<f32[2, n]>
}
