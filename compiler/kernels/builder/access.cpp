// CodeBuilder: access to buffers, and vector operations.
#include <numeric>

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/convert.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {

namespace memref = mlir::memref;

Term CodeBuilder::load(const Buffer& buffer, Term at, int64_t lanes, Term mask) {
  if (lanes == 1) return make<memref::LoadOp>(buffer.memref, mlir::ValueRange{at});
  mlir::VectorType type = vector(buffer.element(), lanes);
  if (!mask) return make<mlir::vector::LoadOp>(type, buffer.memref, mlir::ValueRange{at});
  return make<mlir::vector::MaskedLoadOp>(type, buffer.memref, mlir::ValueRange{at}, mask,
                                          zero(type));
}

void CodeBuilder::store(const Buffer& buffer, Term at, Term value, Term mask) {
  if (mask)
    builder_.create<mlir::vector::MaskedStoreOp>(buffer.memref, mlir::ValueRange{at}, mask, value);
  else if (mlir::isa<mlir::VectorType>(value.type()))
    builder_.create<mlir::vector::StoreOp>(value, buffer.memref, mlir::ValueRange{at});
  else
    builder_.create<memref::StoreOp>(value, buffer.memref, mlir::ValueRange{at});
}

Term CodeBuilder::load_number(const Buffer& buffer, Term at, int64_t lanes, Term mask) {
  Term stored = load(buffer, at, lanes, mask);
  return term(load_convert(builder_, builder_.getLoc(), buffer.dtype, stored));
}

void CodeBuilder::store_number(const Buffer& buffer, Term at, Term value, Term mask) {
  Term stored = term(store_convert(builder_, builder_.getLoc(), buffer.dtype, value));
  store(buffer, at, stored, mask);
}

Term CodeBuilder::gather(const Buffer& buffer, Term at, Term offsets, Term mask) {
  auto lanes = mlir::cast<mlir::VectorType>(offsets.type()).getNumElements();
  mlir::VectorType type = vector(buffer.element(), lanes);
  return make<mlir::vector::GatherOp>(type, buffer.memref, mlir::ValueRange{at}, offsets, mask,
                                      zero(type));
}

Term CodeBuilder::load_index(const Buffer& indices, Term at, Term size) {
  Term loaded = load(indices, at);
  // Unsigned indices are never negative.
  if (is_unsigned(indices.dtype)) return make<mlir::arith::IndexCastUIOp>(index_type(), loaded);
  Term index = convert(loaded, index_type());
  // ONNX counts negative indices from the end.
  return select(index < 0, index + size, index);
}

void CodeBuilder::prefetch(const Buffer& buffer, Term at) {
  builder_.create<mlir::memref::PrefetchOp>(buffer.memref, mlir::ValueRange{at}, /*isWrite=*/false,
                                            /*localityHint=*/2, /*isDataCache=*/true);
}

Term CodeBuilder::mask(Term count, int64_t lanes) {
  return make<mlir::vector::CreateMaskOp>(vector(builder_.getI1Type(), lanes),
                                          mlir::ValueRange{count});
}

Term CodeBuilder::splat(Term scalar, int64_t lanes) {
  if (lanes == 1) return scalar;
  return scalar.make<mlir::vector::BroadcastOp>(vector(scalar.type(), lanes), scalar);
}

Term CodeBuilder::iota(mlir::Type element, int64_t lanes) {
  llvm::SmallVector<mlir::Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(builder_.getIntegerAttr(element, lane));
  return make<mlir::arith::ConstantOp>(
      mlir::DenseElementsAttr::get(vector(element, lanes), numbers));
}

Term CodeBuilder::shuffle(Term a, Term b, llvm::ArrayRef<int64_t> lanes) {
  return make<mlir::vector::ShuffleOp>(a, b, lanes);
}

// log2(size) rounds interleave row r with row r + size / 2. The bits of an element's row and lane
// form one number. Each round rotates this number by one bit, so that all rounds exchange row and
// lane.
Terms CodeBuilder::transpose(Terms rows) {
  const auto size = static_cast<int64_t>(rows.size());
  llvm::SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < size / 2; ++lane) {
    low.append({lane, size + lane});
    high.append({size / 2 + lane, size + size / 2 + lane});
  }
  for (int64_t round = 1; round < size; round *= 2) {
    Terms next;
    for (int64_t r = 0; r < size / 2; ++r) {
      next.push_back(shuffle(rows[r], rows[r + size / 2], low));
      next.push_back(shuffle(rows[r], rows[r + size / 2], high));
    }
    rows = std::move(next);
  }
  return rows;
}

Term CodeBuilder::slice(Term vector, int64_t first, int64_t count) {
  return make<mlir::vector::ExtractStridedSliceOp>(vector, llvm::ArrayRef<int64_t>{first},
                                                   llvm::ArrayRef<int64_t>{count},
                                                   llvm::ArrayRef<int64_t>{1});
}

Term CodeBuilder::extract(Term vector, int64_t lane) {
  return make<mlir::vector::ExtractOp>(vector, llvm::ArrayRef<int64_t>{lane});
}

Term CodeBuilder::reinterpret(Term vector, mlir::Type element, int64_t lanes) {
  return make<mlir::vector::BitCastOp>(mlir::VectorType::get({lanes}, element), vector);
}

mlir::Type CodeBuilder::number_type(const Buffer& buffer) {
  return arithmetic_type(builder_.getContext(), buffer.dtype);
}

void CodeBuilder::copy(const Buffer& source, Term from, const Buffer& destination, Term to,
                       Term count) {
  for_lanes(count, lanes(destination.dtype), Tail::kOverlapping, [&](const Lanes& part) {
    store(destination, to + part.offset, load(source, from + part.offset, part.count, part.mask),
          part.mask);
  });
}

void CodeBuilder::fill(const Buffer& destination, Term to, Term count, Term value) {
  for_lanes(count, lanes(destination.dtype), Tail::kOverlapping, [&](const Lanes& part) {
    store(destination, to + part.offset, splat(value, part.count), part.mask);
  });
}

}  // namespace scopevm::compiler::kernels
