// Evaluates integer ops over dimension expressions: see symbolic_values.h. Each supported op
// implements SymbolicOp in its family's folder.
#include "compiler/graph/values/symbolic_values.h"

#include <array>
#include <string_view>

#include "compiler/graph/values/box.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {
namespace {

using Elements = std::optional<std::vector<DimExpr>>;

bool is_shape_dtype(DType dtype) {
  return dtype == DType::kI64 || dtype == DType::kI32 || dtype == DType::kBool;
}

// The element count of a static i64, i32 or bool tensor of at most kMaxElements elements. Empty for
// other types.
std::optional<int64_t> shape_tensor_size(TensorType type) {
  if (!type || !is_shape_dtype(type.getDtype()) || !type.isStatic()) return std::nullopt;
  std::optional<int64_t> count = type.getElementCount().as_constant();
  // An empty optional compares less than any number and is returned as it is.
  return count <= SymbolicValues::kMaxElements ? count : std::nullopt;
}

// Integer division truncates; floordiv differs for negative operands.
std::optional<DimExpr> divide(DimExpr a, DimExpr b) {
  auto x = a.as_constant(), y = b.as_constant();
  if (y && *y == 0) return std::nullopt;
  // INT64_MIN / -1 traps. The subtraction overflows instead, which overflows() detects.
  if (x && y) return *y == -1 ? DimExpr(0) - a : DimExpr(*x / *y);
  // For these signs truncation and floor agree.
  if (interval_of(a).min < 0 || interval_of(b).min < 1) return std::nullopt;
  return floordiv(a, b);
}

std::optional<DimExpr> modulo(DimExpr a, DimExpr b) {
  // ONNX Mod has the sign of the divisor. For positive divisors, so does mod().
  if (interval_of(b).min < 1) return std::nullopt;
  return mod(a, b);
}

std::optional<DimExpr> decide_less(DimExpr a, DimExpr b) {
  DimInterval difference = interval_of(b - a);
  if (difference.min > 0) return DimExpr(1);
  if (difference.max <= 0) return DimExpr(0);
  return std::nullopt;
}

std::optional<DimExpr> decide_equal(DimExpr a, DimExpr b) {
  if (a == b) return DimExpr(1);
  DimInterval difference = interval_of(b - a);
  if (difference.min > 0 || difference.max < 0) return DimExpr(0);
  return std::nullopt;
}

// Tensor arithmetic wraps on overflow, but the evaluation of a dim fails. A result that overflows
// for ordinary dims is therefore unknown: kernels compute it. Of several sizes of dims, one must
// not overflow, because products of many dims overflow for large ones, and because divisors such as
// `n-20` can be invalid for small ones.
bool overflows(DimExpr result) {
  return llvm::none_of(std::array<int64_t, 3>{16, 4096, 1 << 20}, [&](int64_t dim) {
    return result.evaluate([dim](std::string_view) { return dim; }).has_value();
  });
}

}  // namespace

// --- Primitive operations on dims. Integers only; bools are 0 and 1. ----------------------------

namespace {

class DimArithmetic : public Arithmetic {
 public:
  Payload literal(const Scalar&, DType, double value) override {
    return DimExpr(static_cast<int64_t>(value));
  }
  Payload apply(UnaryFunction function, const Scalar& x) override;
  Payload apply(BinaryFunction function, const Scalar& a, const Scalar& b) override;
  Payload select(const Scalar& condition, const Scalar& a, const Scalar& b) override {
    if (!condition.is_known()) return {};
    if (condition.get<DimExpr>().is_constant(1)) return a.payload();
    if (condition.get<DimExpr>().is_constant(0)) return b.payload();
    return {};
  }
  // A cast to bool is a comparison with 0, which is not evaluated here.
  Payload cast(const Scalar& x, DType to) override {
    return to == DType::kBool ? Payload() : x.payload();
  }

