// Builds a module around an outlined function; see alternatives.h.
#include "compiler/external/alternatives.h"

#include <map>
#include <string>

#include "compiler/external/partition/partition.h"
#include "mlir/IR/Builders.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::external {
namespace {

using graph::TensorType;

// The dims of `main` by the names of the function's dims.
class Renaming {
 public:
  explicit Renaming(mlir::func::FuncOp function) {
    for (mlir::Type type :
         llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
      for (DimExpr dim : mlir::cast<TensorType>(type).getShape())
        if (dim.kind() == DimExpr::Kind::kSymbol) add(dim);
  }

  TensorType in_main(mlir::Type type) const {
    auto tensor = mlir::cast<TensorType>(type);
    llvm::SmallVector<DimExpr> dims;
    for (DimExpr dim : tensor.getShape())
      dims.push_back(dim.substitute([&](std::string_view name) -> std::optional<DimExpr> {
        return names_.find(name)->second;
      }));
    return tensor.withShape(dims);
  }

 private:
  void add(DimExpr dim) {
    DimFacts facts = dim.facts();
    facts.min = std::max<int64_t>(facts.min, 1);
    const std::string name(dim.symbol_name());
    names_.emplace(name, DimExpr::symbol(name_in_main(name), facts));
  }

  std::map<std::string, DimExpr, std::less<>> names_;
};

void set_name(mlir::func::FuncOp main, unsigned i, bool is_argument) {
  auto name =
      mlir::StringAttr::get(main.getContext(), (is_argument ? "x" : "y") + std::to_string(i));
  is_argument ? main.setArgAttr(i, "sv.name", name) : main.setResultAttr(i, "sv.name", name);
}

}  // namespace

mlir::OwningOpRef<mlir::ModuleOp> module_of_call(mlir::func::FuncOp function,
                                                 graph::CallExternOp call) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(function.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  auto main =
      builder.create<mlir::func::FuncOp>(function.getLoc(), format::kEntryName,
                                         mlir::FunctionType::get(function.getContext(), {}, {}));
  builder.clone(*function);
  mlir::Block* block = &main.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(block);
  const Renaming names(function);
  llvm::SmallVector<mlir::Value> operands;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (function.getArgAttr(i, kConstant))
      operands.push_back(builder.clone(*call.getArguments()[i].getDefiningOp())->getResult(0));
    else
      operands.push_back(block->addArgument(names.in_main(type), function.getLoc()));
  }
  llvm::SmallVector<mlir::Type> results;
  for (mlir::Type type : function.getResultTypes()) results.push_back(names.in_main(type));
  auto inner = builder.create<graph::CallExternOp>(
      function.getLoc(), results, mlir::FlatSymbolRefAttr::get(function.getSymNameAttr()),
      operands);
  builder.create<mlir::func::ReturnOp>(function.getLoc(), inner.getResults());
  main.setType(mlir::FunctionType::get(function.getContext(), block->getArgumentTypes(), results));
  for (unsigned i = 0; i < block->getNumArguments(); ++i) set_name(main, i, true);
  for (unsigned i = 0; i < results.size(); ++i) set_name(main, i, false);
  return module;
}

}  // namespace scopevm::compiler::external
