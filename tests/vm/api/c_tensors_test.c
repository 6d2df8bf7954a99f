// Tensors that calls and the program share, allocators of pools, hooks, and errors of
// callbacks, through the C API.
#include <stdint.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static int releases = 0;
static void count_release(void* context) { ++*(int*)context; }

static void share_tensors(const scopevm_session* session) {
  _Alignas(64) float elements[] = {1, 2, 3, 4};
  const int64_t dims[] = {1, 4};
  scopevm_tensor x, z, found;
  scopevm_tensor inputs[2];
  OK(scopevm_tensor_adopt(elements, SCOPEVM_F32, dims, 2, count_release, &releases, &x));
  EXPECT(x.data == elements && x.rank == 2 && x.dims[1] == 4 && x.bytes == 16);
  inputs[0] = inputs[1] = x;  // the call adds references of its own
  OK(scopevm_session_call(session, inputs, 2, NULL, &z, 1));
  EXPECT(((const float*)z.data)[3] == 16 && z.dtype == SCOPEVM_F32 && z.storage != NULL);

  scopevm_call* call = NULL;
  size_t input = 9, output = 9, count = 9;
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_find_input(call, "y", &input));
  OK(scopevm_call_find_output(call, "z", &output));
  EXPECT(input == 1 && output == 0);
  OK(scopevm_call_share_input(call, 0, &z));
  OK(scopevm_call_share_input(call, input, &x));
  EXPECT(scopevm_call_results(call, &count) == NULL && count == 0);
  OK(scopevm_call_run(call, NULL));
  const scopevm_tensor* results = scopevm_call_results(call, &count);
  EXPECT(count == 1 && ((const float*)results[0].data)[3] == 40);
  OK(scopevm_call_find_result(call, "z", &found));
  EXPECT(found.data == results[0].data);
  FAILS(scopevm_call_find_result(call, "q", &found), SCOPEVM_NOT_FOUND, "q");
  const scopevm_tensor* elements_of = NULL;
  OK(scopevm_call_elements(call, 0, &elements_of, &count));
  EXPECT(count == 1 && elements_of->data == found.data);
  OK(scopevm_call_share_output(call, 0, &z));
  FAILS(scopevm_call_run(call, NULL), SCOPEVM_INVALID_ARGUMENT, "overlaps");
  scopevm_call_free(call);
  EXPECT(((const float*)found.data)[0] == 10);  // results outlive the call
  scopevm_storage_release(found.storage);
  scopevm_storage_release(z.storage);
  EXPECT(releases == 0);
  scopevm_storage_release(x.storage);
  EXPECT(releases == 1);
}

static void make_tensors(void) {
  scopevm_tensor tensor, copy;
  const int64_t dims[] = {2};
  OK(scopevm_tensor_allocate(SCOPEVM_I64, dims, 1, &tensor));
  EXPECT(tensor.bytes == 16 && tensor.is_read_only == 0);
  DLManagedTensorVersioned* managed = NULL;
  OK(scopevm_tensor_to_dlpack_versioned(&tensor, &managed));
  OK(scopevm_tensor_from_dlpack_versioned(managed, &copy));
  EXPECT(copy.data == tensor.data);
  scopevm_storage_release(tensor.storage);
  scopevm_storage_release(copy.storage);
  FAILS(scopevm_tensor_allocate(99, dims, 1, &tensor), SCOPEVM_INVALID_ARGUMENT,
        "no element type 99");
  FAILS(scopevm_tensor_allocate(SCOPEVM_STR, dims, 1, &tensor), SCOPEVM_INVALID_ARGUMENT,
        "string tensor");
  const char* const words[] = {"one", "two"};
  const size_t sizes[] = {3, 1};
  const scopevm_strings strings = {words, sizes, dims, 1};
  OK(scopevm_tensor_from_strings(&strings, 2, &tensor));
  const char* text = NULL;
  size_t size = 0;
  OK(scopevm_tensor_string(&tensor, 1, &text, &size));
  EXPECT(size == 1 && text[0] == 't');
  FAILS(scopevm_tensor_string(&tensor, 2, &text, &size), SCOPEVM_NOT_FOUND, "no string 2");
  scopevm_storage_release(tensor.storage);
}

// The allocators of pools, made by the program from the pools' sources.
struct Made {
  int count;
  int releases;
};

static void release_made(void* context) { ++((struct Made*)context)->releases; }

