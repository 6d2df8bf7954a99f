// The functions of the C API (scopevm/scopevm.h) for statuses, modules and sessions.
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

// The status that to_c() returns if it cannot allocate one. It is never released.
scopevm_status& shared_out_of_memory() {
  static scopevm_status status{Status::out_of_memory()};
  return status;
}

}  // namespace

scopevm_status* to_c(Status status) noexcept {
  if (status.ok()) return nullptr;
  auto* made = new (std::nothrow) scopevm_status{std::move(status)};
  return made == nullptr ? &shared_out_of_memory() : made;
}

namespace {

// Adapts the embedder's parallel_for function to Executor.
class CExecutor final : public Executor {
 public:
  explicit CExecutor(const scopevm_session_options& options)
      : parallel_for_(options.parallel_for),
        executor_(options.executor),
        threads_(options.executor_threads) {}
  int threads() const override { return threads_; }
  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    parallel_for_(executor_, total, grain, body, context);
  }

 private:
  decltype(scopevm_session_options::parallel_for) parallel_for_;
  void* executor_;
  int threads_;
};

// Returns the caller's options. Members that the caller's version of the struct lacks are zero.
scopevm_session_options complete(const scopevm_session_options* given) {
  scopevm_session_options options{};
  if (given != nullptr) std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return options;
}

Result<ScopeAllocator> to_cpp(const scopevm_named_allocator& given) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                           to_text(given.scope, "the scope of an allocator"));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                           to_text(given.text, "the name of an allocator"));
  SCOPEVM_ASSIGN_OR_RETURN(AllocatorOptions options, allocator_options(given.options));
  if (options.source != nullptr)
    return Status(StatusCode::kInvalidArgument,
                  "the named allocator of memory scope \"" + std::string(scope) +
                      "\" has source functions: the session determines the source");
  const auto make = [text = std::string(name), options = std::move(options)](
                        std::shared_ptr<BlockSource> source, int64_t alignment) {
    AllocatorOptions of_pool = options;
    of_pool.source = std::move(source);
    of_pool.alignment = alignment;
    return make_allocator_from_text(text, std::move(of_pool));
  };
  return ScopeAllocator{.scope = std::string(scope), .allocator = nullptr, .make = make};
}

Result<SessionOptions> to_cpp(const scopevm_session_options& options) {
  SessionOptions out;
  // A member that the caller does not set is 0 in the C struct and must mean the default, 1 thread.
  // In SessionOptions, 0 means one thread per core.
  out.threads = options.threads == 0 ? 1 : std::max(options.threads, 0);
  SCOPEVM_RETURN_IF_ERROR(check_array(options.limits, options.limit_count, "the array of limits"));
  for (size_t i = 0; i < options.limit_count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                             to_text(options.limits[i].scope, "the scope of a limit"));
    out.memory_limits.push_back({std::string(scope), options.limits[i].bytes});
  }
  SCOPEVM_RETURN_IF_ERROR(
      check_array(options.allocators, options.allocator_count, "the array of allocators"));
  for (size_t i = 0; i < options.allocator_count; ++i) {
    const scopevm_scope_allocator& binding = options.allocators[i];
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{binding.allocator, "an allocator"}}));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                             to_text(binding.scope, "the scope of an allocator"));
    out.allocators.push_back({std::string(scope), binding.allocator->allocator, {}});
  }
  SCOPEVM_RETURN_IF_ERROR(check_array(options.named_allocators, options.named_allocator_count,
                                      "the array of named allocators"));
  for (size_t i = 0; i < options.named_allocator_count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(ScopeAllocator named, to_cpp(options.named_allocators[i]));
    out.allocators.push_back(std::move(named));
  }
  out.emulate = options.emulate != 0;
  SCOPEVM_RETURN_IF_ERROR(check_array(options.external_libraries, options.external_library_count,
                                      "the array of external libraries"));
  for (size_t i = 0; i < options.external_library_count; ++i) {
    SCOPEVM_RETURN_IF_ERROR(
        check_not_null({{options.external_libraries[i], "an external library"}}));
    out.external_libraries.push_back(options.external_libraries[i]);
  }
  if (options.parallel_for != nullptr) out.executor = std::make_shared<CExecutor>(options);
  return out;
}

const char* name_at(const std::vector<TensorSignature>& tensors, size_t index) {
  return index < tensors.size() ? tensors[index].name.c_str() : nullptr;
}

int kind_at(const std::vector<TensorSignature>& tensors, size_t index) {
  return index < tensors.size() ? static_cast<int>(tensors[index].kind) : -1;
}

// Reads the arguments of a bound, calls `bound_of` with the dims, and adds up the scopes.
template <typename BoundOf>
Status scope_bound(const char* const* names, const int64_t* values, size_t count, const char* scope,
                   int64_t* out_bytes, const BoundOf& bound_of) {
  SCOPEVM_RETURN_IF_ERROR(check_array(names, count, "names"));
  SCOPEVM_RETURN_IF_ERROR(check_array(values, count, "values"));
  std::map<std::string, int64_t> dims;
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                             to_text(names[i], "the name of a dimension"));
    dims[std::string(name)] = values[i];
  }
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view wanted, to_text(scope, "scope"));
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound bound, bound_of(dims));
  *out_bytes = 0;
  for (const ScopeBound& line : bound.scopes)
    if (line.scope == wanted) *out_bytes += line.bytes;
  return {};
}

