// Groups, control flow, calls and lists: generated definitions, verifiers except those of
// lists (lists.cpp), and control-flow interfaces.
#include "compiler/dims/dim_text.h"
#include "compiler/graph/control/isolated_body.h"
#include "compiler/graph/control/signature.h"
#include "compiler/graph/control/tuples.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/control/ops.cpp.inc"
#include "runtime/count_text.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::graph {

namespace {

// The assumed trip count of a loop whose trip count is data-dependent.
constexpr double kUnknownTrips = 16;

TensorType tensor(mlir::Type type) { return mlir::cast<TensorType>(type); }

bool is_one_bool(mlir::Type type) {
  return mlir::isa<TensorType>(type) && tensor(type).getDtype() == DType::kBool &&
         tensor(type).getElementCount().is_constant(1);
}

// Verifies that a value of type `from` can flow to `to`. For tensors, each dim of `to` must equal
// that of `from` or be a symbol in `open`.
llvm::LogicalResult check_flow(mlir::Operation* op, mlir::Type from, mlir::Type to,
                               mlir::ArrayAttr open, const llvm::Twine& what) {
  auto from_tuple = mlir::dyn_cast<mlir::TupleType>(from);
  auto to_tuple = mlir::dyn_cast<mlir::TupleType>(to);
  if (from_tuple && to_tuple && from_tuple.size() == to_tuple.size()) {
    for (auto [a, b] : llvm::zip(from_tuple.getTypes(), to_tuple.getTypes()))
      if (failed(check_flow(op, a, b, open, "an element of " + what))) return mlir::failure();
    return mlir::success();
  }
  auto from_list = mlir::dyn_cast<ListType>(from), to_list = mlir::dyn_cast<ListType>(to);
  if (from_list && to_list && from_list.fits(to_list)) return mlir::success();
  if (!mlir::isa<TensorType>(from) && is_same_value(from, to)) return mlir::success();
  if (!mlir::isa<TensorType>(from) || !mlir::isa<TensorType>(to))
    return op->emitOpError() << what << " has type " << text_of(from) << ", expected "
                             << text_of(to);
  TensorType a = tensor(from), b = tensor(to);
  bool fits = a.getDtype() == b.getDtype() && a.getRank() == b.getRank();
  for (int64_t axis = 0; fits && axis < a.getRank(); ++axis)
    fits = is_among(b.getDim(axis), open) || a.getDim(axis) == b.getDim(axis);
  if (fits) return mlir::success();
  return op->emitOpError() << what << " has type " << text_of(from) << ", expected " << text_of(to);
}

// Verifies that a loop can gather parts of type `part` into a result of type `whole`. The first dim
// of `whole` is the number of iterations: the trip count, or a symbol of the loop if the loop has a
// condition or no trip count. Tuples are gathered element by element.
llvm::LogicalResult check_gathered(LoopOp loop, mlir::Type part_type, mlir::Type whole_type) {
  auto parts = mlir::dyn_cast<mlir::TupleType>(part_type);
  auto wholes = mlir::dyn_cast<mlir::TupleType>(whole_type);
  if (parts && wholes && parts.size() == wholes.size()) {
    for (auto [a, b] : llvm::zip(parts.getTypes(), wholes.getTypes()))
      if (failed(check_gathered(loop, a, b))) return mlir::failure();
    return mlir::success();
  }
  auto part = mlir::dyn_cast<TensorType>(part_type), whole = mlir::dyn_cast<TensorType>(whole_type);
  if (!part || !whole)
    return loop.emitOpError() << "gathers " << text_of(part_type) << " into " << text_of(whole_type)
                              << ", expected tensors";
  if (whole.getRank() != part.getRank() + 1)
    return loop.emitOpError() << "gathers " << text_of(part) << " into " << text_of(whole)
                              << ", expected rank " << part.getRank() + 1;
  llvm::ArrayRef<DimExpr> limit = loop.getTripCount().getValue();
  const DimExpr count = whole.getDim(0);
  if (loop.getHasCondition() || limit.empty()) {
    if (!is_among(count, loop.getSymbols()))
      return loop.emitOpError() << "gathers into " << text_of(whole)
                                << ", expected an entry of symbols as dim 0, because the number of "
                                   "iterations is data-dependent";
  } else if (count != limit.front()) {
    return loop.emitOpError() << "gathers into " << text_of(whole) << ", expected the trip count "
                              << short_text(limit.front()) << " as dim 0";
  }
  TensorType rest = whole.withShape(whole.getShape().drop_front());
  return check_flow(loop, part, rest, loop.getSymbols(), "a gathered value");
}

llvm::LogicalResult check_condition(mlir::Operation* op, mlir::Type type) {
  if (is_one_bool(type)) return mlir::success();
  return op->emitOpError() << "the condition must be a bool with 1 element, but is "
                           << text_of(type);
}

llvm::LogicalResult check_symbols(mlir::Operation* op, mlir::ArrayAttr symbols) {
  for (llvm::StringRef symbol : symbols.getAsValueRange<mlir::StringAttr>())
    if (failed(check_symbol(op, symbol))) return mlir::failure();
  return mlir::success();
}

}  // namespace

