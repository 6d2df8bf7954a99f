// KernelBuilder: loads, stores and runs of elements in vectors.
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels::movement {
namespace {

namespace vector = mlir::vector;

mlir::Type element_of(Buffer buffer) {
  return mlir::cast<mlir::MemRefType>(buffer.memref.getType()).getElementType();
}

mlir::VectorType vector_of(Buffer buffer, int64_t lanes) {
  return mlir::VectorType::get({lanes}, element_of(buffer));
}

mlir::Value mask_of(mlir::ImplicitLocOpBuilder& builder, int64_t lanes, Val count) {
  auto type = mlir::VectorType::get({lanes}, builder.getI1Type());
  return builder.create<vector::CreateMaskOp>(type, mlir::ValueRange{count});
}

}  // namespace

int64_t KernelBuilder::lanes(Buffer buffer) const {
  return target().lanes(static_cast<int>(byte_size(buffer.dtype)));
}

Val KernelBuilder::zero(Buffer buffer) {
  auto attribute = builder_.getZeroAttr(element_of(buffer));
  return {&builder_, builder_.create<mlir::arith::ConstantOp>(attribute)};
}

mlir::Type KernelBuilder::number_type(Buffer buffer) {
  bool is_narrow = buffer.dtype == DType::kF16 || buffer.dtype == DType::kBF16;
  return is_narrow ? builder_.getF32Type() : element_of(buffer);
}

Val KernelBuilder::load(Buffer buffer, Val at) {
  return {&builder_, builder_.create<mlir::memref::LoadOp>(buffer.memref, mlir::ValueRange{at})};
}

Val KernelBuilder::load(Buffer buffer, Val at, int64_t lanes) {
  if (lanes == 1) return load(buffer, at);
  return {&builder_, builder_.create<vector::LoadOp>(vector_of(buffer, lanes), buffer.memref,
                                                     mlir::ValueRange{at})};
}

void KernelBuilder::store(Buffer buffer, Val at, Val value) {
  if (mlir::isa<mlir::VectorType>(value.type()))
    builder_.create<vector::StoreOp>(value, buffer.memref, mlir::ValueRange{at});
  else
    builder_.create<mlir::memref::StoreOp>(value, buffer.memref, mlir::ValueRange{at});
}

Val KernelBuilder::load_number(Buffer buffer, Val at) {
  return {&builder_, load_convert(builder_, builder_.getLoc(), buffer.dtype, load(buffer, at))};
}

void KernelBuilder::store_number(Buffer buffer, Val at, Val value) {
  store(buffer, at, {&builder_, store_convert(builder_, builder_.getLoc(), buffer.dtype, value)});
}

Val KernelBuilder::load_first(Buffer buffer, Val at, int64_t lanes, Val count) {
  mlir::VectorType type = vector_of(buffer, lanes);
  mlir::Value zeros = builder_.create<mlir::arith::ConstantOp>(builder_.getZeroAttr(type));
  return {&builder_,
          builder_.create<vector::MaskedLoadOp>(type, buffer.memref, mlir::ValueRange{at},
                                                mask_of(builder_, lanes, count), zeros)};
}

void KernelBuilder::store_first(Buffer buffer, Val at, Val value, Val count) {
  int64_t lanes = mlir::cast<mlir::VectorType>(value.type()).getNumElements();
  builder_.create<vector::MaskedStoreOp>(buffer.memref, mlir::ValueRange{at},
                                         mask_of(builder_, lanes, count), value);
}

Val KernelBuilder::shuffle(Val a, Val b, llvm::ArrayRef<int64_t> lanes) {
  return {&builder_, builder_.create<vector::ShuffleOp>(a, b, lanes)};
}

Val KernelBuilder::splat(Val scalar, int64_t lanes) {
  if (lanes == 1) return scalar;
  auto type = mlir::VectorType::get({lanes}, scalar.type());
  return {&builder_, builder_.create<vector::BroadcastOp>(type, scalar)};
}

Val KernelBuilder::load_index(Buffer indices, Val at, Val size) {
  Val loaded = load(indices, at);
  if (indices.dtype >= DType::kU8 && indices.dtype <= DType::kU64)
    return {&builder_, builder_.create<mlir::arith::IndexCastUIOp>(index_type(), loaded)};
  Val index = convert(loaded, index_type());
  return select(index < 0, index + size, index);
}

void KernelBuilder::for_vectors(Buffer buffer, Val count,
                                llvm::function_ref<void(Val, int64_t)> whole,
                                llvm::function_ref<void(Val, Val)> masked) {
  const int64_t width = lanes(buffer);
  Val rest = remainder(count, index(width));
  loop(index(0), count - rest, width, [&](Val i) { whole(i, width); });
  if (target().has_masks) {
    when(index(0) < rest, [&] { masked(count - rest, rest); });
    return;
  }
  when(
      index(width) <= count, [&] { whole(count - width, width); },
      [&] { loop(index(0), rest, 1, [&](Val i) { whole(i, 1); }); });
}

void KernelBuilder::copy(Buffer source, Val from, Buffer destination, Val to, Val count) {
  for_vectors(
      destination, count,
      [&](Val i, int64_t lanes) { store(destination, to + i, load(source, from + i, lanes)); },
      [&](Val i, Val rest) {
        Val part = load_first(source, from + i, lanes(destination), rest);
        store_first(destination, to + i, part, rest);
      });
}

void KernelBuilder::fill(Buffer destination, Val to, Val count, Val value) {
  for_vectors(
      destination, count,
      [&](Val i, int64_t lanes) { store(destination, to + i, splat(value, lanes)); },
      [&](Val i, Val rest) {
        store_first(destination, to + i, splat(value, lanes(destination)), rest);
      });
}

}  // namespace scopevm::compiler::kernels::movement
