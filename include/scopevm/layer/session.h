// The functions of Session and ExternalLibrary (scopevm/session.h), by those of the C API.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/layer/allocators.h"
#include "scopevm/layer/call.h"
#include "scopevm/layer/module.h"
#include "scopevm/layer/status.h"
#include "scopevm/session.h"

namespace scopevm {

namespace layer {

// A handle of a session, and its module.
struct SessionHandle {
  SessionHandle(scopevm_session* of, Module bound) : handle(of), module(std::move(bound)) {}
  SessionHandle(const SessionHandle&) = delete;
  SessionHandle& operator=(const SessionHandle&) = delete;
  ~SessionHandle() { scopevm_session_free(handle); }

  scopevm_session* const handle;
  const Module module;
};

// The functions of an executor of the program. Their context is a shared pointer to it.
struct ExecutorCalls {
  using Owner = std::shared_ptr<Executor>;
  static Executor& of(void* context) { return **static_cast<Owner*>(context); }
  static scopevm_status* parallel_for(void* context, int64_t total, int64_t grain,
                                      void (*body)(void*, int64_t, int64_t, int64_t),
                                      void* of_body) noexcept {
    return give(guarded([&]() -> Status {
      of(context).parallel_for(total, grain, body, of_body);
      return {};
    }));
  }
  static int running_threads(void* context) noexcept { return of(context).running_threads(); }
  static void release(void* context) noexcept { delete static_cast<Owner*>(context); }
};

// ScopeAllocator::make of the program, which is the context.
inline scopevm_status* make_allocator(void* context, scopevm_block_source* given, int64_t alignment,
                                      scopevm_allocator** out) noexcept {
  std::unique_ptr<scopevm_block_source, void (*)(scopevm_block_source*)> owner(
      given, scopevm_block_source_free);
  return give(guarded([&]() -> Status {
    std::shared_ptr<BlockSource> source;
    if (given != nullptr) {
      source = std::make_shared<LibrarySource>(given);
      (void)owner.release();
    }
    const auto& make = *static_cast<const AllocatorFactory*>(context);
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<Allocator> made, make(std::move(source), alignment));
    *out = nullptr;
    if (made == nullptr) return {};
    SCOPEVM_ASSIGN_OR_RETURN(*out, handle_of(std::move(made)));
    return {};
  }));
}

// SessionOptions::wrap_allocator of the program.
struct WrapCall {
  const SessionOptions* options = nullptr;
  Status failure;  // the function of the C API returns no status

  // The context is a WrapCall.
  static scopevm_allocator* wrap(void* context, const char* device, const char* scope,
                                 scopevm_allocator* given) noexcept {
    auto& self = *static_cast<WrapCall*>(context);
    scopevm_allocator* handle = nullptr;
    self.failure = guarded([&]() -> Status {
      std::shared_ptr<Allocator> wrapped =
          self.options->wrap_allocator(device, scope, adopt_allocator(given));
      if (wrapped == nullptr) return {};
      SCOPEVM_ASSIGN_OR_RETURN(handle, handle_of(std::move(wrapped)));
      return {};
    });
    return handle;
  }
};

// SessionOptions as a struct of C, which refers to them.
class CSessionOptions {
 public:
  CSessionOptions() = default;
  CSessionOptions(const CSessionOptions&) = delete;
  CSessionOptions& operator=(const CSessionOptions&) = delete;
  ~CSessionOptions() {
    for (const scopevm_scope_allocator& each : allocators_) scopevm_allocator_free(each.allocator);
  }

  // `options` must outlive this object.
  Status read(SessionOptions& options) {
    c_.struct_size = sizeof c_;
    c_.threads = options.threads <= 0 ? -1 : options.threads;  // 0 of the C API: 1 thread
    for (const ScopeLimit& limit : options.memory_limits)
      limits_.push_back({limit.scope.c_str(), limit.bytes});
    c_.limits = limits_.data();
    c_.limit_count = limits_.size();
    c_.limit_size = sizeof(scopevm_memory_limit);
    for (const DeviceBinding& binding : options.devices)
      devices_.push_back({binding.device.c_str(), binding.kind.c_str(), binding.number});
    c_.devices = devices_.data();
    c_.device_count = devices_.size();
    c_.device_size = sizeof(scopevm_device_binding);
    c_.emulate = options.emulate ? 1 : 0;
    c_.time_devices = options.time_devices ? 1 : 0;
    c_.external_libraries = options.external_libraries.data();
    c_.external_library_count = options.external_libraries.size();
    c_.transport = options.transport;
    if (options.scheduler) c_.scheduler = options.scheduler->c_scheduler();
    SCOPEVM_RETURN_IF_ERROR(read_allocators(options));
    if (options.executor != nullptr) set_executor(options.executor);
    return {};
  }

  const scopevm_session_options* get() const { return &c_; }
  // The result of the creation of the session, which then owns the executor.
  Status created(Status status) {
    if (status.ok()) (void)executor_.release();
    return wrap_.failure.ok() ? std::move(status) : std::move(wrap_.failure);
  }

 private:
  Status read_allocators(SessionOptions& options) {
    for (ScopeAllocator& binding : options.allocators) {
      scopevm_scope_allocator& c = allocators_.emplace_back();
      c.scope = binding.scope.c_str();
      if (binding.allocator != nullptr) {
        SCOPEVM_ASSIGN_OR_RETURN(c.allocator, handle_of(binding.allocator));
      } else if (binding.make) {
        c.make = make_allocator;
        c.make_context = &binding.make;
      }
    }
    c_.allocators = allocators_.data();
    c_.allocator_count = allocators_.size();
    c_.allocator_size = sizeof(scopevm_scope_allocator);
    if (options.wrap_allocator) {
      wrap_.options = &options;
      c_.wrap_allocator = WrapCall::wrap;
      c_.wrap_context = &wrap_;
    }
    return {};
  }

