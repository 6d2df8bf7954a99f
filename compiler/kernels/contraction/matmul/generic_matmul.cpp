// Matrix products of any element type as scalar loops. A work item is one row of the result.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/scalar_sum.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_generic_matmul(const FusedContraction& fused, LoweringContext& context) {
  MatMulShape shape(fused);
  Epilogue epilogue = shape.make_epilogue(fused);
  auto op = mlir::cast<graph::MatMulOp>(fused.contraction);
  KernelBuilder k(context, op, "matmul_loops");
  Buffer a = k.operand(fused.outer(op.getA()), Elements::kNumbers);
  Buffer b = k.operand(fused.outer(op.getB()), Elements::kNumbers);
  epilogue.declare(k);
  BatchCoordinates batch(k, shape);
  Term rows = k.param(shape.rows), columns = k.param(shape.columns), depth = k.param(shape.depth);
  ScalarSum sum{k, fused.type().getDtype()};
  k.loop(k.begin(), k.end(), 1, [&](Term item) {
    Term row = remainder(item, rows);
    Terms at = batch.coordinates(quotient(item, rows));
    Term a_start = batch.a_start(k, at), b_start = batch.b_start(k, at);
    epilogue.enter(k, at);
    k.loop(k.index(0), columns, 1, [&](Term column) {
      Term total = k.loop(k.index(0), depth, 1, {sum.zero()}, [&](Term i, auto now) {
        Term a_at = shape.transpose_a ? i * rows + row : row * depth + i;
        Term b_at = shape.transpose_b ? column * depth + i : i * columns + column;
        return Terms{
            sum.multiply_add(sum.load(a, a_start + a_at), sum.load(b, b_start + b_at), now[0])};
      })[0];
      epilogue.emit(k, total, row, column, 1, {});
    });
  });
  constexpr int64_t kTaskSteps = 1 << 16;
  return k.launch(element_count(shape.batch) * shape.rows,
                  grain_of(kTaskSteps, shape.columns * shape.depth));
}

}  // namespace scopevm::compiler::kernels
