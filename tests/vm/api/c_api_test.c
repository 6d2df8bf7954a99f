// Tests the C API from a C program: loads modules that tests/vm/modules/write_modules.cpp writes,
// runs them, and checks their results and errors. Expected status codes are values of
// scopevm::StatusCode.
#include <stdio.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static int loops = 0;

// The parallel_for of an executor with two threads: counts the loop in `executor`, and runs it as
// one range on worker 1.
static scopevm_status* parallel_for(void* executor, int64_t total, int64_t grain,
                                    void (*body)(void* context, int64_t begin, int64_t end,
                                                 int64_t worker),
                                    void* context) {
  (void)grain;
  ++*(int*)executor;
  body(context, 0, total, 1);
  return NULL;
}

static void run_calls(const scopevm_session* session) {
  float x[] = {1, 2, 3, 4};
  float y[] = {5, 6, 7, 8};
  float z[] = {0, 0, 0, 0};
  int64_t shape[] = {1, 4};
  int64_t flat[] = {4, 1};
  DLTensor x_tensor = floats(x, shape);
  DLTensor y_tensor = floats(y, shape);
  DLTensor z_tensor = floats(z, shape);
  DLTensor flat_tensor = floats(x, flat);

  scopevm_call* call = NULL;
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input(call, "x", &x_tensor));
  FAILS(scopevm_call_run(call, NULL), 10, "missing input \"y\"");
  FAILS(scopevm_call_set_input(call, "why", &y_tensor), 12, "no input \"why\"");
  FAILS(scopevm_call_set_input(call, "y", &flat_tensor), 10, "given f32[4, 1]");
  OK(scopevm_call_set_input(call, "y", &y_tensor));
  FAILS(scopevm_call_set_input(call, NULL, &x_tensor), 10, "name is NULL, expected a string");
  scopevm_run_options options = {sizeof(scopevm_run_options)};
  options.timeout_ns = INT64_C(10000000000);
  OK(scopevm_call_run(call, &options));
  options.timeout_ns = INT64_MAX;
  OK(scopevm_call_run(call, &options));

  DLManagedTensor* result = NULL;
  OK(scopevm_call_output(call, 0, &result));
  FAILS(scopevm_call_output(call, 1, &result), 12, "1 result");
  scopevm_call_free(call);
  EXPECT(result->dl_tensor.ndim == 2 && result->dl_tensor.shape[1] == 4);
  EXPECT(((float*)result->dl_tensor.data)[3] == 24);
  result->deleter(result);

  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input(call, "x", &x_tensor));
  OK(scopevm_call_set_input(call, "y", &y_tensor));
  OK(scopevm_call_set_output(call, "z", &z_tensor));
  OK(scopevm_call_run(call, NULL));
  EXPECT(z[0] == 12 && z[3] == 24);
  scopevm_call_free(call);
}

// Runs a call for n=1 and checks that it reports `seconds` emulated seconds.
static void run_emulated(const char* path, int emulate, double seconds) {
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.emulate = emulate;
  OK(scopevm_module_load(path, NULL, &module));
  OK(scopevm_session_create(module, &options, &session));
  scopevm_module_free(module);
  OK(scopevm_call_create(session, &call));
  float x[4] = {0};
  int64_t shape[] = {1, 4};
  DLTensor tensor = floats(x, shape);
  OK(scopevm_call_set_input(call, "x", &tensor));
  OK(scopevm_call_set_input(call, "y", &tensor));
  OK(scopevm_call_run(call, NULL));
  scopevm_call_stats stats = {sizeof(scopevm_call_stats)};
  OK(scopevm_call_read_stats(call, &stats));
  const double error = stats.emulated_seconds - seconds;
  EXPECT(error < 1e-18 && error > -1e-18);
  scopevm_call_free(call);
  scopevm_session_free(session);
}

static int create_adder(void* context, const char* symbol, const char* description,
                        void** out_function, char* message, size_t message_size) {
  EXPECT(strcmp(symbol, "test.add_0") == 0);
  EXPECT(description != NULL && message != NULL && message_size > 0);
  *out_function = context;
  return 0;
}

static void destroy_adder(void* context, void* function) { EXPECT(function == context); }

