// The end of a call: registers become result tensors, slots become the memory account.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"
#include "vm/run/bound_session.h"
#include "vm/run/call_context.h"

namespace scopevm::vm {

// Fills context.results from the registers that the entered function returned. Each result has a
// storage of its own: one that is an input, a constant or the bytes of an earlier result is copied.
// Errors: kInvalidArgument (a caller's output has another shape), kOutOfMemory, kResourceLimit.
Status collect_results(BoundSession& session, CallContext& context, const Frame& frame,
                       isa::RegisterList registers);

// bound_bytes and lower_bound_bytes of each pool, from the slots that the shape function wrote.
void record_bounds(const format::FunctionDecl& function, const int64_t* slots,
                   std::vector<PoolAccount>& pools);

// The message of a failed check, with the values in place.
Status check_failure(const format::ShapeFunctionDecl& function, int64_t check,
                     const int64_t* slots);

// Whether the caller's buffer suits output `index`, whose dims turned out to be `dims`.
Status check_output(const LoadedModule& module, uint32_t index, const Tensor& given,
                    std::span<const int64_t> dims);

}  // namespace scopevm::vm