static scopevm_status* make_pool(void* context, scopevm_block_source* source, int64_t alignment,
                                 scopevm_allocator** out) {
  struct Made* const made = context;
  ++made->count;
  EXPECT(source == NULL && alignment >= 64);  // the operating system
  scopevm_allocator_options options = {sizeof(scopevm_allocator_options)};
  options.context = made;
  options.release = release_made;
  return scopevm_allocator_create("arena", &options, out);
}

static scopevm_status* fail(void* context, scopevm_block_source* source, int64_t alignment,
                            scopevm_allocator** out) {
  (void)context, (void)source, (void)alignment, (void)out;
  const scopevm_error_fields fields = {sizeof fields, "pool", 3, "more", "less"};
  return scopevm_status_create(SCOPEVM_DEVICE, "no pool today", &fields);
}

static int released_executors = 0;
static scopevm_status* refuse_loop(void* executor, int64_t total, int64_t grain,
                                   void (*body)(void*, int64_t, int64_t, int64_t), void* context) {
  (void)executor, (void)total, (void)grain, (void)body, (void)context;
  return scopevm_status_create(SCOPEVM_RESOURCE_LIMIT, "no thread is free", NULL);
}
static int no_threads(void* executor) {
  (void)executor;
  return 0;
}

static void call_back(const scopevm_module* module) {
  struct Made made = {0, 0};
  scopevm_scope_allocator allocator = {"global", NULL, make_pool, &made};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.allocators = &allocator;
  options.allocator_count = 1;
  options.allocator_size = sizeof allocator;
  scopevm_session* session = NULL;
  OK(scopevm_session_create(module, &options, &session));
  scopevm_module* bound = NULL;
  OK(scopevm_session_module(session, &bound));
  EXPECT(scopevm_module_input_count(bound) == scopevm_module_input_count(module));
  scopevm_module_free(bound);
  EXPECT(made.count == 1 && made.releases == 0);
  scopevm_session_free(session);
  EXPECT(made.releases == 1);
  allocator.make = fail;
  scopevm_status* status = scopevm_session_create(module, &options, &session);
  scopevm_error_fields fields = {sizeof(scopevm_error_fields)};
  EXPECT(scopevm_status_fields(status, &fields) == 1 && fields.axis == 3);
  FAILS(status, SCOPEVM_DEVICE, "no pool today");

  options = (scopevm_session_options){sizeof(scopevm_session_options)};
  options.parallel_for = refuse_loop;
  options.executor = &released_executors;
  options.executor_threads = 2;
  options.running_threads = no_threads;
  options.release_executor = count_release;
  OK(scopevm_session_create(module, &options, &session));
  EXPECT(scopevm_session_running_threads(session) == 0 && scopevm_session_threads(session) == 2);
  const char* const names[] = {"n"};
  const int64_t values[] = {1};
  FAILS(scopevm_session_warm_up(session, names, values, 1, NULL), SCOPEVM_RESOURCE_LIMIT,
        "no thread is free");
  scopevm_session_free(session);
  EXPECT(released_executors == 1);
}

struct Steps {
  int64_t position;
  int words;
};

static scopevm_status* step(void* context, const scopevm_execution_state* state) {
  struct Steps* const steps = context;
  uint32_t function = 9, word = 0;
  OK(scopevm_execution_next(state, &function, &word));
  EXPECT(scopevm_execution_position(state) == steps->position + 1);
  EXPECT(scopevm_execution_depth(state) == 1);
  steps->position = scopevm_execution_position(state);
  if (word > 0) ++steps->words;
  scopevm_register_value value = {sizeof(scopevm_register_value)};
  OK(scopevm_execution_register(state, 0, &value));
  if (value.data == NULL) return NULL;
  float element = 0;
  OK(scopevm_execution_read(state, &value, 0, &element, sizeof element));
  EXPECT(element == 1);
  FAILS(scopevm_execution_read(state, &value, value.bytes, &element, sizeof element),
        SCOPEVM_INVALID_ARGUMENT, "fewer bytes");
  return NULL;
}

