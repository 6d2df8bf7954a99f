// The functions of scopevm/compiler.h. No exception leaves them.
#include <cstdio>
#include <new>

#include "compiler/explain/explain.h"
#include "compiler/pipeline/stages.h"
#include "llvm/Support/ErrorHandling.h"
#include "runtime/without_exceptions.h"

namespace scopevm::compiler {
namespace {

// LLVM aborts the process if malloc() fails, unless a handler throws. Its other allocations call
// operator new, which throws std::bad_alloc in any case. LLVM and MLIR are compiled without
// exceptions, but with unwind tables: an exception passes through their frames and runs no
// destructor in them. See LeakedOnException. REQUIRES: the program that contains this library has
// installed no handler of its own.
void install_bad_alloc_handler() {
  static const bool is_installed = [] {
    llvm::install_bad_alloc_error_handler(
        [](void*, const char*, bool) -> void { throw std::bad_alloc(); });
    return true;
  }();
  (void)is_installed;
}

// Names the stage in an error that does not depend on the model. Allocates nothing on its own.
Status with_stage(Status status, std::string_view stage) noexcept {
  if (stage.empty()) return status;
  char context[64];
  std::snprintf(context, sizeof context, "stage %.*s", static_cast<int>(stage.size()),
                stage.data());
  return std::move(status).with_context(context);
}

// Calls a function of a compilation.
template <typename T>
Result<T> run(const CompileOptions& options, Result<T> (*function)(pipeline::Context&)) noexcept {
  std::unique_ptr<pipeline::Context> context;
  try {
    install_bad_alloc_handler();
    context = std::make_unique<pipeline::Context>(options);
    Result<T> result = function(*context);
    if (result.status().code() != StatusCode::kOutOfMemory) return result;
    // An exception in another thread can leave the MLIR context inconsistent, too.
    return with_stage(std::move(result).status(), context.release()->stage());
  } catch (...) {
    Status status = runtime::status_of_exception();
    if (!context) return status;
    // Leaked: see LeakedOnException.
    return with_stage(std::move(status), context.release()->stage());
  }
}

// Calls a function that reports about main only.
template <typename T>
Result<T> run_without_variants(const CompileOptions& options,
                               Result<T> (*function)(pipeline::Context&)) noexcept {
  try {
    CompileOptions general = options;
    general.variants.clear();
    return run(general, function);
  } catch (...) {
    return runtime::status_of_exception();
  }
}

Result<CompileOutput> compile_output(pipeline::Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Compiled compiled, pipeline::compile_model(context));
  return std::move(compiled.output);
}

}  // namespace
}  // namespace scopevm::compiler

namespace scopevm {

Result<CompileOutput> compile(const CompileOptions& options) {
  return compiler::run(options, &compiler::compile_output);
}

Result<ShapeExplanation> explain_shapes(const CompileOptions& options) {
  return compiler::run_without_variants(options, &compiler::explain::shapes);
}

Result<CopyExplanation> explain_copies(const CompileOptions& options) {
  return compiler::run_without_variants(options, &compiler::explain::copies);
}

Result<LayoutExplanation> explain_layout(const CompileOptions& options) {
  return compiler::run_without_variants(options, &compiler::explain::layout);
}

Result<MemoryExplanation> explain_memory(const CompileOptions& options) {
  return compiler::run_without_variants(options, &compiler::explain::memory);
}

Result<ExternalExplanation> explain_external(const CompileOptions& options) {
  return compiler::run_without_variants(options, &compiler::explain::external);
}

}  // namespace scopevm
