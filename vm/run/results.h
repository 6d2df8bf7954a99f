// Converts the registers that the entry function returns to result tensors, and its slots to the
// bounds of the memory accounts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "vm/run/bound_session.h"
#include "vm/run/call_context.h"

namespace scopevm::vm {

// Fills context.results from the registers that the entry function returns. Each result has a
// distinct storage: a result that aliases an input, a constant or an earlier result is copied.
// Errors: kInvalidArgument (an output buffer has the wrong shape), kOutOfMemory, kResourceLimit.
Status collect_results(BoundSession& session, CallContext& context, const Frame& frame,
                       isa::RegisterList registers);

// Sets bound_bytes and lower_bound_bytes of each pool from the slots that the shape function wrote.
void record_bounds(const format::FunctionDecl& function, const int64_t* slots,
                   std::vector<PoolAccount>& pools);

// The error for a failed check, with values substituted for the message's placeholders.
Status check_failure(const format::ShapeFunctionDecl& function, int64_t check,
                     const int64_t* slots);

// Checks that the caller's buffer has the element type of output `index` and the actual `dims`.
Status check_output(const LoadedModule& module, uint32_t index, const Tensor& given,
                    std::span<const int64_t> dims);

}  // namespace scopevm::vm
