// Calls: names of the callee's parameters -> dims of the arguments -> types of the results.
#include "compiler/graph/infer/signature.h"

#include <map>

#include "compiler/graph/infer/infer.h"

namespace scopevm::graph {
namespace {

class CallTyper {
 public:
  CallTyper(mlir::Operation* call, const llvm::Twine& callee, mlir::ArrayAttr symbols)
      : call_(call), callee_(callee.str()), symbols_(symbols) {}

  llvm::LogicalResult bind(mlir::TypeRange parameters, mlir::TypeRange arguments) {
    if (parameters.size() != arguments.size())
      return call_->emitOpError() << callee_ << " takes " << parameters.size()
                                  << " arguments, given " << arguments.size();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (failed(bind_names(i, parameters[i], arguments[i]))) return mlir::failure();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (failed(check_dims(i, parameters[i], arguments[i]))) return mlir::failure();
    return mlir::success();
  }

  llvm::LogicalResult give(mlir::TypeRange declared, llvm::SmallVectorImpl<mlir::Type>& results) {
    for (mlir::Type type : declared) {
      auto tensor = mlir::dyn_cast<TensorType>(type);
      if (!tensor) return call_->emitOpError() << callee_ << " gives " << type << ", no tensor";
      llvm::SmallVector<DimExpr> dims;
      for (DimExpr dim : tensor.getShape()) {
        std::optional<DimExpr> given = is_bound(dim) ? substituted(dim) : born(dim);
        if (!given)
          return call_->emitOpError()
                 << "symbols has " << symbols_.size() << " names; the results of " << callee_
                 << " need one for " << dim.str() << " too";
        dims.push_back(*given);
      }
      results.push_back(TensorType::get(type.getContext(), tensor.getDtype(), dims));
    }
    if (born_.size() == symbols_.size()) return mlir::success();
    return call_->emitOpError() << "symbols has " << symbols_.size() << " names; the results of "
                                << callee_ << " need " << born_.size();
  }

 private:
  llvm::LogicalResult wrong(size_t index, mlir::Type parameter, mlir::Type argument,
                            const std::string& why = "") {
    return call_->emitOpError() << "argument " << index << " is " << text_of(argument) << ", "
                                << callee_ << " takes " << text_of(parameter) << why;
  }

  llvm::LogicalResult bind_names(size_t index, mlir::Type parameter, mlir::Type argument) {
    auto declared = mlir::dyn_cast<TensorType>(parameter);
    auto given = mlir::dyn_cast<TensorType>(argument);
    if (!given || !declared || declared.getDtype() != given.getDtype() ||
        declared.getRank() != given.getRank())
      return wrong(index, parameter, argument);
    for (auto [dim, actual] : llvm::zip(declared.getShape(), given.getShape())) {
      if (dim.kind() != DimExpr::Kind::kSymbol) continue;
      auto [bound, is_new] = names_.try_emplace(std::string(dim.symbol_name()), actual);
      if (!is_new && bound->second != actual)
        return wrong(index, parameter, argument,
                     " with " + bound->first + " = " + bound->second.str());
    }
    return mlir::success();
  }

  llvm::LogicalResult check_dims(size_t index, mlir::Type parameter, mlir::Type argument) {
    for (auto [dim, actual] : llvm::zip(mlir::cast<TensorType>(parameter).getShape(),
                                        mlir::cast<TensorType>(argument).getShape())) {
      DimExpr expected = substituted(dim);
      if (expected == actual) continue;
      return wrong(index, parameter, argument,
                   dim.is_constant() ? "" : " with " + dim.str() + " = " + expected.str());
    }
    return mlir::success();
  }

  bool is_bound(DimExpr dim) const {
    return llvm::all_of(dim.symbols(),
                        [&](const std::string& name) { return names_.contains(name); });
  }

  DimExpr substituted(DimExpr dim) const {
    return dim.substitute([&](std::string_view name) -> std::optional<DimExpr> {
      auto bound = names_.find(name);
      return bound == names_.end() ? std::nullopt : std::optional(bound->second);
    });
  }

  // The caller's name of a dim that is only known afterwards.
  std::optional<DimExpr> born(DimExpr dim) {
    auto known = born_.find(dim);
    if (known != born_.end()) return known->second;
    if (born_.size() == symbols_.size()) return std::nullopt;
    auto name = mlir::cast<mlir::StringAttr>(symbols_[static_cast<unsigned>(born_.size())]);
    return born_.emplace(dim, DimExpr::symbol(name.getValue().str())).first->second;
  }

  mlir::Operation* call_;
  std::string callee_;
  mlir::ArrayAttr symbols_;
  std::map<std::string, DimExpr, std::less<>> names_;
  std::map<DimExpr, DimExpr> born_;
};

}  // namespace

llvm::LogicalResult infer_call(mlir::Operation* call, const llvm::Twine& callee,
                               mlir::FunctionType signature, mlir::TypeRange arguments,
                               mlir::ArrayAttr symbols,
                               llvm::SmallVectorImpl<mlir::Type>& results) {
  CallTyper typer(call, callee, symbols);
  if (failed(typer.bind(signature.getInputs(), arguments))) return mlir::failure();
  return typer.give(signature.getResults(), results);
}

llvm::LogicalResult infer_call(CallOp call, llvm::SmallVectorImpl<mlir::Type>& results) {
  auto module = call->getParentOfType<mlir::ModuleOp>();
  auto callee = module ? module.lookupSymbol<mlir::func::FuncOp>(call.getCallee()) : nullptr;
  if (!callee) return call.emitOpError() << "there is no function @" << call.getCallee();
  return infer_call(call, "@" + call.getCallee(), callee.getFunctionType(),
                    call.getArguments().getTypes(), call.getSymbols(), results);
}

}  // namespace scopevm::graph
