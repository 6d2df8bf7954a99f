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

// The representative request first; then requests with all dims smaller or larger, and with each
// dim alone larger. All dims are within their bounds. Runtime-defined symbols vary like other dims.
std::vector<Request> sample_requests(const Function& function);

// The request for which the limits of pools are kept: the upper bound of each bounded dim, else its
// representative value. Runtime-defined symbols have no value.
Request limit_request(const Machine& machine, const Function& function);

// Empty if the request has no value for a symbol, or if the value overflows.
std::optional<int64_t> evaluate(DimExpr expression, const Request& request);

// The buffers `members` with their sizes, without offsets. Empty if a size overflows or is unknown.
std::optional<std::vector<PlannedBuffer>> buffers_at(const Liveness& liveness,
                                                     const std::vector<BufferIndex>& members,
                                                     const Request& request);

}  // namespace scopevm::compiler::memory