Status give_module(Result<Module> module, scopevm_module** out) {
  SCOPEVM_RETURN_IF_ERROR(module.status());
  *out = new scopevm_module{*std::move(module)};
  return {};
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;

int scopevm_api_version(void) { return SCOPEVM_API_VERSION; }

int scopevm_status_code(const scopevm_status* status) {
  return status == nullptr ? 0 : static_cast<int>(status->status.code());
}

const char* scopevm_status_message(const scopevm_status* status) {
  // The message of a status is the whole of a std::string, and therefore NUL-terminated.
  return status == nullptr ? "" : status->status.message().data();
}

void scopevm_status_free(scopevm_status* status) {
  if (status != &scopevm::shared_out_of_memory()) delete status;
}

scopevm_status* scopevm_module_load(const char* path, scopevm_module** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(path, "path"));
    return scopevm::give_module(scopevm::Module::load(std::string(text)), out);
  });
}

scopevm_status* scopevm_module_load_bytes(const void* bytes, size_t size, scopevm_module** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(bytes, size, "bytes"));
    return scopevm::give_module(
        scopevm::Module::load_bytes({static_cast<const uint8_t*>(bytes), size}), out);
  });
}

void scopevm_module_free(scopevm_module* module) { delete module; }

size_t scopevm_module_input_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->module.signature().inputs.size();
}

size_t scopevm_module_output_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->module.signature().outputs.size();
}

const char* scopevm_module_input_name(const scopevm_module* module, size_t index) {
  return module == nullptr ? nullptr : scopevm::name_at(module->module.signature().inputs, index);
}

const char* scopevm_module_output_name(const scopevm_module* module, size_t index) {
  return module == nullptr ? nullptr : scopevm::name_at(module->module.signature().outputs, index);
}

int scopevm_module_input_kind(const scopevm_module* module, size_t index) {
  return module == nullptr ? -1 : scopevm::kind_at(module->module.signature().inputs, index);
}

int scopevm_module_output_kind(const scopevm_module* module, size_t index) {
  return module == nullptr ? -1 : scopevm::kind_at(module->module.signature().outputs, index);
}

scopevm_status* scopevm_module_memory_bound(const scopevm_module* module, const char* const* names,
                                            const int64_t* values, size_t count, int threads,
                                            const char* scope, int64_t* out_bytes) {
  return checked({{module, "module"}, {out_bytes, "out_bytes"}}, [&]() -> Status {
    return scopevm::scope_bound(names, values, count, scope, out_bytes, [&](const auto& dims) {
      return module->module.memory_bound(dims, threads);
    });
  });
}

scopevm_status* scopevm_module_largest_bound(const scopevm_module* module, const char* const* names,
                                             const int64_t* values, size_t count, int threads,
                                             const char* scope, int64_t* out_bytes) {
  return checked({{module, "module"}, {out_bytes, "out_bytes"}}, [&]() -> Status {
    return scopevm::scope_bound(names, values, count, scope, out_bytes, [&](const auto& dims) {
      std::map<std::string, scopevm::DimRange> ranges;
      for (const auto& [name, value] : dims) ranges[name] = {value, value};
      return module->module.largest_bound(ranges, threads);
    });
  });
}

size_t scopevm_module_scope_count(const scopevm_module* module) {
  return module == nullptr ? 0 : module->module.memory_scopes().size();
}

const char* scopevm_module_scope_device(const scopevm_module* module, size_t index) {
  return index < scopevm_module_scope_count(module)
             ? module->module.memory_scopes()[index].device.c_str()
             : nullptr;
}

const char* scopevm_module_scope_name(const scopevm_module* module, size_t index) {
  return index < scopevm_module_scope_count(module)
             ? module->module.memory_scopes()[index].scope.c_str()
             : nullptr;
}

scopevm_status* scopevm_module_bound(const scopevm_module* module, const int64_t* dims,
                                     size_t dim_count, int threads, int64_t* out_bytes,
                                     size_t scope_count) {
  return checked({{module, "module"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(dims, dim_count, "dims"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(out_bytes, scope_count, "out_bytes"));
    return module->module.bound({dims, dim_count}, {out_bytes, scope_count}, threads);
  });
}

scopevm_status* scopevm_session_create(const scopevm_module* module,
                                       const scopevm_session_options* options,
                                       scopevm_session** out) {
  return checked({{module, "module"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::SessionOptions converted,
                             scopevm::to_cpp(scopevm::complete(options)));
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::Session session,
                             scopevm::Session::create(module->module, std::move(converted)));
    *out = new scopevm_session{std::move(session)};
    return {};
  });
}

scopevm_status* scopevm_session_reserve(const scopevm_session* session, const char* const* names,
                                        const int64_t* least, const int64_t* most, size_t count,
                                        int calls) {
  return checked({{session, "session"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(names, count, "names"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(least, count, "least"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(most, count, "most"));
    std::map<std::string, scopevm::DimRange> dims;
    for (size_t i = 0; i < count; ++i) {
      SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                               scopevm::to_text(names[i], "the name of a dimension"));
      dims[std::string(name)] = {least[i], most[i]};
    }
    return session->session.reserve(dims, calls);
  });
}

int scopevm_session_running_threads(const scopevm_session* session) {
  return session == nullptr ? 0 : session->session.running_threads();
}

void scopevm_session_free(scopevm_session* session) { delete session; }
