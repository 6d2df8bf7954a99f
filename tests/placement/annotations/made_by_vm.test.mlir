!t = !sv.tensor<f32[n]>

func.func @element(%l: !sv.list<sequence f32[4]>) -> !sv.tensor<f32[4]> {
  %0 = sv.list_get %l {index = #sv.dims<[0]>} : (!sv.list<sequence f32[4]>) -> !sv.tensor<f32[4]>
  %1 = sv.on_device %0 {place = "npu"} : (!sv.tensor<f32[4]>) -> !sv.tensor<f32[4]>
  return %1 : !sv.tensor<f32[4]>
}

func.func @closure(%x: !t) -> !t {
  %f = sv.closure @on_npu() : () -> !sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>
  %0 = sv.call_closure %f(%x) : (!sv.closure<(!sv.tensor<f32[m]>) -> !sv.tensor<f32[m]>>, !t) -> !t
  return %0 : !t
}
func.func private @on_npu(%x: !sv.tensor<f32[m], @npu>) -> !sv.tensor<f32[m]> {
  %0 = sv.neg %x : (!sv.tensor<f32[m], @npu>) -> !sv.tensor<f32[m]>
  return %0 : !sv.tensor<f32[m]>
}

func.func @grows(%x: !sv.tensor<f32[1]>, %limit: !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]> {
  %0:2 = sv.loop %x {has_condition = true, index = "$i", symbols = ["$count"], trip_count = #sv.dims<[]>}
      : (!sv.tensor<f32[1]>) -> (!sv.tensor<f32[1]>, !sv.tensor<f32["$count", 1]>) {
  ^bb0(%s: !sv.tensor<f32[1]>):
    %1 = sv.add %s, %s : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<f32[1]>
    %2 = sv.less %1, %limit : (!sv.tensor<f32[1]>, !sv.tensor<f32[1]>) -> !sv.tensor<bool[1]>
    sv.yield %2, %1, %1 : !sv.tensor<bool[1]>, !sv.tensor<f32[1]>, !sv.tensor<f32[1]>
  }
  %3 = sv.on_device %0#1 {place = "npu"} : (!sv.tensor<f32["$count", 1]>) -> !sv.tensor<f32["$count", 1]>
  %4 = sv.reduce_sum %3 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32["$count", 1]>) -> !sv.tensor<f32[1]>
  return %4 : !sv.tensor<f32[1]>
}
