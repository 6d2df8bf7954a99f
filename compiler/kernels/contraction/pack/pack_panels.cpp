// Packing at run time; see the header.
#include "compiler/kernels/contraction/pack/pack_panels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

void emit_copy(Emitter& e, int64_t lanes, Value from, Value from_at, Value to, Value to_at,
               Value count) {
  Value whole = e.mul(e.div(count, e.index(lanes)), lanes);
  e.loop(e.index(0), whole, lanes, [&](Value i) {
    e.store(e.load(from, e.add(from_at, i), e.f32(lanes)), to, e.add(to_at, i));
  });
  e.loop(whole, count, 1,
         [&](Value i) { e.store(e.load(from, e.add(from_at, i)), to, e.add(to_at, i)); });
}

}  // namespace

void emit_pack_rows(Emitter& e, const Target& target, const MatrixView& a, Value first, Value last,
                    Value depth, Value block_rows, Value to, Value to_at) {
  Value blocks = e.div(e.add(depth, kBlockDepth - 1), e.index(kBlockDepth));
  e.loop(e.index(0), blocks, 1, [&](Value block) {
    Value k = e.mul(block, kBlockDepth);
    Value count = e.min(e.sub(depth, k), e.index(kBlockDepth));
    e.loop(first, last, 1, [&](Value row) {
      Value slot = e.add(e.mul(block, block_rows), e.sub(row, first));
      Value target_at = e.add(to_at, e.mul(slot, kRowStride));
      if (a.rows_are_contiguous) {
        Value from_at = e.add(e.add(a.start, e.mul(row, a.stride)), k);
        emit_copy(e, target.lanes(4), a.buffer, from_at, to, target_at, count);
        return;
      }
      Value from_at = e.add(e.add(a.start, row), e.mul(k, a.stride));
      e.loop(e.index(0), count, 1, [&](Value i) {
        e.store(e.load(a.buffer, e.add(from_at, e.mul(i, a.stride))), to, e.add(target_at, i));
      });
    });
  });
}

void emit_pack_panel(Emitter& e, const Target& target, const MatrixView& b, Value first,
                     Value columns, Value depth, Value to, Value to_at) {
  int64_t lanes = target.lanes(4);
  mlir::VectorType type = e.f32(lanes);
  for (int64_t j = 0; j < kPanelColumns; j += lanes) {
    // A negative count makes an empty mask.
    Value mask = e.mask(e.sub(columns, e.index(j)), lanes);
    if (b.rows_are_contiguous) {
      Value from_at = e.add(e.add(b.start, first), j);
      auto copy = [&](llvm::function_ref<Value(Value)> load) {
        e.loop(e.index(0), depth, 1, [&](Value k) {
          Value at = e.add(from_at, e.mul(k, b.stride));
          e.store(load(at), to, e.add(e.add(to_at, e.mul(k, kPanelColumns)), j));
        });
      };
      e.when(
          e.less_equal(e.index(j + lanes), columns),
          [&] { copy([&](Value at) { return e.load(b.buffer, at, type); }); },
          [&] { copy([&](Value at) { return e.load_masked(b.buffer, at, mask, type); }); });
      continue;
    }
    llvm::SmallVector<int32_t> iota;
    for (int64_t lane = 0; lane < lanes; ++lane) iota.push_back(static_cast<int32_t>(lane));
    Value numbers = e.builder.create<mlir::arith::ConstantOp>(
        e.location, mlir::DenseElementsAttr::get(e.i32(lanes), llvm::ArrayRef<int32_t>(iota)));
    Value offsets = e.mul(numbers, e.splat(e.to_i32(b.stride), e.i32(lanes)));
    Value from_at = e.add(b.start, e.mul(e.add(first, j), b.stride));
    e.loop(e.index(0), depth, 1, [&](Value k) {
      Value row = e.gather(b.buffer, e.add(from_at, k), offsets, mask, type);
      e.store(row, to, e.add(e.add(to_at, e.mul(k, kPanelColumns)), j));
    });
  }
}

}  // namespace scopevm::compiler::kernels
