// Evaluates integer ops over dimension expressions: see symbolic_values.h.
#include "compiler/graph/symbolic_values.h"

#include <cstring>

#include "compiler/graph/elements.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"

namespace scopevm::graph {
namespace {

using Elements = std::optional<std::vector<DimExpr>>;

TensorType type_of(mlir::Value value) { return mlir::dyn_cast<TensorType>(value.getType()); }

bool is_shape_dtype(DType dtype) {
  return dtype == DType::kI64 || dtype == DType::kI32 || dtype == DType::kBool;
}

// The element count of a tensor that may hold a shape; -1 for others.
int64_t shape_tensor_size(TensorType type) {
  if (!type || !is_shape_dtype(type.getDtype()) || type.getRank() > 1) return -1;
  std::optional<int64_t> count = type.getElementCount().as_constant();
  return count && *count <= SymbolicValues::kMaxElements ? *count : -1;
}

Elements elements_of_constant(mlir::ElementsAttr attribute, DType dtype) {
  Constant constant = constant_of_elements(attribute, dtype);
  std::vector<DimExpr> elements;
  int64_t size = byte_size(dtype);
  for (int64_t at = 0; at + size <= constant.bytes; at += size) {
    int64_t wide = 0;
    int32_t narrow = 0;
    switch (dtype) {
      case DType::kI64:
        std::memcpy(&wide, constant.data + at, 8);
        break;
      case DType::kI32:
        std::memcpy(&narrow, constant.data + at, 4);
        wide = narrow;
        break;
      default:
        wide = constant.data[at] != 0;
    }
    elements.push_back(wide);
  }
  return elements;
}

// Integer division rounds towards zero; for operands that may be negative that is not floordiv.
std::optional<DimExpr> divide(const DimIntervals& intervals, DimExpr a, DimExpr b) {
  auto x = a.as_constant(), y = b.as_constant();
  if (y && *y == 0) return std::nullopt;
  if (x && y) return *y == -1 ? DimExpr(0) - a : DimExpr(*x / *y);
  if (!intervals.is_at_least(a, 0) || !intervals.is_at_least(b, 1)) return std::nullopt;
  return floordiv(a, b);
}

std::optional<DimExpr> modulo(const DimIntervals& intervals, DimExpr a, DimExpr b) {
  if (!intervals.is_at_least(b, 1)) return std::nullopt;
  return mod(a, b);
}

std::optional<DimExpr> decide_less(const DimIntervals& intervals, DimExpr a, DimExpr b) {
  DimInterval difference = intervals.of(b - a);
  if (difference.min > 0) return DimExpr(1);
  if (difference.max <= 0) return DimExpr(0);
  return std::nullopt;
}

std::optional<DimExpr> decide_equal(const DimIntervals& intervals, DimExpr a, DimExpr b) {
  if (a == b) return DimExpr(1);
  DimInterval difference = intervals.of(b - a);
  if (difference.min > 0 || difference.max < 0) return DimExpr(0);
  return std::nullopt;
}

std::optional<DimExpr> negate(std::optional<DimExpr> claim) {
  if (!claim) return std::nullopt;
  return DimExpr(1) - *claim;
}

}  // namespace

std::optional<DimExpr> SymbolicValues::apply(mlir::Operation* op, llvm::ArrayRef<DimExpr> x) const {
  using Out = std::optional<DimExpr>;
  return llvm::TypeSwitch<mlir::Operation*, Out>(op)
      .Case<AddOp>([&](auto) { return x[0] + x[1]; })
      .Case<SubOp>([&](auto) { return x[0] - x[1]; })
      .Case<MulOp>([&](auto) { return x[0] * x[1]; })
      .Case<NegOp>([&](auto) { return DimExpr(0) - x[0]; })
      .Case<AbsOp>([&](auto) -> Out {
        if (intervals_.is_at_least(x[0], 0)) return x[0];
        return intervals_.greater(x[0], DimExpr(0) - x[0]);
      })
      .Case<CastOp, FloorOp, CeilOp, RoundOp>([&](auto) { return x[0]; })
      .Case<ReluOp>([&](auto) { return intervals_.greater(x[0], 0); })
      .Case<DivOp>([&](auto) { return divide(intervals_, x[0], x[1]); })
      .Case<ModOp>([&](auto) { return modulo(intervals_, x[0], x[1]); })
      .Case<MinOp>([&](auto) { return intervals_.smaller(x[0], x[1]); })
      .Case<MaxOp>([&](auto) { return intervals_.greater(x[0], x[1]); })
      .Case<EqualOp>([&](auto) { return decide_equal(intervals_, x[0], x[1]); })
      .Case<LessOp>([&](auto) { return decide_less(intervals_, x[0], x[1]); })
      .Case<GreaterOp>([&](auto) { return decide_less(intervals_, x[1], x[0]); })
      .Case<LessEqualOp>([&](auto) { return negate(decide_less(intervals_, x[1], x[0])); })
      .Case<GreaterEqualOp>([&](auto) { return negate(decide_less(intervals_, x[0], x[1])); })
      .Case<LogicalNotOp>([&](auto) { return DimExpr(1) - x[0]; })
      .Case<AndOp>([&](auto) { return x[0] * x[1]; })
      .Case<OrOp>([&](auto) { return x[0] + x[1] - x[0] * x[1]; })
      .Case<SelectOp>([&](auto) -> Out {
        if (x[0].is_constant(1)) return x[1];
        if (x[0].is_constant(0)) return x[2];
        return std::nullopt;
      })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

Elements SymbolicValues::evaluate_elementwise(mlir::Operation* op) {
  int64_t count = shape_tensor_size(type_of(op->getResult(0)));
  llvm::SmallVector<std::vector<DimExpr>> operands;
  for (mlir::Value operand : op->getOperands()) {
    const std::vector<DimExpr>* elements = find(operand);
    if (!elements) return std::nullopt;
    operands.push_back(*elements);
  }
  std::vector<DimExpr> result;
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallVector<DimExpr> at;
    for (const std::vector<DimExpr>& elements : operands)
      at.push_back(elements[elements.size() == 1 ? 0 : i]);
    std::optional<DimExpr> element = apply(op, at);
    if (!element) return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

namespace {

Elements gather(const std::vector<DimExpr>& x, const std::vector<DimExpr>& indices) {
  std::vector<DimExpr> result;
  for (DimExpr index : indices) {
    std::optional<int64_t> i = index.as_constant();
    if (!i) return std::nullopt;
    int64_t at = *i < 0 ? *i + static_cast<int64_t>(x.size()) : *i;
    if (at < 0 || at >= static_cast<int64_t>(x.size())) return std::nullopt;
    result.push_back(x[at]);
  }
  return result;
}

Elements slice(const std::vector<DimExpr>& x, SliceOp op) {
  if (type_of(op.getX()).getRank() != 1) return x;
  auto start = op.getStarts().getValue()[0].as_constant();
  auto size = op.getSizes().getValue()[0].as_constant();
  if (!start || !size) return std::nullopt;
  std::vector<DimExpr> result;
  for (int64_t i = 0; i < *size; ++i) {
    int64_t at = *start + i * op.getSteps()[0];
    if (at < 0 || at >= static_cast<int64_t>(x.size())) return std::nullopt;
    result.push_back(x[at]);
  }
  return result;
}

Elements expand(const std::vector<DimExpr>& x, int64_t count) {
  if (static_cast<int64_t>(x.size()) == count) return x;
  if (x.size() != 1) return std::nullopt;
  return std::vector<DimExpr>(static_cast<size_t>(count), x.front());
}

Elements tile(const std::vector<DimExpr>& x, int64_t count) {
  std::vector<DimExpr> result;
  if (x.empty()) return result;
  for (int64_t i = 0; i < count; ++i) result.push_back(x[i % x.size()]);
  return result;
}

Elements iota(IotaOp op, int64_t count) {
  auto start = mlir::dyn_cast<mlir::IntegerAttr>(op.getStart());
  auto step = mlir::dyn_cast<mlir::IntegerAttr>(op.getStep());
  if (!start || !step) return std::nullopt;
  std::vector<DimExpr> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(DimExpr(start.getInt()) + DimExpr(step.getInt()) * DimExpr(i));
  return result;
}

}  // namespace

Elements SymbolicValues::evaluate_movement(mlir::Operation* op) {
  int64_t count = shape_tensor_size(type_of(op->getResult(0)));
  if (auto concat = mlir::dyn_cast<ConcatOp>(op)) {
    std::vector<DimExpr> result;
    for (mlir::Value input : concat.getInputs()) {
      const std::vector<DimExpr>* x = find(input);
      if (!x) return std::nullopt;
      result.insert(result.end(), x->begin(), x->end());
    }
    return result;
  }
  if (auto range = mlir::dyn_cast<IotaOp>(op)) return iota(range, count);
  if (op->getNumOperands() == 0) return std::nullopt;
  const std::vector<DimExpr>* found = find(op->getOperand(0));
  if (!found) return std::nullopt;
  std::vector<DimExpr> x = *found;
  return llvm::TypeSwitch<mlir::Operation*, Elements>(op)
      .Case<ReshapeOp, TransposeOp>([&](auto) { return x; })
      .Case<ExpandOp>([&](auto) { return expand(x, count); })
      .Case<TileOp>([&](auto) { return tile(x, count); })
      .Case<SliceOp>([&](SliceOp s) { return slice(x, s); })
      .Case<GatherOp>([&](GatherOp g) -> Elements {
        const std::vector<DimExpr>* indices = find(g.getIndices());
        return indices ? gather(x, *indices) : std::nullopt;
      })
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>([&](auto) -> Elements {
        if (x.empty() || count != 1)
          return count == static_cast<int64_t>(x.size()) ? Elements(x) : std::nullopt;
        DimExpr total = x.front();
        for (size_t i = 1; i < x.size(); ++i) {
          if (mlir::isa<ReduceSumOp>(op)) total = total + x[i];
          if (mlir::isa<ReduceProdOp>(op)) total = total * x[i];
          if (mlir::isa<ReduceMaxOp>(op)) total = intervals_.greater(total, x[i]);
          if (mlir::isa<ReduceMinOp>(op)) total = intervals_.smaller(total, x[i]);
        }
        return std::vector<DimExpr>{total};
      })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

Elements SymbolicValues::evaluate(mlir::Operation* op) {
  if (auto constant = mlir::dyn_cast<ConstantOp>(op))
    return elements_of_constant(constant.getValue(), type_of(op->getResult(0)).getDtype());
  if (auto dims = mlir::dyn_cast<DimsTensorOp>(op)) {
    llvm::ArrayRef<DimExpr> elements = dims.getDims().getValue();
    return std::vector<DimExpr>(elements.begin(), elements.end());
  }
  if (mlir::isa<AddOp, SubOp, MulOp, NegOp, AbsOp, CastOp, FloorOp, CeilOp, RoundOp, ReluOp, DivOp,
                ModOp, MinOp, MaxOp, EqualOp, LessOp, GreaterOp, LessEqualOp, GreaterEqualOp,
                LogicalNotOp, AndOp, OrOp, SelectOp>(op)) {
    // A cast to bool is a test, not a change of width.
    auto cast = mlir::dyn_cast<CastOp>(op);
    if (cast && type_of(cast.getResult()).getDtype() == DType::kBool) return std::nullopt;
    return evaluate_elementwise(op);
  }
  return evaluate_movement(op);
}

const std::vector<DimExpr>* SymbolicValues::find(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  int64_t count = shape_tensor_size(type_of(value));
  if (!op || op->getNumResults() != 1 || count < 0) return nullptr;
  auto found = known_.find(value);
  if (found == known_.end()) {
    Elements elements = evaluate(op);
    if (elements && static_cast<int64_t>(elements->size()) != count) elements.reset();
    found = known_.try_emplace(value, std::make_unique<Elements>(std::move(elements))).first;
  }
  return *found->second ? &**found->second : nullptr;
}

mlir::Value materialise(mlir::OpBuilder& builder, mlir::Location location, TensorType type,
                        llvm::ArrayRef<DimExpr> elements) {
  DType dtype = type.getDtype();
  bool is_scalar = type.getRank() == 0;
  bool is_numbers = llvm::all_of(elements, [](DimExpr e) { return e.is_constant(); });
  if (!is_numbers) {
    if (dtype == DType::kBool) return {};
    return builder.create<DimsTensorOp>(
        location, type, DimsAttr::get(builder.getContext(), elements),
        builder.getBoolAttr(is_scalar), builder.getStringAttr(scopevm::name(dtype)));
  }
  unsigned width = dtype == DType::kBool ? 1 : static_cast<unsigned>(8 * byte_size(dtype));
  llvm::SmallVector<llvm::APInt> values;
  for (DimExpr element : elements)
    values.emplace_back(64, static_cast<uint64_t>(*element.as_constant()), true);
  for (llvm::APInt& value : values) value = value.trunc(width);
  llvm::SmallVector<int64_t> shape;
  if (!is_scalar) shape.push_back(static_cast<int64_t>(elements.size()));
  auto dense = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(shape, builder.getIntegerType(width)), values);
  return builder.create<ConstantOp>(location, type, dense);
}

}  // namespace scopevm::graph