llvm::LogicalResult check_symbol(mlir::Operation* op, llvm::StringRef symbol, const char* what) {
  if (symbol.size() >= 2 && symbol_kind(symbol) != SymbolKind::kDimension) return mlir::success();
  return op->emitOpError() << what << " \"" << symbol << "\" must start with '$'";
}

llvm::LogicalResult ReadDimsOp::verify() {
  TensorType type = tensor(getX().getType());
  if (is_float(type.getDtype()) || type.getDtype() == DType::kStr || type.getRank() > 1 ||
      !type.getElementCount().is_constant(static_cast<int64_t>(getSymbols().size())))
    return emitOpError() << "expected " << runtime::count_text(getSymbols().size(), "integer")
                         << " of rank 0 or 1, one for each symbol, given " << text_of(type);
  return check_symbols(*this, getSymbols());
}

llvm::LogicalResult RequireOp::verify() {
  if (getDims().getValue().size() != 2)
    return emitOpError() << "expected 2 dims, given " << getDims().getValue().size();
  return mlir::success();
}

void RequireOp::addRequestChecks(RequestChecks& checks) {
  DimExpr a = getDims().getValue()[0], b = getDims().getValue()[1];
  const bool is_equal = getKind() == RequireKind::kEqual;
  if (is_equal ? a == b : is_never_negative(a - b)) return;
  checks.add(is_equal ? Check::Kind::kEqual : Check::Kind::kAtLeast, {a, nullptr, ""},
             {b, nullptr, ""}, getMessage().str());
}

llvm::LogicalResult AssertOp::verify() { return check_condition(*this, getCondition().getType()); }

llvm::LogicalResult IfOp::verify() {
  if (failed(check_condition(*this, getCondition().getType()))) return mlir::failure();
  for (mlir::Region* region : {&getThen(), &getOtherwise()}) {
    mlir::Operation* yield = region->front().getTerminator();
    if (region->front().getNumArguments() != 0)
      return emitOpError() << "a branch has "
                           << runtime::count_text(region->front().getNumArguments(), "argument")
                           << ", expected 0";
    if (yield->getNumOperands() != getNumResults())
      return emitOpError() << "a branch yields "
                           << runtime::count_text(yield->getNumOperands(), "value") << ", expected "
                           << getNumResults() << ", one for each result";
    for (auto [value, result] : llvm::zip(yield->getOperandTypes(), getResultTypes()))
      if (failed(check_flow(*this, value, result, getSymbols(), "a yielded value")))
        return mlir::failure();
  }
  return check_symbols(*this, getSymbols());
}

