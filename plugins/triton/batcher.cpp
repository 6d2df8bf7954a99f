// The batching callbacks: a request is included in the batch that Triton forms while the memory of
// the joined call stays within the limits of the model. Requests of other shapes, which run in a
// call of their own, do not count. Triton calls these functions if the model's parameter
// TRITON_BATCH_STRATEGY_PATH is the path of this shared object (docs/triton.md).
#include <map>
#include <vector>

#include "plugins/triton/model.h"
#include "plugins/triton/status.h"

namespace scopevm::triton {
namespace {

// The pending batch.
struct PendingBatch {
  explicit PendingBatch(const Model& of) : model(of) {}
  const Model& model;
  // The rows of the requests with these dims, in which the batch is 0.
  std::map<std::vector<int64_t>, int64_t> rows;
};

Status include(PendingBatch& batch, TRITONBACKEND_Request* request, bool& should_include) {
  should_include = true;
  const Model& model = batch.model;
  // A wrong request runs alone, and its error is its response.
  const Result<std::vector<InputView>> inputs = model.inputs_of(request);
  if (!inputs.ok() || !model.joins_requests()) return {};
  std::optional<std::vector<int64_t>> dims = model.dims_of(*inputs);
  if (!dims) return {};
  std::vector<int64_t> key = *dims;
  model.set_batch(key, 0);
  const auto found = batch.rows.find(key);
  const int64_t rows = model.batch_of(*inputs) + (found == batch.rows.end() ? 0 : found->second);
  model.set_batch(*dims, rows);
  // The first request of its shape is always included: it must run, or report its error.
  should_include = found == batch.rows.end() || model.fits(*dims);
  if (should_include) batch.rows[key] = rows;
  return {};
}

}  // namespace
}  // namespace scopevm::triton

using scopevm::Status;
using scopevm::triton::guarded;
using scopevm::triton::Model;
using scopevm::triton::PendingBatch;

// The batcher is the model itself, which Triton finalizes after the batcher.
TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher** batcher,
                                                         TRITONBACKEND_Model* model) {
  return guarded([&]() -> Status {
    void* state = nullptr;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_ModelState, model, &state);
    *batcher = static_cast<TRITONBACKEND_Batcher*>(state);
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher* /*batcher*/) {
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher* batcher,
                                                       void** userp) {
  return guarded([&]() -> Status {
    *userp = new PendingBatch(*reinterpret_cast<const Model*>(batcher));
    return {};
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request* request,
                                                           void* userp, bool* should_include) {
  return guarded([&] {
    return scopevm::triton::include(*static_cast<PendingBatch*>(userp), request, *should_include);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  delete static_cast<PendingBatch*>(userp);
  return nullptr;
}
