/* Compiles a model and runs it with zeros: compile_and_run digits.onnx [NAME=VALUE]...
 * NAME=VALUE is an option of `scopevm compile`, such as dim=n=4. Inputs must be f32. Named
 * dimensions have their least size. */
#include <scopevm/c/compiler.h>
#include <scopevm/scopevm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 16
#define MAX_COUNT 16 /* of inputs and of dimensions */

/* Exits with the message of a failed call. */
static void check(scopevm_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", scopevm_status_message(status));
  scopevm_status_free(status);
  exit(1);
}

/* The status of a failed compilation has the errors. */
static void print_warnings(const scopevm_compiler* compiler) {
  for (size_t i = 0; i < scopevm_compiler_diagnostic_count(compiler); ++i) {
    scopevm_diagnostic_info info = {.struct_size = sizeof(info)};
    check(scopevm_compiler_diagnostic(compiler, i, &info));
    if (info.severity != SCOPEVM_DIAGNOSTIC_WARNING) continue;
    fprintf(stderr, "%s%swarning: %s\n", info.file, info.file[0] == 0 ? "" : ": ", info.text);
  }
}

static scopevm_module* compile(const char* path, char** options, int count) {
  scopevm_compiler* compiler = NULL;
  scopevm_compiled* compiled = NULL;
  scopevm_module* module = NULL;
  check(scopevm_compiler_create(&compiler));
  for (int i = 0; i < count; ++i) {
    char* equals = strchr(options[i], '=');
    if (equals == NULL) exit(2);
    *equals = 0;
    check(scopevm_compiler_set(compiler, options[i], equals + 1));
  }
  scopevm_status* status = scopevm_compile_file(compiler, path, &compiled);
  print_warnings(compiler);
  check(status);
  check(scopevm_module_load_bytes(scopevm_compiled_bytes(compiled), scopevm_compiled_size(compiled),
                                  NULL, &module));
  scopevm_compiled_free(compiled);
  scopevm_compiler_free(compiler);
  return module;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  scopevm_module* module = compile(argv[1], argv + 2, argc - 2);
  const size_t dimensions = scopevm_module_dimension_count(module);
  const size_t inputs = scopevm_module_input_count(module);
  if (dimensions > MAX_COUNT || inputs > MAX_COUNT) return 2;
  const char* names[MAX_COUNT];
  int64_t sizes[MAX_COUNT];
  for (size_t i = 0; i < dimensions; ++i) {
    scopevm_dimension_info info = {.struct_size = sizeof(info)};
    check(scopevm_module_dimension(module, i, &info));
    names[i] = info.name;
    sizes[i] = info.min;
  }
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  check(scopevm_session_create(module, NULL, &session));
  check(scopevm_call_create(session, &call));
  float* zeros[MAX_COUNT];
  for (size_t i = 0; i < inputs; ++i) {
    scopevm_value_info info = {.struct_size = sizeof(info)};
    int64_t dims[MAX_RANK];
    size_t rank = 0, count = 1;
    check(scopevm_module_input(module, i, &info));
    check(scopevm_module_input_shape(module, i, names, sizes, dimensions, dims, MAX_RANK, &rank));
    for (size_t axis = 0; axis < rank; ++axis) count *= (size_t)dims[axis];
    zeros[i] = calloc(count + 1, sizeof(float));
    DLTensor tensor = {
        .data = zeros[i], .ndim = (int)rank, .dtype = {kDLFloat, 32, 1}, .shape = dims};
    tensor.device.device_type = kDLCPU;
    check(scopevm_call_set_input(call, info.name, &tensor));
  }
  check(scopevm_call_run(call, NULL));
  DLManagedTensor* result = NULL;
  check(scopevm_call_output(call, 0, &result));
  printf("output 0: %g ...\n", *(const float*)result->dl_tensor.data);
  result->deleter(result);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
  for (size_t i = 0; i < inputs; ++i) free(zeros[i]);
  return 0;
}