 private:
  static Payload payload(std::optional<DimExpr> dim) { return dim ? Payload(*dim) : Payload(); }
  Payload logic(BinaryFunction function, DimExpr a, DimExpr b);
};

Arithmetic::Payload DimArithmetic::apply(UnaryFunction function, const Scalar& scalar) {
  if (!scalar.is_known()) return {};
  const DimExpr x = scalar.get<DimExpr>();
  switch (function) {
    case UnaryFunction::kNeg:
      return scalar.dtype() == DType::kBool ? Payload() : DimExpr(0) - x;
    case UnaryFunction::kAbs:
      return max(x, DimExpr(0) - x);
    // Rounding an integer has no effect.
    case UnaryFunction::kCeil:
    case UnaryFunction::kFloor:
    case UnaryFunction::kRound:
      return x;
    case UnaryFunction::kNot:
      return scalar.dtype() == DType::kBool ? Payload(DimExpr(1) - x) : Payload();
    default:
      return {};
  }
}

// Logical operations on bools.
Arithmetic::Payload DimArithmetic::logic(BinaryFunction function, DimExpr a, DimExpr b) {
  // Bools are 0 and 1, so the logical operations are polynomials.
  if (function == BinaryFunction::kAnd) return a * b;
  if (function == BinaryFunction::kOr) return a + b - a * b;
  return a + b - DimExpr(2) * a * b;
}

Arithmetic::Payload DimArithmetic::apply(BinaryFunction function, const Scalar& left,
                                         const Scalar& right) {
  if (!left.is_known() || !right.is_known()) return {};
  const DimExpr a = left.get<DimExpr>(), b = right.get<DimExpr>();
  // Sums of bools are taken modulo 2.
  const bool is_sum = function == BinaryFunction::kAdd || function == BinaryFunction::kSub;
  if (is_sum && left.dtype() == DType::kBool) return {};
  switch (function) {
    case BinaryFunction::kAdd:
      return a + b;
    case BinaryFunction::kSub:
      return a - b;
    case BinaryFunction::kMul:
      return a * b;
    case BinaryFunction::kDiv:
      return payload(divide(a, b));
    case BinaryFunction::kModulo:
      return payload(modulo(a, b));
    case BinaryFunction::kMin:
      return min(a, b);
    case BinaryFunction::kMax:
      return max(a, b);
    case BinaryFunction::kEqual:
      return payload(decide_equal(a, b));
    case BinaryFunction::kLess:
      return payload(decide_less(a, b));
    case BinaryFunction::kLessEqual: {
      std::optional<DimExpr> greater = decide_less(b, a);
      return greater ? Payload(DimExpr(1) - *greater) : Payload();
    }
    case BinaryFunction::kAnd:
    case BinaryFunction::kOr:
    case BinaryFunction::kXor:
      return left.dtype() == DType::kBool ? logic(function, a, b) : Payload();
    default:
      return {};
  }
}

}  // namespace

// --- SymbolicOp implementations. ----------------------------------------------------------------

Elements SymbolicValues::evaluate_elementwise(ElementwiseOp op) {
  const Box result = box_of(type_of(op->getResult(0)));
  llvm::SmallVector<std::pair<std::vector<DimExpr>, Box>> operands;
  for (mlir::Value operand : op->getOperands()) {
    const std::vector<DimExpr>* elements = find(operand);
    if (!elements) return std::nullopt;
    operands.emplace_back(*elements, box_of(type_of(operand)));
  }
  DimArithmetic arithmetic;
  std::vector<DimExpr> elements;
  for (int64_t i = 0; i < result.size(); ++i) {
    Coordinates at = result.coordinates(i);
    llvm::SmallVector<Scalar> scalars;
    for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
      scalars.emplace_back(arithmetic, type_of(value).getDtype(),
                           operand.first[operand.second.broadcast_index(at)]);
    const Scalar element = op.evaluate(scalars);
    if (!element.is_known() || overflows(element.get<DimExpr>())) return std::nullopt;
    elements.push_back(element.get<DimExpr>());
  }
  return elements;
}

