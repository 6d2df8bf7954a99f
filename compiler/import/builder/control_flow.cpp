// Builds branches and loops, and joins the types of their values; see control_flow.h.
#include "compiler/import/builder/control_flow.h"

#include <memory>

#include "compiler/graph/rewrite/loop_body.h"
#include "compiler/graph/type_rule.h"
#include "compiler/import/builder/lists.h"
#include "llvm/Support/SaveAndRestore.h"

namespace scopevm::compiler::frontend {
namespace {

using graph::TensorType;
using graph::text_of;
using graph::type_of;
using mlir::Value;

bool has_symbol(DimExpr dim, const std::set<std::string>& symbols) {
  return llvm::any_of(dim.symbols(),
                      [&](const std::string& symbol) { return symbols.contains(symbol); });
}

Status differ(const char* what, mlir::Type a, mlir::Type b) {
  return Status(StatusCode::kUnsupported,
                std::string(what) + ": " + text_of(a) + " and " + text_of(b));
}

bool is_list(mlir::Type type) { return mlir::isa<graph::ListType>(type); }

bool is_alike(mlir::Type a, mlir::Type b) {
  if (is_list(a) || is_list(b)) return join_lists(a, b) != nullptr;
  auto x = mlir::cast<TensorType>(a), y = mlir::cast<TensorType>(b);
  return x.getDtype() == y.getDtype() && x.getRank() == y.getRank();
}

mlir::OpBuilder::InsertionGuard build_in(mlir::OpBuilder& builder, mlir::Region& region) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&region.emplaceBlock());
  return guard;
}

}  // namespace

mlir::Attribute ControlFlowBuilder::symbol_named(llvm::StringRef name) {
  return builder_.getStringAttr(builder_.fresh_symbol(name));
}

// The type, after the op, of a value that has type `type` inside the op's region. Dims that contain
// a symbol of `inner`, the symbols local to the region, are replaced by new symbols, which are
// appended to `symbols`.
mlir::Type ControlFlowBuilder::close(mlir::Type type, const std::set<std::string>& inner,
                                     llvm::SmallVectorImpl<mlir::Attribute>& symbols) {
  if (is_list(type)) return type;
  auto tensor = mlir::cast<TensorType>(type);
  llvm::SmallVector<DimExpr> shape(tensor.getShape());
  for (DimExpr& dim : shape) {
    if (!has_symbol(dim, inner)) continue;
    symbols.push_back(symbol_named("dim"));
    dim = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
  }
  return tensor.withShape(shape);
}

// Wraps the operands of the terminator from `first` on in optionals where `types` requires it.
void ControlFlowBuilder::fit_operands(mlir::Operation* terminator, size_t first,
                                      llvm::ArrayRef<mlir::Type> types) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(terminator);
  ListBuilder lists(builder_);
  for (size_t i = 0; i < types.size(); ++i) {
    mlir::OpOperand& operand = terminator->getOpOperand(static_cast<unsigned>(first + i));
    operand.set(lists.fit(operand.get(), types[i]));
  }
}

// --- If. ----------------------------------------------------------------------------------------

Result<llvm::SmallVector<Value>> ControlFlowBuilder::if_else(Value condition, Branch then,
                                                             Branch otherwise) {
  llvm::SmallVector<std::unique_ptr<mlir::Region>, 2> regions;
  llvm::SmallVector<llvm::SmallVector<Value>, 2> yields;
  for (Branch branch : {then, otherwise}) {
    auto guard = build_in(builder_, *regions.emplace_back(std::make_unique<mlir::Region>()));
    SCOPEVM_ASSIGN_OR_RETURN(llvm::SmallVector<Value> values, branch());
    builder_.create<graph::YieldOp>(values);
    yields.push_back(std::move(values));
  }
  std::set<std::string> inner = graph::symbols_defined_in(*regions[0]);
  inner.merge(graph::symbols_defined_in(*regions[1]));
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> symbols;
  for (auto [a, b] : llvm::zip(yields[0], yields[1])) {
    if (!is_alike(a.getType(), b.getType()))
      return differ("its branches return values of different rank or element type", a.getType(),
                    b.getType());
    if (graph::ListType list = join_lists(a.getType(), b.getType())) {
      types.push_back(list);
      continue;
    }
    llvm::SmallVector<DimExpr> shape(type_of(a).getShape());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      // After the op, a dim is known only if it is the same expression over outer symbols in both
      // branches.
      if (shape[axis] == type_of(b).getShape()[axis] && !has_symbol(shape[axis], inner)) continue;
      symbols.push_back(symbol_named("dim"));
      shape[axis] = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
    }
    types.push_back(type_of(a).withShape(shape));
  }
  for (auto& region : regions) fit_operands(region->front().getTerminator(), 0, types);
  auto op = builder_.create<graph::IfOp>(types, condition, builder_.getArrayAttr(symbols));
  op.getThen().takeBody(*regions[0]);
  op.getOtherwise().takeBody(*regions[1]);
  return llvm::SmallVector<Value>(op.getResults());
}

// --- Loop. --------------------------------------------------------------------------------------

