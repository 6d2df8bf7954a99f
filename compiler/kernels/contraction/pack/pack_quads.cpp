// Packs bytes at run time.
#include "compiler/kernels/contraction/pack/pack_quads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {
namespace {

constexpr int64_t kQuad = 4;

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
                         Term group_rows, const Buffer& to, Term to_at) {
  int64_t lanes = e.lanes(DType::kF32), bytes = lanes * kQuad;
  e.loop(first, last, 1, [&](Term row) {
    Term from_at = a.start + row * a.stride;
    // Stores a whole vector of quads. Those past the depth are in the row's last chunk.
    auto copy = [&](Term at, Term vector) {
      Term quads = e.reinterpret(vector, e.builder().getI32Type(), lanes);
      e.store(to, to_at + packed_row_at(row - first, quotient(at, kQuad), group_rows), quads);
    };
    Term whole = quotient(depth, bytes) * bytes;
    e.loop(e.index(0), whole, bytes,
           [&](Term at) { copy(at, e.load(a.buffer, from_at + at, bytes)); });
    e.when(whole < depth, [&] {
      Term mask = e.mask(depth - whole, bytes);
      // The mask pads the last quad with zeros.
      copy(whole, e.load(a.buffer, from_at + whole, bytes, mask));
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
