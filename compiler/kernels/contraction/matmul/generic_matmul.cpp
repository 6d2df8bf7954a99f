// Matrix products of any element type as plain loops; one work item is one row of the result.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/scalar_sum.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

void lower_generic_matmul(const FusedContraction& fused, LoweringContext& context) {
  MatMulShape shape(fused);
  Epilogue epilogue(fused, shape.axes);
  shape.collapse_batch(epilogue);
  auto op = mlir::cast<graph::MatMulOp>(fused.contraction);
  DType dtype = fused.type().getDtype();
  mlir::OpBuilder builder(op.getContext());
  Emitter e(builder);
  Launch launch(context, builder);
  DType a_type = mlir::cast<graph::TensorType>(op.getA().getType()).getDtype();
  DType b_type = mlir::cast<graph::TensorType>(op.getB().getType()).getDtype();
  Launch::Buffer a = launch.operand(context.value_of(fused.outer(op.getA())), a_type);
  Launch::Buffer b = launch.operand(context.value_of(fused.outer(op.getB())), b_type);
  epilogue.declare(launch, context);
  BatchCoordinates batch(launch, shape);
  Launch::Param rows = launch.param(shape.rows), columns = launch.param(shape.columns),
                depth = launch.param(shape.depth);
  launch.begin_body();
  ScalarSum sum{e, dtype};
  e.loop(launch.begin(), launch.end(), 1, [&](Value item) {
    Value row = e.rem(item, launch[rows]);
    llvm::SmallVector<Value> at = batch.coordinates(e, launch, e.div(item, launch[rows]));
    Value a_start = batch.a_start(e, launch, at), b_start = batch.b_start(e, launch, at);
    epilogue.enter(e, launch, at);
    e.loop(e.index(0), launch[columns], 1, [&](Value column) {
      Value total =
          e.fold(e.index(0), launch[depth], 1, sum.zero(), [&](Value k, mlir::ValueRange carried) {
            Value a_at = shape.transpose_a ? e.add(e.mul(k, launch[rows]), row)
                                           : e.add(e.mul(row, launch[depth]), k);
            Value b_at = shape.transpose_b ? e.add(e.mul(column, launch[depth]), k)
                                           : e.add(e.mul(k, launch[columns]), column);
            return Emitter::Values{
                sum.multiply_add(sum.load(launch[a], e.add(a_start, a_at), a_type),
                                 sum.load(launch[b], e.add(b_start, b_at), b_type), carried[0])};
          })[0];
      epilogue.emit(e, launch, total, row, column, 1, nullptr);
    });
  });
  constexpr int64_t kTaskSteps = 1 << 16;
  DimExpr steps = max(shape.columns * shape.depth, 1);
  launch.finish("matmul_loops", element_count(shape.batch) * shape.rows,
                max(floordiv(kTaskSteps, steps), 1));
}

}  // namespace scopevm::compiler::kernels
