// scopevm-import: prints the imported graph of a model file, for tests and debugging.
//
//   scopevm-import MODEL [--simplify] [NAME=SIZE]...
//   scopevm-import --errors MODEL...
//
// --simplify also runs graph::simplify(). NAME=SIZE replaces the symbolic dim NAME by a size.
// --errors imports and simplifies each of the models, and prints one line for each: the error
// message, or `ok`.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler/graph/rewrite/passes.h"
#include "compiler/import/import.h"
#include "compiler/passes/context.h"
#include "mlir/IR/MLIRContext.h"

namespace {

// Prints the error of each model.
int print_errors(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    auto context = scopevm::compiler::make_context();
    scopevm::compiler::frontend::ImportOptions options;
    auto module = scopevm::compiler::frontend::ModelFile(paths[i]).import(options, *context);
    std::string message = "ok";
    if (!module.ok())
      message = std::string(module.status().message());
    else if (failed(scopevm::compiler::graph::simplify(**module)))
      message = "the graph cannot be simplified";
    std::printf("%s\n", message.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--errors") == 0) return print_errors(argc - 2, argv + 2);
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
