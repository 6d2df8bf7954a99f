// Registers and loads the compiler's dialects.
#include "compiler/passes/context.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/op_lowerings.h"
#include "compiler/layouts/image_op.h"
#include "compiler/support/leaked_on_exception.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

namespace scopevm::compiler {

void register_dialects(mlir::DialectRegistry& registry) {
  registry.insert<graph::GraphDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::index::IndexDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  kernels::register_lowerings(registry);
  layouts::register_models(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

std::unique_ptr<mlir::MLIRContext> make_context() {
  mlir::DialectRegistry registry;
  register_dialects(registry);
  const LeakedOnException<std::unique_ptr<mlir::MLIRContext>> made(
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED));
  std::unique_ptr<mlir::MLIRContext>& context = *made;
  // The constructor does not pass its argument on to the tables of types and attributes. With
  // threads, these have caches per thread, which std::bad_alloc can leave in an invalid state.
  context->disableMultithreading();
  context->loadAllAvailableDialects();
  return std::move(context);
}

}  // namespace scopevm::compiler
