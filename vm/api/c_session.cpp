// The functions of the C API for sessions (scopevm/c/session.h).
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/c_api/c_allocator.h"
#include "runtime/log.h"
#include "runtime/memory/make_allocator.h"
#include "runtime/without_exceptions.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

// Adapts the embedder's parallel_for function to Executor. A status that it returns is thrown as a
// StatusError.
class CExecutor final : public Executor {
 public:
  explicit CExecutor(const scopevm_session_options& options)
      : parallel_for_(options.parallel_for),
        running_threads_(options.running_threads),
        release_(options.release_executor),
        executor_(options.executor),
        threads_(options.executor_threads) {}
  ~CExecutor() override {
    if (is_accepted_ && release_ != nullptr) release_(executor_);
  }
  // The session has been created.
  void accept() { is_accepted_ = true; }
  int threads() const override { return threads_; }
  int running_threads() const noexcept override {
    return running_threads_ == nullptr ? threads_ : running_threads_(executor_);
  }
  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    scopevm_status* const failure = parallel_for_(executor_, total, grain, body, context);
    if (failure == nullptr) return;
    runtime::StatusError error{failure->status};
    scopevm_status_free(failure);
    throw error;
  }

 private:
  decltype(scopevm_session_options::parallel_for) parallel_for_;
  decltype(scopevm_session_options::running_threads) running_threads_;
  decltype(scopevm_session_options::release_executor) release_;
  void* executor_;
  int threads_;
  bool is_accepted_ = false;
};

// The options of a session, and the owners of what they refer to.
struct ReadSessionOptions {
  SessionOptions options;
  std::shared_ptr<CExecutor> executor;  // null: the default one
  std::vector<std::shared_ptr<ReadAllocatorOptions::Owner>> allocators;
};

// An allocator that the embedder returned; takes ownership of the handle.
std::shared_ptr<Allocator> take(scopevm_allocator* handle) {
  const std::unique_ptr<scopevm_allocator> owner(handle);
  return owner == nullptr ? nullptr : owner->allocator;
}

Result<ScopeAllocator> to_cpp(const scopevm_scope_allocator& given) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                           to_text(given.scope, "the scope of an allocator"));
  ScopeAllocator out{.scope = std::string(scope), .allocator = nullptr, .make = {}};
  if (given.allocator != nullptr) {
    out.allocator = given.allocator->allocator;
    return out;
  }
  if (given.make == nullptr) return out;  // the session refuses it
  out.make = [make = given.make, context = given.make_context](
                 std::shared_ptr<BlockSource> source,
                 int64_t alignment) -> Result<std::shared_ptr<Allocator>> {
    scopevm_allocator* made = nullptr;
    auto* const handle = source == nullptr ? nullptr : new scopevm_block_source{std::move(source)};
    if (scopevm_status* const failure = make(context, handle, alignment, &made)) {
      const Status status = failure->status;
      scopevm_status_free(failure);
      return status;
    }
    return take(made);
  };
  return out;
}

Result<ScopeAllocator> to_cpp(const scopevm_named_allocator& given, ReadSessionOptions& out) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view scope,
                           to_text(given.scope, "the scope of an allocator"));
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view name,
                           to_text(given.text, "the name of an allocator"));
  SCOPEVM_ASSIGN_OR_RETURN(ReadAllocatorOptions read, read_allocator_options(given.options));
  if (read.owner != nullptr) out.allocators.push_back(read.owner);
  if (read.options.source != nullptr)
    return Status(StatusCode::kInvalidArgument,
                  "the named allocator of memory scope \"" + std::string(scope) +
                      "\" has source functions: the session determines the source");
  const auto make = [text = std::string(name), options = std::move(read.options),
                     owner = std::move(read.owner)](
                        std::shared_ptr<BlockSource> source,
                        int64_t alignment) -> Result<std::shared_ptr<Allocator>> {
    AllocatorOptions of_pool = options;
    of_pool.source = std::move(source);
    of_pool.alignment = alignment;
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<Allocator> made,
                             runtime::make_allocator_from_text(text, std::move(of_pool)));
    return with_owner(std::move(made), owner);
  };
  return ScopeAllocator{.scope = std::string(scope), .allocator = nullptr, .make = make};
}

