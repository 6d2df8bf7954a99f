// The functions of scopevm/c/compiler.h.
#include "scopevm/c/compiler.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/library/target_cpu.h"
#include "runtime/c_api/c_arguments.h"
#include "runtime/without_exceptions.h"
#include "scopevm/compile_options.h"
#include "scopevm/compiler.h"
#include "vm/format/binary/write_file.h"

struct scopevm_compiler {
  scopevm::OptionSetter options;
  std::vector<scopevm::Diagnostic> diagnostics;  // of the last compilation
  std::mutex mutex;                              // of the member below
  std::stop_source stop;                         // of this or the next compilation
};

namespace scopevm {
namespace {

// A loader without a copy requires this alignment.
struct AlignedDelete {
  static constexpr std::align_val_t kAlignment{64};
  void operator()(uint8_t* bytes) const { ::operator delete(bytes, kAlignment); }
};

}  // namespace
}  // namespace scopevm

struct scopevm_compiled {
  std::unique_ptr<uint8_t, scopevm::AlignedDelete> bytes;
  size_t size = 0;
  bool is_cached = false;
};

namespace scopevm {
namespace {

// An option of the C API, with C strings.
struct OptionStrings {
  const NamedOption* option;
  std::vector<const char*> choices;
};

const std::vector<OptionStrings>& option_strings() {
  static const std::vector<OptionStrings> all = [] {
    std::vector<OptionStrings> made;
    for (const NamedOption& option : named_options()) {
      OptionStrings& strings = made.emplace_back(OptionStrings{&option, {}});
      for (const std::string& choice : option.choices) strings.choices.push_back(choice.c_str());
    }
    return made;
  }();
  return all;
}

// A call that compiles, whatever its result. It consumes a request to cancel it.
class CompilationCall {
 public:
  explicit CompilationCall(scopevm_compiler* compiler) : compiler_(compiler) {
    if (compiler != nullptr) compiler->diagnostics.clear();
  }
  CompilationCall(const CompilationCall&) = delete;
  CompilationCall& operator=(const CompilationCall&) = delete;
  ~CompilationCall() {
    if (compiler_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(compiler_->mutex);
    if (!compiler_->stop.stop_requested()) return;
    // If memory is exhausted, the next compilation is cancelled, too.
    (void)runtime::without_exceptions([&]() -> Status {
      compiler_->stop = std::stop_source();
      return {};
    });
  }

 private:
  scopevm_compiler* compiler_;
};

// Errors: kInvalidArgument. No object is larger than PTRDIFF_MAX.
Status check_bytes(const void* bytes, size_t size) {
  SCOPEVM_RETURN_IF_ERROR(check_array(bytes, size, "bytes"));
  return size <= PTRDIFF_MAX ? Status()
                             : Status(StatusCode::kInvalidArgument,
                                      "size is " + std::to_string(size) + ", expected at most " +
                                          std::to_string(PTRDIFF_MAX));
}

std::stop_source stop_of(scopevm_compiler& compiler) {
  const std::lock_guard<std::mutex> lock(compiler.mutex);
  return compiler.stop;
}

Result<CompileOutput> run(scopevm_compiler& compiler, CompileOptions options) {
  if (Status status = compiler.options.check().with_context("compile options"); !status.ok()) {
    compiler.diagnostics.push_back({.text = std::string(status.message())});
    return status;
  }
  options.stop_token = stop_of(compiler).get_token();
  options.diagnose = [&](const Diagnostic& found) { compiler.diagnostics.push_back(found); };
  return compile(options);
}

Status compile_to(scopevm_compiler& compiler, CompileOptions options, scopevm_compiled** out) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, run(compiler, std::move(options)));
  auto made = std::make_unique<scopevm_compiled>();
  made->size = output.module.size();
  made->bytes.reset(static_cast<uint8_t*>(::operator new(made->size, AlignedDelete::kAlignment)));
  std::memcpy(made->bytes.get(), output.module.data(), made->size);
  made->is_cached = output.is_cached;
  *out = made.release();
  return {};
}

Status named_error(Status status, std::string_view name) {
  if (status.ok() || status.message().starts_with("unknown compile option")) return status;
  return std::move(status).with_context("compile option \"" + std::string(name) + "\"");
}

}  // namespace
}  // namespace scopevm

using scopevm::check_size;
using scopevm::checked;
using scopevm::Status;

const char* scopevm_compiler_version(void) { return SCOPEVM_VERSION; }

scopevm_status* scopevm_compiler_create(scopevm_compiler** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    *out = new scopevm_compiler;
    return {};
  });
}

void scopevm_compiler_free(scopevm_compiler* compiler) { delete compiler; }

scopevm_status* scopevm_compiler_set(scopevm_compiler* compiler, const char* name,
                                     const char* value) {
  return checked({{compiler, "compiler"}, {name, "name"}, {value, "value"}}, [&]() -> Status {
    Status status;
    if (name == std::string_view("target-cpu") && value[0] != 0)
      status = scopevm::compiler::check_target_cpu(value);
    if (status.ok()) status = compiler->options.set(name, value);
    return scopevm::named_error(std::move(status), name);
  });
}

scopevm_status* scopevm_compiler_set_contents(scopevm_compiler* compiler, const char* name,
                                              const void* bytes, size_t size,
                                              const char* file_name) {
  return checked({{compiler, "compiler"}, {name, "name"}, {file_name, "file_name"}},
                 [&]() -> Status {
                   SCOPEVM_RETURN_IF_ERROR(scopevm::check_bytes(bytes, size));
                   const std::string_view contents(static_cast<const char*>(bytes), size);
                   return scopevm::named_error(
                       compiler->options.set_contents(name, contents, file_name), name);
                 });
}

