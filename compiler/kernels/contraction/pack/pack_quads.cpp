// Packing of bytes at run time; see the header.
#include "compiler/kernels/contraction/pack/pack_quads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

constexpr int64_t kQuad = 4;

// `count` bytes -> quads, the last one filled up with zeros. Writes whole vectors: at most a
// vector's quads beyond the last, which a row has room for.
void emit_copy(Emitter& e, int64_t lanes, Value from, Value from_at, Value to, Value to_at,
               Value count) {
  int64_t bytes = lanes * kQuad;
  auto copy = [&](Value i, Value vector) {
    e.store(e.bitcast(vector, e.i32(lanes)), to, e.add(to_at, e.div(i, e.index(kQuad))));
  };
  Value whole = e.mul(e.div(count, e.index(bytes)), bytes);
  e.loop(e.index(0), whole, bytes,
         [&](Value i) { copy(i, e.load(from, e.add(from_at, i), e.i8(bytes))); });
  e.when(e.less(whole, count), [&] {
    Value mask = e.mask(e.sub(count, whole), bytes);
    copy(whole, e.load_masked(from, e.add(from_at, whole), mask, e.i8(bytes)));
  });
}

// Bytes of four rows -> a quad for each column.
Value quads_of_rows(Emitter& e, llvm::ArrayRef<Value> rows, mlir::VectorType type) {
  Value quads;
  for (size_t i = 0; i < rows.size(); ++i) {
    Value row = e.builder.create<mlir::arith::ExtUIOp>(e.location, type, rows[i]);
    Value shift = e.splat(e.builder.create<mlir::arith::ConstantOp>(
                              e.location, e.builder.getI32IntegerAttr(static_cast<int32_t>(8 * i))),
                          type);
    row = e.builder.createOrFold<mlir::arith::ShLIOp>(e.location, row, shift);
    quads = quads ? e.builder.createOrFold<mlir::arith::OrIOp>(e.location, quads, row) : row;
  }
  return quads;
}

}  // namespace

void emit_pack_quad_rows(Emitter& e, const Target& target, const MatrixView& a, Value first,
                         Value last, Value depth, Value block_rows, Value to, Value to_at) {
  constexpr int64_t kBlockBytes = kBlockDepth * kQuad;
  Value blocks = e.div(e.add(depth, kBlockBytes - 1), e.index(kBlockBytes));
  e.loop(e.index(0), blocks, 1, [&](Value block) {
    Value k = e.mul(block, kBlockBytes);
    Value count = e.min(e.sub(depth, k), e.index(kBlockBytes));
    e.loop(first, last, 1, [&](Value row) {
      Value slot = e.add(e.mul(block, block_rows), e.sub(row, first));
      emit_copy(e, target.lanes(4), a.buffer, e.add(e.add(a.start, e.mul(row, a.stride)), k), to,
                e.add(to_at, e.mul(slot, kRowStride)), count);
    });
  });
}

void emit_pack_quad_panel(Emitter& e, const Target& target, const MatrixView& b, Value first,
                          Value columns, Value depth, Value to, Value to_at) {
  int64_t lanes = target.lanes(4);
  Value steps = e.div(depth, e.index(kQuad)), rest = e.rem(depth, e.index(kQuad));
  for (int64_t j = 0; j < kPanelColumns; j += lanes) {
    Value from_at = e.add(e.add(b.start, first), j);
    // Of a step, the quads whose rows exist; `load` gets a row's position and its number in the
    // quad.
    auto pack = [&](Value step, llvm::function_ref<Value(Value at, int64_t i)> load) {
      llvm::SmallVector<Value> rows;
      for (int64_t i = 0; i < kQuad; ++i) {
        Value row = e.add(e.mul(step, kQuad), i);
        rows.push_back(load(e.add(from_at, e.mul(row, b.stride)), i));
      }
      e.store(quads_of_rows(e, rows, e.i32(lanes)), to,
              e.add(e.add(to_at, e.mul(step, kPanelColumns)), j));
    };
    auto masked = [&](Value count, Value at) {
      return e.load_masked(b.buffer, at, e.mask(count, lanes), e.i8(lanes));
    };
    Value left = e.sub(columns, e.index(j));  // a negative count makes an empty mask
    auto all_steps = [&](llvm::function_ref<Value(Value)> load) {
      e.loop(e.index(0), steps, 1,
             [&](Value step) { pack(step, [&](Value at, int64_t) { return load(at); }); });
    };
    e.when(
        e.less_equal(e.index(lanes), left),
        [&] { all_steps([&](Value at) { return e.load(b.buffer, at, e.i8(lanes)); }); },
        [&] { all_steps([&](Value at) { return masked(left, at); }); });
    e.when(e.less(e.index(0), rest), [&] {
      pack(steps, [&](Value at, int64_t i) {
        return masked(e.select(e.less(e.index(i), rest), left, e.index(0)), at);
      });
    });
  }
}

}  // namespace scopevm::compiler::kernels
