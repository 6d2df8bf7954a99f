// Optimises LLVM IR and compiles it to an object file.
#include "compiler/codegen/cpu/stages.h"
#include "compiler/support/leaked_on_exception.h"
#include "compiler/support/stop.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace scopevm::compiler::codegen {
namespace {

struct AnalysisManagers {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
};

// After a request to stop, skips the remaining passes.
void optimise(llvm::Module& module, llvm::TargetMachine& machine,
              const std::stop_token& stop_token) {
  llvm::PipelineTuningOptions tuning;
  // The generators already emit vectors in hot loops, so these passes would only increase the
  // compile time.
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  const LeakedOnException<llvm::PassInstrumentationCallbacks> callbacks;
  callbacks->registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, const llvm::Any&) { return !stop_token.stop_requested(); });
  const LeakedOnException<llvm::PassBuilder> builder(&machine, tuning, std::nullopt, &*callbacks);
  const LeakedOnException<AnalysisManagers> analyses;
  auto& [loops, functions, graphs, modules] = *analyses;
  builder->registerModuleAnalyses(modules);
  builder->registerCGSCCAnalyses(graphs);
  builder->registerFunctionAnalyses(functions);
  builder->registerLoopAnalyses(loops);
  builder->crossRegisterProxies(loops, functions, graphs, modules);
  const LeakedOnException<llvm::ModulePassManager> passes(
      builder->buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2));
  passes->run(module, modules);
}

// Checks that the local buffers of each function have static sizes and together fit in
// `max_bytes`.
Status check_locals(const llvm::Module& module, int64_t max_bytes) {
  for (const llvm::Function& function : module) {
    uint64_t bytes = 0;
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& instruction : block) {
        const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        if (local == nullptr) continue;
        const std::optional<llvm::TypeSize> size = local->getAllocationSize(module.getDataLayout());
        if (!local->isStaticAlloca() || !size || size->isScalable())
          return {StatusCode::kInternal,
                  function.getName().str() + ": local buffer has no static size"};
        bytes += size->getFixedValue();
      }
    if (bytes > static_cast<uint64_t>(max_bytes))
      return {StatusCode::kInternal, function.getName().str() + ": local buffers take " +
                                         std::to_string(bytes) + " bytes, the limit is " +
                                         std::to_string(max_bytes)};
  }
  return {};
}

}  // namespace

Result<std::string> compile_object(llvm::Module& module, llvm::TargetMachine& machine,
                                   int64_t max_stack_bytes, const std::stop_token& stop_token) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  std::string error;
  llvm::raw_string_ostream error_stream(error);
  if (llvm::verifyModule(module, &error_stream))
    return Status(StatusCode::kInternal, "invalid LLVM IR: " + error);
  optimise(module, machine, stop_token);
  SCOPEVM_RETURN_IF_ERROR(check_not_stopped(stop_token));
  // After the optimisation, which inlines functions and so adds up their local buffers.
  SCOPEVM_RETURN_IF_ERROR(check_locals(module, max_stack_bytes));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  const LeakedOnException<llvm::legacy::PassManager> passes;
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Status(StatusCode::kInternal, "the target cannot emit object files");
  passes->run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace scopevm::compiler::codegen
