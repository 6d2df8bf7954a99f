// Packs operands at run time.
#include "compiler/kernels/contraction/pack/pack_panels.h"

namespace scopevm::compiler::kernels {

void emit_pack_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                    Term group_rows, const Buffer& to, Term to_at) {
  int64_t lanes = e.lanes(DType::kF32);
  e.loop(first, last, 1, [&](Term row) {
    auto target_at = [&](Term k) { return to_at + packed_row_at(row - first, k, group_rows); };
    if (a.rows_are_contiguous) {
      Term from_at = a.start + row * a.stride;
      Term whole = quotient(depth, lanes) * lanes;
      e.loop(e.index(0), whole, lanes,
             [&](Term k) { e.store(to, target_at(k), e.load(a.buffer, from_at + k, lanes)); });
      e.loop(whole, depth, 1,
             [&](Term k) { e.store(to, target_at(k), e.load(a.buffer, from_at + k)); });
      return;
    }
    Term from_at = a.start + row;
    e.loop(e.index(0), depth, 1,
           [&](Term k) { e.store(to, target_at(k), e.load(a.buffer, from_at + k * a.stride)); });
  });
}

// Rows of B are prefetched this many steps ahead, and columns one panel ahead: a panel reads a part
// of each row, or few elements of many columns at a time, which prefetchers of CPUs follow badly.
static constexpr int64_t kRowsAhead = 16;

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
          e.prefetch(b.buffer, at + b.stride * kRowsAhead);
          e.store(to, to_at + k * kPanelColumns + j, load(at));
        });
      };
      e.when(
          j + lanes <= columns, [&] { copy([&](Term at) { return e.load(b.buffer, at, lanes); }); },
          [&] { copy([&](Term at) { return e.load(b.buffer, at, lanes, mask); }); });
      continue;
    }
    // A column of B is contiguous along the depth. Square tiles of `lanes` columns are transposed;
    // the elements of the other rows of the panel are gathered.
    Term offsets = e.iota(e.builder().getI32Type(), lanes) * e.splat(to_i32(b.stride), lanes);
    Term from_at = b.start + (first + j) * b.stride;
    auto to_row = [&](Term k) { return to_at + k * kPanelColumns + j; };
    auto gather = [&](Term begin) {
      e.loop(begin, depth, 1, [&](Term k) {
        e.store(to, to_row(k), e.gather(b.buffer, from_at + k, offsets, mask));
      });
    };
    auto transpose = [&] {
      Term whole = quotient(depth, lanes) * lanes;
      e.loop(e.index(0), whole, lanes, [&](Term k) {
        Terms tile;
        for (int64_t column = 0; column < lanes; ++column)
          tile.push_back(e.load(b.buffer, from_at + b.stride * column + k, lanes));
        for (int64_t column = 0; column < lanes; ++column)
          e.prefetch(b.buffer, from_at + b.stride * (column + kPanelColumns) + k);
        tile = e.transpose(std::move(tile));
        for (int64_t row = 0; row < lanes; ++row) e.store(to, to_row(k + row), tile[row]);
      });
      gather(whole);
    };
    e.when(j + lanes <= columns, transpose, [&] { gather(e.index(0)); });
  }
}

}  // namespace scopevm::compiler::kernels
