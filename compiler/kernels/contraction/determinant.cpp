// det: Gaussian elimination with row pivots, on a copy of each matrix. A work item is a matrix.
#include "compiler/kernels/contraction/determinant.h"
#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels::movement {
namespace {

// An n x n matrix in `buffer`, from `start` on.
struct Matrix {
  KernelBuilder& k;
  Buffer buffer;
  Val start, n;

  Val load(Val row, Val column) const { return k.load_number(buffer, start + row * n + column); }
  void store(Val row, Val column, Val value) const {
    k.store_number(buffer, start + row * n + column, value);
  }

  // The row from `step` on whose element in column `step` is greatest in size.
  Val pivot_row(Val step) const {
    auto size_at = [&](Val row) {
      Val x = load(row, step);
      return select(x < 0, x.literal(0.0) - x, x);
    };
    return k.loop(step + 1, n, 1, {step, size_at(step)}, [&](Val row, auto best) {
      Val size = size_at(row), is_better = best[1] < size;
      return Vals{select(is_better, row, best[0]), select(is_better, size, best[1])};
    })[0];
  }

  void swap_rows(Val a, Val b) const {
    k.loop(k.index(0), n, 1, [&](Val column) {
      Val x = load(a, column), y = load(b, column);
      store(a, column, y);
      store(b, column, x);
    });
  }

  // Takes the pivot's row from those below it, so that their elements in its column become 0.
  void eliminate_below(Val step, Val pivot) const {
    k.loop(step + 1, n, 1, [&](Val row) {
      Val factor = load(row, step) / pivot;
      k.loop(step + 1, n, 1, [&](Val column) {
        store(row, column, load(row, column) - factor * load(step, column));
      });
    });
  }
};

}  // namespace

llvm::LogicalResult lower_det(graph::DetOp op, LoweringContext& context) {
  DType dtype = dtype_of(op.getX());
  DType computed = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  if (dtype != computed && dtype != DType::kF16 && dtype != DType::kBF16)
    return op.emitError("det needs a float type");
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  DimExpr size = shape.back(), count = product(shape, 0, shape.size() - 2);
  KernelBuilder k(context, op, "det");
  Buffer x = k.operand(op.getX(), Elements::kNumbers);
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  Buffer copy = k.result(context.intermediate("eliminated", computed, {count, size, size}),
                         computed, Elements::kNumbers);
  Val n = k.param(size), elements = k.param(size * size);
  k.loop(k.begin(), k.end(), 1, [&](Val item) {
    Matrix matrix{k, copy, item * elements, n};
    k.loop(k.index(0), elements, 1, [&](Val i) {
      k.store_number(copy, matrix.start + i, k.load_number(x, matrix.start + i));
    });
    Val one = convert(k.index(1), k.number_type(copy));
    Val det = k.loop(k.index(0), n, 1, {one}, [&](Val step, auto so_far) {
      Val row = matrix.pivot_row(step), is_elsewhere = step < row;
      k.when(is_elsewhere, [&] { matrix.swap_rows(step, row); });
      Val pivot = matrix.load(step, step);
      // A pivot of 0 makes the determinant 0, whatever comes after.
      k.when(pivot == 0, [] {}, [&] { matrix.eliminate_below(step, pivot); });
      Val signed_pivot = select(is_elsewhere, pivot.literal(0.0) - pivot, pivot);
      return Vals{so_far[0] * signed_pivot};
    })[0];
    k.store_number(result, item, det);
  });
  return k.launch(count, size * size * (size * byte_size(computed)));
}

}  // namespace scopevm::compiler::kernels::movement
