/* The loop of C that call_overhead.py compares with Python: a call with two f32 inputs of dims
 * [1, 4], whose inputs are set, which is run, and whose result is taken and released. */
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "scopevm/scopevm.h"

static void check(scopevm_status* status) {
  if (status != NULL) abort();
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static scopevm_call* call_of(const char* path) {
  static scopevm_module* module;
  static scopevm_session* session;
  scopevm_call* call = NULL;
  if (session == NULL) {
    check(scopevm_module_load(path, NULL, &module));
    check(scopevm_session_create(module, NULL, &session));
  }
  check(scopevm_call_create(session, &call));
  return call;
}

/* The time of a call in nanoseconds, as the mean of `count` calls. */
__attribute__((visibility("default"))) double time_of_call(const char* path, int count) {
  scopevm_call* call = call_of(path);
  float values[4] = {1, 2, 3, 4};
  int64_t dims[2] = {1, 4};
  DLTensor tensor = {values, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, dims, NULL, 0};
  double begin = 0;
  for (int i = -100; i < count; ++i) {
    if (i == 0) begin = now_ns();
    check(scopevm_call_set_input_at(call, 0, &tensor));
    check(scopevm_call_set_input_at(call, 1, &tensor));
    check(scopevm_call_run(call, NULL));
    DLManagedTensorVersioned* result = NULL;
    check(scopevm_call_output_versioned(call, 0, &result));
    result->deleter(result);
    scopevm_call_clear_outputs(call);
  }
  const double end = now_ns();
  scopevm_call_free(call);
  return (end - begin) / count;
}