static int run_adder(void* context, void* function, const scopevm_external_run* run) {
  EXPECT(function == context);
  const float* x = run->operands[0].data;
  const float* y = run->operands[1].data;
  float* z = run->results[0].data;
  int64_t count = run->results[0].shape[0] * run->results[0].shape[1];
  for (int64_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
  return 0;
}

static void run_external(const char* path) {
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  FAILS(scopevm_session_create(module, NULL, &session), 12, "which is not registered");
  scopevm_external_library library = {sizeof library};
  library.abi_version = SCOPEVM_EXTERNAL_ABI_VERSION;
  library.name = "test";
  library.context = &library;
  library.create = create_adder;
  library.destroy = destroy_adder;
  library.run = run_adder;
  const scopevm_external_library* libraries[] = {&library};
  scopevm_session_options options = {sizeof options};
  options.external_libraries = libraries;
  options.external_library_count = 1;
  OK(scopevm_session_create(module, &options, &session));
  scopevm_module_free(module);
  OK(scopevm_call_create(session, &call));
  float x[4] = {1, 2, 3, 4};
  int64_t shape[] = {1, 4};
  DLTensor tensor = floats(x, shape);
  OK(scopevm_call_set_input(call, "x", &tensor));
  OK(scopevm_call_set_input(call, "y", &tensor));
  OK(scopevm_call_run(call, NULL));
  DLManagedTensor* z = NULL;
  OK(scopevm_call_output(call, 0, &z));
  EXPECT(z != NULL && ((float*)z->dl_tensor.data)[3] == 8);
  if (z != NULL) z->deleter(z);
  scopevm_call_free(call);
  scopevm_session_free(session);
}

static void ignore_block(void* context, void* block, int64_t bytes) {
  (void)context;
  (void)block;
  (void)bytes;
}

static void* no_block(void* context, int64_t bytes, int64_t alignment) {
  (void)context;
  (void)bytes;
  (void)alignment;
  return NULL;
}

static int exhausted_calls = 0;

static int on_exhausted(void* context, int64_t bytes) {
  ++*(int*)context;
  (void)bytes;
  return 0;
}

// A session with an allocator of its own, which its results keep alive.
static void run_with_allocator(const char* path) {
  scopevm_allocator* allocator = NULL;
  scopevm_allocator_options functions = {sizeof(scopevm_allocator_options)};
  FAILS(scopevm_allocator_create("pol", NULL, &allocator), 12, "did you mean \"pool\"?");
  FAILS(scopevm_allocator_create("pool:limit=x", NULL, &allocator), 10, "expected a size");
  functions.source_deallocate = ignore_block;
  FAILS(scopevm_allocator_create("pool", &functions, &allocator), 10,
        "source_allocate and source_deallocate must both be set, or both be NULL");
  functions.source_deallocate = NULL;
  functions.context = &exhausted_calls;
  functions.on_exhausted = on_exhausted;
  OK(scopevm_allocator_create("pool:limit=1MiB", &functions, &allocator));
  void* block = scopevm_allocator_allocate(allocator, 1 << 20);
  EXPECT(block != NULL);
  EXPECT(scopevm_allocator_allocate(allocator, 1) == NULL);
  EXPECT(exhausted_calls == 1);
  FAILS(scopevm_allocator_describe_failure(allocator, 1), 30, "of a limit of 1048576 bytes");
  scopevm_allocator_deallocate(allocator, block, 1 << 20);

  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  const scopevm_scope_allocator binding = {"global.workspace", allocator};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.allocators = &binding;
  options.allocator_count = 1;
  options.allocator_size = sizeof(scopevm_scope_allocator);
  OK(scopevm_session_create(module, &options, &session));
  run_calls(session);
  scopevm_session_free(session);
  scopevm_module_free(module);
  scopevm_allocator_stats stats = {sizeof(scopevm_allocator_stats)};
  OK(scopevm_allocator_read_stats(allocator, &stats));
  EXPECT(stats.live_bytes == 0 && stats.peak_bytes == 1 << 20 && stats.allocations > 1);
  OK(scopevm_allocator_trim(allocator));
  OK(scopevm_allocator_read_stats(allocator, &stats));
  EXPECT(stats.reserved_bytes == 0);
  scopevm_allocator_free(allocator);
}

// Allocators that the session creates.
static void run_with_named_allocators(const char* path) {
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(path, NULL, &module));
  scopevm_allocator_options functions = {sizeof(scopevm_allocator_options)};
  scopevm_named_allocator named[] = {{"global.workspace", "pool:limit=1MiB", NULL},
                                     {"global.workspace", "arena", NULL}};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.named_allocators = named;
  options.named_allocator_count = 1;
  options.named_allocator_size = sizeof(scopevm_named_allocator);
  OK(scopevm_session_create(module, &options, &session));
  run_calls(session);
  scopevm_session_free(session);
  options.named_allocator_count = 2;
  FAILS(scopevm_session_create(module, &options, &session), 10,
        "memory scope \"cpu.global.workspace\" has two allocators");
  options.named_allocator_count = 1;
  named[0].text = "pol";
  FAILS(scopevm_session_create(module, &options, &session), 12, "did you mean \"pool\"?");
  named[0].text = "pool";
  functions.source_allocate = no_block;
  functions.source_deallocate = ignore_block;
  named[0].options = &functions;
  FAILS(
      scopevm_session_create(module, &options, &session), 10,
      "the named allocator of memory scope \"global.workspace\" has source functions: the session "
      "determines the source");
  scopevm_module_free(module);
}

