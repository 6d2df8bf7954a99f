// The functions of scopevm/compiler.h. No exception leaves them.
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "compiler/cache/cache.h"
#include "compiler/codegen/cpu/image.h"
#include "compiler/explain/report.h"
#include "compiler/library/diagnostics.h"
#include "compiler/library/target_cpu.h"
#include "compiler/pipeline/stages.h"
#include "llvm/Support/ErrorHandling.h"
#include "runtime/quoted.h"
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

Status status_of(const Status& status) { return status; }
template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}

// Calls `function` with the context of a compilation, which returns a Status or a Result.
template <typename Function>
auto run(const CompileOptions& options, const Function& function) noexcept
    -> decltype(function(std::declval<pipeline::Context&>())) {
  std::unique_ptr<pipeline::Context> context;
  try {
    install_bad_alloc_handler();
    context = std::make_unique<pipeline::Context>(options);
    auto result = function(*context);
    Status status = status_of(result);
    if (status.code() != StatusCode::kOutOfMemory) return result;
    // An exception in another thread can leave the MLIR context inconsistent, too.
    return with_stage(std::move(status), context.release()->stage());
  } catch (...) {
    Status status = runtime::status_of_exception();
    if (!context) return status;
    // Leaked: see LeakedOnException.
    return with_stage(std::move(status), context.release()->stage());
  }
}

// Names in the message come from models, files and options.
Status escaped(Status status) {
  if (status.ok() || status.code() == StatusCode::kOutOfMemory) return status;
  return {status.code(), runtime::escaped(status.message(), "\n")};
}

Result<CompileOutput> compile_output(pipeline::Context& context) {
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Compiled compiled, cache::compile_model(context));
  return std::move(compiled.output);
}

}  // namespace

Status check_target_cpu(std::string_view value) {
  return runtime::without_exceptions([&]() -> Status {
    install_bad_alloc_handler();
    return codegen::make_target(value).status();
  });
}

}  // namespace scopevm::compiler

namespace scopevm {

Result<CompileOutput> compile(const CompileOptions& options) {
  return runtime::without_exceptions([&]() -> Result<CompileOutput> {
    compiler::Diagnostics diagnostics(options);
    const auto model = compiler::cache::read_model(diagnostics.options);
    Result<CompileOutput> output = compiler::run(diagnostics.options, &compiler::compile_output);
    if (!output.ok()) {
      diagnostics.report_error(output.status());
      return compiler::escaped(output.status());
    }
    diagnostics.report_warnings(output->warnings);
    return output;
  });
}

Status explain_kind(std::string_view kind, const CompileOptions& options, void* report) {
  return runtime::without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto found, compiler::explain::find_report(kind));
    compiler::Diagnostics diagnostics(options);
    diagnostics.options.variants.clear();
    Status status = compiler::run(diagnostics.options, [&](compiler::pipeline::Context& context) {
      return found.make(context, report);
    });
    if (!status.ok()) diagnostics.report_error(status);
    return compiler::escaped(std::move(status));
  });
}

}  // namespace scopevm
