// Packs operands at run time.
#include "compiler/kernels/contraction/pack/pack_panels.h"

namespace scopevm::compiler::kernels {
namespace {

void emit_copy(CodeBuilder& e, int64_t lanes, const Buffer& from, Term from_at, const Buffer& to,
               Term to_at, Term count) {
  Term whole = quotient(count, lanes) * lanes;
  e.loop(e.index(0), whole, lanes,
         [&](Term i) { e.store(to, to_at + i, e.load(from, from_at + i, lanes)); });
  e.loop(whole, count, 1, [&](Term i) { e.store(to, to_at + i, e.load(from, from_at + i)); });
}

}  // namespace

void emit_pack_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                    Term block_rows, const Buffer& to, Term to_at) {
  Term blocks = quotient(depth + (kBlockDepth - 1), kBlockDepth);
  e.loop(e.index(0), blocks, 1, [&](Term block) {
    Term k = block * kBlockDepth;
    Term count = min(depth - k, kBlockDepth);
    e.loop(first, last, 1, [&](Term row) {
      Term slot = block * block_rows + (row - first);
      Term target_at = to_at + slot * kRowStride;
      if (a.rows_are_contiguous) {
        Term from_at = a.start + row * a.stride + k;
        emit_copy(e, e.lanes(DType::kF32), a.buffer, from_at, to, target_at, count);
        return;
      }
      Term from_at = a.start + row + k * a.stride;
      e.loop(e.index(0), count, 1,
             [&](Term i) { e.store(to, target_at + i, e.load(a.buffer, from_at + i * a.stride)); });
    });
  });
}

void emit_pack_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                     const Buffer& to, Term to_at) {
  int64_t lanes = e.lanes(DType::kF32);
  for (int64_t j = 0; j < kPanelColumns; j += lanes) {
    // Past the last column, the count is 0 or negative, and the mask is empty.
    Term mask = e.mask(columns - j, lanes);
    if (b.rows_are_contiguous) {
      Term from_at = b.start + first + j;
      auto copy = [&](llvm::function_ref<Term(Term)> load) {
        e.loop(e.index(0), depth, 1, [&](Term k) {
          Term at = from_at + k * b.stride;
          e.store(to, to_at + k * kPanelColumns + j, load(at));
        });
      };
      e.when(
          j + lanes <= columns, [&] { copy([&](Term at) { return e.load(b.buffer, at, lanes); }); },
          [&] { copy([&](Term at) { return e.load(b.buffer, at, lanes, mask); }); });
      continue;
    }
    // A column of B is contiguous along the depth, so a row of the panel is gathered from `lanes`
    // columns.
    Term offsets = e.iota(e.builder().getI32Type(), lanes) * e.splat(to_i32(b.stride), lanes);
    Term from_at = b.start + (first + j) * b.stride;
    e.loop(e.index(0), depth, 1, [&](Term k) {
      Term row = e.gather(b.buffer, from_at + k, offsets, mask);
      e.store(to, to_at + k * kPanelColumns + j, row);
    });
  }
}

}  // namespace scopevm::compiler::kernels
