// Runs requests in a closed loop: each of K calls starts its next request when the last one ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scopevm/session.h"

namespace scopevm::tool {

// The memory of a call in one scope: the largest values of all requests.
struct ScopePeak {
  std::string device;
  std::string scope;
  int64_t bound_bytes = 0;
  int64_t peak_bytes = 0;
};

struct LoadResult {
  std::vector<int64_t> latency_ns;  // from the submission of a request to its end
  double seconds = 0;               // of the whole loop
  std::string function;             // "main", or the variant of the last request
  std::vector<ScopePeak> memory;    // one per pool
};

// Sets the inputs of a call.
using Prepare = std::function<Status(Call& call)>;

// Runs `requests` requests, `in_flight` at a time. A session without a scheduler runs them on this
// thread, one at a time. Errors: those of `prepare` and of the first request that fails.
Result<LoadResult> run_load(const Session& session, int64_t requests, int in_flight,
                            const Prepare& prepare, TraceSink* trace);

}  // namespace scopevm::tool
