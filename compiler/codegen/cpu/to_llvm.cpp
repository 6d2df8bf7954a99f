// Lowers kernels in arith, math, scf, vector and memref to LLVM IR. Each kernel gets an entry of
// type KernelFn that unpacks buffers and params and inlines the kernel's body.
#include "compiler/codegen/cpu/math_patterns.h"
#include "compiler/codegen/cpu/stages.h"
#include "compiler/codegen/cpu/stop_checks/passes.h"
#include "compiler/support/leaked_on_exception.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler::codegen {
namespace {

void add_lowering_passes(mlir::PassManager& passes) {
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  passes.addPass(create_math_patterns_pass());
  // After the expansion of math functions, whose work it estimates.
  passes.addPass(create_add_stop_checks_pass());
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addNestedPass<mlir::func::FuncOp>(create_return_early_pass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  // The first pass lowers functions with an LLVM intrinsic. The second pass lowers the others (tan,
  // erf of f64, ...) to calls of libm.
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createConvertMathToLibmPass());
  // A call of libm takes one lane of a vector. This pass lowers the extractions and insertions of
  // lanes.
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertIndexToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

// An argument that is a memref of rank 1 becomes five values: allocated and aligned pointer,
// offset, size, stride.
constexpr unsigned kMemRefFields = 5;
// Kernels take sizes from params, so the size in a descriptor only has to be large enough.
constexpr int64_t kUnknownSize = int64_t{1} << 60;

// The arguments of an entry after `buffers` and `params`: begin, end, worker, first.
constexpr unsigned kCallArguments = 4;

// Creates the function entry(buffers, params, call arguments...). It calls body(descriptor...,
// param..., call arguments...).
void make_entry(llvm::Module& module, llvm::Function& body, const Kernel& kernel) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Type* i64 = builder.getInt64Ty();
  body.setName(kernel.symbol + ".body");
  body.setLinkage(llvm::GlobalValue::InternalLinkage);
  // The entry is a thin adapter; inlining removes the call and the unused fields of descriptors.
  body.addFnAttr(llvm::Attribute::AlwaysInline);
  auto* entry = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer, i64, i64, i64, i64}, false),
      llvm::GlobalValue::ExternalLinkage, kernel.symbol, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", entry));
  llvm::SmallVector<llvm::Value*> arguments;
  for (int i = 0; i < kernel.buffer_count; ++i) {
    llvm::Value* address =
        builder.CreateLoad(pointer, builder.CreateConstGEP1_64(pointer, entry->getArg(0), i));
    // Allocated and aligned pointer are the same; the offset is 0 and the stride 1.
    arguments.append({address, address, builder.getInt64(0), builder.getInt64(kUnknownSize),
                      builder.getInt64(1)});
  }
  for (int i = 0; i < kernel.param_count; ++i)
    arguments.push_back(
        builder.CreateLoad(i64, builder.CreateConstGEP1_64(i64, entry->getArg(1), i)));
  for (unsigned i = 0; i < kCallArguments; ++i) arguments.push_back(entry->getArg(2 + i));
  builder.CreateCall(&body, arguments);
  builder.CreateRetVoid();
}

// Defines is_stopped(), which kernels call. It calls the function of the pointer kStopCheckSymbol,
// unless that is null. Each object of an image has the pointer as a common symbol, and the linker
// merges them.
void define_stop_check(llvm::Module& module) {
  llvm::Function* function = module.getFunction(kIsStopped);
  if (function == nullptr || !function->isDeclaration()) return;
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  auto* check = new llvm::GlobalVariable(
      module, pointer, /*isConstant=*/false, llvm::GlobalValue::CommonLinkage,
      llvm::ConstantPointerNull::get(builder.getPtrTy()), kStopCheckSymbol);
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  // Loops can keep loaded values in registers across a call: it changes no memory of kernels.
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                             llvm::MemoryEffects::inaccessibleMemOnly());
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* ask = llvm::BasicBlock::Create(context, "ask", function);
  auto* none = llvm::BasicBlock::Create(context, "none", function);
  builder.SetInsertPoint(entry);
  llvm::Value* address = builder.CreateLoad(pointer, check);
  builder.CreateCondBr(builder.CreateIsNull(address), none, ask);
  builder.SetInsertPoint(ask);
  auto* type = llvm::FunctionType::get(builder.getInt8Ty(), /*isVarArg=*/false);
  builder.CreateRet(builder.CreateICmpNE(builder.CreateCall(type, address), builder.getInt8(0)));
  builder.SetInsertPoint(none);
  builder.CreateRet(builder.getFalse());
}

Status check_signature(const llvm::Function& body, const Kernel& kernel) {
  size_t expected = kMemRefFields * kernel.buffer_count + kernel.param_count + kCallArguments;
  if (body.arg_size() == expected && body.getReturnType()->isVoidTy()) return {};
  return Status(StatusCode::kInternal, "kernel " + kernel.symbol + ": lowered function has " +
                                           std::to_string(body.arg_size()) +
                                           " arguments, expected " + std::to_string(expected));
}

}  // namespace

Result<std::unique_ptr<llvm::Module>> to_llvm(mlir::ModuleOp kernels,
                                              const llvm::StringMap<Kernel>& entries,
                                              llvm::LLVMContext& context) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(kernels.getContext(), [&](mlir::Diagnostic& diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  const LeakedOnException<mlir::PassManager> passes(kernels.getContext());
  passes->enableVerifier(true);
  add_lowering_passes(*passes);
  if (failed(passes->run(kernels)))
    return Status(StatusCode::kInternal, "lowering kernels to LLVM failed: " + errors);
  const LeakedOnException<std::unique_ptr<llvm::Module>> translated(
      mlir::translateModuleToLLVMIR(kernels, context, "kernels"));
  std::unique_ptr<llvm::Module>& module = *translated;
  if (!module) return Status(StatusCode::kInternal, "translating kernels failed: " + errors);
  define_stop_check(*module);
  // Collected first, because make_entry() adds functions to the module.
  std::vector<llvm::Function*> bodies;
  for (llvm::Function& function : *module)
    if (!function.isDeclaration()) bodies.push_back(&function);
  for (llvm::Function* body : bodies) {
    body->addFnAttr(llvm::Attribute::NoUnwind);
    auto entry = entries.find(body->getName());
    if (entry == entries.end()) {
      body->setLinkage(llvm::GlobalValue::InternalLinkage);
      continue;
    }
    SCOPEVM_RETURN_IF_ERROR(check_signature(*body, entry->second));
    make_entry(*module, *body, entry->second);
  }
  return std::move(module);
}

}  // namespace scopevm::compiler::codegen