// Replaces each dim of `types` that differs from the dim of `from` by a new symbol, which is
// appended to `symbols`. A dim that is one of `symbols` already is kept. List types are joined.
// Returns true if it changed a type.
bool ControlFlowBuilder::open_carried(llvm::ArrayRef<Value> from,
                                      llvm::SmallVectorImpl<mlir::Type>& types,
                                      llvm::SmallVectorImpl<mlir::Attribute>& symbols) {
  bool has_changed = false;
  for (auto [value, type] : llvm::zip(from, types)) {
    if (graph::ListType list = join_lists(value.getType(), type)) {
      has_changed = has_changed || list != type;
      type = list;
      continue;
    }
    auto tensor = mlir::cast<TensorType>(type);
    llvm::SmallVector<DimExpr> shape(tensor.getShape());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == type_of(value).getShape()[axis]) continue;
      bool is_open =
          shape[axis].kind() == DimExpr::Kind::kSymbol &&
          llvm::is_contained(symbols,
                             builder_.getStringAttr(llvm::StringRef(shape[axis].symbol_name())));
      if (is_open) continue;
      symbols.push_back(symbol_named("carried"));
      shape[axis] = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
      has_changed = true;
    }
    type = tensor.withShape(shape);
  }
  return has_changed;
}

Result<llvm::SmallVector<Value>> ControlFlowBuilder::loop(std::optional<DimExpr> trip_count,
                                                          llvm::ArrayRef<Value> initial,
                                                          Body body) {
  std::string index = builder_.fresh_symbol("i");
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(initial).getTypes());
  llvm::SmallVector<mlir::Attribute> carried_symbols;
  std::unique_ptr<mlir::Region> region;
  Iteration iteration;
  // A fixed-point iteration. The body is first imported for the types of the initial values. Dims
  // that differ in the yielded values become symbols of the loop, and the body is imported again.
  // The iteration terminates, because each dim is replaced by a symbol at most once.
  for (bool is_settled = false; !is_settled;) {
    region = std::make_unique<mlir::Region>();
    auto guard = build_in(builder_, *region);
    for (mlir::Type type : types) region->front().addArgument(type, builder_.getLoc());
    const RandomKeys::Body in_body(builder_.random_keys(), region->front(), index);
    const llvm::SaveAndRestore depth(builder_.loop_depth(), builder_.loop_depth() + 1);
    SCOPEVM_ASSIGN_OR_RETURN(iteration,
                             body(DimExpr::symbol(index), region->front().getArguments()));
    if (iteration.carried.size() != types.size())
      return Status(StatusCode::kInvalidModel,
                    "its body returns " + std::to_string(iteration.carried.size()) +
                        " carried values, expected " + std::to_string(types.size()));
    for (auto [value, type] : llvm::zip(iteration.carried, types))
      if (!is_alike(value.getType(), type))
        return differ("a carried value changes its rank or element type", type, value.getType());
    is_settled = !open_carried(iteration.carried, types, carried_symbols);
    if (is_settled) continue;
    region.reset();
    builder_.forget_known();
  }
  std::set<std::string> inner = graph::symbols_defined_in(*region);
  // The loop's own symbols have no value after the loop either.
  std::set<std::string> own = {index};
  for (mlir::Attribute symbol : carried_symbols)
    own.insert(mlir::cast<mlir::StringAttr>(symbol).str());
  inner.insert(own.begin(), own.end());
  llvm::SmallVector<mlir::Attribute> symbols;
  llvm::SmallVector<mlir::Type> results;
  for (mlir::Type type : types) results.push_back(close(type, inner, symbols));
  // With a condition, the trip count is only an upper bound. Without a known count, the number of
  // gathered parts is a new symbol.
  std::optional<DimExpr> count = iteration.condition ? std::nullopt : trip_count;
  for (Value part : iteration.parts) {
    if (is_list(part.getType()))
      return Status(StatusCode::kUnsupported,
                    "a scan output is " + text_of(part.getType()) + ", expected a tensor");
    llvm::SmallVector<DimExpr> shape(type_of(part).getShape());
    const auto depends_on = [&](const std::set<std::string>& symbols_of) {
      return llvm::any_of(shape, [&](DimExpr dim) { return has_symbol(dim, symbols_of); });
    };
    if (depends_on(inner) && !depends_on(own))
      return Status(StatusCode::kUnsupported,
                    "a scan output has shape " + text_of(part.getType()) +
                        ", which depends on data that the body reads, so that it is not known to "
                        "be the same in all iterations");
    if (depends_on(own))
      return Status(StatusCode::kUnsupported, "a scan output has shape " + text_of(part.getType()) +
                                                  ", which changes between iterations");
    // All gathered outputs have the same count.
    if (!count) {
      symbols.push_back(symbol_named("count"));
      count = DimExpr::symbol(mlir::cast<mlir::StringAttr>(symbols.back()).str());
    }
    shape.insert(shape.begin(), *count);
    results.push_back(type_of(part).withShape(shape));
  }
  llvm::SmallVector<Value> yielded;
  if (iteration.condition) yielded.push_back(iteration.condition);
  yielded.append(iteration.carried);
  yielded.append(iteration.parts);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&region->front());
    auto yield = builder_.create<graph::YieldOp>(yielded);
    fit_operands(yield, iteration.condition ? 1 : 0, types);
  }
  ListBuilder lists(builder_);
  llvm::SmallVector<Value> starts;
  for (auto [value, type] : llvm::zip(initial, types)) starts.push_back(lists.fit(value, type));
  llvm::SmallVector<DimExpr> limit;
  if (trip_count) limit.push_back(*trip_count);
  auto op = builder_.create<graph::LoopOp>(
      results, starts, graph::DimsAttr::get(builder_.getContext(), limit), index,
      iteration.condition != nullptr, builder_.getArrayAttr(carried_symbols),
      builder_.getArrayAttr(symbols));
  op.getBody().takeBody(*region);
  return llvm::SmallVector<Value>(op.getResults());
}

}  // namespace scopevm::compiler::frontend
