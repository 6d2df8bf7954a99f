func.func @chain(%x: !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %a = sv.partition (%i = %x : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["a"]} {
    %0 = sv.exp %i : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  %m = sv.neg %a : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %b = sv.partition (%i = %a : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["b"]} {
    %0 = sv.relu %i : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  %c = sv.partition (%i = %b : !sv.tensor<f32[n]>, %j = %a : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["c"]} {
    %0 = sv.add %i, %j : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  return %c, %m : !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
func.func @path_through_other_op(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %a = sv.partition (%i = %x : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["a"]} {
    %0 = sv.exp %i : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  %m = sv.neg %a : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
  %b = sv.partition (%i = %a : !sv.tensor<f32[n]>, %j = %m : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["b"]} {
    %0 = sv.mul %i, %j : (!sv.tensor<f32[n]>, !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  return %b : !sv.tensor<f32[n]>
}
func.func @two_libraries(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %a = sv.partition (%i = %x : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "lib", patterns = ["a"]} {
    %0 = sv.exp %i : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  %b = sv.partition (%i = %a : !sv.tensor<f32[n]>) -> (!sv.tensor<f32[n]>) attributes {library = "other", patterns = ["b"]} {
    %0 = sv.neg %i : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>
    sv.yield %0 : !sv.tensor<f32[n]>
  }
  return %b : !sv.tensor<f32[n]>
}
