// Replaces the symbols of a function's arguments, by numbers or by symbols with more facts, and
// infers the types of all dependent ops again. Substitution in the old result types is not enough,
// because type rules treat numbers and symbols differently, for example in a broadcast.
#include "compiler/graph/control/signature.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::graph {
namespace {

class Specialiser {
 public:
  explicit Specialiser(const Replacement& with) : with_(with) {}

  llvm::LogicalResult run(mlir::func::FuncOp function) {
    mlir::Block& block = function.getBody().front();
    for (mlir::BlockArgument argument : block.getArguments())
      // Arguments first; all other types follow from them in program order.
      argument.setType(replaced(argument.getType()));
    if (failed(run(block))) return mlir::failure();
    function.setType(mlir::FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                             block.getTerminator()->getOperandTypes()));
    return mlir::success();
  }

 private:
  llvm::SmallVector<DimExpr> replaced(llvm::ArrayRef<DimExpr> dims) const {
    llvm::SmallVector<DimExpr> result;
    for (DimExpr dim : dims) result.push_back(dim.substitute(with_));
    return result;
  }
  mlir::Type replaced(mlir::Type type) const {
    auto tensor = mlir::dyn_cast<TensorType>(type);
    return tensor ? tensor.withShape(replaced(tensor.getShape())) : type;
  }

  // The type with replaced dims, except those that are symbols of `open`.
  TensorType replaced_but(mlir::ArrayAttr open, TensorType type) const {
    llvm::SmallVector<DimExpr> dims(type.getShape());
    for (DimExpr& dim : dims)
      if (!is_symbol_of(open, dim)) dim = dim.substitute(with_);
    return type.withShape(dims);
  }

  llvm::LogicalResult run(mlir::Block& block) {
    for (mlir::Operation& op : block)
      if (failed(run(&op))) return mlir::failure();
    return mlir::success();
  }

