// Scalar multiply-accumulate in the arithmetic type of a dtype: what the generic loops sum with.
#pragma once

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/contraction/emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {

struct ScalarSum {
  Emitter& emit;
  DType dtype;

  // An element of a buffer of `from`, which may be narrower than the sum.
  mlir::Value load(mlir::Value buffer, mlir::Value at, DType from) {
    Term x(emit.builder, emit.location,
           load_convert(emit.builder, emit.location, from, emit.load(buffer, at)));
    return from == dtype ? x.value : cast(x, from, dtype).value;
  }
  mlir::Value load(mlir::Value buffer, mlir::Value at) { return load(buffer, at, dtype); }
  mlir::Value zero() {
    mlir::Type type = storage_type(emit.builder.getContext(), dtype);
    return load_convert(emit.builder, emit.location, dtype, emit.zero(type));
  }
  mlir::Value multiply_add(mlir::Value a, mlir::Value b, mlir::Value sum) {
    if (mlir::isa<mlir::FloatType>(sum.getType())) {
      mlir::Value product = emit.builder.create<mlir::arith::MulFOp>(emit.location, a, b);
      return emit.builder.create<mlir::arith::AddFOp>(emit.location, product, sum);
    }
    return emit.add(emit.mul(a, b), sum);
  }
};

}  // namespace scopevm::compiler::kernels
