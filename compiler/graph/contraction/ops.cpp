// Matrix ops: generated definitions, type rules, request checks, cost.
#include "compiler/dims/dim_text.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/fold.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/contraction/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

bool is_byte(TensorType type) {
  return type.getDtype() == DType::kI8 || type.getDtype() == DType::kU8;
}

}  // namespace

llvm::LogicalResult MatMulOp::infer(TypeRule& rule, Adaptor op) {
  TensorType a = tensor_type(op.getA()), b = tensor_type(op.getB());
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(a) + " times " + text_of(b) + ": " + what);
  };
  bool sums_bytes = is_byte(a) && is_byte(b);
  if (a.getDtype() != b.getDtype() && !sums_bytes) return fail("element types differ");
  if (a.getRank() == 0 || b.getRank() == 0) return fail("both operands must have rank 1 or more");
  llvm::SmallVector<DimExpr> left(a.getShape()), right(b.getShape());
  // As in NumPy, a left vector is a row and a right vector is a column. The dim of 1 that is added
  // here is not part of the result.
  if (left.size() == 1) left.insert(left.begin(), DimExpr(1));
  if (right.size() == 1) right.push_back(DimExpr(1));
  if (op.getTransposeA() && a.getRank() > 1)
    std::swap(left[left.size() - 1], left[left.size() - 2]);
  if (op.getTransposeB() && b.getRank() > 1)
    std::swap(right[right.size() - 1], right[right.size() - 2]);
  if (!may_be_equal(left.back(), right[right.size() - 2]))
    return fail("inner dims differ: " + short_text(left.back()) + " and " +
                short_text(right[right.size() - 2]));
  auto shape =
      broadcast_shapes(llvm::ArrayRef(left).drop_back(2), llvm::ArrayRef(right).drop_back(2));
  if (!shape) return fail("leading dims do not broadcast");
  if (a.getRank() > 1) shape->push_back(left[left.size() - 2]);
  if (b.getRank() > 1) shape->push_back(right.back());
  DType dtype = sums_bytes ? DType::kI32 : a.getDtype();
  return rule.add_result(dtype, *shape);
}

void MatMulOp::addRequestChecks(RequestChecks& checks) {
  int64_t a = tensor_type(getA()).getRank(), b = tensor_type(getB()).getRank();
  if (a == 0 || b == 0) return;
  // Transposition does not apply to a vector; the depth of a vector b is its only dim.
  bool a_first = getTransposeA() && a > 1;
  bool b_last = getTransposeB() || b == 1;
  checks.require_equal(dim_of(getA(), a - (a_first ? 2 : 1)), dim_of(getB(), b - (b_last ? 1 : 2)));
  if (a > 2 && b > 2) checks.require_broadcast({getA(), getB()}, 2);
}

// Folds only products of 8-bit matrices of limited size without transposes, such as the column sums
// of quantised weights. Folding other products is not worth the compile time.
mlir::OpFoldResult MatMulOp::fold(FoldAdaptor adaptor) {
  return fold_tensor(*this, adaptor.getOperands(), [&](const ConstantArrays& x, ConstantArray& y) {
    constexpr int64_t kMaxSteps = int64_t{1} << 26;
    llvm::ArrayRef<int64_t> a = x[0].dims(), b = x[1].dims();
    if (byte_size(x[0].dtype()) != 1 || a.size() != 2 || b.size() != 2 || getTransposeA() ||
        getTransposeB() || a[1] != b[0] || y.count() * b[0] > kMaxSteps)
      return false;
    for (int64_t row = 0; row < a[0]; ++row)
      for (int64_t column = 0; column < b[1]; ++column) {
        int64_t sum = 0;
        for (int64_t k = 0; k < a[1]; ++k)
          sum += x[0].integer(row * a[1] + k) * x[1].integer(k * b[1] + column);
        y.set_integer(row * b[1] + column, sum);
      }
    return true;
  });
}

// Each result element takes one multiply-add per step of the depth. A multiply-add counts as two
// operations.
DimExpr MatMulOp::getFlops() {
  TensorType a = tensor_type(getA());
  DimExpr depth = a.getDim(a.getRank() - (getTransposeA() && a.getRank() > 1 ? 2 : 1));
  return DimExpr(2) * tensor_type(getResult()).getElementCount() * depth;
}

ParallelAxes MatMulOp::getParallelAxes() {
  const TensorType a = tensor_type(getA()), b = tensor_type(getB()),
                   result = tensor_type(getResult());
  const bool has_rows = a.getRank() > 1, has_columns = b.getRank() > 1;
  const auto batch_of = [](TensorType type) {
    return type.getShape().drop_back(std::min<int64_t>(type.getRank(), 2));
  };
  const int64_t batch = result.getRank() - (has_rows ? 1 : 0) - (has_columns ? 1 : 0);
  ParallelAxes axes;
  for (int64_t axis = 0; axis < batch; ++axis) {
    const auto in_a = broadcast_axis(batch_of(a), axis, batch, result.getDim(axis));
    const auto in_b = broadcast_axis(batch_of(b), axis, batch, result.getDim(axis));
    if (in_a && in_b) axes.push_back({{*in_a, *in_b}, {axis}});
  }
  constexpr int64_t kWhole = ParallelAxis::kWhole;
  if (has_rows) axes.push_back({{a.getRank() - (getTransposeA() ? 1 : 2), kWhole}, {batch}});
  if (has_columns)
    axes.push_back({{kWhole, b.getRank() - (getTransposeB() ? 2 : 1)}, {result.getRank() - 1}});
  return axes;
}

