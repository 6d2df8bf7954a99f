// KernelModule: the kernels of one target, without duplicates.
#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/kernels/target/target_attributes.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::kernels {

KernelModule::KernelModule(mlir::MLIRContext* context, schedule::Target target,
                           const schedule::Core& core)
    : module_(mlir::ModuleOp::create(mlir::UnknownLoc::get(context))),
      target_(std::move(target)),
      core_(core) {
  if (target_.vector_bits >= 256) module_.get()->setAttr(kHasF16c, mlir::UnitAttr::get(context));
}

KernelIndex KernelModule::intern(mlir::func::FuncOp function, llvm::StringRef kind,
                                 int buffer_count, int param_count) {
  // Kernels are compared by their printed body under a fixed name, without locations. In the local
  // scope, the numbers of values do not depend on the functions before it.
  function.setName("k");
  std::string body;
  llvm::raw_string_ostream stream(body);
  function.getOperation()->print(stream,
                                 mlir::OpPrintingFlags().printGenericOpForm().useLocalScope());
  auto [entry, is_new] = by_body_.try_emplace(body, kernels_.next_index());
  if (!is_new) {
    function.erase();
    return entry->second;
  }
  std::string symbol = (kind + "_" + llvm::Twine(kernels_.size())).str();
  function.setName(symbol);
  function.setPublic();
  kernels_.push_back({symbol, buffer_count, param_count, {}});
  return entry->second;
}

mlir::func::FuncOp KernelModule::shared(
    llvm::StringRef name, llvm::function_ref<mlir::func::FuncOp(mlir::OpBuilder&)> make) {
  if (auto found = find(name)) return found;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  mlir::func::FuncOp function = make(builder);
  function.setName(name);
  function.setPrivate();
  return function;
}

mlir::Type storage_type(mlir::MLIRContext* context, DType dtype) {
  mlir::Builder builder(context);
  switch (dtype) {
    case DType::kF32:
      return builder.getF32Type();
    case DType::kF64:
      return builder.getF64Type();
    default:
      return builder.getIntegerType(static_cast<unsigned>(byte_size(dtype)) * 8);
  }
}

}  // namespace scopevm::compiler::kernels
