// Runs functions with cached plans; see function.h.
#include "plugins/dnnl/run/function.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "plugins/dnnl/run/shapes.h"

// OpenMP's own declarations (omp.h) belong to the compiler's runtime library, which can be another
// one than oneDNN's.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads();
}

namespace scopevm::onednn {
namespace {

// Sets the number of OpenMP threads of the calling thread. Other threads keep theirs, because the
// number is a variable of each thread (OpenMP 5.0, 2.5.1, nthreads-var). oneDNN reads it when it
// creates a primitive and when it runs one.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : previous_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(previous_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int previous_;
};

// All that a plan depends on.
std::vector<int64_t> key_of(const scopevm_external_run& run) {
  std::vector<int64_t> key = {run.threads, run.workspace_bytes};
  auto append = [&](const DLTensor& tensor) {
    for (int64_t dim : dims_of(tensor)) key.push_back(dim);
  };
  std::for_each_n(run.operands, run.operand_count, append);
  append(run.results[0]);
  return key;
}

bool is_empty(const DLTensor& tensor) {
  const auto dims = dims_of(tensor);
  return std::find(dims.begin(), dims.end(), 0) != dims.end();
}

}  // namespace

Function::Function(Layer layer) : layer_(std::move(layer)), engine_(dnnl::engine::kind::cpu, 0) {}

Status Function::run(const scopevm_external_run& run) {
  SCOPEVM_RETURN_IF_ERROR(check_tensors(layer_, run));
  if (is_empty(run.results[0])) return {};
  for (size_t i = 0; i < run.operand_count; ++i)
    if (is_empty(run.operands[i]))
      return {StatusCode::kUnsupported, "operand " + std::to_string(i) + " has no elements"};
  if (run.is_stopped != nullptr && run.is_stopped(run.executor) != 0)
    return {StatusCode::kCancelled, "stopped"};
  const ThreadCount threads(run.threads);
  std::vector<int64_t> key = key_of(run);
  std::shared_ptr<const Plan> plan = plans_.find(key);
  if (plan == nullptr) {
    // Other threads run meanwhile. If several threads create the plan, one of them is cached.
    SCOPEVM_ASSIGN_OR_RETURN(Plan created, Plan::create(engine_, layer_, run));
    plan = plans_.insert(std::move(key), std::make_shared<const Plan>(std::move(created)));
  }
  plan->run(engine_, run);
  return {};
}

}  // namespace scopevm::onednn
