// Replaces tuples by their elements: parameters and results of functions and closures, operands and
// results of ops, and block arguments. MLIR's 1:N type conversion is not used, because it also
// folds ops and loses the attributes of parameters.
#include "compiler/graph/control/tuples.h"
#include "compiler/graph/rewrite/passes.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {
namespace {

// The leaves of the types. In these, the signatures of closures are flat, too.
llvm::SmallVector<mlir::Type> flat(mlir::TypeRange types) {
  llvm::SmallVector<mlir::Type> leaves = leaves_of(types);
  for (mlir::Type& type : leaves)
    if (auto closure = mlir::dyn_cast<ClosureType>(type)) {
      mlir::FunctionType signature = closure.getSignature();
      type = ClosureType::get(
          type.getContext(), mlir::FunctionType::get(type.getContext(), flat(signature.getInputs()),
                                                     flat(signature.getResults())));
    }
  return leaves;
}

// The attributes of the leaves of a parameter or result. The elements of "state" are named
// "state.0", "state.1" and so on.
void add_attributes(mlir::Type type, mlir::DictionaryAttr attributes,
                    llvm::SmallVectorImpl<mlir::DictionaryAttr>& leaves) {
  auto tuple = mlir::dyn_cast<mlir::TupleType>(type);
  if (!tuple) {
    leaves.push_back(attributes);
    return;
  }
  for (auto [i, element] : llvm::enumerate(tuple.getTypes())) {
    mlir::NamedAttrList own(attributes);
    if (auto name = mlir::dyn_cast_or_null<mlir::StringAttr>(own.get("sv.name")))
      own.set("sv.name",
              mlir::StringAttr::get(type.getContext(), name.getValue() + "." + llvm::Twine(i)));
    add_attributes(element, own.getDictionary(type.getContext()), leaves);
  }
}

class TupleFlattener {
 public:
  void run(mlir::func::FuncOp function) {
    const mlir::FunctionType type = function.getFunctionType();
    llvm::SmallVector<mlir::DictionaryAttr> arguments, results;
    for (auto [i, input] : llvm::enumerate(type.getInputs()))
      add_attributes(input, mlir::function_interface_impl::getArgAttrDict(function, i), arguments);
    for (auto [i, result] : llvm::enumerate(type.getResults()))
      add_attributes(result, mlir::function_interface_impl::getResultAttrDict(function, i),
                     results);
    run(function.getBody().front());
    for (mlir::Operation* op : llvm::reverse(replaced_)) op->erase();
    for (mlir::BlockArgument argument : tuple_arguments_)
      argument.getOwner()->eraseArgument(argument.getArgNumber());
    function.setType(mlir::FunctionType::get(function.getContext(), flat(type.getInputs()),
                                             flat(type.getResults())));
    function.setAllArgAttrs(arguments);
    function.setAllResultAttrs(results);
  }

 private:
  void run(mlir::Block& block) {
    for (mlir::BlockArgument argument : llvm::to_vector(block.getArguments())) {
      const llvm::SmallVector<mlir::Type> types = flat(argument.getType());
      if (!mlir::isa<mlir::TupleType>(argument.getType())) {
        argument.setType(types.front());
        continue;
      }
      for (auto [i, type] : llvm::enumerate(types))
        elements_[argument].push_back(
            block.insertArgument(argument.getArgNumber() + 1 + i, type, argument.getLoc()));
      tuple_arguments_.push_back(argument);
    }
    for (mlir::Operation& op : block) run(&op);
  }

  void run(mlir::Operation* op) {
    if (auto tuple = mlir::dyn_cast<TupleOp>(op)) {
      elements_[tuple] = flat_values(tuple.getElements());
      replaced_.push_back(op);
      return;
    }
    if (auto get = mlir::dyn_cast<TupleGetOp>(op)) return run(get);
    op = with_flat_results(op);
    op->setOperands(flat_values(op->getOperands()));
    for (mlir::Region& region : op->getRegions()) run(region.front());
  }

  void run(TupleGetOp get) {
    llvm::ArrayRef<mlir::Type> types = get.getTuple().getType().getTypes();
    const llvm::SmallVector<mlir::Value> all = elements_.lookup(get.getTuple());
    const auto element = llvm::ArrayRef(all).slice(flat(types.take_front(get.getIndex())).size(),
                                                   flat(get.getType()).size());
    if (mlir::isa<mlir::TupleType>(get.getType()))
      elements_[get] = llvm::to_vector(element);
    else
      get.replaceAllUsesWith(element.front());
    replaced_.push_back(get);
  }

  // Returns `op`, or the op that replaces it if it has other results when they are flat.
  mlir::Operation* with_flat_results(mlir::Operation* op) {
    const llvm::SmallVector<mlir::Type> types = flat(op->getResultTypes());
    if (mlir::TypeRange(types) == op->getResultTypes()) return op;
    mlir::OperationState state(op->getLoc(), op->getName(), {}, types, op->getAttrs());
    for (mlir::Region& region : op->getRegions()) state.addRegion()->takeBody(region);
    state.addOperands(op->getOperands());
    mlir::Operation* made = mlir::OpBuilder(op).create(state);
    auto next = made->result_begin();
    for (mlir::Value result : op->getResults())
      if (mlir::isa<mlir::TupleType>(result.getType()))
        for (size_t i = flat(result.getType()).size(); i > 0; --i)
          elements_[result].push_back(*next++);
      else
        result.replaceAllUsesWith(*next++);
    replaced_.push_back(op);
    return made;
  }

  llvm::SmallVector<mlir::Value> flat_values(mlir::ValueRange values) const {
    llvm::SmallVector<mlir::Value> leaves;
    for (mlir::Value value : values)
      if (mlir::isa<mlir::TupleType>(value.getType()))
        leaves.append(elements_.lookup(value));
      else
        leaves.push_back(value);
    return leaves;
  }

  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> elements_;  // of each tuple
  llvm::SmallVector<mlir::Operation*> replaced_;
  llvm::SmallVector<mlir::BlockArgument> tuple_arguments_;
};

}  // namespace

void flatten_tuples(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>()) TupleFlattener().run(function);
}

}  // namespace scopevm::compiler::graph
