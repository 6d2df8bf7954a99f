/* Runs interleave.mlir, whose op "example.interleave" is computed by this program:
 * run_external interleave.bc */
#include <scopevm/c/external.h>
#include <scopevm/scopevm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int create(void* context, const char* symbol, const char* description, void** function,
                  char* message, size_t size) {
  (void)context, (void)description;
  *function = NULL; /* run() needs no state */
  if (strcmp(symbol, "example.interleave") == 0) return 0;
  snprintf(message, size, "unknown function");
  return 1;
}

static void destroy(void* context, void* function) { (void)context, (void)function; }

/* Writes the rows of the two operands in turn. */
static int run(void* context, void* function, const scopevm_external_run* run) {
  (void)context, (void)function;
  const DLTensor* y = &run->results[0];
  const size_t row = (size_t)y->shape[1];
  for (int64_t i = 0; i < y->shape[0]; ++i) {
    const float* x = run->operands[i % 2].data;
    memcpy((float*)y->data + (size_t)i * row, x + (size_t)(i / 2) * row, row * sizeof(float));
  }
  return 0;
}

static void check(scopevm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", scopevm_status_message(status));
  scopevm_status_free(status);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  float elements[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  int64_t dims[2] = {3, 2};
  const DLTensor x = {elements[0], {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, dims, NULL, 0};
  const scopevm_external_library library = {.struct_size = sizeof(library),
                                            .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
                                            .name = "example",
                                            .create = create,
                                            .destroy = destroy,
                                            .run = run};
  const scopevm_external_library* libraries[] = {&library};
  const scopevm_session_options options = {
      .struct_size = sizeof(options), .external_libraries = libraries, .external_library_count = 1};
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  DLManagedTensor* result = NULL;
  check(scopevm_module_load(argv[1], NULL, &module));
  check(scopevm_session_create(module, &options, &session));
  check(scopevm_call_create(session, &call));
  check(scopevm_call_set_input(call, "x", &x));
  check(scopevm_call_run(call, NULL));
  check(scopevm_call_output(call, 0, &result));
  const float* y = result->dl_tensor.data;
  for (int i = 0; i < 12; i += 2) printf("%g %g\n", y[i], y[i + 1]);
  result->deleter(result);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return 0;
}
