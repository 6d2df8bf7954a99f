// Emitter: one operation a function; see the header.
#include "compiler/kernels/contraction/emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

Value Emitter::index(int64_t value) {
  return builder.create<mlir::arith::ConstantIndexOp>(location, value);
}
Value Emitter::add(Value a, Value b) {
  return builder.createOrFold<mlir::arith::AddIOp>(location, a, b);
}
Value Emitter::add(Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }
Value Emitter::sub(Value a, Value b) {
  return builder.createOrFold<mlir::arith::SubIOp>(location, a, b);
}
Value Emitter::mul(Value a, Value b) {
  return builder.createOrFold<mlir::arith::MulIOp>(location, a, b);
}
Value Emitter::mul(Value a, int64_t b) { return b == 1 ? a : mul(a, index(b)); }
Value Emitter::div(Value a, Value b) {
  return builder.createOrFold<mlir::arith::DivUIOp>(location, a, b);
}
Value Emitter::rem(Value a, Value b) {
  return builder.createOrFold<mlir::arith::RemUIOp>(location, a, b);
}
Value Emitter::min(Value a, Value b) {
  return builder.createOrFold<mlir::arith::MinSIOp>(location, a, b);
}
Value Emitter::max(Value a, Value b) {
  return builder.createOrFold<mlir::arith::MaxSIOp>(location, a, b);
}
Value Emitter::less(Value a, Value b) {
  return builder.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::slt, a, b);
}
Value Emitter::less_equal(Value a, Value b) {
  return builder.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::sle, a, b);
}
Value Emitter::equal(Value a, Value b) {
  return builder.create<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::eq, a, b);
}
Value Emitter::both(Value a, Value b) {
  return builder.createOrFold<mlir::arith::AndIOp>(location, a, b);
}
Value Emitter::select(Value condition, Value a, Value b) {
  return builder.createOrFold<mlir::arith::SelectOp>(location, condition, a, b);
}

void Emitter::loop(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body) {
  fold(lower, upper, step, {}, [&](Value i, mlir::ValueRange) {
    body(i);
    return Values();
  });
}

Emitter::Values Emitter::fold(Value lower, Value upper, int64_t step, mlir::ValueRange initial,
                              llvm::function_ref<Values(Value, mlir::ValueRange)> body) {
  auto loop = builder.create<mlir::scf::ForOp>(
      location, lower, upper, index(step), initial,
      [&](mlir::OpBuilder& inner, mlir::Location, Value i, mlir::ValueRange carried) {
        mlir::OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Values next = body(i, carried);
        builder.create<mlir::scf::YieldOp>(location, next);
      });
  return Values(loop.getResults());
}

void Emitter::when(Value condition, llvm::function_ref<void()> then,
                   llvm::function_ref<void()> otherwise) {
  auto branch = builder.create<mlir::scf::IfOp>(location, condition, bool(otherwise));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenYield());
  then();
  if (!otherwise) return;
  builder.setInsertionPoint(branch.elseYield());
  otherwise();
}

Emitter::Values Emitter::choose(Value condition, mlir::TypeRange types,
                                llvm::function_ref<Values()> then,
                                llvm::function_ref<Values()> otherwise) {
  auto branch = builder.create<mlir::scf::IfOp>(location, types, condition, true);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  builder.create<mlir::scf::YieldOp>(location, then());
  builder.setInsertionPointToStart(branch.elseBlock());
  builder.create<mlir::scf::YieldOp>(location, otherwise());
  return Values(branch.getResults());
}

Value Emitter::load(Value buffer, Value at) {
  return builder.create<mlir::memref::LoadOp>(location, buffer, at);
}
Value Emitter::load(Value buffer, Value at, mlir::VectorType type) {
  return builder.create<mlir::vector::LoadOp>(location, type, buffer, at);
}
void Emitter::store(Value value, Value buffer, Value at) {
  if (mlir::isa<mlir::VectorType>(value.getType()))
    builder.create<mlir::vector::StoreOp>(location, value, buffer, at);
  else
    builder.create<mlir::memref::StoreOp>(location, value, buffer, at);
}
Value Emitter::load_masked(Value buffer, Value at, Value mask, mlir::VectorType type) {
  return builder.create<mlir::vector::MaskedLoadOp>(location, type, buffer, at, mask, zero(type));
}
void Emitter::store_masked(Value value, Value buffer, Value at, Value mask) {
  builder.create<mlir::vector::MaskedStoreOp>(location, buffer, at, mask, value);
}
Value Emitter::gather(Value buffer, Value at, Value lane_offsets, Value mask,
                      mlir::VectorType type) {
  return builder.create<mlir::vector::GatherOp>(location, type, buffer, at, lane_offsets, mask,
                                                zero(type));
}
Value Emitter::mask(Value count, int64_t lanes) {
  auto type = mlir::VectorType::get({lanes}, builder.getI1Type());
  return builder.create<mlir::vector::CreateMaskOp>(location, type, count);
}

Value Emitter::zero(mlir::Type type) {
  return builder.create<mlir::arith::ConstantOp>(location, builder.getZeroAttr(type));
}
Value Emitter::splat(Value scalar, mlir::VectorType type) {
  return builder.create<mlir::vector::BroadcastOp>(location, type, scalar);
}
Value Emitter::to_i32(Value index) {
  return builder.create<mlir::arith::IndexCastOp>(location, builder.getI32Type(), index);
}

Value Emitter::bitcast(Value vector, mlir::VectorType type) {
  return builder.create<mlir::vector::BitCastOp>(location, type, vector);
}

void Emitter::call(mlir::func::FuncOp callee, mlir::ValueRange arguments) {
  builder.create<mlir::func::CallOp>(location, callee, arguments);
}

}  // namespace scopevm::compiler::kernels