  void set_executor(const std::shared_ptr<Executor>& executor) {
    executor_ = std::make_unique<ExecutorCalls::Owner>(executor);
    c_.parallel_for = ExecutorCalls::parallel_for;
    c_.executor = executor_.get();
    c_.executor_threads = executor->threads();
    c_.running_threads = ExecutorCalls::running_threads;
    c_.release_executor = ExecutorCalls::release;
  }

  scopevm_session_options c_{};
  std::vector<scopevm_memory_limit> limits_;
  std::vector<scopevm_device_binding> devices_;
  std::vector<scopevm_scope_allocator> allocators_;  // owns the handles
  std::unique_ptr<ExecutorCalls::Owner> executor_;
  WrapCall wrap_;
};

}  // namespace layer

inline Result<ExternalLibrary> ExternalLibrary::load(const std::string& name) {
  const scopevm_external_library* library = nullptr;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_external_library_load(name.c_str(), &library)));
  return ExternalLibrary(library);
}

inline Result<Transport> Transport::load(const std::string& name) {
  const scopevm_transport* transport = nullptr;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_transport_load(name.c_str(), &transport)));
  return Transport(transport);
}

inline Result<Session> Session::create(const Module& module, SessionOptions options) {
  return layer::guarded([&]() -> Result<Session> {
    layer::CSessionOptions c;
    SCOPEVM_RETURN_IF_ERROR(c.read(options));
    scopevm_session* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(
        c.created(layer::take(scopevm_session_create(module.c_module(), c.get(), &handle))));
    std::unique_ptr<scopevm_session, void (*)(scopevm_session*)> owner(handle,
                                                                       scopevm_session_free);
    auto made = std::make_shared<layer::SessionHandle>(handle, module);
    (void)owner.release();
    return Session(std::move(made));
  });
}

inline Result<Session> Session::adopt(scopevm_session* handle) {
  std::unique_ptr<scopevm_session, void (*)(scopevm_session*)> owner(handle, scopevm_session_free);
  return layer::guarded([&]() -> Result<Session> {
    scopevm_module* bound = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_session_module(handle, &bound)));
    SCOPEVM_ASSIGN_OR_RETURN(Module module, Module::adopt(bound));
    auto made = std::make_shared<layer::SessionHandle>(handle, std::move(module));
    (void)owner.release();
    return Session(std::move(made));
  });
}

inline const scopevm_session* Session::c_session() const { return handle_->handle; }

inline Result<std::vector<Tensor>> Session::call(std::span<const Tensor> inputs,
                                                 const CallOptions& options) const {
  return layer::guarded([&]() -> Result<std::vector<Tensor>> {
    std::vector<Tensor> results(signature().outputs.size());
    scopevm_run_options c;
    if (!layer::is_default(options)) c = layer::to_c(options);
    // An empty tensor and the struct of the C API have the same layout.
    SCOPEVM_RETURN_IF_ERROR(layer::take(
        scopevm_session_call(c_session(), inputs.empty() ? nullptr : inputs[0].c_tensor(),
                             inputs.size(), layer::is_default(options) ? nullptr : &c,
                             reinterpret_cast<scopevm_tensor*>(results.data()), results.size())));
    return results;
  });
}

inline Result<Call> Session::make_call() const {
  scopevm_call* handle = nullptr;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_call_create(c_session(), &handle)));
  return Call::adopt(handle);
}

inline Status Session::reserve(const std::map<std::string, DimRange>& dims, int calls) const {
  return layer::guarded([&] {
    const layer::RangeArrays ranges(dims);
    return layer::take(scopevm_session_reserve(c_session(), ranges.names.data(),
                                               ranges.least.data(), ranges.most.data(),
                                               ranges.names.size(), calls));
  });
}

inline Status Session::warm_up(const std::map<std::string, int64_t>& dims,
                               const CallOptions& options) const {
  return layer::guarded([&] {
    const layer::DimArrays arrays(dims);
    const scopevm_run_options c = layer::to_c(options);
    return layer::take(scopevm_session_warm_up(c_session(), arrays.names.data(),
                                               arrays.values.data(), arrays.names.size(), &c));
  });
}

inline Status Session::follow(TraceSink* trace) const {
  CallOptions with;
  with.trace = trace;
  const scopevm_run_options options = layer::to_c(with);
  return layer::take(scopevm_session_follow(c_session(), &options));
}

inline const Signature& Session::signature() const { return handle_->module.signature(); }

inline int Session::threads() const { return scopevm_session_threads(c_session()); }

inline int Session::running_threads() const { return scopevm_session_running_threads(c_session()); }

inline Result<std::vector<ScopeStats>> Session::memory_stats() const {
  return layer::guarded([&]() -> Result<std::vector<ScopeStats>> {
    std::vector<ScopeStats> stats;
    const std::vector<MemoryScope>& scopes = handle_->module.memory_scopes();
    for (size_t i = 0; i < scopes.size(); ++i) {
      scopevm_allocator_stats c{};
      c.struct_size = sizeof c;
      SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_session_memory_stats(c_session(), i, &c)));
      stats.push_back({scopes[i].device, scopes[i].scope, layer::to_cpp(c)});
    }
    return stats;
  });
}

inline void Session::trim() const { scopevm_session_trim(c_session()); }

}  // namespace scopevm
