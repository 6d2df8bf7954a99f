// kernels_to_opencl FILE: prints a kernels module as OpenCL C source. The module has the form of
// `scopevm compile --dump-after=codegen`; its public functions are the kernels.
#include <cstdio>

#include "compiler/codegen/opencl/emit.h"
#include "compiler/passes/context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kernels_to_opencl FILE\n");
    return 2;
  }
  auto context = scopevm::compiler::make_context();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], context.get());
  if (!module) return 1;
  std::vector<scopevm::compiler::Kernel> table;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    if (!function.isPublic()) continue;
    int buffers = 0;
    for (mlir::Type type : function.getArgumentTypes())
      buffers += mlir::isa<mlir::MemRefType>(type) ? 1 : 0;
    // The last four arguments are those of a call: begin, end, worker, first.
    const int params = static_cast<int>(function.getNumArguments()) - buffers - 4;
    table.push_back({function.getName().str(), buffers, params});
  }
  auto text = scopevm::compiler::codegen::emit_opencl(*module, table);
  if (!text.ok()) {
    const std::string message(text.status().message());
    std::fprintf(stderr, "%s\n", message.c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
