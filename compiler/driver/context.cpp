// Registers and loads the compiler's dialects.
#include "compiler/driver/context.h"

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/op_lowerings.h"
#include "llvm/Support/ThreadPool.h"
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
namespace {

// Runs each task in the thread that adds it. The threads of MLIR's own pool would end the process
// if they cannot start, or if an exception leaves a task. compile_image() uses more threads.
class CallingThread final : public llvm::ThreadPoolInterface {
 public:
  void wait() override {}
  void wait(llvm::ThreadPoolTaskGroup&) override {}
  unsigned getMaxConcurrency() const override { return 1; }

 private:
  void asyncEnqueue(std::function<void()> task, llvm::ThreadPoolTaskGroup*) override { task(); }
};

}  // namespace

void register_dialects(mlir::DialectRegistry& registry) {
  registry.insert<graph::GraphDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::index::IndexDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  kernels::register_lowerings(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

std::unique_ptr<mlir::MLIRContext> make_context() {
  mlir::DialectRegistry registry;
  register_dialects(registry);
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  static CallingThread pool;
  // With a pool, the context can be used by several threads.
  context->setThreadPool(pool);
  context->loadAllAvailableDialects();
  return context;
}

}  // namespace scopevm::compiler
