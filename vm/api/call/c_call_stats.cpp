// The functions of the C API for the statistics of calls (scopevm/c/call.h).
#include <numeric>
#include <string>

#include "scopevm/scopevm.h"
#include "vm/api/call/call_handle.h"

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_call_read_stats(const scopevm_call* call, scopevm_call_stats* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(call->request->check_idle());
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(out->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_call_stats, copy_count),
                                                "struct_size of *out"));
    const scopevm::CallStats& stats = call->request->stats;
    // The name of a function is the whole of a std::string.
    const char* function = stats.function.empty() ? "" : stats.function.data();
    const bool has_run = !stats.function.empty();
    scopevm::fill_struct(
        {0, stats.latency_ns, function, stats.emulated_seconds,
         has_run ? std::reduce(call->copied_bytes.begin(), call->copied_bytes.end(), int64_t{0})
                 : 0,
         stats.memory.size(), stats.copies.size()},
        out);
    return {};
  });
}

scopevm_status* scopevm_call_memory_use(const scopevm_call* call, size_t index,
                                        scopevm_memory_use* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(call->request->check_idle());
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(out->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_memory_use, allocations),
                                                "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm::ScopeUse* use,
        scopevm::element_at(call->request->stats.memory, index, "memory scope"));
    scopevm::fill_struct(
        {0, scopevm::to_c(use->device), scopevm::to_c(use->scope), use->bound_bytes,
         use->lower_bound_bytes, use->peak_bytes, use->allocations},
        out);
    return {};
  });
}

scopevm_status* scopevm_call_copy_use(const scopevm_call* call, size_t index,
                                      scopevm_copy_use* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(call->request->check_idle());
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(
        out->struct_size, SCOPEVM_SIZE_UP_TO(scopevm_copy_use, bytes), "struct_size of *out"));
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm::CopyUse* use,
        scopevm::element_at(call->request->stats.copies, index, "pair of memory scopes"));
    scopevm::fill_struct(
        {0, scopevm::to_c(use->from_device), scopevm::to_c(use->from_scope),
         scopevm::to_c(use->to_device), scopevm::to_c(use->to_scope), use->copies, use->bytes},
        out);
    return {};
  });
}
