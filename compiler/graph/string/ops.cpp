// Ops on strings: generated definitions and type rules.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/elements.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/string/ops.cpp.inc"
#include "runtime/count_text.h"

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
      return rule.fail("starts[" + llvm::Twine(i) + "] is " + llvm::Twine(starts[i]) +
                       "; starts must begin with 0 and ascend within the pool of " +
                       runtime::count_text(size, "element"));
    if ((end - starts[i]) % length != 0)
      return rule.fail(runtime::count_text(end - starts[i], "element") +
                       " of the pool for n-grams of length " + llvm::Twine(length) +
                       ", expected a multiple of the length");
    count += (end - starts[i]) / length;
  }
  if (count != static_cast<int64_t>(op.getColumns().size()))
    return rule.fail(runtime::count_text(static_cast<int64_t>(op.getColumns().size()), "column") +
                     " given, expected " + llvm::Twine(count) + ", one for each n-gram");
  if (!op.getWeights().empty() && op.getWeights().size() != op.getColumns().size())
    return rule.fail(runtime::count_text(static_cast<int64_t>(op.getWeights().size()), "weight") +
                     " given, expected " + llvm::Twine(count) + ", one for each n-gram");
  return mlir::success();
}

llvm::LogicalResult check_delimiter(TypeRule& rule, mlir::Value delimiter) {
  TensorType type = tensor_type(delimiter);
  if (type.getRank() == 0) return mlir::success();
  return rule.fail("the delimiter must have rank 0, but is " + text_of(type));
}

}  // namespace

llvm::LogicalResult StringToNumberOp::infer(TypeRule& rule, Adaptor op) {
  std::optional<DType> dtype = computed_dtype(op.getTo());
  if (!dtype || dtype == DType::kStr)
    return rule.fail("\"" + op.getTo() + "\" is not a numeric element type");
  return rule.add_result(*dtype, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult NumberToStringOp::infer(TypeRule& rule, Adaptor op) {
  return rule.add_result(DType::kStr, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult ChangeCaseOp::infer(TypeRule& rule, Adaptor op) {
  return infer_same(rule, op.getX());
}

llvm::LogicalResult ConcatStringsOp::infer(TypeRule& rule, Adaptor op) {
  if (tensor_type(op.getA()).getShape() != tensor_type(op.getB()).getShape())
    return rule.fail("the operands must have equal shapes, but are " +
                     text_of(op.getA().getType()) + " and " + text_of(op.getB().getType()));
  return infer_same(rule, op.getA());
}

llvm::LogicalResult CountPiecesOp::infer(TypeRule& rule, Adaptor op) {
  if (failed(check_delimiter(rule, op.getDelimiter()))) return mlir::failure();
  return rule.add_result(DType::kI64, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult SplitStringsOp::infer(TypeRule& rule, Adaptor op) {
  if (failed(check_delimiter(rule, op.getDelimiter())) ||
      failed(rule.check_count(op.getCount().getValue().size(), "count", 1)))
    return mlir::failure();
  llvm::SmallVector<DimExpr> shape(tensor_type(op.getX()).getShape());
  shape.push_back(op.getCount().getValue().front());
  return rule.add_result(DType::kStr, shape);
}

llvm::LogicalResult MatchStringsOp::infer(TypeRule& rule, Adaptor op) {
  TensorType automaton = tensor_type(op.getAutomaton());
  if (automaton.getDtype() != DType::kI32 || automaton.getRank() != 1)
    return rule.fail("the automaton must be i32 of rank 1, but is " + text_of(automaton));
  return rule.add_result(DType::kBool, tensor_type(op.getX()).getShape());
}

llvm::LogicalResult CountNgramsOp::infer(TypeRule& rule, Adaptor op) {
  constexpr int64_t kMost = int64_t{1} << 31;
  TensorType x = tensor_type(op.getX());
  if (x.getRank() != 2) return rule.fail("x must have rank 2, but is " + text_of(x));
  if (std::string error = error_of_elements(op.getPool()); !error.empty())
    return rule.fail("pool: " + error);
  mlir::Type pool = op.getPool().getElementType();
  bool is_whole = x.getDtype() == DType::kI32 || x.getDtype() == DType::kI64;
  if (!(is_whole && pool.isSignlessInteger(64)) &&
      !(x.getDtype() == DType::kStr && mlir::isa<StringType>(pool)))
    return rule.fail(
        "x must be i32 or i64 with a pool of i64, or str with a pool of str, but x is " +
        text_of(x) + " and the pool " + text_of(op.getPool().getShapedType()));
  if (op.getPool().getShapedType().getRank() != 1)
    return rule.fail("the pool must have rank 1, but is " + text_of(op.getPool().getShapedType()));
  if (failed(check_pool(rule, op))) return mlir::failure();
  auto least = static_cast<int64_t>(op.getMinLength()),
       most = static_cast<int64_t>(op.getMaxLength()), skips = static_cast<int64_t>(op.getSkips());
  if (least < 1 || most < least || most > static_cast<int64_t>(op.getStarts().size()))
    return rule.fail("lengths are " + llvm::Twine(least) + " to " + llvm::Twine(most) +
                     ", expected a range within the pool's lengths 1 to " +
                     llvm::Twine(op.getStarts().size()));
  if (skips < 0 || skips >= kMost)
    return rule.fail("skips is " + llvm::Twine(skips) + ", expected 0 to " +
                     llvm::Twine(kMost - 1));
  int64_t columns = 0;
  for (int64_t column : op.getColumns()) {
    if (column < 0 || column >= kMost)
      return rule.fail("column " + llvm::Twine(column) + " is out of range [0, " +
                       llvm::Twine(kMost) + ")");
    columns = std::max(columns, column + 1);
  }
  return rule.add_result(DType::kF32, {x.getDim(0), DimExpr(columns)});
}

}  // namespace scopevm::compiler::graph
