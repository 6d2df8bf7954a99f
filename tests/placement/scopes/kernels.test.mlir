!a = !sv.tensor<f32[n, 8], @npu.global.a>
!b = !sv.tensor<f32[8, 8], @npu.global.b>
!c = !sv.tensor<f32[n, 8], @npu.global.c>
!npu = !sv.tensor<f32[n, 8], @npu>
!w = !sv.tensor<f32[8, 8], @npu>

func.func @in_and_out(%x: !a, %w: !b) -> !c {
  %0 = sv.matmul %x, %w {sv.operand_scopes = ["global.a", "global.b"], sv.result_scopes = ["global.c"]} : (!a, !b) -> !c
  return %0 : !c
}

func.func @outward(%x: !npu, %w: !w) -> !npu {
  %0 = sv.neg %x : (!npu) -> !npu
  %1 = sv.matmul %0, %w {sv.operand_scopes = ["global.a", ""], sv.result_scopes = ["global.c"]} : (!npu, !w) -> !npu
  %2 = sv.abs %1 : (!npu) -> !npu
  return %2 : !npu
}

func.func @copied(%x: !c, %w: !b) -> !a {
  %0 = sv.matmul %x, %w {sv.operand_scopes = ["global.a", "global.b"], sv.result_scopes = ["global.c"]} : (!c, !b) -> !c
  %1 = sv.device_copy %0 {to = "npu.global.a"} : (!c) -> !a
  return %1 : !a
}

func.func @input(%x: !npu, %w: !w) -> !npu {
  %0 = sv.matmul %x, %w {sv.operand_scopes = ["global.a", ""]} : (!npu, !w) -> !npu
  return %0 : !npu
}

func.func @shared(%x: !npu, %w: !w) -> !npu {
  %0 = sv.neg %x : (!npu) -> !npu
  %1 = sv.matmul %0, %w {sv.operand_scopes = ["global.a", ""]} : (!npu, !w) -> !npu
  %2 = sv.matmul %0, %w {sv.operand_scopes = ["global.a", ""]} : (!npu, !w) -> !npu
  %3 = sv.matmul %0, %w {sv.operand_scopes = ["global.b", ""]} : (!npu, !w) -> !npu
  %4 = sv.add %1, %2 : (!npu, !npu) -> !npu
  %5 = sv.add %4, %3 : (!npu, !npu) -> !npu
  return %5 : !npu
}
