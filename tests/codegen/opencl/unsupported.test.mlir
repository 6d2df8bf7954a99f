func.func @odd_0(%x: memref<?xi32>, %begin: index, %end: index, %worker: index, %first: index) {
  %a = memref.load %x[%begin] : memref<?xi32>
  %sum, %carry = arith.addui_extended %a, %a : i32, i1
  %wide = arith.extui %carry : i1 to i32
  %both = arith.addi %sum, %wide : i32
  memref.store %both, %x[%begin] : memref<?xi32>
  return
}