static void use_plan(void) {
  const scopevm_planned_block plan[] = {{64, 100}, {0, 64}};
  scopevm_allocator* allocator = NULL;
  scopevm_allocator_options options = {sizeof(scopevm_allocator_options)};
  options.plan_count = 2;
  FAILS(scopevm_allocator_create("planned", &options, &allocator), 10, "is NULL");
  options.plan = plan;
  OK(scopevm_allocator_create("planned", &options, &allocator));
  char* first = scopevm_allocator_allocate(allocator, 100);
  char* second = scopevm_allocator_allocate(allocator, 64);
  EXPECT(first - second == 64);
  EXPECT(scopevm_allocator_allocate(allocator, 1) == NULL);
  scopevm_allocator_deallocate(allocator, first, 100);
  scopevm_allocator_deallocate(allocator, second, 64);
  scopevm_allocator_free(allocator);
}

static scopevm_module* loaded(const char* path) {
  scopevm_module* module = NULL;
  FAILS(scopevm_module_load("/nowhere.bc", NULL, &module), 12, "/nowhere.bc");
  FAILS(scopevm_module_load_bytes("junk", 4, NULL, &module), 11, "");
  OK(scopevm_module_load(path, NULL, &module));
  return module;
}

static void inspect(const scopevm_module* module) {
  EXPECT(scopevm_module_input_count(module) == 2);
  EXPECT(scopevm_module_output_count(module) == 1);
  const char* names[] = {"n"};
  int64_t values[] = {3};
  int64_t bytes = 0;
  OK(scopevm_module_memory_bound(module, names, values, 1, 2, "global.workspace", &bytes));
  EXPECT(bytes == 16 * 3 + 64 * 2);
  FAILS(scopevm_module_memory_bound(module, names, values, 0, 1, "global", &bytes), 10,
        "missing value");
  FAILS(scopevm_module_largest_bound(module, names, values, 1, 1, "global", &bytes), 20,
        "no bound function");
  EXPECT(scopevm_module_scope_count(module) > 0);
  EXPECT(strcmp(scopevm_module_scope_device(module, 0), "cpu") == 0);
  EXPECT(strncmp(scopevm_module_scope_name(module, 0), "global", 6) == 0);
  EXPECT(scopevm_module_scope_name(module, scopevm_module_scope_count(module)) == NULL);
  FAILS(scopevm_module_bound(module, values, 1, 1, &bytes, 0), 10, "given 1 dim");

  scopevm_session* session = NULL;
  OK(scopevm_session_create(module, NULL, &session));
  FAILS(scopevm_session_reserve(session, names, values, values, 1, 1), 20, "no bound function");
  FAILS(scopevm_session_reserve(session, names, values, values, 1, 0), 10, "expected at least 1");
  FAILS(scopevm_session_warm_up(session, names, values, 0, NULL), 10, "cannot be computed");
  OK(scopevm_session_warm_up(session, names, values, 1, NULL));
  run_calls(session);
  scopevm_session_free(session);
}

/* Creates a session and a call of it, both of whose inputs are x: f32[rows, 4]. The caller releases
 * both. */
static scopevm_call* prepared(const scopevm_module* module, const scopevm_session_options* options,
                              float* x, int64_t rows, scopevm_session** session) {
  scopevm_call* call = NULL;
  int64_t shape[] = {rows, 4};
  DLTensor tensor = floats(x, shape);
  OK(scopevm_session_create(module, options, session));
  OK(scopevm_call_create(*session, &call));
  OK(scopevm_call_set_input(call, "x", &tensor));
  OK(scopevm_call_set_input(call, "y", &tensor));
  return call;
}

static void exceed_limit(const scopevm_module* module) {
  scopevm_memory_limit limit = {"global.workspace", 10};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.limits = &limit;
  options.limit_count = 1;
  options.limit_size = sizeof(scopevm_memory_limit);
  scopevm_session* session = NULL;
  float x[4] = {0};
  scopevm_call* call = prepared(module, &options, x, 1, &session);
  FAILS(scopevm_call_run(call, NULL), 31, "limit of 10 bytes");
  scopevm_call_free(call);
  scopevm_session_free(session);
}

static void run_with_executor(const scopevm_module* module) {
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.parallel_for = parallel_for;
  options.executor = &loops;
  options.executor_threads = 2;
  scopevm_session* session = NULL;
  float x[400] = {0};
  scopevm_call* call = prepared(module, &options, x, 100, &session);
  OK(scopevm_call_run(call, NULL));
  EXPECT(loops == 2);
  scopevm_call_free(call);
  scopevm_session_free(session);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  EXPECT(scopevm_api_version() == SCOPEVM_API_VERSION);
  scopevm_module* module = loaded(argv[1]);
  if (module == NULL) return 1;
  inspect(module);
  exceed_limit(module);
  run_with_executor(module);
  scopevm_module_free(module);
  // The launches access five buffers of 16 bytes and the constant of 4 bytes, at 1e9 bytes/s.
  run_emulated(argv[2], 1, 5 * (16 / 1e9) + 4 / 1e9);
  run_emulated(argv[2], 0, 0);
  run_external(argv[3]);
  run_with_allocator(argv[1]);
  run_with_named_allocators(argv[1]);
  use_plan();
  return failures == 0 ? 0 : 1;
}
