// Replaces the symbols of a function's arguments, by numbers or by symbols that more is known of,
// and computes the types of everything behind them anew: with numbers a broadcast has another
// result than the one that a replacement in the old result would give.
#include "compiler/graph/infer/infer.h"
#include "compiler/graph/rewrite/passes.h"

namespace scopevm::graph {
namespace {

class Specialiser {
 public:
  explicit Specialiser(const Replacement& with) : with_(with) {}

  llvm::LogicalResult run(mlir::func::FuncOp function) {
    mlir::Block& block = function.getBody().front();
    for (mlir::BlockArgument argument : block.getArguments())
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

  llvm::LogicalResult run(mlir::Block& block) {
    for (mlir::Operation& op : block)
      if (failed(run(&op))) return mlir::failure();
    return mlir::success();
  }

  llvm::LogicalResult run(mlir::Operation* op) {
    for (mlir::NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (auto dims = mlir::dyn_cast<DimsAttr>(attribute.getValue()))
        op->setAttr(attribute.getName(),
                    DimsAttr::get(op->getContext(), replaced(dims.getValue())));
    if (auto inferred = mlir::dyn_cast<mlir::InferTypeOpInterface>(op)) return infer(inferred);
    for (mlir::OpResult result : op->getResults()) result.setType(replaced(result.getType()));
    auto group = mlir::dyn_cast<GroupOp>(op);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) {
        for (mlir::BlockArgument argument : block.getArguments())
          argument.setType(group ? group->getOperand(argument.getArgNumber()).getType()
                                 : replaced(argument.getType()));
        if (failed(run(block))) return mlir::failure();
        if (!group) continue;
        for (auto [result, yielded] :
             llvm::zip(op->getResults(), block.getTerminator()->getOperands()))
          result.setType(yielded.getType());
      }
    return mlir::success();
  }

  static llvm::LogicalResult infer(mlir::InferTypeOpInterface op) {
    llvm::SmallVector<mlir::Type> types;
    if (failed(op.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                   op->getAttrDictionary(), op->getPropertiesStorage(),
                                   op->getRegions(), types)))
      return mlir::failure();
    for (auto [result, type] : llvm::zip(op->getResults(), types)) {
      // The place is not the rule's to know.
      auto old = mlir::cast<TensorType>(result.getType()), now = mlir::cast<TensorType>(type);
      result.setType(old.withShape(now.getShape()));
    }
    return mlir::success();
  }

  const Replacement& with_;
};

}  // namespace

llvm::LogicalResult specialise(mlir::func::FuncOp function, const Replacement& with) {
  return Specialiser(with).run(function);
}

}  // namespace scopevm::graph
