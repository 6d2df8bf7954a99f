#include "tests/vm/modules/adder.h"

#include <cstdint>
#include <cstring>

namespace scopevm::test {
namespace {

struct Sum {
  const float* x;
  const float* y;
  float* z;
};

void add_range(void* context, int64_t begin, int64_t end, int64_t /*worker*/) {
  const auto& sum = *static_cast<const Sum*>(context);
  for (int64_t i = begin; i < end; ++i) sum.z[i] = sum.x[i] + sum.y[i];
}

int create(void*, const char*, const char*, void** out_function, char*, size_t) {
  *out_function = nullptr;
  return 0;
}

void destroy(void*, void*) {}

int run_add(void*, void*, const scopevm_external_run* run) {
  add(*run);
  return 0;
}

}  // namespace

void add(const scopevm_external_run& run) {
  std::memset(run.workspace, 0xAB, static_cast<size_t>(run.workspace_bytes));
  int64_t count = 1;
  for (int i = 0; i < run.results[0].ndim; ++i) count *= run.results[0].shape[i];
  Sum sum{static_cast<const float*>(run.operands[0].data),
          static_cast<const float*>(run.operands[1].data),
          static_cast<float*>(run.results[0].data)};
  run.parallel_for(run.executor, count, 16, add_range, &sum);
}

const scopevm_external_library kAdder = {.struct_size = sizeof kAdder,
                                         .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
                                         .name = "test",
                                         .context = nullptr,
                                         .patterns = nullptr,
                                         .accept = nullptr,
                                         .prepare = nullptr,
                                         .create = create,
                                         .destroy = destroy,
                                         .run = run_add};

}  // namespace scopevm::test
