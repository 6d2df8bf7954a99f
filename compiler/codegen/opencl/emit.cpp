// Prints a kernels module as OpenCL C.
#include "compiler/codegen/opencl/emit.h"

#include "compiler/codegen/backend/half_patterns.h"
#include "compiler/codegen/opencl/printer.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace scopevm::compiler::codegen {
namespace {

constexpr char kHead[] =
    "// Products and sums are rounded one by one, but for fma().\n"
    "#pragma OPENCL FP_CONTRACT OFF\n";
constexpr char kF64[] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";

// Expands f16 conversions to integer arithmetic, because not every device supports f16. Then
// canonicalizes the kernels and removes common subexpressions.
Status prepare(mlir::ModuleOp kernels) {
  mlir::RewritePatternSet patterns(kernels.getContext());
  add_half_patterns(patterns);
  mlir::PassManager passes(kernels.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  if (failed(mlir::applyPatternsAndFoldGreedily(kernels, std::move(patterns))) ||
      failed(passes.run(kernels)))
    return {StatusCode::kInternal, "the OpenCL preparation passes failed"};
  return {};
}

Status print_all(mlir::ModuleOp kernels, const std::vector<Kernel>& table,
                 opencl::Printer& printer) {
  llvm::StringMap<const Kernel*> entries;
  for (const Kernel& kernel : table) entries[kernel.symbol] = &kernel;
  for (auto function : kernels.getOps<mlir::func::FuncOp>())
    // Declared first: C requires a declaration before a call, and kernels and functions are in any
    // order.
    if (!entries.contains(function.getName()))
      SCOPEVM_RETURN_IF_ERROR(printer.print_head(function));
  for (auto function : kernels.getOps<mlir::func::FuncOp>()) {
    auto entry = entries.find(function.getName());
    SCOPEVM_RETURN_IF_ERROR(entry == entries.end()
                                ? printer.print_function(function)
                                : printer.print_kernel(function, *entry->second));
  }
  return {};
}

}  // namespace

schedule::Target opencl_target() {
  schedule::Target target;
  target.name = "opencl";
  target.vector_bits = 256;
  target.has_masks = false;
  target.has_byte_dot = false;
  return target;
}

Result<std::string> emit_opencl(mlir::ModuleOp kernels, const std::vector<Kernel>& table) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(kernels.clone());
  SCOPEVM_RETURN_IF_ERROR(prepare(*copy));
  opencl::Printer printer;
  SCOPEVM_RETURN_IF_ERROR(print_all(*copy, table, printer));
  return kHead + std::string(printer.has_f64() ? kF64 : "") + printer.declarations() +
         printer.text();
}

}  // namespace scopevm::compiler::codegen
