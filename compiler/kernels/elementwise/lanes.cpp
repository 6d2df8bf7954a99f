// See the header.
#include "compiler/kernels/elementwise/lanes.h"

#include <algorithm>

#include "compiler/kernels/builder/convert.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;

using Values = llvm::SmallVector<mlir::Value>;

}  // namespace

llvm::SmallVector<mlir::Value> for_range(
    KernelDraft& draft, mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
    llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body) {
  mlir::OpBuilder& builder = draft.builder();
  auto loop = builder.create<scf::ForOp>(
      draft.location(), begin, end, draft.index(step).value, carried,
      [&](mlir::OpBuilder&, mlir::Location, mlir::Value index, mlir::ValueRange arguments) {
        mlir::OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(mlir::cast<mlir::BlockArgument>(index).getOwner());
        Values results = body(index, arguments);
        builder.create<scf::YieldOp>(draft.location(), results);
      });
  return {loop.result_begin(), loop.result_end()};
}

void for_lanes(KernelDraft& draft, mlir::Value length, int count,
               llvm::function_ref<void(const Lanes&)> body) {
  mlir::OpBuilder& builder = draft.builder();
  mlir::Location location = draft.location();
  mlir::Value rest = builder.create<arith::RemUIOp>(location, length, draft.index(count).value);
  mlir::Value whole = (draft.term(length) - draft.term(rest)).value;
  for_range(draft, draft.index(0).value, whole, count, {}, [&](mlir::Value offset, auto) {
    body({count, offset, nullptr});
    return Values();
  });
  mlir::Value has_rest = unequal(draft.term(rest), draft.index(0)).value;
  auto tail = builder.create<scf::IfOp>(location, has_rest, false);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tail.thenBlock());
  mlir::Value mask =
      builder.create<vector::CreateMaskOp>(location, lanes_type(builder.getI1Type(), count), rest);
  body({count, whole, mask});
}

llvm::SmallVector<mlir::Value> split_index(KernelDraft& draft, mlir::Value item,
                                           llvm::ArrayRef<mlir::Value> sizes) {
  Values index(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (axis == 0) {
      index[0] = item;
      break;
    }
    // An empty dim has no items, but must not trap.
    mlir::OpBuilder& builder = draft.builder();
    mlir::Value size =
        builder.create<arith::MaxUIOp>(draft.location(), sizes[axis], draft.index(1).value);
    index[axis] = builder.create<arith::RemUIOp>(draft.location(), item, size);
    item = builder.create<arith::DivUIOp>(draft.location(), item, size);
  }
  return index;
}

llvm::SmallVector<mlir::Value> next_index(KernelDraft& draft, llvm::ArrayRef<mlir::Value> index,
                                          llvm::ArrayRef<mlir::Value> sizes) {
  Values next(index.begin(), index.end());
  Term one = draft.index(1), zero = draft.index(0);
  std::optional<Term> carry;
  for (size_t axis = index.size(); axis-- > 0;) {
    Term raised = draft.term(index[axis]) + (carry ? *carry : one);
    if (axis > 0) {
      Term full = equal(raised, draft.term(sizes[axis]));
      carry = choose(full, one, zero);
      raised = choose(full, zero, raised);
    }
    next[axis] = raised.value;
  }
  return next;
}

void for_items(KernelDraft& draft, llvm::ArrayRef<mlir::Value> sizes,
               llvm::function_ref<void(mlir::Value, llvm::ArrayRef<mlir::Value>)> body) {
  Values first = split_index(draft, draft.begin(), sizes);
  for_range(draft, draft.begin(), draft.end(), 1, first,
            [&](mlir::Value item, mlir::ValueRange carried) {
              Values index(carried.begin(), carried.end());
              body(item, index);
              return next_index(draft, index, sizes);
            });
}

mlir::VectorType lanes_type(mlir::Type element, int count) {
  return mlir::VectorType::get({count}, element);
}

mlir::Value load_lanes(KernelDraft& draft, Buffer buffer, mlir::Value at, const Lanes& lanes) {
  mlir::OpBuilder& builder = draft.builder();
  mlir::Location location = draft.location();
  mlir::VectorType type = lanes_type(storage_type(builder.getContext(), buffer.dtype), lanes.count);
  mlir::Value loaded;
  if (lanes.mask) {
    mlir::Value zeros =
        builder.create<arith::ConstantOp>(location, type, builder.getZeroAttr(type));
    loaded = builder.create<vector::MaskedLoadOp>(location, type, draft.buffer(buffer), at,
                                                  lanes.mask, zeros);
  } else {
    loaded = builder.create<vector::LoadOp>(location, type, draft.buffer(buffer), at);
  }
  return load_convert(builder, location, buffer.dtype, loaded);
}

void store_lanes(KernelDraft& draft, Buffer buffer, mlir::Value at, const Lanes& lanes,
                 mlir::Value value) {
  mlir::OpBuilder& builder = draft.builder();
  mlir::Location location = draft.location();
  value = store_convert(builder, location, buffer.dtype, value);
  if (lanes.mask)
    builder.create<vector::MaskedStoreOp>(location, draft.buffer(buffer), at, lanes.mask, value);
  else
    builder.create<vector::StoreOp>(location, value, draft.buffer(buffer), at);
}

mlir::Value load_scalar(KernelDraft& draft, Buffer buffer, mlir::Value at) {
  mlir::Value loaded =
      draft.builder().create<memref::LoadOp>(draft.location(), draft.buffer(buffer), at);
  return load_convert(draft.builder(), draft.location(), buffer.dtype, loaded);
}

void store_scalar(KernelDraft& draft, Buffer buffer, mlir::Value at, mlir::Value value) {
  value = store_convert(draft.builder(), draft.location(), buffer.dtype, value);
  draft.builder().create<memref::StoreOp>(draft.location(), value, draft.buffer(buffer), at);
}

int lane_count(const FusedBody& body, const Target& target) {
  int64_t widest = 1;
  auto widen = [&](mlir::Value value) {
    DType dtype = tensor_type(value).getDtype();
    bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
    widest = std::max(widest, is_half ? 4 : byte_size(dtype));
  };
  for (mlir::Operation* op : body.ops) {
    for (mlir::Value operand : op->getOperands()) widen(operand);
    for (mlir::Value result : op->getResults()) widen(result);
  }
  return target.lanes(static_cast<int>(std::min<int64_t>(widest, 4)));
}

}  // namespace scopevm::compiler::kernels
