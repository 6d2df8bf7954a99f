// The functions of the C API for sessions (scopevm/c/session.h).
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "vm/api/c_support.h"

namespace scopevm {
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

Status add_allocators(const scopevm_session_options& given, SessionOptions& out) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto allocators,
                           read_array(given.allocators, given.allocator_count, given.allocator_size,
                                      SCOPEVM_SIZE_UP_TO(scopevm_scope_allocator, allocator),
                                      "allocator_size", "allocators"));
  for (const scopevm_scope_allocator& binding : allocators) {
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{binding.allocator, "an allocator"}}));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                             to_text(binding.scope, "the scope of an allocator"));
    out.allocators.push_back({std::string(scope), binding.allocator->allocator, {}});
  }
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto named,
      read_array(given.named_allocators, given.named_allocator_count, given.named_allocator_size,
                 SCOPEVM_SIZE_UP_TO(scopevm_named_allocator, options), "named_allocator_size",
                 "named allocators"));
  for (const scopevm_named_allocator& binding : named) {
    SCOPEVM_ASSIGN_OR_RETURN(ScopeAllocator allocator, to_cpp(binding));
    out.allocators.push_back(std::move(allocator));
  }
  if (given.wrap_allocator == nullptr) return {};
  out.wrap_allocator = [wrap = given.wrap_allocator, context = given.wrap_context](
                           std::string_view device, std::string_view scope,
                           std::shared_ptr<Allocator> allocator) -> std::shared_ptr<Allocator> {
    const std::unique_ptr<scopevm_allocator> wrapped(
        wrap(context, std::string(device).c_str(), std::string(scope).c_str(),
             new scopevm_allocator{std::move(allocator)}));
    return wrapped == nullptr ? nullptr : wrapped->allocator;
  };
  return {};
}

Status add_devices(const scopevm_session_options& given, SessionOptions& out) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto devices,
      read_array(given.devices, given.device_count, given.device_size,
                 SCOPEVM_SIZE_UP_TO(scopevm_device_binding, number), "device_size", "devices"));
  for (const scopevm_device_binding& binding : devices) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view device,
                             to_text(binding.device, "the name of a device"));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view kind,
                             to_text(binding.kind, "the kind of a device"));
    out.devices.push_back({std::string(device), std::string(kind), binding.number});
  }
  return {};
}

Result<SessionOptions> to_cpp(const scopevm_session_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_session_options options,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_session_options, scheduler),
                   "scopevm_session_options"));
  SessionOptions out;
  // A member that the caller does not set is 0 in the C struct and must mean the default, 1 thread.
  // In SessionOptions, 0 means one thread per core.
  out.threads = options.threads == 0 ? 1 : std::max(options.threads, 0);
  out.emulate = options.emulate != 0;
  out.time_devices = options.time_devices != 0;
  SCOPEVM_ASSIGN_OR_RETURN(
      out.memory_limits,
      to_limits(options.limits, options.limit_count, options.limit_size, "limit_size", "limits"));
  if (options.scheduler != nullptr) out.scheduler = options.scheduler->scheduler;
  SCOPEVM_RETURN_IF_ERROR(add_allocators(options, out));
  SCOPEVM_RETURN_IF_ERROR(add_devices(options, out));
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

}  // namespace

Result<std::vector<ScopeLimit>> to_limits(const scopevm_memory_limit* given, size_t count,
                                          size_t size, std::string_view member,
                                          std::string_view name) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto limits, read_array(given, count, size,
                                    SCOPEVM_SIZE_UP_TO(scopevm_memory_limit, bytes), member, name));
  std::vector<ScopeLimit> out;
  for (const scopevm_memory_limit& limit : limits) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                             to_text(limit.scope, "a scope of the " + std::string(name)));
    out.push_back({std::string(scope), limit.bytes});
  }
  return out;
}

}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_session_create(const scopevm_module* module,
                                       const scopevm_session_options* options,
                                       scopevm_session** out) {
  return checked({{module, "module"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::SessionOptions converted, scopevm::to_cpp(options));
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
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(most, count, "most"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(least, count, "least"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(names, count, "names"));
    std::map<std::string, scopevm::DimRange> dims;
    for (size_t i = 0; i < count; ++i) {
      SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                               scopevm::to_text(names[i], "the name of a dimension"));
      dims[std::string(name)] = {least[i], most[i]};
    }
    return session->session.reserve(dims, calls);
  });
}

scopevm_status* scopevm_session_warm_up(const scopevm_session* session, const char* const* names,
                                        const int64_t* values, size_t count) {
  return checked({{session, "session"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_dims(names, values, count));
    return session->session.warm_up(dims);
  });
}

int scopevm_session_threads(const scopevm_session* session) {
  return session == nullptr ? 0 : session->session.threads();
}

int scopevm_session_running_threads(const scopevm_session* session) {
  return session == nullptr ? 0 : session->session.running_threads();
}

scopevm_status* scopevm_session_memory_stats(const scopevm_session* session, size_t index,
                                             scopevm_allocator_stats* out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_allocator_stats, rounding_bytes),
        "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(const auto stats, session->session.memory_stats());
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::ScopeStats* scope,
                             scopevm::element_at(stats, index, "memory scope"));
    scopevm::fill_struct(scopevm::to_c(scope->memory), out);
    return {};
  });
}

void scopevm_session_trim(const scopevm_session* session) {
  if (session != nullptr) session->session.trim();
}

void scopevm_session_free(scopevm_session* session) { delete session; }

scopevm_status* scopevm_external_library_load(const char* name,
                                              const scopevm_external_library** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::ExternalLibrary library,
                             scopevm::ExternalLibrary::load(std::string(text)));
    *out = library.get();
    return {};
  });
}