llvm::LogicalResult LoopOp::verify() {
  for (mlir::Type type : leaves_of(getBody().front().getTerminator()->getOperandTypes()))
    if (mlir::isa<ClosureType>(type)) return emitOpError("a loop body cannot yield closures");
  mlir::Block& block = getBody().front();
  mlir::OperandRange yielded = block.getTerminator()->getOperands();
  size_t carried = getInitial().size(), first = getHasCondition() ? 1 : 0;
  if (getTripCount().getValue().size() > 1)
    return emitOpError() << "expected at most 1 trip count, given "
                         << getTripCount().getValue().size();
  for (DimExpr count : getTripCount().getValue())
    if (interval_of(count).max < 0)
      return emitOpError() << "the trip count is " << short_text(count) << ", expected at least 0";
  if (block.getNumArguments() != carried)
    return emitOpError() << "the body takes "
                         << runtime::count_text(block.getNumArguments(), "argument")
                         << ", expected " << carried << ", one for each carried value";
  if (getNumResults() < carried || yielded.size() != first + getNumResults())
    return emitOpError() << "the body yields " << runtime::count_text(yielded.size(), "value")
                         << " for " << runtime::count_text(getNumResults(), "result") << " and "
                         << runtime::count_text(carried, "carried value")
                         << (first == 1 ? ", in addition to the condition" : "");
  if (first == 1 && failed(check_condition(*this, yielded[0].getType()))) return mlir::failure();
  for (size_t i = 0; i < carried; ++i)
    // Both the initial value and the yielded value flow into the argument, and the argument into
    // the result.
    for (mlir::Value value : {getInitial()[i], yielded[first + i]})
      if (failed(check_flow(*this, value.getType(), block.getArgument(i).getType(),
                            getCarriedSymbols(), "a carried value")) ||
          failed(check_flow(*this, block.getArgument(i).getType(), getResultTypes()[i],
                            getSymbols(), "a carried value")))
        return mlir::failure();
  for (size_t i = carried; i < getNumResults(); ++i)
    if (failed(check_gathered(*this, yielded[first + i].getType(), getResultTypes()[i])))
      return mlir::failure();
  if (failed(check_symbol(*this, getIndex(), "index")) ||
      failed(check_symbols(*this, getCarriedSymbols())))
    return mlir::failure();
  return check_symbols(*this, getSymbols());
}

// --- Control-flow interfaces. -------------------------------------------------------------------

// A loop forwards only the carried values, to the next iteration or to its results. The condition
// comes before them, and the parts of gathered outputs come after them.
mlir::MutableOperandRange YieldOp::getMutableSuccessorOperands(mlir::RegionBranchPoint point) {
  auto loop = mlir::dyn_cast<LoopOp>((*this)->getParentOp());
  if (!loop) return getValuesMutable();
  const unsigned first = loop.getHasCondition() ? 1 : 0;
  return getValuesMutable().slice(first, static_cast<unsigned>(loop.getInitial().size()));
}

void IfOp::getSuccessorRegions(mlir::RegionBranchPoint point,
                               llvm::SmallVectorImpl<mlir::RegionSuccessor>& regions) {
  if (!point.isParent()) {
    regions.emplace_back(getResults());
    return;
  }
  regions.emplace_back(&getThen());
  regions.emplace_back(&getOtherwise());
}

mlir::OperandRange IfOp::getEntrySuccessorOperands(mlir::RegionBranchPoint) {
  // Branches have no arguments: they use values of the enclosing region directly.
  return getOperation()->getOperands().take_back(0);
}

// By default, MLIR compares types for equality. verify() permits dims for which the op defines
// symbols to differ.
bool IfOp::areTypesCompatible(mlir::Type, mlir::Type) { return true; }

// Only carried values flow between iterations; gathered outputs are not values of the body.
void LoopOp::getSuccessorRegions(mlir::RegionBranchPoint,
                                 llvm::SmallVectorImpl<mlir::RegionSuccessor>& regions) {
  regions.emplace_back(&getBody(), getBody().getArguments());
  regions.emplace_back(getResults().take_front(getInitial().size()));
}

mlir::OperandRange LoopOp::getEntrySuccessorOperands(mlir::RegionBranchPoint) {
  return getInitial();
}

bool LoopOp::areTypesCompatible(mlir::Type, mlir::Type) { return true; }

mlir::OpResult IfOp::getMergePoint(mlir::OpOperand& operand) {
  if (operand.getOwner() == getOperation()) return {};
  return (*this)->getResult(operand.getOperandNumber());
}

