// Tests states of the C API. Arguments: sum.bc, a module of z = (x + y) * 2 for f32[n, 4].
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static const char* const kNames[] = {"n"};
static const int64_t kRows[] = {1};

static float value_of(const scopevm_state* state) {
  DLManagedTensorVersioned* value = NULL;
  OK(scopevm_state_value(state, "y", &value));
  if (value == NULL) return -1;
  EXPECT(value->dl_tensor.ndim == 2 && value->dl_tensor.shape[0] == 1);
  const float first = ((const float*)value->dl_tensor.data)[0];
  value->deleter(value);
  return first;
}

static void check_options(const scopevm_session* session) {
  scopevm_state* state = NULL;
  scopevm_state_pair pair = {"y", "z", NULL};
  scopevm_state_options options = {sizeof options, &pair, 1, sizeof pair, kNames, kRows, 1};
  options.struct_size = 8;
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_INVALID_ARGUMENT, "struct_size");
  options.struct_size = sizeof options;
  options.pair_size = 8;
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_INVALID_ARGUMENT, "pair_size");
  options.pair_size = sizeof pair;
  pair.output = NULL;
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_INVALID_ARGUMENT,
        "the output of a pair is NULL");
  pair.output = "x";
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_NOT_FOUND, "no output \"x\"");
  const DLTensor initial = {0};
  const scopevm_tensor initial_tensor = {0};
  pair.initial = &initial;
  pair.initial_tensor = &initial_tensor;
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_INVALID_ARGUMENT,
        "a pair has two initial values: initial and initial_tensor");
  options.pair_count = 0;
  FAILS(scopevm_state_create(session, &options, &state), SCOPEVM_INVALID_ARGUMENT, "one pair");
  EXPECT(state == NULL);
}

static void check_steps(const scopevm_session* session) {
  float initial[] = {1, 1, 1, 1};
  float x[] = {2, 2, 2, 2};
  int64_t dims[] = {1, 4};
  const DLTensor initial_tensor = floats(initial, dims), x_tensor = floats(x, dims);
  const scopevm_state_pair pair = {"y", "z", &initial_tensor};
  scopevm_state_options options = {sizeof options, &pair, 1, sizeof pair, NULL, NULL, 0};
  scopevm_state* state = NULL;
  OK(scopevm_state_create(session, &options, &state));
  scopevm_call* call = NULL;
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input(call, "x", &x_tensor));
  OK(scopevm_call_set_state(call, state));
  OK(scopevm_call_run(call, NULL));
  EXPECT(value_of(state) == 6 && scopevm_state_steps(state) == 1);

  scopevm_state* forked = NULL;
  OK(scopevm_state_fork(state, &forked));
  size_t size = 0;
  OK(scopevm_state_snapshot(state, NULL, 0, &size));
  void* bytes = malloc(size);
  FAILS(scopevm_state_snapshot(state, bytes, size - 1, &size), SCOPEVM_INVALID_ARGUMENT,
        "capacity is");
  OK(scopevm_state_snapshot(state, bytes, size, &size));
  OK(scopevm_call_run(call, NULL));
  EXPECT(value_of(state) == 16 && value_of(forked) == 6);
  OK(scopevm_state_restore(state, bytes, size));
  EXPECT(value_of(state) == 6);
  ((char*)bytes)[size / 2] ^= 1;
  FAILS(scopevm_state_restore(state, bytes, size), SCOPEVM_INVALID_ARGUMENT, "damaged");
  free(bytes);
  OK(scopevm_state_reset(state));
  EXPECT(value_of(state) == 1 && scopevm_state_steps(state) == 0);
  OK(scopevm_state_set_value(state, "y", &x_tensor));
  EXPECT(value_of(state) == 2);
  // A call keeps its state alive.
  scopevm_state_free(state);
  OK(scopevm_call_run(call, NULL));
  DLManagedTensorVersioned* z = NULL;
  OK(scopevm_call_output_versioned(call, 0, &z));
  EXPECT(z != NULL && ((const float*)z->dl_tensor.data)[3] == 8);
  EXPECT(z != NULL && (z->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
  if (z != NULL) z->deleter(z);
  OK(scopevm_call_set_state(call, NULL));
  FAILS(scopevm_call_run(call, NULL), SCOPEVM_INVALID_ARGUMENT, "missing input \"y\"");
  scopevm_call_free(call);
  scopevm_state_free(forked);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(argv[1], NULL, &module));
  if (module == NULL) return 1;
  OK(scopevm_session_create(module, NULL, &session));
  check_options(session);
  check_steps(session);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return failures == 0 ? 0 : 1;
}
