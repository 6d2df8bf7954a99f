/* Runs any module with random tensors on a worker: any_module module.bc [DIM=SIZE]...
 * Prints the signature, and what the call used. */
#include <scopevm/scopevm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 16
#define MAX_DIMS 64

/* Exits with the message of a failed call. */
static void check(scopevm_status* status) {
  if (status == NULL) return;
  scopevm_error_fields fields = {.struct_size = sizeof(fields)};
  fprintf(stderr, "error %d: %s\n", scopevm_status_code(status), scopevm_status_message(status));
  if (scopevm_status_fields(status, &fields)) fprintf(stderr, "  about: %s\n", fields.subject);
  scopevm_status_free(status);
  exit(1);
}

/* Floating-point elements are in [0, 1), integers are 0 or 1. */
static scopevm_tensor random_tensor(int dtype, const int64_t* dims, size_t rank) {
  scopevm_tensor tensor;
  check(scopevm_tensor_allocate(dtype, dims, rank, &tensor));
  unsigned char* data = tensor.data;
  const int64_t size = (int64_t)scopevm_dtype_bytes(dtype);
  memset(data, 0, (size_t)tensor.bytes);
  /* Elements of less than 8 bits, which share bytes, stay 0. */
  for (int64_t at = 0; size > 0 && at < tensor.bytes; at += size) {
    const float value = (float)rand() / ((float)RAND_MAX + 1);
    const double wide = value;
    if (dtype == SCOPEVM_F32)
      memcpy(data + at, &value, sizeof value);
    else if (dtype == SCOPEVM_F64)
      memcpy(data + at, &wide, sizeof wide);
    else if (dtype == SCOPEVM_F16)
      data[at + 1] = 0x38; /* 0.5 */
    else if (dtype == SCOPEVM_BF16)
      data[at + 1] = 0x3f; /* 0.5 */
    else
      data[at] = rand() % 2;
  }
  return tensor;
}

static void print_value(const char* what, const scopevm_value_info* info) {
  printf("%s %s: %s[", what, info->name, scopevm_dtype_name(info->dtype));
  for (size_t i = 0; i < info->rank; ++i) printf("%s%s", i > 0 ? ", " : "", info->dims[i]);
  printf("]\n");
}

/* Called on a worker when the call has ended. */
static void print_end(void* context, const scopevm_status* result) {
  (void)context;
  printf("the call ended: %s\n", result == NULL ? "ok" : scopevm_status_message(result));
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > MAX_DIMS) return 2;
  const char* names[MAX_DIMS];
  int64_t values[MAX_DIMS];
  size_t dim_count = 0;
  for (int i = 2; i < argc; ++i) {
    char* equals = strchr(argv[i], '=');
    if (equals == NULL) return 2;
    *equals = 0;
    names[dim_count] = argv[i];
    values[dim_count++] = atoll(equals + 1);
  }
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  scopevm_value_info info = {.struct_size = sizeof(info)};
  check(scopevm_module_load(argv[1], NULL, &module));
  scopevm_scheduler* scheduler = NULL;
  check(scopevm_scheduler_create(NULL, &scheduler));
  const scopevm_session_options options = {.struct_size = sizeof(options), .scheduler = scheduler};
  check(scopevm_session_create(module, &options, &session));
  check(scopevm_call_create(session, &call));
  for (size_t i = 0; i < scopevm_module_dimension_count(module); ++i) {
    scopevm_dimension_info dim = {.struct_size = sizeof(dim)};
    check(scopevm_module_dimension(module, i, &dim));
    printf("dimension %s: %lld to %lld, a multiple of %lld\n", dim.name, (long long)dim.min,
           (long long)dim.max, (long long)dim.multiple_of);
  }
  for (size_t i = 0; i < scopevm_module_input_count(module); ++i) {
    int64_t dims[MAX_RANK];
    size_t rank = 0;
    check(scopevm_module_input(module, i, &info));
    print_value("input", &info);
    if (info.has_default) continue;
    if (info.kind != SCOPEVM_TENSOR || info.dtype == SCOPEVM_STR) {
      fprintf(stderr, "this example passes tensors of numbers only\n");
      return 1;
    }
    check(scopevm_module_input_shape(module, i, names, values, dim_count, dims, MAX_RANK, &rank));
    const scopevm_tensor tensor = random_tensor(info.dtype, dims, rank);
    check(scopevm_call_share_input(call, i, &tensor));
    scopevm_storage_release(tensor.storage); /* the call has a reference of its own */
  }
  const scopevm_run_options run = {.struct_size = sizeof(run), .timeout_ns = INT64_C(60000000000)};
  const scopevm_submit_options submit = {.struct_size = sizeof(submit), .run = &run};
  check(scopevm_call_submit(call, &submit, print_end, NULL));
  check(scopevm_call_wait(call, -1));
  for (size_t i = 0; i < scopevm_module_output_count(module); ++i) {
    check(scopevm_module_output(module, i, &info));
    print_value("output", &info);
  }
  scopevm_call_stats stats = {.struct_size = sizeof(stats)};
  check(scopevm_call_read_stats(call, &stats));
  printf("%s ran in %.1f us\n", stats.function, (double)stats.latency_ns / 1e3);
  for (size_t i = 0; i < stats.memory_count; ++i) {
    scopevm_memory_use use = {.struct_size = sizeof(use)};
    check(scopevm_call_memory_use(call, i, &use));
    if (use.bound_bytes > 0)
      printf("%s %s: %lld of at most %lld bytes\n", use.device, use.scope,
             (long long)use.peak_bytes, (long long)use.bound_bytes);
  }
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
  scopevm_scheduler_free(scheduler);
  return 0;
}