  llvm::LogicalResult run(mlir::Operation* op) {
    for (mlir::NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (auto dims = mlir::dyn_cast<DimsAttr>(attribute.getValue()))
        // Before inference, which reads the attributes.
        op->setAttr(attribute.getName(),
                    DimsAttr::get(op->getContext(), replaced(dims.getValue())));
    if (auto inferred = mlir::dyn_cast<mlir::InferTypeOpInterface>(op)) return infer(inferred);
    if (auto branch = mlir::dyn_cast<IfOp>(op)) return run(branch);
    if (auto loop = mlir::dyn_cast<LoopOp>(op)) return run(loop);
    if (auto group = mlir::dyn_cast<GroupOp>(op)) return run(group);
    if (auto call = mlir::dyn_cast<CallOp>(op)) {
      fit_arguments(call->getOpOperands(), call.getCallee());
      return infer_again(call);
    }
    if (auto closure = mlir::dyn_cast<ClosureOp>(op))
      fit_arguments(closure->getOpOperands(), closure.getCallee());
    if (auto call = mlir::dyn_cast<CallClosureOp>(op)) {
      fit_arguments(call->getOpOperands().drop_front(), call.getClosure().getType().getSignature());
      return infer_again(call);
    }
    // Ops without type inference, such as sv.list_get, keep their types with replaced symbols.
    for (mlir::OpResult result : op->getResults()) result.setType(replaced(result.getType()));
    return mlir::success();
  }

  llvm::LogicalResult run(GroupOp group) {
    mlir::Block& block = group.getBody().front();
    for (auto [argument, operand] : llvm::zip(block.getArguments(), group->getOperands()))
      argument.setType(operand.getType());
    if (failed(run(block))) return mlir::failure();
    for (auto [result, yielded] : llvm::zip(group->getResults(), yields(block)))
      result.setType(yielded.getType());
    return mlir::success();
  }

  llvm::LogicalResult run(IfOp branch) {
    for (mlir::Region& region : branch->getRegions())
      if (failed(run(region.front()))) return mlir::failure();
    auto then = branch.getThen().front().getTerminator()->getOpOperands();
    auto otherwise = branch.getOtherwise().front().getTerminator()->getOpOperands();
    for (auto [result, first, second] : llvm::zip(branch->getResults(), then, otherwise))
      merge(first, second, branch.getSymbols(), result);
    return mlir::success();
  }

  llvm::LogicalResult run(LoopOp loop) {
    mlir::Block& block = loop.getBody().front();
    for (auto [argument, initial] : llvm::zip(block.getArguments(), loop.getInitial()))
      flow(initial.getType(), loop.getCarriedSymbols(), argument);
    if (failed(run(block))) return mlir::failure();
    size_t carried = block.getNumArguments();
    auto next = block.getTerminator()->getOpOperands().drop_front(loop.getHasCondition() ? 1 : 0);
    for (auto [argument, yielded] : llvm::zip_first(block.getArguments(), next))
      fit(yielded, argument.getType(), loop.getCarriedSymbols());
    for (auto [i, result] : llvm::enumerate(loop->getResults())) {
      if (i < carried) {
        flow(block.getArgument(i).getType(), loop.getSymbols(), result);
        continue;
      }
      // A gathered result stacks one part per iteration: its first dim is the number of iterations.
      // Simpler dims of a part hold only if there are iterations.
      const TensorType type =
          replaced_but(loop.getSymbols(), mlir::cast<TensorType>(result.getType()));
      result.setType(type);
      fit(next[i], type.withShape(type.getShape().drop_front()), loop.getSymbols());
    }
    return mlir::success();
  }

  static mlir::ValueRange yields(mlir::Block& block) {
    return block.getTerminator()->getOperands();
  }

  // Sets the dims of `to`, which is the value of `first` or that of `second`. A simpler dim that a
  // type rule has found for only one of them holds only if that one is computed, so `to` keeps its
  // dim there, as it keeps symbols of `open`.
  void merge(mlir::OpOperand& first, mlir::OpOperand& second, mlir::ArrayAttr open,
             mlir::Value to) const {
    auto a = mlir::dyn_cast<TensorType>(first.get().getType());
    auto b = mlir::dyn_cast<TensorType>(second.get().getType());
    if (!a || !b) return;
    const TensorType general = replaced_but(open, mlir::cast<TensorType>(to.getType()));
    llvm::SmallVector<DimExpr> dims(a.getShape());
    for (auto [dim, other, kept] : llvm::zip(dims, b.getShape(), general.getShape()))
      if (is_symbol_of(open, kept) || dim != other) dim = kept;
    to.setType(general.withShape(dims));
    fit(first, to.getType(), open);
    fit(second, to.getType(), open);
  }

  // Sets the dims of `to` from the type that flows into it, except dims that are symbols of `open`.
  static void flow(mlir::Type from, mlir::ArrayAttr open, mlir::Value to) {
    if (!mlir::isa<TensorType>(from)) return;
    auto source = mlir::cast<TensorType>(from), old = mlir::cast<TensorType>(to.getType());
    llvm::SmallVector<DimExpr> dims(source.getShape());
    for (auto [dim, kept] : llvm::zip(dims, old.getShape()))
      if (is_symbol_of(open, kept)) dim = kept;
    to.setType(old.withShape(dims));
  }

  // Gives the value the dims of `wanted`, except those that are symbols of `open`. The dims have
  // equal values, but the type rules can find a simpler expression for one of them: a broadcast of
  // q and 3*k is 3 if k is 1, while min(1, q, 3*k)*max(q, 3*k) remains an expression of q.
  static void fit(mlir::OpOperand& value, mlir::Type wanted, mlir::ArrayAttr open) {
    auto given = mlir::dyn_cast<TensorType>(value.get().getType());
    auto type = mlir::dyn_cast<TensorType>(wanted);
    if (!given || !type || given.getRank() != type.getRank()) return;
    llvm::SmallVector<DimExpr> dims(type.getShape());
    for (auto [dim, own] : llvm::zip(dims, given.getShape()))
      if (is_symbol_of(open, dim)) dim = own;
    if (llvm::ArrayRef<DimExpr>(dims) == given.getShape()) return;
    mlir::OpBuilder builder(value.getOwner());
    value.set(builder.create<ReshapeOp>(value.getOwner()->getLoc(), given.withShape(dims),
                                        value.get(), DimsAttr::get(builder.getContext(), dims)));
  }

  static void fit_arguments(llvm::MutableArrayRef<mlir::OpOperand> arguments,
                            mlir::FunctionType signature) {
    llvm::SmallVector<mlir::Type> types;
    for (mlir::OpOperand& argument : arguments) types.push_back(argument.get().getType());
    const auto open = mlir::ArrayAttr::get(signature.getContext(), {});
    for (auto [argument, type] : llvm::zip(arguments, expected_arguments(signature, types)))
      fit(argument, type, open);
  }
  static void fit_arguments(llvm::MutableArrayRef<mlir::OpOperand> arguments,
                            llvm::StringRef callee) {
    if (arguments.empty()) return;
    auto module = arguments.front().getOwner()->getParentOfType<mlir::ModuleOp>();
    if (auto function = module.lookupSymbol<mlir::func::FuncOp>(callee))
      fit_arguments(arguments, function.getFunctionType());
  }

  static bool is_symbol_of(mlir::ArrayAttr symbols, DimExpr dim) {
    return dim.kind() == DimExpr::Kind::kSymbol &&
           llvm::is_contained(symbols.getAsValueRange<mlir::StringAttr>(),
                              llvm::StringRef(dim.symbol_name()));
  }

  template <typename Call>
  static llvm::LogicalResult infer_again(Call call) {
    llvm::SmallVector<mlir::Type> types;
    if (failed(infer_call(call, types))) return mlir::failure();
    set_types(call, types);
    return mlir::success();
  }

  static llvm::LogicalResult infer(mlir::InferTypeOpInterface op) {
    llvm::SmallVector<mlir::Type> types;
    if (failed(op.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                   op->getAttrDictionary(), op->getPropertiesStorage(),
                                   op->getRegions(), types)))
      return mlir::failure();
    set_types(op, types);
    return mlir::success();
  }

  static void set_types(mlir::Operation* op, llvm::ArrayRef<mlir::Type> types) {
    for (auto [result, type] : llvm::zip(op->getResults(), types)) {
      if (!mlir::isa<TensorType>(type)) continue;
      // Type rules do not compute places.
      auto old = mlir::cast<TensorType>(result.getType()), now = mlir::cast<TensorType>(type);
      result.setType(old.withShape(now.getShape()));
    }
  }

  const Replacement& with_;
};

}  // namespace

llvm::LogicalResult specialise(mlir::func::FuncOp function, const Replacement& with) {
  return Specialiser(with).run(function);
}

}  // namespace scopevm::compiler::graph
