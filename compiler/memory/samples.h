// The sample requests at which plans are compared and validated. Private to compiler/memory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

// The dims and the thread count of a call.
struct Request {
  std::map<std::string, int64_t> symbols;
  int64_t threads = 1;
};

// The representative request comes first. It is followed by requests with all dims larger or
// smaller and other thread counts. For each of the first six dims, a request follows in which only
// that dim is larger. All dims are within their bounds. Runtime-defined symbols vary only in the
// requests that vary all dims.
std::vector<Request> sample_requests(const Function& function);

// The request at which plans must be within the limits of pools. Each dim has its maximum, or its
// representative value if the maximum is above 2^20. The thread count is that of the host.
// Runtime-defined symbols have no value.
Request limit_request(const Machine& machine, const Function& function);

// Empty if the request has no value for a symbol, or if the value overflows.
std::optional<int64_t> evaluate(DimExpr expression, const Request& request);

// The buffers `members` with their sizes, without offsets. No value if a size is unknown or
// negative, or if a size or the sum of the sizes overflows.
std::optional<std::vector<PlannedBuffer>> buffers_at(const Liveness& liveness,
                                                     const std::vector<BufferIndex>& members,
                                                     const Request& request);

}  // namespace scopevm::compiler::memory
