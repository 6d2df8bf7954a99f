// det: Gaussian elimination with partial pivoting on a copy of each matrix. A work item is one
// matrix.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// An n x n matrix that begins at element `start` of `buffer`.
struct Matrix {
  KernelBuilder& k;
  Buffer buffer;
  Term start, n;

  Term load(Term row, Term column) const { return k.load_number(buffer, start + row * n + column); }
  void store(Term row, Term column, Term value) const {
    k.store_number(buffer, start + row * n + column, value);
  }

  // Of the rows [step, n), the row with the largest magnitude in column `step`.
  Term pivot_row(Term step) const {
    auto size_at = [&](Term row) {
      Term x = load(row, step);
      return select(x < 0, x.number(0.0) - x, x);
    };
    return k.loop(step + 1, n, 1, {step, size_at(step)}, [&](Term row, auto best) {
      Term size = size_at(row), is_better = best[1] < size;
      return Terms{select(is_better, row, best[0]), select(is_better, size, best[1])};
    })[0];
  }

  void swap_rows(Term a, Term b) const {
    k.loop(k.index(0), n, 1, [&](Term column) {
      Term x = load(a, column), y = load(b, column);
      store(a, column, y);
      store(b, column, x);
    });
  }

  // Subtracts multiples of the pivot row `step` from the rows below it. Their elements in column
  // `step` become 0; no later step reads these elements, so they are not stored.
  void eliminate_below(Term step, Term pivot) const {
    k.loop(step + 1, n, 1, [&](Term row) {
      Term factor = load(row, step) / pivot;
      k.loop(step + 1, n, 1, [&](Term column) {
        store(row, column, load(row, column) - factor * load(step, column));
      });
    });
  }
};

}  // namespace

llvm::LogicalResult lower(graph::DetOp op, LoweringContext& context) {
  DType dtype = dtype_of(op.getX());
  DType computed = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  DimExpr size = shape.back(), count = product(shape, 0, shape.size() - 2);
  KernelBuilder k(context, op, "det");
  Buffer x = k.operand(op.getX(), Elements::kNumbers);
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  Buffer copy = k.result(context.intermediate("eliminated", computed, {count, size, size}),
                         computed, Elements::kNumbers);
  Term n = k.param(size), elements = k.param(size * size);
  k.loop(k.begin(), k.end(), 1, [&](Term item) {
    Matrix matrix{k, copy, item * elements, n};
    k.loop(k.index(0), elements, 1, [&](Term i) {
      k.store_number(copy, matrix.start + i, k.load_number(x, matrix.start + i));
    });
    Term one = convert(k.index(1), k.number_type(copy));
    Term det = k.loop(k.index(0), n, 1, {one}, [&](Term step, auto so_far) {
      Term row = matrix.pivot_row(step), is_elsewhere = step < row;
      // An exchange of rows negates the determinant, so signed_pivot is negated.
      k.when(is_elsewhere, [&] { matrix.swap_rows(step, row); });
      Term pivot = matrix.load(step, step);
      // A pivot of 0 makes the determinant 0, so elimination is skipped.
      k.when(pivot == 0, [] {}, [&] { matrix.eliminate_below(step, pivot); });
      // After elimination the matrix is triangular, so the determinant is the product of the
      // pivots.
      Term signed_pivot = select(is_elsewhere, pivot.number(0.0) - pivot, pivot);
      return Terms{so_far[0] * signed_pivot};
    })[0];
    k.store_number(result, item, det);
  });
  return k.launch(count, grain_of_bytes(size * size * (size * byte_size(computed))));
}

}  // namespace scopevm::compiler::kernels
