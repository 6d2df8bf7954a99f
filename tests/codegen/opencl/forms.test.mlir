func.func @bools_0(%x: memref<?xi8>, %n: index, %begin: index, %end: index, %worker: index,
                   %first: index) {
  %a = vector.create_mask %n : vector<4xi1>
  %b = vector.create_mask %worker : vector<4xi1>
  %less = arith.cmpi ult, %a, %b : vector<4xi1>
  %word = vector.bitcast %less : vector<4xi1> to vector<1xi4>
  %bits = vector.extract %word[0] : i4 from vector<1xi4>
  %byte = arith.extui %bits : i4 to i8
  memref.store %byte, %x[%begin] : memref<?xi8>
  %p = arith.cmpi ult, %n, %begin : index
  %q = arith.cmpi ult, %n, %end : index
  %signed = arith.cmpi slt, %p, %q : i1
  %as_byte = arith.extui %signed : i1 to i8
  memref.store %as_byte, %x[%end] : memref<?xi8>
  return
}

func.func @functions_1(%x: memref<?xf64>, %y: memref<?xf64>, %begin: index, %end: index,
                       %worker: index, %first: index) {
  %a = vector.load %x[%begin] : memref<?xf64>, vector<2xf64>
  %b = vector.load %y[%begin] : memref<?xf64>, vector<2xf64>
  %power = math.powf %a, %b : vector<2xf64>
  %root = math.sqrt %power : vector<2xf64>
  vector.store %root, %y[%begin] : memref<?xf64>, vector<2xf64>
  return
}

func.func @many_lanes_2(%x: memref<?xi8>, %y: memref<?xi8>, %begin: index, %end: index,
                        %worker: index, %first: index) {
  %a = vector.load %x[%begin] : memref<?xi8>, vector<32xi8>
  %b = vector.load %y[%begin] : memref<?xi8>, vector<32xi8>
  %least = arith.minsi %a, %b : vector<32xi8>
  vector.store %least, %y[%begin] : memref<?xi8>, vector<32xi8>
  return
}

func.func @swap_3(%x: memref<?xf32>, %begin: index, %end: index, %worker: index, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c0] : memref<?xf32>
  %b = memref.load %x[%c1] : memref<?xf32>
  %r:2 = scf.for %i = %begin to %end step %c1 iter_args(%p = %a, %q = %b) -> (f32, f32) {
    scf.yield %q, %p : f32, f32
  }
  %count = scf.while (%n = %begin) : (index) -> index {
    %v = memref.load %x[%n] : memref<?xf32>
    %more = arith.cmpf olt, %v, %r#0 : f32
    scf.condition(%more) %n : index
  } do {
  ^bb0(%n: index):
    %next = arith.addi %n, %c1 : index
    scf.yield %next : index
  }
  %chosen = scf.index_switch %count -> f32
  case 4 {
    memref.store %r#0, %x[%c0] : memref<?xf32>
    scf.yield %r#0 : f32
  }
  default {
    memref.store %r#1, %x[%c1] : memref<?xf32>
    scf.yield %r#1 : f32
  }
  memref.store %chosen, %x[%end] : memref<?xf32>
  return
}

func.func @pairs_4(%x: memref<?xi16>, %y: memref<?xi32>, %begin: index, %end: index,
                   %worker: index, %first: index) {
  %a = vector.load %x[%begin] : memref<?xi16>, vector<16xi16>
  %sums = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%a, %a)
    : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
  vector.store %sums, %y[%begin] : memref<?xi32>, vector<8xi32>
  return
}
