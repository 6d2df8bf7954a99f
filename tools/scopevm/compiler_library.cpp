// Finds and loads the compiler library, and calls it through its table of C functions.
#include "tools/scopevm/compiler_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/interface/messages.h"
#include "tools/files/own_files.h"

namespace scopevm::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libscopevm_compiler.so." SCOPEVM_SOVERSION;
constexpr char kSymbol[] = "scopevm_get_compiler_table";

// Whether the process can map the library and allocate this much more. The static initialisers of
// LLVM end the process if an allocation fails.
bool has_memory_for(const std::string& library) {
  constexpr size_t kInitialisers = size_t{32} << 20;
  std::error_code error;
  const size_t bytes = fs::file_size(library, error) + kInitialisers;
  if (error) return true;  // dlopen() reports it
  void* reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return false;
  munmap(reserved, bytes);
  return true;
}

Result<const scopevm_compiler_table*> open_library(const std::string& path) {
  if (!has_memory_for(path)) return Status(StatusCode::kOutOfMemory, path + ": out of memory");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string error = dlerror();
    // The text of the dynamic loader for a failed mmap().
    const bool has_memory = error.find("failed to map segment") == std::string::npos;
    return Status(has_memory ? StatusCode::kUnsupported : StatusCode::kOutOfMemory, error);
  }
  using GetTable = decltype(&scopevm_get_compiler_table);
  auto get_table = reinterpret_cast<GetTable>(dlsym(library, kSymbol));
  if (get_table == nullptr)
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} does not export {}: it is older than this command, release {}; install "
                    "both from one release",
                    path, kSymbol, SCOPEVM_VERSION));
  const scopevm_compiler_table* table = get_table();
  if (table->version != SCOPEVM_COMPILER_TABLE_VERSION ||
      table->struct_size < sizeof(scopevm_compiler_table) ||
      std::string_view(table->release) != SCOPEVM_VERSION)
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} is release {} with interface version {}; this command is release {} and "
                    "requires interface version {}; install both from one release",
                    path, table->release, table->version, SCOPEVM_VERSION,
                    SCOPEVM_COMPILER_TABLE_VERSION));
  return table;
}

// The arguments of a C function: the encoded options and their callbacks as C function pointers.
struct Request {
  explicit Request(const CompileOptions& options)
      : bytes(compiler::encode(options)),
        callbacks{.user = const_cast<CompileOptions*>(&options),
                  .external_libraries = options.external_libraries.data(),
                  .external_library_count = options.external_libraries.size()} {
    if (options.dump)
      callbacks.dump = [](void* user, const char* text, size_t size) {
        static_cast<const CompileOptions*>(user)->dump({text, size});
      };
    if (options.progress)
      callbacks.progress = [](void* user, const char* stage, size_t size, int64_t done,
                              int64_t total) {
        static_cast<const CompileOptions*>(user)->progress({stage, size}, done, total);
      };
    if (options.tuning.measure) callbacks.measure = measure;
    if (options.tuning.find)
      callbacks.find = [](void* user, const char* key, double* seconds, size_t count) {
        const auto found = static_cast<const CompileOptions*>(user)->tuning.find(key, count);
        if (!found || found->size() != count) return 0;
        std::ranges::copy(*found, seconds);
        return 1;
      };
    if (options.tuning.store)
      callbacks.store = [](void* user, const char* key, const double* seconds, size_t count) {
        static_cast<const CompileOptions*>(user)->tuning.store(key, {seconds, seconds + count});
      };
  }

  static int measure(void* user, const scopevm_compiler_measurement* given, double* seconds,
                     char* message, size_t message_size) {
    std::vector<std::span<const uint8_t>> modules;
    for (size_t i = 0; i < given->module_count; ++i)
      modules.emplace_back(given->modules[i], given->module_sizes[i]);
    std::map<std::string, int64_t> dims;
    for (size_t i = 0; i < given->dim_count; ++i) dims[given->dim_names[i]] = given->dim_values[i];
    const auto measured = static_cast<const CompileOptions*>(user)->tuning.measure(modules, dims);
    if (measured.ok()) {
      std::ranges::copy(*measured, seconds);
      return 0;
    }
    fmt::format_to_n(message, message_size - 1, "{}", measured.status().message()).out[0] = '\0';
    return static_cast<int>(measured.status().code());
  }

  std::vector<uint8_t> bytes;
  scopevm_compiler_callbacks callbacks;
};

using ResultHandle = std::shared_ptr<scopevm_compiler_result>;

// Calls a function of the table, with `arguments` before the options.
template <typename Function, typename... Arguments>
Result<ResultHandle> call(const scopevm_compiler_table* table, Function function,
                          const CompileOptions& options, Arguments... arguments) {
  const Request request(options);
  ResultHandle result(
      function(arguments..., request.bytes.data(), request.bytes.size(), &request.callbacks),
      table->release_result);
  if (const int code = table->status(result.get()); code != 0)
    return Status(static_cast<StatusCode>(code), table->message(result.get()));
  return result;
}

std::span<const uint8_t> report_of(const scopevm_compiler_table* table,
                                   const ResultHandle& result) {
  size_t size = 0;
  const uint8_t* bytes = table->report(result.get(), &size);
  return {bytes, size};
}

}  // namespace

Result<CompilerLibrary> CompilerLibrary::load() {
  constexpr char kContext[] = "the compiler cannot be loaded";
  const Result<std::string> path = find_own_library(kLibrary);
  if (!path.ok()) return path.status().with_context(kContext);
  const Result<const scopevm_compiler_table*> table = open_library(*path);
  if (!table.ok()) return table.status().with_context(kContext);
  return CompilerLibrary(*table);
}

Result<CompiledModule> CompilerLibrary::compile(const CompileOptions& options) const {
  SCOPEVM_ASSIGN_OR_RETURN(ResultHandle result, call(table_, table_->compile, options));
  SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output,
                           compiler::decode<CompileOutput>(report_of(table_, result)));
  size_t size = 0;
  const uint8_t* bytes = table_->module(result.get(), &size);
  // The bytes belong to the result, which the CompiledModule keeps alive.
  return CompiledModule{{bytes, size},
                        std::move(result),
                        std::move(output.times),
                        std::move(output.tuned),
                        std::move(output.convolutions),
                        std::move(output.warnings)};
}

Result<std::vector<uint8_t>> CompilerLibrary::encoded_report(const std::string& kind,
                                                             const CompileOptions& options) const {
  SCOPEVM_ASSIGN_OR_RETURN(const ResultHandle result,
                           call(table_, table_->explain, options, kind.c_str()));
  const std::span<const uint8_t> report = report_of(table_, result);
  return std::vector<uint8_t>(report.begin(), report.end());
}

}  // namespace scopevm::tool
