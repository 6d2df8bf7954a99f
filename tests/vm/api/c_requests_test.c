// Tests what a server does with the C API: reads the signature of a module, runs calls by index,
// passes tensors with strides, buffers with a capacity and tensors with ownership, cancels, traces
// and reads statistics. Arguments: sum.bc, a module of z = (x + y) * 2 for f32[n, 4].
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static void read_signature(const scopevm_module* module) {
  scopevm_value_info info = {sizeof(scopevm_value_info)};
  OK(scopevm_module_input(module, 1, &info));
  EXPECT(strcmp(info.name, "y") == 0 && info.kind == SCOPEVM_TENSOR && info.dtype == SCOPEVM_F32);
  EXPECT(info.rank == 2 && strcmp(info.dims[0], "n") == 0 && strcmp(info.dims[1], "4") == 0);
  EXPECT(strcmp(scopevm_dtype_name(info.dtype), "f32") == 0);
  EXPECT(scopevm_dtype_bytes(info.dtype) == 4 && scopevm_dtype_bytes(SCOPEVM_STR) == 0);
  EXPECT(scopevm_dtype_bits(SCOPEVM_I4) == 4 && scopevm_dtype_bytes(SCOPEVM_I4) == 0);
  OK(scopevm_module_output(module, 0, &info));
  EXPECT(strcmp(info.name, "z") == 0 && info.struct_size == sizeof info);
  FAILS(scopevm_module_output(module, 1, &info), SCOPEVM_NOT_FOUND, "no output 1");

  size_t index = 7;
  OK(scopevm_module_find_input(module, "y", &index));
  EXPECT(index == 1);
  FAILS(scopevm_module_find_output(module, "zz", &index), SCOPEVM_NOT_FOUND, "\"z\"");

  EXPECT(scopevm_module_dimension_count(module) == 1);
  scopevm_dimension_info dimension = {sizeof(scopevm_dimension_info)};
  OK(scopevm_module_dimension(module, 0, &dimension));
  EXPECT(strcmp(dimension.name, "n") == 0 && dimension.max == INT64_C(1) << 31 &&
         dimension.multiple_of == 1 && dimension.is_batch == 1);

  const char* names[] = {"n"};
  const int64_t values[] = {3};
  int64_t dims[2] = {0, 0};
  size_t rank = 0;
  OK(scopevm_module_input_shape(module, 0, names, values, 1, dims, 2, &rank));
  EXPECT(rank == 2 && dims[0] == 3 && dims[1] == 4);
  FAILS(scopevm_module_input_shape(module, 0, names, values, 1, dims, 1, &rank),
        SCOPEVM_INVALID_ARGUMENT, "expected at least 2");
  EXPECT(rank == 2);
}

static void read_bound(const scopevm_module* module) {
  const char* names[] = {"n"};
  const int64_t values[] = {3};
  scopevm_bound* bound = NULL;
  OK(scopevm_bound_create(module, names, values, 1, 2, &bound));
  EXPECT(strcmp(scopevm_bound_function(bound), "main") == 0);
  int64_t workspace = 0;
  for (size_t i = 0; i < scopevm_bound_line_count(bound); ++i) {
    scopevm_bound_line_info line = {sizeof(scopevm_bound_line_info)};
    OK(scopevm_bound_line(bound, i, &line));
    if (!line.is_result) workspace += line.bytes;
    EXPECT(line.formula[0] != 0 && line.device[0] != 0);
  }
  EXPECT(workspace == 16 * 3 + 64 * 2);
  scopevm_bound_line_info line = {sizeof(scopevm_bound_line_info)};
  FAILS(scopevm_bound_line(bound, 99, &line), SCOPEVM_NOT_FOUND, "no entry 99");
  scopevm_bound_free(bound);
  int64_t bytes = 0;
  FAILS(scopevm_module_memory_bound(module, names, values, 1, 1, "globl", &bytes),
        SCOPEVM_NOT_FOUND, "did you mean \"global\"?");
}