scopevm_status* scopevm_compiler_add_library(scopevm_compiler* compiler,
                                             const scopevm_external_library* library) {
  return checked({{compiler, "compiler"}, {library, "library"}}, [&]() -> Status {
    compiler->options.compile.external_libraries.push_back(library);
    return {};
  });
}

scopevm_status* scopevm_compiler_set_progress(scopevm_compiler* compiler,
                                              int (*progress)(void* context, const char* stage,
                                                              int64_t done, int64_t total),
                                              void* context) {
  return checked({{compiler, "compiler"}}, [&]() -> Status {
    scopevm::CompileOptions& options = compiler->options.compile;
    options.progress = nullptr;
    if (progress == nullptr) return {};
    options.progress = [=](std::string_view stage, int64_t done, int64_t total) {
      if (progress(context, std::string(stage).c_str(), done, total) != 0)
        scopevm_compiler_cancel(compiler);
    };
    return {};
  });
}

scopevm_status* scopevm_compiler_set_dump(scopevm_compiler* compiler,
                                          void (*dump)(void* context, const char* text,
                                                       size_t size),
                                          void* context) {
  return checked({{compiler, "compiler"}}, [&]() -> Status {
    scopevm::CompileOptions& options = compiler->options.compile;
    options.dump = nullptr;
    if (dump != nullptr)
      options.dump = [=](std::string_view text) { dump(context, text.data(), text.size()); };
    return {};
  });
}

size_t scopevm_compiler_option_count(void) { return scopevm::named_options().size(); }

scopevm_status* scopevm_compiler_option(size_t index, scopevm_option_info* out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_size(out->struct_size,
                                       SCOPEVM_SIZE_UP_TO(scopevm_option_info, choice_count),
                                       "struct_size of scopevm_option_info"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::OptionStrings* found,
                             scopevm::element_at(scopevm::option_strings(), index, "option"));
    const scopevm::NamedOption& option = *found->option;
    scopevm::fill_struct(scopevm_option_info{0, option.name.c_str(), static_cast<int>(option.kind),
                                             option.description.c_str(), option.initial.c_str(),
                                             found->choices.data(), found->choices.size()},
                         out);
    return {};
  });
}

scopevm_status* scopevm_compile_file(scopevm_compiler* compiler, const char* path,
                                     scopevm_compiled** out) {
  const scopevm::CompilationCall call(compiler);
  return checked({{compiler, "compiler"}, {path, "path"}, {out, "out"}}, [&] {
    scopevm::CompileOptions options = compiler->options.compile;
    options.model_path = path;
    return scopevm::compile_to(*compiler, std::move(options), out);
  });
}

scopevm_status* scopevm_compile_bytes(scopevm_compiler* compiler, const void* bytes, size_t size,
                                      const char* path, scopevm_compiled** out) {
  const scopevm::CompilationCall call(compiler);
  return checked({{compiler, "compiler"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_bytes(bytes, size));
    scopevm::CompileOptions options = compiler->options.compile;
    options.model_path = path == nullptr ? "" : path;
    options.model_bytes.emplace(static_cast<const uint8_t*>(bytes), size);
    return scopevm::compile_to(*compiler, std::move(options), out);
  });
}

void scopevm_compiler_cancel(scopevm_compiler* compiler) {
  if (compiler != nullptr) scopevm::stop_of(*compiler).request_stop();
}

size_t scopevm_compiler_diagnostic_count(const scopevm_compiler* compiler) {
  return compiler == nullptr ? 0 : compiler->diagnostics.size();
}

scopevm_status* scopevm_compiler_diagnostic(const scopevm_compiler* compiler, size_t index,
                                            scopevm_diagnostic_info* out) {
  return checked({{compiler, "compiler"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_size(out->struct_size,
                                       SCOPEVM_SIZE_UP_TO(scopevm_diagnostic_info, text),
                                       "struct_size of scopevm_diagnostic_info"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Diagnostic* found,
                             scopevm::element_at(compiler->diagnostics, index, "diagnostic"));
    const bool is_error = found->severity == scopevm::Diagnostic::Severity::kError;
    scopevm::fill_struct(
        scopevm_diagnostic_info{0, is_error ? SCOPEVM_DIAGNOSTIC_ERROR : SCOPEVM_DIAGNOSTIC_WARNING,
                                found->file.c_str(), found->line, found->column,
                                found->node.c_str(), found->text.c_str()},
        out);
    return {};
  });
}

const void* scopevm_compiled_bytes(const scopevm_compiled* compiled) {
  return compiled == nullptr ? nullptr : compiled->bytes.get();
}

size_t scopevm_compiled_size(const scopevm_compiled* compiled) {
  return compiled == nullptr ? 0 : compiled->size;
}

int scopevm_compiled_is_cached(const scopevm_compiled* compiled) {
  return compiled != nullptr && compiled->is_cached ? 1 : 0;
}

scopevm_status* scopevm_compiled_write(const scopevm_compiled* compiled, const char* path) {
  return checked({{compiled, "compiled"}, {path, "path"}}, [&] {
    const std::span<const uint8_t> bytes(compiled->bytes.get(), compiled->size);
    return scopevm::format::write_file(path, {&bytes, 1});
  });
}

void scopevm_compiled_free(scopevm_compiled* compiled) { delete compiled; }