ParallelAxes MatMulBlocksOp::getParallelAxes() {
  const int64_t columns = tensor_type(getA()).getRank() - 1;
  ParallelAxes axes = leading_axes(*this, columns);
  constexpr int64_t kWhole = ParallelAxis::kWhole;
  const int64_t zeros = tensor_type(getZeros()).getRank() == 0 ? kWhole : 0;
  axes.push_back({{kWhole, 0, 0, zeros}, {columns}});
  return axes;
}

OutputAxes MatMulOp::getOutputAxes() {
  const TensorType a = tensor_type(getA()), b = tensor_type(getB());
  OutputAxes axes;
  axes.columns = tensor_type(getResult()).getRank() - (b.getRank() == 1 ? 0 : 1);
  axes.rows = axes.columns - (a.getRank() == 1 ? 0 : 1);
  // If b is a single matrix and a is not transposed, the batch dims of a are additional rows.
  const bool is_single_matrix =
      llvm::all_of(b.getShape().drop_back(std::min<int64_t>(b.getRank(), 2)),
                   [](DimExpr dim) { return dim.is_constant(1); });
  if (is_single_matrix && !getTransposeA() && a.getRank() > 1) axes.rows = 0;
  return axes;
}

llvm::LogicalResult MatMulBlocksOp::infer(TypeRule& rule, Adaptor op) {
  const TensorType a = tensor_type(op.getA()), q = tensor_type(op.getQ()),
                   scales = tensor_type(op.getScales()), zeros = tensor_type(op.getZeros());
  const auto has_f32 = [](TensorType type) { return type.getDtype() == DType::kF32; };
  if (!has_f32(a) || q.getDtype() != DType::kU8 || !has_f32(scales) || !has_f32(zeros))
    return rule.fail("operands are " + text_of(a) + ", " + text_of(q) + ", " + text_of(scales) +
                     " and " + text_of(zeros) + ", expected element types f32, u8, f32 and f32");
  const auto depth = static_cast<int64_t>(op.getDepth()), bits = static_cast<int64_t>(op.getBits()),
             block = static_cast<int64_t>(op.getBlock());
  constexpr int64_t kMost = int64_t{1} << 40;
  if (bits != 2 && bits != 4 && bits != 8)
    return rule.fail("bits is " + llvm::Twine(bits) + ", expected 2, 4 or 8");
  if (depth < 1 || depth > kMost || block < 1 || block > kMost)
    return rule.fail("depth is " + llvm::Twine(depth) + " and block is " + llvm::Twine(block) +
                     ", expected numbers from 1 to 2^40");
  if (a.getRank() < 1 || !may_be_equal(a.getDim(a.getRank() - 1), DimExpr(depth)))
    return rule.fail("a is " + text_of(a) + ", expected a last dim of " + llvm::Twine(depth));
  const DimExpr blocks((depth + block - 1) / block);
  const auto bytes = q.getRank() == 2 ? q.getDim(1).as_constant() : std::nullopt;
  if (!bytes || *bytes < (depth * bits + 7) / 8)
    return rule.fail("q is " + text_of(q) + ", expected 2 dims, the last one at least " +
                     llvm::Twine((depth * bits + 7) / 8));
  const auto is_per_block = [&](TensorType type) {
    return type.getRank() == 2 && may_be_equal(type.getDim(0), q.getDim(0)) &&
           type.getDim(1) == blocks;
  };
  if (!is_per_block(scales) || !(is_per_block(zeros) || zeros.getRank() == 0))
    return rule.fail("scales is " + text_of(scales) + " and zeros " + text_of(zeros) +
                     ", expected [" + short_text(q.getDim(0)) + ", " + short_text(blocks) + "]");
  llvm::SmallVector<DimExpr> shape(a.getShape());
  shape.back() = q.getDim(0);
  return rule.add_result(a.getDtype(), shape);
}

void MatMulBlocksOp::addRequestChecks(RequestChecks& checks) {
  const mlir::Value a = getA();
  checks.require_equal(dim_of(a, tensor_type(a).getRank() - 1),
                       {static_cast<int64_t>(getDepth()), nullptr, "the depth of q"});
  checks.require_equal(dim_of(getScales(), 0), dim_of(getQ(), 0));
  if (tensor_type(getZeros()).getRank() == 2)
    checks.require_equal(dim_of(getZeros(), 0), dim_of(getQ(), 0));
}

DimExpr MatMulBlocksOp::getFlops() {
  return tensor_type(getResult()).getElementCount() * (2 * static_cast<int64_t>(getDepth()));
}

OutputAxes MatMulBlocksOp::getOutputAxes() {
  return {.rows = 0, .columns = tensor_type(getResult()).getRank() - 1};
}

llvm::LogicalResult DetOp::infer(TypeRule& rule, Adaptor op) {
  TensorType type = tensor_type(op.getX());
  int64_t rank = type.getRank();
  if (rank < 2 || !may_be_equal(type.getDim(rank - 1), type.getDim(rank - 2)))
    return rule.fail("x must have rank 2 or more and equal last two dims, but is " + text_of(type));
  return rule.add_result(type.getDtype(), type.getShape().drop_back(2));
}

void DetOp::addRequestChecks(RequestChecks& checks) {
  int64_t rank = tensor_type(getX()).getRank();
  checks.require_equal(dim_of(getX(), rank - 2), dim_of(getX(), rank - 1));
}

}  // namespace scopevm::compiler::graph