static void run_with_hook(const scopevm_session* session) {
  float elements[] = {1, 1, 1, 1};
  int64_t dims[] = {1, 4};
  const DLTensor tensor = floats(elements, dims);
  scopevm_call* call = NULL;
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input_at(call, 0, &tensor));
  OK(scopevm_call_set_input_at(call, 1, &tensor));
  struct Steps steps = {-1, 0};
  unsigned char cancel = 0;
  scopevm_run_options run = {.struct_size = sizeof run, .hook = step, .hook_context = &steps};
  run.cancel = &cancel;
  OK(scopevm_call_run(call, &run));
  EXPECT(steps.position > 0 && steps.words > 0);
  run.hook = NULL;
  cancel = 1;
  FAILS(scopevm_call_run(call, &run), SCOPEVM_CANCELLED, "cancelled");
  run.cancel = NULL;
  run.deadline_ns = 1;
  FAILS(scopevm_call_run(call, &run), SCOPEVM_DEADLINE_EXCEEDED, "deadline");
  scopevm_call_free(call);
}

static void read_pools(void) {
  const scopevm_pool_capacity capacity = {"cpu.global", 100};
  scopevm_scheduler_options options = {sizeof(scopevm_scheduler_options)};
  options.workers = 1;
  options.capacities = &capacity;
  options.capacity_count = 1;
  options.capacity_size = sizeof capacity;
  scopevm_scheduler* scheduler = NULL;
  OK(scopevm_scheduler_create(&options, &scheduler));
  scopevm_scheduler_stats stats = {sizeof(scopevm_scheduler_stats)};
  scopevm_pool_use pools[2];
  OK(scopevm_scheduler_read_pools(scheduler, &stats, pools, 2, sizeof pools[0]));
  EXPECT(stats.pool_count == 1 && strcmp(pools[0].pool, "cpu.global") == 0);
  EXPECT(pools[0].capacity_bytes == 100 && scopevm_scheduler_workers(scheduler) == 1);
  scopevm_scheduler_free(scheduler);
  options.has_no_defaults = 1;
  options.max_suspended = 1;
  FAILS(scopevm_scheduler_create(&options, &scheduler), SCOPEVM_INVALID_ARGUMENT, "ageing is 0");
}

static void list_blocks(void) {
  scopevm_allocator *allocator = NULL, *copy = NULL;
  EXPECT(strcmp(scopevm_allocator_name(0), "pool") == 0);
  OK(scopevm_allocator_create("pool", NULL, &allocator));
  OK(scopevm_allocator_copy(allocator, &copy));
  scopevm_allocator_free(allocator);
  void* block = scopevm_allocator_allocate(copy, 100);
  scopevm_memory_snapshot* snapshot = NULL;
  const scopevm_memory_range* ranges = NULL;
  size_t count = 0;
  OK(scopevm_memory_snapshot_create(copy, &snapshot));
  OK(scopevm_memory_snapshot_live(snapshot, &ranges, &count));
  EXPECT(count == 1 && ranges[0].address == block && ranges[0].bytes >= 100);
  OK(scopevm_memory_snapshot_unused(snapshot, &ranges, &count));
  EXPECT(count > 0);
  scopevm_memory_snapshot_free(snapshot);
  scopevm_allocator_deallocate(copy, block, 100);
  scopevm_allocator_free(copy);
}

static void read_bounds(const scopevm_module* module) {
  const char* const names[] = {"n"};
  const int64_t least[] = {1}, most[] = {8};
  scopevm_bound* bound = NULL;
  // The kernel images of these modules have no bound functions.
  FAILS(scopevm_bound_create_largest(module, names, least, most, 1, 1, &bound), SCOPEVM_UNSUPPORTED,
        "no bound function");
  OK(scopevm_bound_create(module, names, most, 1, 1, &bound));
  const size_t count = scopevm_bound_scope_count(bound);
  EXPECT(count == 2);
  scopevm_bound_scope_info scope = {sizeof(scopevm_bound_scope_info)};
  OK(scopevm_bound_scope(bound, 0, &scope));
  int64_t bytes = 0;
  OK(scopevm_module_memory_bound(module, names, most, 1, 1, scope.scope, &bytes));
  EXPECT(scope.bytes == bytes && strcmp(scope.device, "cpu") == 0);
  FAILS(scopevm_bound_scope(bound, count, &scope), SCOPEVM_NOT_FOUND, "no memory scope 2");
  scopevm_bound_free(bound);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(argv[1], NULL, &module));
  if (module == NULL) return 1;
  OK(scopevm_session_create(module, NULL, &session));
  share_tensors(session);
  make_tensors();
  call_back(module);
  run_with_hook(session);
  read_pools();
  list_blocks();
  read_bounds(module);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return failures == 0 ? 0 : 1;
}
