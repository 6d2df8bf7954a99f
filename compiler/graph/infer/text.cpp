// Type rules of texts: which ops take them, and those of the ops that look into them or come from
// work on them.
#include "compiler/graph/infer/infer.h"

namespace scopevm::compiler::graph {
namespace {

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

// The ops that take texts, and as which operands: a bit each, the last one also for those behind
// it. They move texts, or compare whether two are the same; others would compute on ids.
struct TextRow {
  llvm::StringRef op;
  unsigned operands;
};
constexpr unsigned kAll = 0xff, kFirst = 1, kSecond = 2, kThird = 4;
constexpr TextRow kTextRows[] = {
    {"change_case", kAll},
    {"concat", kAll},
    {"count_ngrams", kAll},
    {"equal", kAll},
    {"expand", kAll},
    {"gather", kFirst},
    {"gather_elements", kFirst},
    {"gather_nd", kFirst},
    {"one_hot", kSecond},
    {"pad", kAll},
    {"parse_text", kAll},
    {"reshape", kAll},
    {"scatter_elements", kFirst | kThird},
    {"scatter_nd", kFirst | kThird},
    {"select", kSecond | kThird},
    {"slice", kAll},
    {"tile", kAll},
    {"transpose", kAll},
    {"trilu", kAll},
};

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

llvm::LogicalResult TypeRule::check_texts(mlir::ValueRange operands) const {
  const auto* row = llvm::find_if(kTextRows, [&](const TextRow& r) { return r.op == op; });
  unsigned admitted = row == std::end(kTextRows) ? 0 : row->operands;
  for (size_t i = 0; i < operands.size(); ++i)
    if (type_of(operands[i]).getDtype() == DType::kStr && !(admitted >> std::min<size_t>(i, 7) & 1))
      return fail("operand " + llvm::Twine(i) + " is " + text_of(operands[i].getType()) +
                  "; texts are not taken there");
  return mlir::success();
}

llvm::LogicalResult inferParseText(TypeRule& rule, mlir::Value x, llvm::StringRef to) {
  std::optional<DType> dtype = parse_dtype(to);
  if (!dtype || dtype == DType::kStr)
    return rule.fail("\"" + to + "\" is not an element type of numbers");
  if (type_of(x).getDtype() != DType::kStr)
    return rule.fail(text_of(x.getType()) + " holds no texts");
  rule.types.push_back(TensorType::get(rule.context, *dtype, type_of(x).getShape()));
  return mlir::success();
}

llvm::LogicalResult inferFormatText(TypeRule& rule, mlir::Value x) {
  rule.types.push_back(TensorType::get(rule.context, DType::kStr, type_of(x).getShape()));
  return mlir::success();
}

llvm::LogicalResult inferChangeCase(TypeRule& rule, mlir::Value x) {
  if (type_of(x).getDtype() != DType::kStr)
    return rule.fail(text_of(x.getType()) + " holds no texts");
  return inferSame(rule, x);
}

llvm::LogicalResult inferCountNgrams(TypeRule& rule, CountNgramsOp::Adaptor op) {
  constexpr int64_t kMost = int64_t{1} << 31;
  TensorType x = type_of(op.getX());
  if (x.getRank() != 2) return rule.fail(text_of(x) + " is no matrix");
  mlir::Type pool = op.getPool().getElementType();
  bool is_whole = x.getDtype() == DType::kI32 || x.getDtype() == DType::kI64;
  if (!(is_whole && pool.isSignlessInteger(64)) &&
      !(x.getDtype() == DType::kStr && mlir::isa<TextType>(pool)))
    return rule.fail("n-grams are of i32 or i64 from a pool of i64, or of texts, not of " +
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
  rule.types.push_back(TensorType::get(rule.context, DType::kF32, {x.getDim(0), DimExpr(columns)}));
  return mlir::success();
}

}  // namespace scopevm::compiler::graph