// An option is used or refused.
static void check_struct_sizes(const scopevm_module* module) {
  scopevm_session* session = NULL;
  scopevm_session_options options = {0};
  FAILS(scopevm_session_create(module, &options, &session), SCOPEVM_INVALID_ARGUMENT,
        "struct_size of scopevm_session_options is 0, expected at least");
  struct {
    scopevm_session_options known;
    int64_t later;  // a member of a newer version
  } newer = {{sizeof(newer)}, 0};
  OK(scopevm_session_create(module, &newer.known, &session));
  scopevm_session_free(session);
  newer.later = 1;
  FAILS(scopevm_session_create(module, &newer.known, &session), SCOPEVM_UNSUPPORTED,
        "sets members that this version of scopevm lacks");
  const scopevm_memory_limit limits[] = {{"global", 1}};
  options.struct_size = sizeof options;
  options.limits = limits;
  options.limit_count = 1;
  FAILS(scopevm_session_create(module, &options, &session), SCOPEVM_INVALID_ARGUMENT,
        "limit_size is 0, expected at least 16");
  scopevm_value_info info = {0};
  FAILS(scopevm_module_input(module, 0, &info), SCOPEVM_INVALID_ARGUMENT, "struct_size of *out");
}

static scopevm_call* new_call(const scopevm_session* session, float* x, int64_t* dims) {
  scopevm_call* call = NULL;
  const DLTensor tensor = floats(x, dims);
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input_at(call, 0, &tensor));
  OK(scopevm_call_set_input_at(call, 1, &tensor));
  return call;
}

static void read_error_fields(const scopevm_session* session) {
  float x[20] = {0};
  int64_t dims[] = {4, 5};
  const DLTensor tensor = floats(x, dims);
  scopevm_call* call = NULL;
  OK(scopevm_call_create(session, &call));
  scopevm_status* status = scopevm_call_set_input_at(call, 1, &tensor);
  scopevm_error_fields fields = {sizeof(scopevm_error_fields)};
  EXPECT(scopevm_status_fields(status, &fields) == 1);
  EXPECT(strcmp(fields.subject, "y") == 0 && fields.axis == 1);
  EXPECT(strcmp(fields.expected, "f32[n, 4]") == 0 && strcmp(fields.given, "f32[4, 5]") == 0);
  scopevm_status_free(status);
  FAILS(scopevm_call_set_input_at(call, 2, &tensor), SCOPEVM_NOT_FOUND, "no input 2");
  FAILS(scopevm_call_set_output_at(call, 1, &tensor), SCOPEVM_NOT_FOUND, "no output 1");
  status = scopevm_call_run(call, NULL);
  EXPECT(scopevm_status_fields(status, &fields) == 1 && strcmp(fields.subject, "x") == 0);
  scopevm_status_free(status);
  scopevm_call_free(call);
}

static void pass_strides(const scopevm_session* session) {
  // Columns of a matrix of 4 rows and 2 columns: x[i][j] = 10 * j + i.
  float columns[] = {0, 10, 1, 11, 2, 12, 3, 13};
  int64_t dims[] = {2, 4};
  int64_t strides[] = {1, 2};
  DLTensor tensor = floats(columns, dims);
  tensor.strides = strides;
  scopevm_call* call = NULL;
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input(call, "x", &tensor));
  OK(scopevm_call_set_input(call, "y", &tensor));
  FAILS(scopevm_call_set_output(call, "z", &tensor), SCOPEVM_UNSUPPORTED, "has strides");
  // The elements were copied.
  memset(columns, 0, sizeof columns);
  OK(scopevm_call_run(call, NULL));
  DLManagedTensorVersioned* z = NULL;
  OK(scopevm_call_output_versioned(call, 0, &z));
  if (z != NULL) {
    const float* data = z->dl_tensor.data;
    EXPECT(data[1] == 4 && data[4] == 40 && data[7] == 52);
    EXPECT(z->version.major == DLPACK_MAJOR_VERSION && z->flags == 0);
    EXPECT(z->dl_tensor.strides[0] == 4 && z->dl_tensor.strides[1] == 1);
    z->deleter(z);
  }
  scopevm_call_stats stats = {sizeof(scopevm_call_stats)};
  OK(scopevm_call_read_stats(call, &stats));
  EXPECT(stats.copied_input_bytes == 2 * 32);
  scopevm_call_free(call);
}

static int releases = 0;
static void count_release(DLManagedTensorVersioned* self) {
  (void)self;
  ++releases;
}

