// The sample requests at which plans are compared and validated. Private to compiler/memory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/memory/liveness.h"

namespace scopevm::compiler::memory {

// The dims and the thread count of a call.
struct Request {
  std::map<std::string, int64_t> symbols;
  int64_t threads = 1;
};

// The representative request comes first. It is followed by requests with all dims larger or
// smaller and other thread counts. For each of the first six dims, requests follow in which only
// that dim is larger. `random_requests` ones follow that have random dims of all magnitudes: small
// and large values are equally likely. All dims are within their bounds.
std::vector<Request> sample_requests(const Function& function, int random_requests);

// The request at which plans must be within the limits of pools. Each dim has its maximum, or its
// representative value if the maximum is above 2^20. The thread count is that of the host.
// Runtime-defined symbols have no value.
Request limit_request(const Machine& machine, const Function& function);

// Empty if the request has no value for a symbol, or if the value overflows.
std::optional<int64_t> evaluate(DimExpr expression, const Request& request);

// The sizes of the buffers `members` in bytes. No value if a size is unknown or negative, or if a
// size or the sum of the sizes overflows.
std::optional<std::vector<int64_t>> sizes_at(const Liveness& liveness,
                                             const std::vector<BufferIndex>& members,
                                             const Request& request);

}  // namespace scopevm::compiler::memory
