// Packs bytes at run time.
#include "compiler/kernels/contraction/pack/pack_quads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kQuad = 4;

// Packs `count` bytes into quads and pads the last quad with zeros. Writes whole vectors, which can
// extend past the last quad; a packed row of 1040 quads has space for them.
void emit_copy(CodeBuilder& e, int64_t lanes, const Buffer& from, Term from_at, const Buffer& to,
               Term to_at, Term count) {
  int64_t bytes = lanes * kQuad;
  auto copy = [&](Term i, Term vector) {
    e.store(to, to_at + quotient(i, kQuad), e.reinterpret(vector, e.builder().getI32Type(), lanes));
  };
  Term whole = quotient(count, bytes) * bytes;
  e.loop(e.index(0), whole, bytes, [&](Term i) { copy(i, e.load(from, from_at + i, bytes)); });
  e.when(whole < count, [&] {
    Term mask = e.mask(count - whole, bytes);
    copy(whole, e.load(from, from_at + whole, bytes, mask));
  });
}

// Combines the bytes of four rows into one quad per column.
Term quads_of_rows(llvm::ArrayRef<Term> rows) {
  Term quads;
  for (size_t i = 0; i < rows.size(); ++i) {
    mlir::Type type = rows[i].like(rows[i].builder->getI32Type());
    Term row = rows[i].make<mlir::arith::ExtUIOp>(type, rows[i].value);
    row = shift_left(row, static_cast<int64_t>(8 * i));
    quads = quads ? quads | row : row;
  }
  return quads;
}

}  // namespace

void emit_pack_quad_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                         Term block_rows, const Buffer& to, Term to_at) {
  constexpr int64_t kBlockBytes = kBlockDepth * kQuad;
  Term blocks = quotient(depth + (kBlockBytes - 1), kBlockBytes);
  e.loop(e.index(0), blocks, 1, [&](Term block) {
    Term k = block * kBlockBytes;
    Term count = min(depth - k, kBlockBytes);
    e.loop(first, last, 1, [&](Term row) {
      Term slot = block * block_rows + (row - first);
      emit_copy(e, e.lanes(DType::kF32), a.buffer, a.start + row * a.stride + k, to,
                to_at + slot * kRowStride, count);
    });
  });
}

void emit_pack_quad_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                          const Buffer& to, Term to_at) {
  int64_t lanes = e.lanes(DType::kF32);
  Term steps = quotient(depth, kQuad), rest = remainder(depth, kQuad);
  for (int64_t j = 0; j < kPanelColumns; j += lanes) {
    Term from_at = b.start + first + j;
    // Packs the quads of one step. `load` returns the bytes of one of the four rows; it receives
    // their position and the row's index in the quad.
    auto pack = [&](Term step, llvm::function_ref<Term(Term at, int64_t i)> load) {
      Terms rows;
      for (int64_t i = 0; i < kQuad; ++i) {
        Term row = step * kQuad + i;
        rows.push_back(load(from_at + row * b.stride, i));
      }
      e.store(to, to_at + step * kPanelColumns + j, quads_of_rows(rows));
    };
    auto masked = [&](Term count, Term at) {
      return e.load(b.buffer, at, lanes, e.mask(count, lanes));
    };
    Term left = columns - j;  // a negative count gives an empty mask
    auto all_steps = [&](llvm::function_ref<Term(Term)> load) {
      e.loop(e.index(0), steps, 1,
             [&](Term step) { pack(step, [&](Term at, int64_t) { return load(at); }); });
    };
    e.when(
        lanes <= left, [&] { all_steps([&](Term at) { return e.load(b.buffer, at, lanes); }); },
        [&] { all_steps([&](Term at) { return masked(left, at); }); });
    e.when(0 < rest, [&] {
      // The last quad has `rest` rows. The missing rows are loaded with an empty mask, which gives
      // zeros.
      pack(steps,
           [&](Term at, int64_t i) { return masked(select(i < rest, left, e.index(0)), at); });
    });
  }
}

}  // namespace scopevm::compiler::kernels
