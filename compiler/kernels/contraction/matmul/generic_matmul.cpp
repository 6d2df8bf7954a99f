// Matrix products of any element type as scalar loops. A work item is one row of the result.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/scalar_sum.h"

namespace scopevm::compiler::kernels {
namespace {

// Reads the elements of the weight of a matmul_blocks.
class QuantisedWeight {
 public:
  QuantisedWeight(KernelBuilder& k, const FusedContraction& fused)
      : k_(k), op_(mlir::cast<graph::MatMulBlocksOp>(fused.contraction)) {
    const graph::TensorType q_type = graph::type_of(op_.getQ());
    q_ = k.operand(fused.outer(op_.getQ()), Elements::kNumbers);
    scales_ = k.operand(fused.outer(op_.getScales()), Elements::kNumbers);
    zero_ = known_zero(fused);
    if (!zero_) zeros_ = k.operand(fused.outer(op_.getZeros()), Elements::kNumbers);
    bytes_ = k.param(q_type.getDim(1));
    blocks_ = k.param(graph::type_of(op_.getScales()).getDim(1));
  }

  // The element of step i of the depth.
  Term load(Term column, Term i) {
    const auto bits = static_cast<int64_t>(op_.getBits()), per_byte = 8 / bits;
    Term byte = k_.load(q_, column * bytes_ + quotient(i, per_byte));
    Term integer = k_.make<mlir::arith::ExtUIOp>(k_.builder().getI32Type(), byte);
    const Term shift = to_i32(remainder(i, per_byte) * bits);
    integer = integer.make<mlir::arith::ShRUIOp>(integer, shift) &
              integer.integer((int64_t{1} << bits) - 1);
    const Term at = column * blocks_ + quotient(i, static_cast<int64_t>(op_.getBlock()));
    const Term number = convert(integer, k_.builder().getF32Type());
    const bool is_single = graph::type_of(op_.getZeros()).getRank() == 0;
    const Term zero = zero_ ? number.number(*zero_) : k_.load(zeros_, is_single ? k_.index(0) : at);
    return (number - zero) * k_.load(scales_, at);
  }

 private:
  KernelBuilder& k_;
  graph::MatMulBlocksOp op_;
  Buffer q_, scales_, zeros_;
  std::optional<float> zero_;
  Term bytes_, blocks_;
};

llvm::LogicalResult lower_blocks(const FusedContraction& fused, LoweringContext& context) {
  const MatMulShape shape(fused);
  Epilogue epilogue(fused);
  KernelBuilder k(context, fused.contraction, "matmul_blocks_loops");
  const Buffer a = k.operand(fused.outer(fused.contraction->getOperand(0)), Elements::kNumbers);
  QuantisedWeight weight(k, fused);
  epilogue.declare(k);
  const Term columns = k.param(shape.columns), depth = k.param(shape.depth);
  k.loop(k.begin(), k.end(), 1, [&](Term row) {
    epilogue.enter(k, {});
    k.loop(k.index(0), columns, 1, [&](Term column) {
      const Term zero = k.zero(k.builder().getF32Type());
      const Term total = k.loop(k.index(0), depth, 1, {zero}, [&](Term i, auto now) {
        return Terms{k.load(a, row * depth + i) * weight.load(column, i) + now[0]};
      })[0];
      epilogue.emit(k, total, row, column, 1, {});
    });
  });
  constexpr int64_t kTaskSteps = 1 << 16;
  return k.launch(shape.rows, grain_of(kTaskSteps, shape.columns * shape.depth));
}

}  // namespace

llvm::LogicalResult lower_generic_matmul(const FusedContraction& fused, LoweringContext& context) {
  if (mlir::isa<graph::MatMulBlocksOp>(fused.contraction)) return lower_blocks(fused, context);
  MatMulShape shape(fused);
  Epilogue epilogue = shape.make_epilogue(fused);
  auto op = mlir::cast<graph::MatMulOp>(fused.contraction);
  KernelBuilder k(context, op, "matmul_loops");
  Buffer a = k.operand(fused.stored(op.getA()), Elements::kNumbers);
  Buffer b = k.operand(fused.stored(op.getB()), Elements::kNumbers);
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
