/* Runs examples/distance through the C API: run_module distance.bc
 * Prints the distances between the rows of two matrices. */
#include <scopevm/scopevm.h>
#include <stdio.h>
#include <stdlib.h>

/* Exits with the message of a failed call. */
static void check(scopevm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", scopevm_status_message(status));
  scopevm_status_free(status);
  exit(1);
}

static DLTensor matrix(float* elements, int64_t* dims) {
  DLTensor tensor = {.data = elements,
                     .device = {kDLCPU, 0},
                     .ndim = 2,
                     .dtype = {kDLFloat, 32, 1},
                     .shape = dims};
  return tensor;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  float x[2][4] = {{0, 0, 0, 0}, {1, 2, 3, 4}};
  float y[2][4] = {{3, 4, 0, 0}, {1, 2, 3, 4}};
  int64_t dims[2] = {2, 4};
  const DLTensor inputs[] = {matrix(x[0], dims), matrix(y[0], dims)};

  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  DLManagedTensor* result = NULL;
  check(scopevm_module_load(argv[1], NULL, &module));
  check(scopevm_session_create(module, NULL, &session));
  check(scopevm_call_create(session, &call));
  check(scopevm_call_set_input(call, "x", &inputs[0]));
  check(scopevm_call_set_input(call, "y", &inputs[1]));
  check(scopevm_call_run(call, NULL));
  check(scopevm_call_output(call, 0, &result));
  const float* distances = result->dl_tensor.data;
  scopevm_value_info output = {.struct_size = sizeof(output)};
  check(scopevm_module_output(module, 0, &output));
  printf("%s: %g %g\n", output.name, distances[0], distances[1]);

  result->deleter(result);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return 0;
}
