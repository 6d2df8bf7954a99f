// Functions shared by type rules; see type_rule.h.
#include "compiler/graph/type_rule.h"

#include <algorithm>
#include <span>

#include "compiler/dims/dim_text.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::graph {

llvm::LogicalResult infer_results(mlir::Operation* op) {
  llvm::SmallVector<mlir::Type> types;
  auto inferred = mlir::cast<mlir::InferTypeOpInterface>(op);
  if (failed(inferred.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                       op->getAttrDictionary(), op->getPropertiesStorage(),
                                       op->getRegions(), types)))
    return mlir::failure();
  for (auto [result, type] : llvm::zip(op->getResults(), types)) result.setType(type);
  return mlir::success();
}

TensorType tensor_type(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

bool is_axis(TensorType x, int64_t axis) { return axis >= 0 && axis < x.getRank(); }

namespace {

bool contains(ElementTypes types, DType dtype) {
  const bool is_string = dtype == DType::kStr, is_bool = dtype == DType::kBool;
  if (types == ElementTypes::kStored) return !is_string;
  if (is_small(dtype) || types == ElementTypes::kSmall)
    return is_small(dtype) && types == ElementTypes::kSmall;
  switch (types) {
    case ElementTypes::kAny:
    case ElementTypes::kSmall:
    case ElementTypes::kStored:
      return true;
    case ElementTypes::kNumeric:
      return !is_string;
    case ElementTypes::kNumber:
      return !is_string && !is_bool;
    case ElementTypes::kFloat:
      return is_float(dtype);
    case ElementTypes::kInteger:
      return !is_string && !is_bool && !is_float(dtype);
    case ElementTypes::kU64:
      return dtype == DType::kU64;
    case ElementTypes::kBool:
      return is_bool;
    case ElementTypes::kString:
      return is_string;
  }
  return false;
}

llvm::StringRef description_of(ElementTypes types) {
  switch (types) {
    case ElementTypes::kAny:
      return "an element type";
    case ElementTypes::kNumeric:
      return "a numeric element type";
    case ElementTypes::kNumber:
      return "an integer or floating-point element type";
    case ElementTypes::kFloat:
      return "a floating-point element type";
    case ElementTypes::kInteger:
      return "an integer element type";
    case ElementTypes::kU64:
      return "element type u64";
    case ElementTypes::kBool:
      return "element type bool";
    case ElementTypes::kString:
      return "element type str";
    case ElementTypes::kSmall:
      return "an element type of 2, 4 or 8 bits such as u4 or f8e5m2";
    case ElementTypes::kStored:
      return "an element type other than str";
  }
  return "";
}

}  // namespace

std::optional<DType> computed_dtype(llvm::StringRef name) {
  const std::optional<DType> dtype = parse_dtype(name);
  return dtype && is_small(*dtype) ? std::nullopt : dtype;
}

llvm::LogicalResult TypeRule::check_elements(mlir::ValueRange operands,
                                             llvm::ArrayRef<ElementTypes> accepted) const {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const ElementTypes types = accepted[std::min(i, accepted.size() - 1)];
    if (!contains(types, tensor_type(operand).getDtype()))
      return fail("operand " + llvm::Twine(i) + " is " + text_of(operand.getType()) +
                  ", expected " + description_of(types));
  }
  return mlir::success();
}

bool is_among(DimExpr dim, mlir::ArrayAttr symbols) {
  return dim.kind() == DimExpr::Kind::kSymbol &&
         llvm::is_contained(symbols.getAsValueRange<mlir::StringAttr>(),
                            llvm::StringRef(dim.symbol_name()));
}

llvm::LogicalResult TypeRule::check_count(size_t count, llvm::StringRef noun, size_t expected,
                                          const llvm::Twine& reason) const {
  if (count == expected) return mlir::success();
  return fail(runtime::count_text(count, noun) + " given, expected " + llvm::Twine(expected) +
              reason);
}

llvm::LogicalResult TypeRule::add_result(DType dtype, llvm::ArrayRef<DimExpr> shape) {
  for (auto [axis, dim] : llvm::enumerate(shape))
    if (interval_of(dim).max < 0)
      return fail("dim " + llvm::Twine(axis) + " of the result is " + short_text(dim) +
                  ", expected at least 0");
  types.push_back(TensorType::get(context, dtype, shape));
  return mlir::success();
}

llvm::LogicalResult TypeRule::fail(const llvm::Twine& message) const {
  // The location is optional in MLIR's interface; without one, the failure is silent.
  if (location) mlir::emitError(*location) << op << ": " << message;
  return mlir::failure();
}