Status add_allocators(const scopevm_session_options& given, ReadSessionOptions& out) {
  std::vector<ScopeAllocator>& to = out.options.allocators;
  SCOPEVM_ASSIGN_OR_RETURN(const auto allocators,
                           read_array(given.allocators, given.allocator_count, given.allocator_size,
                                      SCOPEVM_SIZE_UP_TO(scopevm_scope_allocator, allocator),
                                      "allocator_size", "allocators"));
  for (const scopevm_scope_allocator& binding : allocators) {
    SCOPEVM_ASSIGN_OR_RETURN(ScopeAllocator allocator, to_cpp(binding));
    to.push_back(std::move(allocator));
  }
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto named,
      read_array(given.named_allocators, given.named_allocator_count, given.named_allocator_size,
                 SCOPEVM_SIZE_UP_TO(scopevm_named_allocator, options), "named_allocator_size",
                 "named allocators"));
  for (const scopevm_named_allocator& binding : named) {
    SCOPEVM_ASSIGN_OR_RETURN(ScopeAllocator allocator, to_cpp(binding, out));
    to.push_back(std::move(allocator));
  }
  if (given.wrap_allocator == nullptr) return {};
  out.options.wrap_allocator = [wrap = given.wrap_allocator, context = given.wrap_context](
                                   std::string_view device, std::string_view scope,
                                   std::shared_ptr<Allocator> allocator) {
    return take(wrap(context, std::string(device).c_str(), std::string(scope).c_str(),
                     new scopevm_allocator{std::move(allocator)}));
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

Result<ReadSessionOptions> to_cpp(const scopevm_session_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_session_options options,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_session_options, scheduler),
                   "scopevm_session_options"));
  ReadSessionOptions read;
  SessionOptions& out = read.options;
  // A member that the caller does not set is 0 in the C struct and must mean the default, 1 thread.
  // In SessionOptions, 0 means one thread per core.
  out.threads = options.threads == 0 ? 1 : std::max(options.threads, 0);
  out.emulate = options.emulate != 0;
  out.time_devices = options.time_devices != 0;
  SCOPEVM_ASSIGN_OR_RETURN(
      out.memory_limits,
      to_limits(options.limits, options.limit_count, options.limit_size, "limit_size", "limits"));
  if (options.scheduler != nullptr)
    out.scheduler = Scheduler::adopt(new scopevm_scheduler{options.scheduler->scheduler});
  SCOPEVM_RETURN_IF_ERROR(add_allocators(options, read));
  SCOPEVM_RETURN_IF_ERROR(add_devices(options, out));
  SCOPEVM_RETURN_IF_ERROR(check_array(options.external_libraries, options.external_library_count,
                                      "the array of external libraries"));
  out.external_libraries.assign(options.external_libraries,
                                options.external_libraries + options.external_library_count);
  out.transport = options.transport;
  if (options.parallel_for != nullptr)
    out.executor = read.executor = std::make_shared<CExecutor>(options);
  return read;
}

// A session that takes longer to create has, for example, built kernels for a device.
constexpr std::chrono::milliseconds kSlowStart{500};

void log_slow_start(std::chrono::nanoseconds duration) {
  if (duration < kSlowStart || !runtime::is_logged(LogSeverity::kInfo)) return;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  runtime::log(LogSeverity::kInfo, "the session started in " + std::to_string(ms.count()) + " ms");
}

Status create(const scopevm_module& module, const scopevm_session_options* given,
              scopevm_session** out) {
  const auto start = std::chrono::steady_clock::now();
  SCOPEVM_ASSIGN_OR_RETURN(ReadSessionOptions read, to_cpp(given));
  auto handle = std::make_unique<scopevm_session>();
  SCOPEVM_ASSIGN_OR_RETURN(handle->bound,
                           vm::BoundSession::create(module.loaded, std::move(read.options)));
  if (read.executor != nullptr) read.executor->accept();
  for (const auto& owner : read.allocators) owner->accept();
  log_slow_start(std::chrono::steady_clock::now() - start);
  *out = handle.release();
  return {};
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
  return checked({{module, "module"}, {out, "out"}},
                 [&] { return scopevm::create(*module, options, out); });
}

scopevm_status* scopevm_session_reserve(const scopevm_session* session, const char* const* names,
                                        const int64_t* least, const int64_t* most, size_t count,
                                        int calls) {
  return checked({{session, "session"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_ranges(names, least, most, count));
    return session->bound->reserve(dims, calls);
  });
}

scopevm_status* scopevm_session_module(const scopevm_session* session, scopevm_module** out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    *out = scopevm::vm::make_handle(session->bound->module_owner());
    return {};
  });
}

int scopevm_session_threads(const scopevm_session* session) {
  return session == nullptr ? 0 : session->bound->threads();
}

int scopevm_session_running_threads(const scopevm_session* session) {
  return session == nullptr ? 0 : session->bound->executor().running_threads();
}

scopevm_status* scopevm_session_memory_stats(const scopevm_session* session, size_t index,
                                             scopevm_allocator_stats* out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_allocator_stats, rounding_bytes),
        "struct_size of *out"));
    if (index >= session->bound->pool_count())
      return {scopevm::StatusCode::kNotFound, "no memory scope " + std::to_string(index) +
                                                  ": there are " +
                                                  std::to_string(session->bound->pool_count())};
    scopevm::fill_struct(scopevm::to_c(session->bound->pool(static_cast<uint32_t>(index)).stats()),
                         out);
    return {};
  });
}

void scopevm_session_trim(const scopevm_session* session) {
  if (session != nullptr) session->bound->trim();
}

void scopevm_session_free(scopevm_session* session) { delete session; }