static void give_tensors(const scopevm_session* session) {
  float x[] = {1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  DLManagedTensorVersioned managed = {
      {DLPACK_MAJOR_VERSION, 0}, NULL, count_release, 0, floats(x, dims)};
  scopevm_call* call = new_call(session, x, dims);
  OK(scopevm_call_give_input(call, 0, &managed));
  EXPECT(releases == 0);
  OK(scopevm_call_run(call, NULL));
  // The call releases the tensor when the input is replaced.
  const DLTensor borrowed = floats(x, dims);
  OK(scopevm_call_set_input_at(call, 0, &borrowed));
  EXPECT(releases == 1);
  // After a failure, the caller keeps the tensor.
  managed.version.major = DLPACK_MAJOR_VERSION + 1;
  FAILS(scopevm_call_give_input(call, 0, &managed), SCOPEVM_UNSUPPORTED,
        "DLPack tensor of version");
  managed.version.major = DLPACK_MAJOR_VERSION;
  dims[0] = 4;
  dims[1] = 1;
  FAILS(scopevm_call_give_input(call, 0, &managed), SCOPEVM_INVALID_ARGUMENT, "wrong dim 1");
  EXPECT(releases == 1);
  scopevm_call_free(call);
}

static void use_buffer(const scopevm_session* session) {
  float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
  float z[6] = {0};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  FAILS(scopevm_call_set_output_buffer(call, 0, z, -1), SCOPEVM_INVALID_ARGUMENT, "capacity");
  FAILS(scopevm_call_set_output_buffer(call, 0, (char*)z + 1, 20), SCOPEVM_INVALID_ARGUMENT,
        "not aligned");
  OK(scopevm_call_set_output_buffer(call, 0, z, sizeof z));
  OK(scopevm_call_run(call, NULL));
  EXPECT(z[3] == 16 && z[4] == 0);
  const int64_t* result = NULL;
  size_t rank = 0;
  OK(scopevm_call_output_dims(call, 0, 0, &result, &rank));
  EXPECT(rank == 2 && result[0] == 1 && result[1] == 4);
  dims[0] = 2;
  const DLTensor larger = floats(x, dims);
  OK(scopevm_call_set_input_at(call, 0, &larger));
  OK(scopevm_call_set_input_at(call, 1, &larger));
  scopevm_status* status = scopevm_call_run(call, NULL);
  scopevm_error_fields fields = {sizeof(scopevm_error_fields)};
  EXPECT(scopevm_status_code(status) == SCOPEVM_INVALID_ARGUMENT);
  EXPECT(scopevm_status_fields(status, &fields) == 1);
  EXPECT(strcmp(fields.expected, "f32[2, 4] of 32 bytes") == 0);
  EXPECT(strcmp(fields.given, "a buffer of 24 bytes") == 0);
  scopevm_status_free(status);
  OK(scopevm_call_set_output_buffer(call, 0, NULL, 0));
  OK(scopevm_call_run(call, NULL));
  scopevm_call_free(call);
}

static int launches = 0;
static scopevm_status* count_launches(void* context, const scopevm_trace_event* event) {
  EXPECT(context == &launches && event->struct_size == sizeof *event);
  EXPECT(event->start_ns > 0 && event->duration_ns >= 0);
  if (event->kind == 2) ++*(int*)context;
  return NULL;
}

static void observe(const scopevm_session* session, const scopevm_module* module) {
  float x[] = {1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  scopevm_call_stats stats = {sizeof(scopevm_call_stats)};
  // A call that has not run has no statistics, even if it reuses the memory of an earlier one.
  OK(scopevm_call_read_stats(call, &stats));
  EXPECT(stats.latency_ns == 0 && stats.function[0] == 0 && stats.memory_count == 0);
  scopevm_run_options options = {sizeof(scopevm_run_options)};
  options.trace = count_launches;
  options.trace_context = &launches;
  OK(scopevm_call_run(call, &options));
  EXPECT(launches == 2);
  OK(scopevm_call_read_stats(call, &stats));
  EXPECT(stats.latency_ns > 0 && strcmp(stats.function, "main") == 0);
  EXPECT(stats.memory_count == scopevm_module_scope_count(module) && stats.copy_count == 0);
  int64_t peak = 0;
  for (size_t i = 0; i < stats.memory_count; ++i) {
    scopevm_memory_use use = {sizeof(scopevm_memory_use)};
    OK(scopevm_call_memory_use(call, i, &use));
    EXPECT(strcmp(use.scope, scopevm_module_scope_name(module, i)) == 0);
    EXPECT(use.peak_bytes <= use.bound_bytes);
    peak += use.peak_bytes;
  }
  EXPECT(peak > 0);
  scopevm_copy_use copy = {sizeof(scopevm_copy_use)};
  FAILS(scopevm_call_copy_use(call, 0, &copy), SCOPEVM_NOT_FOUND, "there are 0");
  // A cancellation holds for one run.
  scopevm_call_cancel(call);
  FAILS(scopevm_call_run(call, NULL), SCOPEVM_CANCELLED, "cancelled");
  OK(scopevm_call_run(call, NULL));
  scopevm_call_clear_outputs(call);
  DLManagedTensor* z = NULL;
  FAILS(scopevm_call_output(call, 0, &z), SCOPEVM_NOT_FOUND, "0 results");
  scopevm_call_free(call);
  for (size_t i = 0; i < scopevm_module_scope_count(module); ++i) {
    scopevm_allocator_stats memory = {sizeof(scopevm_allocator_stats)};
    scopevm_session_trim(session);
    OK(scopevm_session_memory_stats(session, i, &memory));
    EXPECT(memory.cached_bytes == 0 && memory.live_bytes == 0);
  }
}

// An allocator of the embedder, and a wrapper that counts.
static int allocated = 0, deallocated = 0, released = 0, wrapped = 0;
static void* allocate(void* context, int64_t bytes) {
  (void)context;
  ++allocated;
  return aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64 + 64);
}
static void deallocate(void* context, void* block, int64_t bytes) {
  (void)context;
  (void)bytes;
  ++deallocated;
  free(block);
}
static void release(void* context) {
  (void)context;
  ++released;
}
static scopevm_allocator* wrap(void* context, const char* device, const char* scope,
                               scopevm_allocator* allocator) {
  EXPECT(context == &wrapped && device[0] != 0 && scope[0] != 0);
  ++*(int*)context;
  return allocator;
}

static void use_allocators(const scopevm_module* module) {
  scopevm_allocator* allocator = NULL;
  scopevm_allocator_functions functions = {sizeof(scopevm_allocator_functions)};
  functions.allocate = allocate;
  FAILS(scopevm_allocator_create_from(&functions, &allocator), SCOPEVM_INVALID_ARGUMENT,
        "must be set");
  functions.deallocate = deallocate;
  functions.release = release;
  OK(scopevm_allocator_create_from(&functions, &allocator));
  const scopevm_scope_allocator bindings[] = {{"global.workspace", allocator},
                                              {"cpu.global", allocator}};
  const scopevm_device_binding device = {"cpu", "cpu", 0};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.threads = 2;
  options.allocators = bindings;
  options.allocator_count = 2;
  options.allocator_size = sizeof bindings[0];
  options.devices = &device;
  options.device_count = 1;
  options.device_size = sizeof device;
  options.wrap_allocator = wrap;
  options.wrap_context = &wrapped;
  scopevm_session* session = NULL;
  OK(scopevm_session_create(module, &options, &session));
  scopevm_allocator_free(allocator);
  EXPECT(scopevm_session_threads(session) == 2);
  EXPECT(wrapped == (int)scopevm_module_scope_count(module));
  float x[] = {1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  OK(scopevm_call_run(call, NULL));
  scopevm_call_free(call);
  EXPECT(allocated >= 2 && allocated == deallocated && released == 0);
  scopevm_session_free(session);
  EXPECT(released == 1);
}

// Runs on a worker, before scopevm_call_wait() returns.
static void count_end(void* context, const scopevm_status* result) {
  EXPECT(result == NULL);
  ++*(int*)context;
}

static void submit_calls(const scopevm_module* module) {
  const scopevm_pool_capacity capacities[] = {{"cpu.global", 100}, {"cpu.global.workspace", 200}};
  scopevm_scheduler_options options = {sizeof(scopevm_scheduler_options)};
  options.workers = 1;
  options.capacities = capacities;
  options.capacity_count = 2;
  options.capacity_size = sizeof capacities[0];
  options.ageing_ns = -1;
  scopevm_scheduler* scheduler = NULL;
  FAILS(scopevm_scheduler_create(&options, &scheduler), SCOPEVM_INVALID_ARGUMENT, "ageing");
  options.ageing_ns = 0;
  options.max_suspended = 16;
  OK(scopevm_scheduler_create(&options, &scheduler));
  scopevm_session_options session_options = {sizeof(scopevm_session_options)};
  session_options.scheduler = scheduler;
  scopevm_session* session = NULL;
  OK(scopevm_session_create(module, &session_options, &session));

  float x[] = {1, 2, 3, 4, 1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  int ended = 0;
  OK(scopevm_call_submit(call, NULL, count_end, &ended));
  OK(scopevm_call_wait(call, -1));
  EXPECT(scopevm_call_is_in_flight(call) == 0);
  scopevm_pool_use use = {sizeof(scopevm_pool_use)};
  OK(scopevm_scheduler_pool_use(scheduler, 0, &use));
  EXPECT(use.capacity_bytes == 100 && use.held_bytes == 16 && use.reserved_bytes == 0);
  FAILS(scopevm_scheduler_pool_use(scheduler, 2, &use), SCOPEVM_NOT_FOUND, "no pool 2");
  // Budgets add to the bound: 16 + 80 bytes do not fit with the result of 16 bytes.
  const scopevm_memory_limit budget = {"cpu.global", 80};
  scopevm_submit_options submit = {sizeof(scopevm_submit_options)};
  submit.priority = 1;
  submit.data_budgets = &budget;
  submit.data_budget_count = 1;
  submit.data_budget_size = sizeof budget;
  scopevm_call* other = new_call(session, x, dims);
  OK(scopevm_call_submit(other, &submit, count_end, &ended));
  FAILS(scopevm_call_submit(other, &submit, NULL, NULL), SCOPEVM_INVALID_ARGUMENT, "in flight");
  FAILS(scopevm_call_wait(other, 1000000), SCOPEVM_DEADLINE_EXCEEDED, "still in flight");
  scopevm_scheduler_stats stats = {sizeof(scopevm_scheduler_stats)};
  OK(scopevm_scheduler_read_stats(scheduler, &stats));
  EXPECT(stats.waiting == 1 && stats.ready == 0 && stats.running == 0);
  scopevm_call_clear_outputs(call);
  OK(scopevm_call_wait(other, -1));
  const scopevm_run_options run = {.struct_size = sizeof run, .timeout_ns = 1000000};
  submit.run = &run;
  OK(scopevm_call_submit(call, &submit, NULL, NULL));
  FAILS(scopevm_call_wait(call, -1), SCOPEVM_DEADLINE_EXCEEDED, "before it was started");
  scopevm_call_clear_outputs(other);
  const scopevm_submit_options here = {.struct_size = sizeof here, .can_run_here = 1};
  OK(scopevm_call_submit(call, &here, count_end, &ended));
  EXPECT(ended == 3 && scopevm_call_is_in_flight(call) == 0);
  dims[0] = 7;
  scopevm_call_free(other);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_scheduler_free(scheduler);
  EXPECT(ended == 3);
}

static int forgotten = 0;
static void forget(void* context) {
  EXPECT(context == &forgotten);
  ++forgotten;
}

static void load_from_memory(const char* path) {
  FILE* file = fopen(path, "rb");
  EXPECT(file != NULL);
  if (file == NULL) return;
  enum { kRoom = 1 << 20 };
  unsigned char* bytes = aligned_alloc(64, kRoom);
  const size_t size = fread(bytes, 1, kRoom - 1, file);
  fclose(file);
  scopevm_module* module = NULL;
  FAILS(scopevm_module_load_memory(bytes + 1, size, forget, &forgotten, NULL, &module),
        SCOPEVM_INVALID_ARGUMENT, "not aligned to 64 bytes");
  FAILS(scopevm_module_load_memory(bytes, 10, forget, &forgotten, NULL, &module),
        SCOPEVM_INVALID_MODEL, "");
  const char* const keys[] = {"no key"};
  scopevm_load_options options = {sizeof(scopevm_load_options)};
  options.public_keys = keys;
  options.public_key_count = 1;
  options.signature = "no signature";
  FAILS(scopevm_module_load_memory(bytes, size, forget, &forgotten, &options, &module),
        SCOPEVM_INVALID_ARGUMENT, "");
  EXPECT(forgotten == 0);
  scopevm_load_options with_weights = {sizeof(scopevm_load_options)};
  with_weights.weights_size = 8;
  FAILS(scopevm_module_load_memory(bytes, size, forget, &forgotten, &with_weights, &module),
        SCOPEVM_INVALID_ARGUMENT, "weights");
  // The module contains its weights, so these are not used.
  with_weights.weights = "12345678";
  with_weights.weights_folder = "no folder";
  OK(scopevm_module_load_memory(bytes, size, forget, &forgotten, &with_weights, &module));
  scopevm_session* session = NULL;
  OK(scopevm_session_create(module, NULL, &session));
  scopevm_module_free(module);
  EXPECT(forgotten == 0);
  float x[] = {1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  scopevm_session_free(session);
  OK(scopevm_call_run(call, NULL));
  scopevm_call_free(call);
  EXPECT(forgotten == 1);
  free(bytes);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(argv[1], NULL, &module));
  if (module == NULL) return 1;
  read_signature(module);
  read_bound(module);
  check_struct_sizes(module);
  OK(scopevm_session_create(module, NULL, &session));
  read_error_fields(session);
  pass_strides(session);
  give_tensors(session);
  use_buffer(session);
  observe(session, module);
  scopevm_session_free(session);
  use_allocators(module);
  submit_calls(module);
  scopevm_module_free(module);
  load_from_memory(argv[1]);
  return failures == 0 ? 0 : 1;
}