namespace {

std::string text_of_all(mlir::TypeRange types) {
  std::string text;
  for (mlir::Type type : types) text += (text.empty() ? "" : ", ") + text_of(type);
  return "(" + text + ")";
}

}  // namespace

std::string text_of(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto tensor = mlir::dyn_cast<TensorType>(type)) {
    // short_text() abbreviates long expressions: dims of a deep model can have thousands of terms.
    stream << scopevm::name(tensor.getDtype()) << "[";
    llvm::interleaveComma(tensor.getShape(), stream,
                          [&](DimExpr dim) { stream << short_text(dim); });
    stream << "]";
    if (tensor.getPlace()) stream << " @" << tensor.getPlace().str();
    return text;
  }
  if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type))
    return "tuple " + text_of_all(tuple.getTypes());
  if (auto closure = mlir::dyn_cast<ClosureType>(type)) {
    mlir::FunctionType signature = closure.getSignature();
    return "closure " + text_of_all(signature.getInputs()) + " -> " +
           text_of_all(signature.getResults());
  }
  stream << type;
  // Messages omit "!sv.list<", because users of ONNX files do not know the syntax of the dialect.
  if (llvm::StringRef list(text); list.consume_front("!sv.list<")) return list.drop_back().str();
  return text;
}

bool equal_but_for_place(mlir::TypeRange a, mlir::TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto x = mlir::dyn_cast<TensorType>(std::get<0>(pair));
           auto y = mlir::dyn_cast<TensorType>(std::get<1>(pair));
           return x && y && x.getDtype() == y.getDtype() && x.getShape() == y.getShape();
         });
}

bool may_be_equal(DimExpr a, DimExpr b) {
  if (a == b) return true;
  if (a.is_constant() && b.is_constant()) return false;
  DimInterval difference = interval_of(a - b);
  return difference.min <= 0 && difference.max >= 0;
}

namespace {

// The broadcast of dims that are pairwise equal or 1 is greatest * least.
struct Broadcast {
  DimExpr greatest;  // max(dims)
  DimExpr least;     // min(dims, 1): 0 if a dim is 0. It folds to 1 if no dim can be 0.
};

bool contains(std::span<const DimExpr> sorted, DimExpr e) {
  return std::binary_search(sorted.begin(), sorted.end(), e);
}

// Whether `least` is min(dims, 1). Linear in the number of dims if most are operands of `least`.
bool is_least(DimExpr least, std::span<const DimExpr> dims) {
  const std::span<const DimExpr> terms =
      least.kind() == DimExpr::Kind::kMin ? least.operands() : std::span<const DimExpr>(&least, 1);
  const auto is_lower = [&](DimExpr e) { return !contains(terms, e) && min(least, e) != least; };
  return !is_lower(1) && llvm::none_of(dims, is_lower) && llvm::all_of(terms, [&](DimExpr term) {
    return term.is_constant(1) || contains(dims, term);
  });
}

// If `dim` is the broadcast of several dims, they are the operands of `greatest`. Broadcasting
// `dim` with one of them again then yields an equal expression.
Broadcast parts_of(DimExpr dim) {
  const auto is_broadcast = [](DimExpr greatest, DimExpr least) {
    // The maximum of dims can be one of them, if it is provably the greatest.
    if (greatest.kind() != DimExpr::Kind::kMax)
      return least.kind() == DimExpr::Kind::kMin && contains(least.operands(), 1) &&
             llvm::all_of(least.operands(), [&](DimExpr term) {
               return term.is_constant(1) || max(greatest, term) == greatest;
             });
    return is_least(least, greatest.operands());
  };
  if (is_broadcast(dim, 1)) return {dim, 1};
  if (dim.kind() == DimExpr::Kind::kMul && dim.operands().size() == 2) {
    const DimExpr a = dim.operands()[0], b = dim.operands()[1];
    if (is_broadcast(a, b)) return {a, b};
    if (is_broadcast(b, a)) return {b, a};
  }
  return {dim, min(dim, 1)};
}

// Whether the expression has at most `left` terms. Subtracts their number.
bool has_at_most(DimExpr e, int& left) {
  left -= 1;
  if (left < 0) return false;
  return llvm::all_of(e.operands(), [&](DimExpr operand) { return has_at_most(operand, left); });
}

bool can_be_one_and_zero(DimExpr greater, DimExpr less) {
  return may_be_equal(greater, 1) && may_be_equal(less, 0);
}

}  // namespace

