// Ops on strings: generated definitions and type rules.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/string/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

// The pool must divide into whole n-grams of each length, with one column for each n-gram.
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

llvm::LogicalResult StringToNumberOp::infer(TypeRule& rule, Adaptor op) {
  std::optional<DType> dtype = parse_dtype(op.getTo());
  if (!dtype || dtype == DType::kStr)
    return rule.fail("\"" + op.getTo() + "\" is not an element type of numbers");
  if (tensor_type(op.getX()).getDtype() != DType::kStr)
    return rule.fail(text_of(op.getX().getType()) + " holds no strings");
  return rule.add_result(*dtype, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult NumberToStringOp::infer(TypeRule& rule, Adaptor op) {
  return rule.add_result(DType::kStr, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult ChangeCaseOp::infer(TypeRule& rule, Adaptor op) {
  if (tensor_type(op.getX()).getDtype() != DType::kStr)
    return rule.fail(text_of(op.getX().getType()) + " holds no strings");
  return infer_same(rule, op.getX());
}

llvm::LogicalResult CountNgramsOp::infer(TypeRule& rule, Adaptor op) {
  constexpr int64_t kMost = int64_t{1} << 31;
  TensorType x = tensor_type(op.getX());
  if (x.getRank() != 2) return rule.fail(text_of(x) + " is no matrix");
  mlir::Type pool = op.getPool().getElementType();
  bool is_whole = x.getDtype() == DType::kI32 || x.getDtype() == DType::kI64;
  if (!(is_whole && pool.isSignlessInteger(64)) &&
      !(x.getDtype() == DType::kStr && mlir::isa<StringType>(pool)))
    return rule.fail("n-grams are of i32 or i64 from a pool of i64, or of strings, not of " +
                     text_of(x) + " from " + text_of(op.getPool().getShapedType()));
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
  return rule.add_result(DType::kF32, {x.getDim(0), DimExpr(columns)});
}

}  // namespace scopevm::compiler::graph
