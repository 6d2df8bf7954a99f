// Requests that plans are compared and validated at. Private to compiler/memory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {

// Dims and threads that a call may come with.
struct Request {
  std::map<std::string, int64_t> symbols;
  int64_t threads = 1;
};

// The representative request first; then all dims smaller and larger, and each dim larger alone.
// All are within the dimensions' bounds. Runtime-defined symbols are dims like others.
std::vector<Request> sample_requests(const Function& function);

// Dims at which limits are held: the largest that they may have, where they are bounded, else the
// representative ones. Runtime-defined symbols have no value.
Request limit_request(const Machine& machine, const Function& function);

// Empty where the request has no value for a symbol.
std::optional<int64_t> evaluate(DimExpr expression, const Request& request);

// Some of the buffers with their sizes, without offsets. Empty when a size overflows or has no
// value.
std::optional<std::vector<Buffer>> buffers_at(const Liveness& liveness,
                                              const std::vector<BufferIndex>& members,
                                              const Request& request);

}  // namespace scopevm::compiler::memory
