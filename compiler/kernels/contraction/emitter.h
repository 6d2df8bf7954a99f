// Emitter: short names for the operations that contraction kernels are written in, so that a
// kernel's source reads like the loops it makes. Index arithmetic folds as it is built.
#pragma once

#include <functional>

#include "compiler/kernels/builder/code_builder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::kernels {

class Emitter {
 public:
  using Values = llvm::SmallVector<mlir::Value>;

  explicit Emitter(mlir::OpBuilder& builder)
      : builder(builder), location(builder.getUnknownLoc()) {}

  // Index arithmetic. Dims are not negative: division and remainder are unsigned.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);        // signed
  mlir::Value less_equal(mlir::Value a, mlir::Value b);  // signed
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // for (i = lower; i < upper; i += step), without and with carried values.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value i)> body);
  Values fold(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange initial,
              llvm::function_ref<Values(mlir::Value i, mlir::ValueRange carried)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);
  Values choose(mlir::Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  // Memory, rank 1. A type other than the element type is a vector of elements.
  mlir::Value load(mlir::Value buffer, mlir::Value at);
  mlir::Value load(mlir::Value buffer, mlir::Value at, mlir::VectorType type);
  void store(mlir::Value value, mlir::Value buffer, mlir::Value at);
  // Lanes where `mask` is off are neither read (they are 0) nor written.
  mlir::Value load_masked(mlir::Value buffer, mlir::Value at, mlir::Value mask,
                          mlir::VectorType type);
  void store_masked(mlir::Value value, mlir::Value buffer, mlir::Value at, mlir::Value mask);
  mlir::Value gather(mlir::Value buffer, mlir::Value at, mlir::Value lane_offsets, mlir::Value mask,
                     mlir::VectorType type);
  // The first `count` lanes of `lanes`.
  mlir::Value mask(mlir::Value count, int64_t lanes);

  mlir::VectorType f32(int64_t lanes) {
    return mlir::VectorType::get({lanes}, builder.getF32Type());
  }
  mlir::VectorType i8(int64_t lanes) { return mlir::VectorType::get({lanes}, builder.getI8Type()); }
  mlir::VectorType i32(int64_t lanes) {
    return mlir::VectorType::get({lanes}, builder.getI32Type());
  }
  mlir::Value zero(mlir::Type type);
  mlir::Value splat(mlir::Value scalar, mlir::VectorType type);
  mlir::Value to_i32(mlir::Value index);
  // The same bits as other lanes.
  mlir::Value bitcast(mlir::Value vector, mlir::VectorType type);

  void call(mlir::func::FuncOp callee, mlir::ValueRange arguments);

  mlir::OpBuilder& builder;
  mlir::Location location;
};

}  // namespace scopevm::compiler::kernels