bool refuses_one_and_zero(DimExpr a, DimExpr b) {
  const DimExpr greater = max(a, b);
  if (greater.is_constant() || (greater != a && greater != b)) return false;
  if (!can_be_one_and_zero(greater, greater == a ? b : a)) return false;
  // The exact result is a product. Along a chain of broadcasts, products of several symbols can
  // grow exponentially.
  constexpr int kMostTerms = 32;
  int left = kMostTerms;
  return !has_at_most(a, left) || !has_at_most(b, left) || (a + b).symbols().size() > 1;
}

std::optional<DimExpr> broadcast_dim(DimExpr a, DimExpr b) {
  if (a == b || b.is_constant(1)) return a;
  if (a.is_constant(1)) return b;
  if (!may_be_equal(a, b) && !may_be_equal(a, 1) && !may_be_equal(b, 1)) return std::nullopt;
  // A symbolic dim must be 1 or equal to the constant, so the result is the constant.
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  // If one dim is provably at least as large as the other, it is the result, unless the other one
  // is 0 and it is 1.
  if (const DimExpr greater = max(a, b); greater == a || greater == b)
    if (!can_be_one_and_zero(greater, greater == a ? b : a) || refuses_one_and_zero(a, b))
      return greater;
  const Broadcast x = parts_of(a), y = parts_of(b);
  return max(x.greatest, y.greatest) * min(x.least, y.least);
}

std::optional<llvm::SmallVector<DimExpr>> broadcast_shapes(llvm::ArrayRef<DimExpr> a,
                                                           llvm::ArrayRef<DimExpr> b) {
  if (a.size() < b.size()) std::swap(a, b);
  llvm::SmallVector<DimExpr> shape(a.begin(), a.end());
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    std::optional<DimExpr> dim = broadcast_dim(a[shift + i], b[i]);
    if (!dim) return std::nullopt;
    shape[shift + i] = *dim;
  }
  return shape;
}

std::optional<llvm::SmallVector<DimExpr>> common_shape(TypeRule& rule, mlir::ValueRange operands) {
  llvm::SmallVector<DimExpr> shape;
  for (mlir::Value operand : operands) {
    const llvm::ArrayRef<DimExpr> dims = tensor_type(operand).getShape();
    auto next = broadcast_shapes(shape, dims);
    if (!next) {
      auto other = llvm::find_if(operands, [&](mlir::Value earlier) {
        return !broadcast_shapes(tensor_type(earlier).getShape(), dims);
      });
      // If no two operands conflict, this one conflicts with the common shape of the others.
      mlir::Value named = other == operands.end() ? operands.front() : *other;
      (void)rule.fail("operands " + text_of(named.getType()) + " and " +
                      text_of(operand.getType()) + " do not broadcast");
      return std::nullopt;
    }
    shape = std::move(*next);
  }
  return shape;
}

llvm::LogicalResult check_same_dtype(TypeRule& rule, mlir::ValueRange operands) {
  for (mlir::Value operand : operands)
    if (tensor_type(operand).getDtype() != tensor_type(operands.front()).getDtype())
      return rule.fail("operands " + text_of(operands.front().getType()) + " and " +
                       text_of(operand.getType()) + " have different element types");
  return mlir::success();
}

llvm::LogicalResult check_axis(TypeRule& rule, TensorType x, int64_t axis) {
  if (is_axis(x, axis)) return mlir::success();
  return rule.fail("axis " + llvm::Twine(axis) + " is out of range for " + text_of(x) +
                   " of rank " + llvm::Twine(x.getRank()));
}

llvm::LogicalResult infer_elementwise(TypeRule& rule, mlir::ValueRange operands) {
  if (failed(check_same_dtype(rule, operands))) return mlir::failure();
  auto shape = common_shape(rule, operands);
  if (!shape) return mlir::failure();
  return rule.add_result(tensor_type(operands.front()).getDtype(), *shape);
}

llvm::LogicalResult infer_comparison(TypeRule& rule, mlir::ValueRange operands) {
  if (failed(check_same_dtype(rule, operands))) return mlir::failure();
  auto shape = common_shape(rule, operands);
  if (!shape) return mlir::failure();
  return rule.add_result(DType::kBool, *shape);
}

llvm::LogicalResult infer_same(TypeRule& rule, mlir::Value x) {
  return rule.add_result(tensor_type(x).getDtype(), tensor_type(x).getShape());
}

}  // namespace scopevm::compiler::graph