std::optional<DimExpr> SymbolicValues::combined(Combine how, DimExpr a, DimExpr b) {
  switch (how) {
    case Combine::kSum:
      return a + b;
    case Combine::kProduct:
      return a * b;
    case Combine::kMax:
      return max(a, b);
    case Combine::kMin:
      return min(a, b);
  }
  return std::nullopt;
}

Elements SymbolicValues::evaluate_reduction(ReductionOp op) {
  const std::vector<DimExpr>* x = find(op->getOperand(0));
  if (!x || op.isMean()) return std::nullopt;
  const Box from = box_of(type_of(op->getOperand(0))), to = box_of(type_of(op->getResult(0)));
  // A total starts with its first element rather than a neutral element: dims have no least or
  // greatest value for max and min.
  std::vector<std::optional<DimExpr>> totals(to.size());
  for (int64_t i = 0; i < from.size(); ++i) {
    Coordinates at = from.coordinates(i), where;
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
        where.push_back(at[axis]);
      else if (op.getKeepDims())
        where.push_back(0);
    std::optional<DimExpr>& total = totals[to.index(where)];
    total = total ? combined(op.getCombine(), *total, (*x)[i]) : (*x)[i];
  }
  std::vector<DimExpr> result;
  for (const std::optional<DimExpr>& total : totals) {
    if (!total || overflows(*total)) return std::nullopt;  // no elements, or overflow
    result.push_back(*total);
  }
  return result;
}

Elements SymbolicValues::evaluate(mlir::Operation* op) {
  auto symbolic = mlir::dyn_cast<SymbolicOp>(op);
  return symbolic ? symbolic.evaluateSymbolic(*this) : std::nullopt;
}

const std::vector<DimExpr>* SymbolicValues::find(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!mlir::isa<TensorType>(value.getType())) return nullptr;
  const std::optional<int64_t> count = shape_tensor_size(type_of(value));
  // Arguments of functions and loops are data.
  if (!op || op->getNumResults() != 1 || !count) return nullptr;
  auto found = known_.find(value);
  if (found == known_.end()) {
    Elements elements = evaluate(op);
    if (elements && static_cast<int64_t>(elements->size()) != *count) elements.reset();
    // Inserted after the evaluation, which inserts operands and invalidates iterators. An unknown
    // result is cached as well, so that each op is evaluated once.
    found = known_.try_emplace(value, std::make_unique<Elements>(std::move(elements))).first;
  }
  return *found->second ? &**found->second : nullptr;
}

mlir::Value materialise(mlir::OpBuilder& builder, mlir::Location location, TensorType type,
                        llvm::ArrayRef<DimExpr> elements) {
  DType dtype = type.getDtype();
  bool is_numbers = llvm::all_of(elements, [](DimExpr e) { return e.is_constant(); });
  if (!is_numbers) {
    if (dtype == DType::kBool || type.getRank() > 1) return {};
    return builder.create<DimsTensorOp>(
        location, type, DimsAttr::get(builder.getContext(), elements),
        builder.getBoolAttr(type.getRank() == 0), builder.getStringAttr(scopevm::name(dtype)));
  }
  unsigned width = dtype == DType::kBool ? 1 : static_cast<unsigned>(8 * byte_size(dtype));
  llvm::SmallVector<llvm::APInt> values;
  for (DimExpr element : elements)
    values.emplace_back(64, static_cast<uint64_t>(*element.as_constant()), true);
  // Truncated to the element type, because a cast wraps.
  for (llvm::APInt& value : values) value = value.trunc(width);
  llvm::SmallVector<int64_t> shape = box_of(type).dims;
  auto dense = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(shape, builder.getIntegerType(width)), values);
  return builder.create<ConstantOp>(location, type, dense);
}

}  // namespace scopevm::compiler::graph