mlir::OpResult LoopOp::getMergePoint(mlir::OpOperand& operand) {
  const bool is_yielded = operand.getOwner() != getOperation();
  const unsigned first = is_yielded && getHasCondition() ? 1 : 0, i = operand.getOperandNumber();
  return i < first ? mlir::OpResult() : (*this)->getResult(i - first);
}

bool LoopOp::isDynamicallySized(mlir::OpResult result) {
  return (getHasCondition() || getTripCount().getValue().empty()) &&
         result.getResultNumber() >= getInitial().size();
}

double LoopOp::getAssumedTrips(llvm::function_ref<double(DimExpr)> value_of) {
  llvm::ArrayRef<DimExpr> most = getTripCount().getValue();
  if (most.empty()) return kUnknownTrips;
  // At least 1: at 0 trips every copy in the body would be free, and its placement arbitrary.
  const double trips = std::max(1.0, value_of(most[0]));
  // The trip count of a loop with a condition is only an upper bound.
  return getHasCondition() ? std::min(trips, kUnknownTrips) : trips;
}

mlir::CallInterfaceCallable CallOp::getCallableForCallee() { return getCalleeAttr(); }
void CallOp::setCalleeFromCallable(mlir::CallInterfaceCallable callee) {
  setCalleeAttr(mlir::cast<mlir::FlatSymbolRefAttr>(mlir::cast<mlir::SymbolRefAttr>(callee)));
}
mlir::Operation::operand_range CallOp::getArgOperands() { return getArguments(); }
mlir::MutableOperandRange CallOp::getArgOperandsMutable() { return getArgumentsMutable(); }

mlir::CallInterfaceCallable CallClosureOp::getCallableForCallee() {
  return static_cast<mlir::Value>(getClosure());
}
void CallClosureOp::setCalleeFromCallable(mlir::CallInterfaceCallable callee) {
  getClosureMutable().assign(mlir::cast<mlir::Value>(callee));
}
mlir::Operation::operand_range CallClosureOp::getArgOperands() { return getArguments(); }
mlir::MutableOperandRange CallClosureOp::getArgOperandsMutable() { return getArgumentsMutable(); }

namespace {

llvm::LogicalResult check_results(mlir::Operation* call, const llvm::Twine& callee,
                                  llvm::ArrayRef<mlir::Type> types) {
  if (types.size() != call->getNumResults())
    return call->emitOpError() << "has " << runtime::count_text(call->getNumResults(), "result")
                               << ", but " << callee << " returns " << types.size();
  for (auto [i, result] : llvm::enumerate(call->getResultTypes()))
    if (!is_same_value(result, types[i]))
      return call->emitOpError() << "result " << i << " is " << text_of(result) << ", but "
                                 << callee << " returns " << text_of(types[i]);
  return mlir::success();
}

llvm::LogicalResult check_callee(mlir::Operation* op, llvm::StringRef callee) {
  if (callee != format::kEntryName) return mlir::success();
  return op->emitOpError() << "cannot call the entry function @" << callee;
}

}  // namespace

// Only the callee's signature is read, so recursive calls need no special handling.
llvm::LogicalResult CallOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  if (failed(check_callee(*this, getCallee()))) return mlir::failure();
  llvm::SmallVector<mlir::Type> types;
  if (failed(check_symbols(*this, getSymbols())) || failed(infer_call(*this, types)))
    return mlir::failure();
  return check_results(*this, "@" + getCallee(), types);
}

llvm::LogicalResult ClosureOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  if (failed(check_callee(*this, getCallee()))) return mlir::failure();
  ClosureType type = infer_closure(*this);
  if (!type) return mlir::failure();
  if (is_same_value(type, getType())) return mlir::success();
  return emitOpError() << "the result is " << text_of(getType()) << ", expected " << text_of(type)
                       << " for @" << getCallee();
}

llvm::LogicalResult CallClosureOp::verify() {
  llvm::SmallVector<mlir::Type> types;
  if (failed(check_symbols(*this, getSymbols())) || failed(infer_call(*this, types)))
    return mlir::failure();
  return check_results(*this, "the closure", types);
}

}  // namespace scopevm::compiler::graph
