// scopevm-import: prints the imported graph of a model file, for tests and debugging.
//
//   scopevm-import MODEL [--simplify] [NAME=SIZE]...
//
// --simplify also runs graph::simplify(). NAME=SIZE replaces the symbolic dim NAME by a size.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/import/import.h"
#include "compiler/passes/context.h"
#include "mlir/IR/MLIRContext.h"

int main(int argc, char** argv) {
  scopevm::compiler::frontend::ImportOptions options;
  const char* path = nullptr;
  bool simplify = false;
  for (int i = 1; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (std::strcmp(argv[i], "--simplify") == 0) {
      simplify = true;
    } else if (equals) {
      int64_t size = std::strtoll(equals + 1, nullptr, 10);
      options.dims[std::string(static_cast<const char*>(argv[i]), equals)] = {size, size, 1};
    } else {
      path = argv[i];
    }
  }
  if (!path) {
    std::fprintf(stderr, "usage: scopevm-import MODEL [--simplify] [NAME=SIZE]...\n");
    return 2;
  }
  auto context = scopevm::compiler::make_context();
  auto module = scopevm::compiler::frontend::ModelFile(path).import(options, *context);
  if (!module.ok()) {
    std::string message(module.status().message());
    std::fprintf(stderr, "%s\n", message.c_str());
    return 1;
  }
  if (simplify && failed(scopevm::compiler::graph::simplify(**module))) return 1;
  constexpr int64_t kLargestPrinted = 16;
  (*module)->print(llvm::outs(), mlir::OpPrintingFlags()
                                     .elideLargeElementsAttrs(kLargestPrinted)
                                     .elideLargeResourceString(kLargestPrinted));
  return 0;
}
