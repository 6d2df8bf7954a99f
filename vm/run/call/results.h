// Converts the registers that the entry function returns to result tensors, and its slots to the
// bounds of the memory accounts. Also checks the caller's output buffers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/call_context.h"

namespace scopevm::vm {

// Fills the results and list_results of the context's request from the registers that the entry
// function returns. Each result tensor has a distinct storage: a tensor that aliases an input, a
// constant or an earlier result is copied. Errors: kInvalidArgument (an output buffer has the wrong
// shape), kInvalidModel (a result has invalid dims or string ids, or the host has no heap pool for
// a copy), kOutOfMemory, kResourceLimit.
Status collect_results(BoundSession& session, CallContext& context, const Frame& frame,
                       isa::RegisterList registers);

// Adds the sizes of the function's memory declarations, which `slots` contains, to bound_bytes and
// lower_bound_bytes of their pools. The bound of a pool with data-dependent memory is at least its
// peak.
void record_bounds(const format::FunctionDecl& function, const int64_t* slots,
                   std::vector<PoolAccount>& pools);

// Checks that the caller's buffer has the element type of output `index` and the actual `dims`, or
// room for them, and sets *bytes to the size of the result. Errors: kInvalidArgument.
Status check_output(const LoadedModule& module, uint32_t index, const OutputBuffer& given,
                    std::span<const int64_t> dims, int64_t* bytes);

}  // namespace scopevm::vm
