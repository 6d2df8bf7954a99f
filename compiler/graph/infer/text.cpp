// Type rules of the ops that come from work on texts.
#include "compiler/graph/infer/infer.h"

namespace scopevm::graph {
namespace {

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

// The pool divides into whole n-grams of each length, and there is a column for each.
llvm::LogicalResult check_pool(TypeRule& rule, CountNgramsOp::Adaptor op) {
  llvm::ArrayRef<int64_t> starts = op.getStarts();
  int64_t size = op.getPool().getNumElements(), count = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    auto length = static_cast<int64_t>(i) + 1;
    int64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
    if (starts[i] < 0 || end < starts[i] || end > size || (i == 0 && starts[i] != 0))
      return rule.fail("starts do not divide a pool of " + llvm::Twine(size) + " elements");
    if ((end - starts[i]) % length != 0)
      return rule.fail(llvm::Twine(end - starts[i]) + " elements of the pool are no n-grams of " +
                       llvm::Twine(length));
    count += (end - starts[i]) / length;
  }
  if (count != static_cast<int64_t>(op.getColumns().size()))
    return rule.fail(llvm::Twine(count) + " n-grams, " + llvm::Twine(op.getColumns().size()) +
                     " columns");
  if (!op.getWeights().empty() && op.getWeights().size() != op.getColumns().size())
    return rule.fail(llvm::Twine(count) + " n-grams, " + llvm::Twine(op.getWeights().size()) +
                     " weights");
  return mlir::success();
}

}  // namespace

llvm::LogicalResult inferCountNgrams(TypeRule& rule, CountNgramsOp::Adaptor op) {
  constexpr int64_t kMost = int64_t{1} << 31;
  TensorType x = type_of(op.getX());
  if (x.getRank() != 2) return rule.fail(text_of(x) + " is no matrix");
  bool is_whole = x.getDtype() == DType::kI32 || x.getDtype() == DType::kI64;
  if (!is_whole || !op.getPool().getElementType().isSignlessInteger(64))
    return rule.fail("n-grams are of i32 or i64 from a pool of i64, not of " + text_of(x) +
                     " from " + text_of(op.getPool().getShapedType()));
  if (op.getPool().getShapedType().getRank() != 1) return rule.fail("the pool must have rank 1");
  if (failed(check_pool(rule, op))) return mlir::failure();
  auto least = static_cast<int64_t>(op.getMinLength()),
       most = static_cast<int64_t>(op.getMaxLength()), skips = static_cast<int64_t>(op.getSkips());
  if (least < 1 || most < least || most > static_cast<int64_t>(op.getStarts().size()))
    return rule.fail("lengths " + llvm::Twine(least) + " to " + llvm::Twine(most) +
                     " are not those of the pool");
  if (skips < 0 || skips >= kMost) return rule.fail(llvm::Twine(skips) + " skips");
  int64_t columns = 0;
  for (int64_t column : op.getColumns()) {
    if (column < 0 || column >= kMost)
      return rule.fail("column " + llvm::Twine(column) + " is out of range");
    columns = std::max(columns, column + 1);
  }
  rule.types.push_back(TensorType::get(rule.context, DType::kF32, {x.getDim(0), DimExpr(columns)}));
  return mlir::success();
}

}  // namespace scopevm::graph
