// A function of a session: its layer, and the plans of the dims that it ran with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <vector>

#include "plugins/dnnl/graph/layer.h"
#include "plugins/dnnl/run/lru_cache.h"
#include "plugins/dnnl/run/plan.h"
#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm::onednn {

// Thread-safety: concurrent runs are allowed.
class Function {
 public:
  // The bound of the plan cache. oneDNN has a cache of primitives for the whole process in
  // addition, with at most 1024 entries (ONEDNN_PRIMITIVE_CACHE_CAPACITY).
  static constexpr size_t kMaxPlans = 32;

  explicit Function(Layer layer);

  // oneDNN parallelises a run with OpenMP, on run.threads threads.
  Status run(const scopevm_external_run& run);

 private:
  using Plans = LruCache<std::vector<int64_t>, Plan>;

  const Layer layer_;
  const dnnl::engine engine_;
  Plans plans_{kMaxPlans};
};

}  // namespace scopevm::onednn
