// Evaluates integer ops over dimension expressions: see symbolic_values.h.
#include "compiler/graph/infer/symbolic_values.h"

#include <cstring>

#include "compiler/graph/elements.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {
namespace {

using Elements = std::optional<std::vector<DimExpr>>;

TensorType type_of(mlir::Value value) { return mlir::dyn_cast<TensorType>(value.getType()); }

bool is_shape_dtype(DType dtype) {
  return dtype == DType::kI64 || dtype == DType::kI32 || dtype == DType::kBool;
}

// The element count of a tensor that may hold a shape; -1 for others.
int64_t shape_tensor_size(TensorType type) {
  if (!type || !is_shape_dtype(type.getDtype()) || !type.isStatic()) return -1;
  std::optional<int64_t> count = type.getElementCount().as_constant();
  return count && *count <= SymbolicValues::kMaxElements ? *count : -1;
}

using Coordinates = llvm::SmallVector<int64_t>;

// Dims that are numbers, row-major.
struct Box {
  Coordinates dims;

  int64_t size() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  Coordinates coordinates(int64_t index) const {
    Coordinates at(dims.size());
    for (size_t i = dims.size(); i-- > 0; index /= dims[i]) at[i] = index % dims[i];
    return at;
  }
  int64_t index(const Coordinates& at) const {
    int64_t result = 0;
    for (size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + at[i];
    return result;
  }
  bool contains(const Coordinates& at) const {
    for (size_t i = 0; i < dims.size(); ++i)
      if (at[i] < 0 || at[i] >= dims[i]) return false;
    return true;
  }
  // The element that broadcasts to `at` of a box of at least this rank.
  int64_t broadcast_index(const Coordinates& at) const {
    Coordinates own(dims.size());
    for (size_t i = 0; i < dims.size(); ++i)
      own[i] = dims[i] == 1 ? 0 : at[at.size() - dims.size() + i];
    return index(own);
  }
};

// REQUIRES: the type is static.
Box box_of(TensorType type) {
  Box box;
  for (DimExpr dim : type.getShape()) box.dims.push_back(*dim.as_constant());
  return box;
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

// Integers of tensors wrap around, dims do not: what leaves 64 bits is data.
bool has_overflowed(DimExpr result, llvm::ArrayRef<DimExpr> from) {
  return !result.is_constant() && llvm::all_of(from, [](DimExpr e) { return e.is_constant(); });
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
  const Box result = box_of(type_of(op->getResult(0)));
  llvm::SmallVector<std::pair<std::vector<DimExpr>, Box>> operands;
  for (mlir::Value operand : op->getOperands()) {
    const std::vector<DimExpr>* elements = find(operand);
    if (!elements) return std::nullopt;
    operands.emplace_back(*elements, box_of(type_of(operand)));
  }
  std::vector<DimExpr> elements;
  for (int64_t i = 0; i < result.size(); ++i) {
    Coordinates at = result.coordinates(i);
    llvm::SmallVector<DimExpr> of;
    for (const auto& [values, box] : operands) of.push_back(values[box.broadcast_index(at)]);
    std::optional<DimExpr> element = apply(op, of);
    if (!element) return std::nullopt;
    if (has_overflowed(*element, of)) return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

namespace {

// result[at] = x[from(at)]; nothing when an index lies outside.
Elements move(const std::vector<DimExpr>& x, Box from, Box to,
              llvm::function_ref<bool(const Coordinates& at, Coordinates& source)> source_of) {
  std::vector<DimExpr> result;
  for (int64_t i = 0; i < to.size(); ++i) {
    Coordinates at = to.coordinates(i), source(from.dims.size(), 0);
    if (!source_of(at, source) || !from.contains(source)) return std::nullopt;
    result.push_back(x[from.index(source)]);
  }
  return result;
}

Elements gather(const std::vector<DimExpr>& x, const std::vector<DimExpr>& indices, GatherOp op,
                Box to) {
  Box from = box_of(type_of(op.getX())), chosen = box_of(type_of(op.getIndices()));
  auto axis = static_cast<size_t>(op.getAxis());
  return move(x, from, to, [&](const Coordinates& at, Coordinates& source) {
    Coordinates where(at.begin() + axis, at.begin() + axis + chosen.dims.size());
    std::optional<int64_t> index = indices[chosen.index(where)].as_constant();
    if (!index) return false;
    for (size_t i = 0; i < axis; ++i) source[i] = at[i];
    source[axis] = *index < 0 ? *index + from.dims[axis] : *index;
    for (size_t i = axis + 1; i < source.size(); ++i) source[i] = at[i + chosen.dims.size() - 1];
    return true;
  });
}

Elements slice(const std::vector<DimExpr>& x, SliceOp op, Box to) {
  return move(x, box_of(type_of(op.getX())), to, [&](const Coordinates& at, Coordinates& source) {
    for (size_t i = 0; i < at.size(); ++i) {
      auto start = op.getStarts().getValue()[i].as_constant();
      if (!start) return false;
      source[i] = *start + at[i] * op.getSteps()[i];
    }
    return true;
  });
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

Elements SymbolicValues::concat(ConcatOp op) {
  const Box to = box_of(type_of(op.getResult()));
  std::vector<DimExpr> result(to.size(), DimExpr(0));
  int64_t begin = 0;
  for (mlir::Value input : op.getInputs()) {
    const std::vector<DimExpr>* x = find(input);
    if (!x) return std::nullopt;
    Box from = box_of(type_of(input));
    for (int64_t i = 0; i < from.size(); ++i) {
      Coordinates at = from.coordinates(i);
      at[op.getAxis()] += begin;
      result[to.index(at)] = (*x)[i];
    }
    begin += from.dims[op.getAxis()];
  }
  return result;
}

Elements SymbolicValues::reduce(mlir::Operation* op, const std::vector<DimExpr>& x) const {
  const Box from = box_of(type_of(op->getOperand(0))), to = box_of(type_of(op->getResult(0)));
  auto axes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("axes").asArrayRef();
  bool keep_dims = op->getAttrOfType<mlir::BoolAttr>("keep_dims").getValue();
  std::vector<std::optional<DimExpr>> totals(to.size());
  for (int64_t i = 0; i < from.size(); ++i) {
    Coordinates at = from.coordinates(i), where;
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
        where.push_back(at[axis]);
      else if (keep_dims)
        where.push_back(0);
    std::optional<DimExpr>& total = totals[to.index(where)];
    if (!total)
      total = x[i];
    else if (mlir::isa<ReduceSumOp>(op))
      total = *total + x[i];
    else if (mlir::isa<ReduceProdOp>(op))
      total = *total * x[i];
    else if (mlir::isa<ReduceMaxOp>(op))
      total = intervals_.greater(*total, x[i]);
    else
      total = intervals_.smaller(*total, x[i]);
  }
  std::vector<DimExpr> result;
  for (const std::optional<DimExpr>& total : totals) {
    if (!total) return std::nullopt;  // of nothing
    result.push_back(*total);
  }
  return result;
}

Elements SymbolicValues::evaluate_movement(mlir::Operation* op) {
  const Box to = box_of(type_of(op->getResult(0)));
  if (auto op_concat = mlir::dyn_cast<ConcatOp>(op)) return concat(op_concat);
  if (auto range = mlir::dyn_cast<IotaOp>(op)) return iota(range, to.size());
  if (op->getNumOperands() == 0) return std::nullopt;
  const std::vector<DimExpr>* found = find(op->getOperand(0));
  if (!found) return std::nullopt;
  std::vector<DimExpr> x = *found;
  const Box from = box_of(type_of(op->getOperand(0)));
  return llvm::TypeSwitch<mlir::Operation*, Elements>(op)
      .Case<ReshapeOp>([&](auto) { return x; })
      .Case<TransposeOp>([&](TransposeOp t) {
        return move(x, from, to, [&](const Coordinates& at, Coordinates& source) {
          for (size_t i = 0; i < at.size(); ++i) source[t.getPermutation()[i]] = at[i];
          return true;
        });
      })
      .Case<ExpandOp>([&](auto) {
        std::vector<DimExpr> result;
        for (int64_t i = 0; i < to.size(); ++i)
          result.push_back(x[from.broadcast_index(to.coordinates(i))]);
        return result;
      })
      .Case<TileOp>([&](auto) {
        return move(x, from, to, [&](const Coordinates& at, Coordinates& source) {
          for (size_t i = 0; i < at.size(); ++i) source[i] = at[i] % from.dims[i];
          return true;
        });
      })
      .Case<SliceOp>([&](SliceOp s) { return slice(x, s, to); })
      .Case<GatherOp>([&](GatherOp g) -> Elements {
        const std::vector<DimExpr>* indices = find(g.getIndices());
        return indices ? gather(x, *indices, g, to) : std::nullopt;
      })
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>([&](auto) -> Elements {
        Elements reduced = reduce(op, x);
        if (reduced && llvm::any_of(*reduced, [&](DimExpr e) { return has_overflowed(e, x); }))
          return std::nullopt;
        return reduced;
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
  if (!mlir::isa<TensorType>(value.getType())) return nullptr;
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
  for (llvm::APInt& value : values) value = value.trunc(width);
  llvm::SmallVector<int64_t> shape = box_of(type).dims;
  auto dense = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(shape, builder.getIntegerType(width)), values);
  return builder.create<ConstantOp>(location, type, dense);
}

}  // namespace scopevm::compiler::graph
