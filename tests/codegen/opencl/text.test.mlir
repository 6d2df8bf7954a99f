func.func private @store_clamped(%to: memref<?xf32>, %at: index, %x: f32) {
  %six = arith.constant 6.0 : f32
  %y = arith.maximumf %x, %six : f32
  memref.store %y, %to[%at] : memref<?xf32>
  return
}

func.func @sum_0(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %begin: index, %end: index,
                 %worker: index, %first: index) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %nan = arith.constant 0x7FC00000 : f32
  %c4 = arith.constant 4 : index
  %sum = scf.for %i = %begin to %end step %c4 iter_args(%s = %zero) -> vector<4xf32> {
    %part = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %next = arith.addf %s, %part : vector<4xf32>
    scf.yield %next : vector<4xf32>
  }
  %all = vector.reduction <add>, %sum : vector<4xf32> into f32
  %few = arith.cmpi slt, %n, %c4 : index
  %result = scf.if %few -> f32 {
    memref.store %all, %y[%begin] : memref<?xf32>
    scf.yield %all : f32
  } else {
    %old = memref.load %y[%worker] : memref<?xf32>
    scf.yield %old : f32
  }
  %stored = arith.select %few, %result, %nan : f32
  func.call @store_clamped(%y, %worker, %stored) : (memref<?xf32>, index, f32) -> ()
  return
}

func.func @wrap_1(%x: memref<?xi16>, %n: index, %begin: index, %end: index, %worker: index,
                  %first: index) {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0> : vector<4xi16>
  %a = memref.load %x[%begin] : memref<?xi16>
  %b = memref.load %x[%n] : memref<?xi16>
  %product = arith.muli %a, %b : i16
  %quotient = arith.divsi %product, %b : i16
  memref.store %quotient, %x[%n] : memref<?xi16>
  %mask = vector.create_mask %n : vector<4xi1>
  %part = vector.maskedload %x[%begin], %mask, %zeros
    : memref<?xi16>, vector<4xi1>, vector<4xi16> into vector<4xi16>
  %bits = vector.load %x[%c0] : memref<?xi16>, vector<4xi16>
  %shifted = arith.shrsi %part, %bits : vector<4xi16>
  vector.maskedstore %x[%begin], %mask, %shifted : memref<?xi16>, vector<4xi1>, vector<4xi16>
  return
}
