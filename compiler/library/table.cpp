// The C function table of libscopevm_compiler. Its functions call those of scopevm/compiler.h.
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "compiler/explain/report.h"
#include "compiler/interface/messages.h"
#include "runtime/without_exceptions.h"
#include "scopevm/compiler.h"
#include "scopevm/compiler_table.h"

struct scopevm_compiler_result {
  int status = 0;
  std::string message;
  std::vector<uint8_t> report;
  std::vector<uint8_t> module;
};

namespace scopevm::compiler {
namespace {

// The result if another one cannot be allocated. It is never released.
scopevm_compiler_result& out_of_memory() {
  static scopevm_compiler_result result{.status = static_cast<int>(StatusCode::kOutOfMemory),
                                        .message = "out of memory"};
  return result;
}

scopevm_compiler_result* failure(const Status& status) noexcept {
  try {
    return new scopevm_compiler_result{.status = static_cast<int>(status.code()),
                                       .message = std::string(status.message())};
  } catch (const std::bad_alloc&) {
    return &out_of_memory();
  }
}

Result<std::vector<double>> measure(const scopevm_compiler_callbacks& callbacks,
                                    std::span<const std::span<const uint8_t>> modules,
                                    const std::map<std::string, int64_t>& dims) {
  std::vector<const uint8_t*> bytes;
  std::vector<size_t> sizes;
  for (const std::span<const uint8_t> module : modules) {
    bytes.push_back(module.data());
    sizes.push_back(module.size());
  }
  std::vector<const char*> names;
  std::vector<int64_t> values;
  for (const auto& [name, value] : dims) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  const scopevm_compiler_measurement measurement{.modules = bytes.data(),
                                                 .module_sizes = sizes.data(),
                                                 .module_count = bytes.size(),
                                                 .dim_names = names.data(),
                                                 .dim_values = values.data(),
                                                 .dim_count = names.size()};
  std::vector<double> seconds(modules.size());
  char message[1024] = "";
  const int code =
      callbacks.measure(callbacks.user, &measurement, seconds.data(), message, sizeof message);
  if (code != 0) return Status(static_cast<StatusCode>(code), message);
  return seconds;
}

void set_tuning(Tuning& tuning, const scopevm_compiler_callbacks* callbacks) {
  if (callbacks->measure == nullptr) return;
  tuning.measure = [callbacks](std::span<const std::span<const uint8_t>> modules,
                               const std::map<std::string, int64_t>& dims) {
    return measure(*callbacks, modules, dims);
  };
  if (callbacks->find == nullptr || callbacks->store == nullptr) return;
  using Seconds = std::vector<double>;
  tuning.find = [callbacks](const std::string& key, size_t count) -> std::optional<Seconds> {
    Seconds seconds(count);
    if (callbacks->find(callbacks->user, key.c_str(), seconds.data(), count) == 0)
      return std::nullopt;
    return seconds;
  };
  tuning.store = [callbacks](const std::string& key, const Seconds& seconds) {
    callbacks->store(callbacks->user, key.c_str(), seconds.data(), seconds.size());
  };
}

void set_callbacks(CompileOptions& options, const scopevm_compiler_callbacks* callbacks) {
  if (callbacks == nullptr) return;
  if (callbacks->dump != nullptr)
    options.dump = [callbacks](std::string_view text) {
      callbacks->dump(callbacks->user, text.data(), text.size());
    };
  options.external_libraries.assign(
      callbacks->external_libraries,
      callbacks->external_libraries + callbacks->external_library_count);
  set_tuning(options.tuning, callbacks);
  if (callbacks->progress != nullptr)
    options.progress = [callbacks](std::string_view stage, int64_t done, int64_t total) {
      callbacks->progress(callbacks->user, stage.data(), stage.size(), done, total);
    };
}

// Decodes CompileOptions and calls `function` with them, which returns the result of the call.
template <typename Function>
scopevm_compiler_result* call(const uint8_t* bytes, size_t size,
                              const scopevm_compiler_callbacks* callbacks,
                              const Function& function) noexcept try {
  Result<CompileOptions> options = decode<CompileOptions>({bytes, size});
  if (!options.ok()) return failure(options.status());
  set_callbacks(*options, callbacks);
  Result<scopevm_compiler_result> made = function(*options);
  if (!made.ok()) return failure(made.status());
  return new scopevm_compiler_result(*std::move(made));
} catch (...) {
  return failure(runtime::status_of_exception());
}

Result<scopevm_compiler_result> compile_result(const CompileOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, scopevm::compile(options));
  // The bytes of the module are passed separately.
  std::vector<uint8_t> module = std::exchange(output.module, {});
  return scopevm_compiler_result{.report = encode(output), .module = std::move(module)};
}

const uint8_t* bytes_of(const std::vector<uint8_t>& bytes, size_t* size) {
  *size = bytes.size();
  return bytes.data();
}

constexpr scopevm_compiler_table kTable = {
    .struct_size = sizeof(scopevm_compiler_table),
    .version = SCOPEVM_COMPILER_TABLE_VERSION,
    .release = SCOPEVM_VERSION,
    .compile =
        [](const uint8_t* options, size_t size, const scopevm_compiler_callbacks* callbacks) {
          return call(options, size, callbacks, compile_result);
        },
    .explain =
        [](const char* kind, const uint8_t* options, size_t size,
           const scopevm_compiler_callbacks* callbacks) {
          return call(options, size, callbacks,
                      [kind](const CompileOptions& given) -> Result<scopevm_compiler_result> {
                        SCOPEVM_ASSIGN_OR_RETURN(const auto found, explain::find_report(kind));
                        SCOPEVM_ASSIGN_OR_RETURN(auto report, found.encoded(given));
                        return scopevm_compiler_result{.report = std::move(report)};
                      });
        },
    .status = [](const scopevm_compiler_result* result) { return result->status; },
    .message = [](const scopevm_compiler_result* result) { return result->message.c_str(); },
    .report = [](const scopevm_compiler_result* result,
                 size_t* size) { return bytes_of(result->report, size); },
    .module = [](const scopevm_compiler_result* result,
                 size_t* size) { return bytes_of(result->module, size); },
    .release_result =
        [](scopevm_compiler_result* result) {
          if (result != &out_of_memory()) delete result;
        },
};

}  // namespace
}  // namespace scopevm::compiler

const scopevm_compiler_table* scopevm_get_compiler_table() { return &scopevm::compiler::kTable; }
