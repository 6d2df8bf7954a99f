// Calls each function of the C API with NULL for each pointer argument in turn: it must return an
// error, or the result that the header documents. CMakeLists.txt checks that this file calls every
// function.
#include <stdio.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"
#include "tests/vm/api/null_arguments.h"

static void check_results_without_status(void) {
  EXPECT(scopevm_api_version() == SCOPEVM_API_VERSION);
  EXPECT(scopevm_status_code(NULL) == 0);
  EXPECT(strcmp(scopevm_status_message(NULL), "") == 0);
  EXPECT(scopevm_module_input_count(NULL) == 0);
  EXPECT(scopevm_module_output_count(NULL) == 0);
  EXPECT(scopevm_module_dimension_count(NULL) == 0);
  EXPECT(scopevm_version()[0] != 0 && scopevm_features()[0] != 0);
  EXPECT(scopevm_dtype_name(-1) == NULL && scopevm_dtype_bytes(-1) == 0);
  EXPECT(scopevm_dtype_bits(-1) == 0);
  EXPECT(scopevm_bound_function(NULL) == NULL);
  EXPECT(scopevm_bound_scope_count(NULL) == 0);
  EXPECT(scopevm_bound_line_count(NULL) == 0 && scopevm_bound_definition_count(NULL) == 0);
  scopevm_error_fields fields = {sizeof(scopevm_error_fields)};
  EXPECT(scopevm_status_fields(NULL, &fields) == 0);
  scopevm_status* status = scopevm_status_create(0, NULL, NULL);
  EXPECT(scopevm_status_code(status) == SCOPEVM_INTERNAL && !*scopevm_status_message(status));
  scopevm_status_free(status);
  scopevm_storage_retain(NULL);
  scopevm_storage_release(NULL);
  size_t count = 1;
  EXPECT(scopevm_call_results(NULL, &count) == NULL && count == 0);
  EXPECT(scopevm_execution_position(NULL) == -1 && scopevm_execution_depth(NULL) == 0);
  EXPECT(scopevm_session_threads(NULL) == 0);
  EXPECT(scopevm_session_running_threads(NULL) == 0);
  scopevm_session_trim(NULL);
  scopevm_call_cancel(NULL);
  EXPECT(scopevm_call_is_in_flight(NULL) == 0);
  EXPECT(scopevm_state_steps(NULL) == 0);
  scopevm_state_free(NULL);
  scopevm_scheduler_free(NULL);
  scopevm_call_clear_outputs(NULL);
  scopevm_bound_free(NULL);
  EXPECT(scopevm_allocator_allocate(NULL, 64) == NULL);
  scopevm_allocator_deallocate(NULL, NULL, 64);
  scopevm_allocator_free(NULL);
  scopevm_status_free(NULL);
  scopevm_module_free(NULL);
  scopevm_session_free(NULL);
  scopevm_call_free(NULL);
}

static void check_allocator(void) {
  scopevm_allocator* allocator = NULL;
  scopevm_allocator_stats stats = {sizeof(scopevm_allocator_stats)};
  EACH_FAILS(2, scopevm_allocator_create(ARGUMENT(0, "pool"), NULL, ARGUMENT(1, &allocator)));
  OK(scopevm_allocator_create("pool", NULL, &allocator));
  scopevm_allocator_deallocate(allocator, NULL, 64);
  EACH_FAILS(2, scopevm_allocator_read_stats(ARGUMENT(0, allocator), ARGUMENT(1, &stats)));
  EACH_FAILS(1, scopevm_allocator_trim(ARGUMENT(0, allocator)));
  EACH_FAILS(1, scopevm_allocator_describe_failure(ARGUMENT(0, allocator), 64));
  scopevm_allocator* copied = NULL;
  scopevm_memory_snapshot* snapshot = NULL;
  const scopevm_memory_range* ranges = NULL;
  size_t count = 0;
  EACH_FAILS(2, scopevm_allocator_copy(ARGUMENT(0, allocator), ARGUMENT(1, &copied)));
  EACH_FAILS(2, scopevm_memory_snapshot_create(ARGUMENT(0, allocator), ARGUMENT(1, &snapshot)));
  OK(scopevm_memory_snapshot_create(allocator, &snapshot));
  EACH_FAILS(3, scopevm_memory_snapshot_live(ARGUMENT(0, snapshot), ARGUMENT(1, &ranges),
                                             ARGUMENT(2, &count)));
  EACH_FAILS(3, scopevm_memory_snapshot_unused(ARGUMENT(0, snapshot), ARGUMENT(1, &ranges),
                                               ARGUMENT(2, &count)));
  scopevm_memory_snapshot_free(snapshot);
  EXPECT(copied == NULL && ranges == NULL);
  EXPECT(scopevm_allocator_name(1000) == NULL);
  EXPECT(scopevm_block_source_allocate(NULL, 64, 64) == NULL);
  scopevm_block_source_deallocate(NULL, NULL, 64);
  scopevm_block_source_free(NULL);
  scopevm_memory_snapshot_free(NULL);
  scopevm_allocator_free(allocator);
  scopevm_allocator_functions functions = {sizeof(scopevm_allocator_functions)};
  allocator = NULL;
  EACH_FAILS(2, scopevm_allocator_create_from(ARGUMENT(0, &functions), ARGUMENT(1, &allocator)));
  EXPECT(allocator == NULL);
}

static void check_scheduler(void) {
  scopevm_scheduler* scheduler = NULL;
  scopevm_scheduler_options options = {sizeof(scopevm_scheduler_options)};
  const scopevm_pool_capacity no_pool = {NULL, 1};
  scopevm_scheduler_stats stats = {sizeof(scopevm_scheduler_stats)};
  scopevm_pool_use use = {sizeof(scopevm_pool_use)};
  options.capacity_count = 1;
  options.capacity_size = sizeof(scopevm_pool_capacity);
  EACH_FAILS(1, scopevm_scheduler_create(&options, &scheduler));
  options.capacities = &no_pool;
  EACH_FAILS(1, scopevm_scheduler_create(&options, &scheduler));
  EACH_FAILS(1, scopevm_scheduler_create(NULL, ARGUMENT(0, &scheduler)));
  EACH_FAILS(2, scopevm_scheduler_read_stats(ARGUMENT(0, scheduler), ARGUMENT(1, &stats)));
  EACH_FAILS(2, scopevm_scheduler_pool_use(ARGUMENT(0, scheduler), 0, ARGUMENT(1, &use)));
  EACH_FAILS(3, scopevm_scheduler_read_pools(ARGUMENT(0, scheduler), ARGUMENT(1, &stats),
                                             ARGUMENT(2, &use), 1, sizeof use));
  size_t count = 0;
  EACH_FAILS(1, scopevm_numa_node_cpus(0, NULL, 0, ARGUMENT(0, &count)));
  EXPECT(scopevm_scheduler_workers(NULL) == 0);
  EXPECT(scheduler == NULL);
}

static void check_monitor(const scopevm_session* session) {
  scopevm_metrics* metrics = NULL;
  scopevm_metrics_source source = {"model", session};
  const size_t size = sizeof source;
  EACH_FAILS(2, scopevm_metrics_read(ARGUMENT(0, &source), 1, size, ARGUMENT(1, &metrics)));
  source.model = NULL;
  EACH_FAILS(1, scopevm_metrics_read(&source, 1, size, &metrics));
  source = (scopevm_metrics_source){"model", NULL};
  EACH_FAILS(1, scopevm_metrics_read(&source, 1, size, &metrics));
  EXPECT(metrics == NULL && scopevm_metrics_text(NULL) == NULL);
  scopevm_metrics_free(NULL);
  OK(scopevm_set_log(NULL));
}

static void check_signature(const scopevm_module* module) {
  scopevm_value_info info = {sizeof(scopevm_value_info)};
  scopevm_dimension_info dimension = {sizeof(scopevm_dimension_info)};
  size_t index = 0;
  EACH_FAILS(2, scopevm_module_input(ARGUMENT(0, module), 0, ARGUMENT(1, &info)));
  EACH_FAILS(2, scopevm_module_output(ARGUMENT(0, module), 0, ARGUMENT(1, &info)));
  EACH_FAILS(2, scopevm_module_dimension(ARGUMENT(0, module), 0, ARGUMENT(1, &dimension)));
  EACH_FAILS(3,
             scopevm_module_find_input(ARGUMENT(0, module), ARGUMENT(1, "x"), ARGUMENT(2, &index)));
  EACH_FAILS(
      3, scopevm_module_find_output(ARGUMENT(0, module), ARGUMENT(1, "z"), ARGUMENT(2, &index)));
  const char* names[] = {"n"};
  const int64_t values[] = {3};
  int64_t dims[2];
  size_t rank = 0;
  EACH_FAILS(
      5, scopevm_module_input_shape(ARGUMENT(0, module), 0, ARGUMENT(1, names), ARGUMENT(2, values),
                                    1, ARGUMENT(3, dims), 2, ARGUMENT(4, &rank)));
  scopevm_bound* bound = NULL;
  EACH_FAILS(4, scopevm_bound_create(ARGUMENT(0, module), ARGUMENT(1, names), ARGUMENT(2, values),
                                     1, 1, ARGUMENT(3, &bound)));
  OK(scopevm_bound_create(module, names, values, 1, 1, &bound));
  scopevm_bound* largest = NULL;
  EACH_FAILS(
      5, scopevm_bound_create_largest(ARGUMENT(0, module), ARGUMENT(1, names), ARGUMENT(2, values),
                                      ARGUMENT(3, values), 1, 1, ARGUMENT(4, &largest)));
  scopevm_bound_scope_info scope = {sizeof(scopevm_bound_scope_info)};
  EACH_FAILS(2, scopevm_bound_scope(ARGUMENT(0, bound), 0, ARGUMENT(1, &scope)));
  EXPECT(largest == NULL);
  scopevm_bound_line_info line = {sizeof(scopevm_bound_line_info)};
  const char* name = NULL;
  const char* formula = NULL;
  EACH_FAILS(2, scopevm_bound_line(ARGUMENT(0, bound), 0, ARGUMENT(1, &line)));
  EACH_FAILS(3, scopevm_bound_definition(ARGUMENT(0, bound), 0, ARGUMENT(1, &name),
                                         ARGUMENT(2, &formula)));
  scopevm_bound_free(bound);
}

static void check_module(const char* path, const scopevm_module* module) {
  scopevm_module* loaded = NULL;
  EACH_FAILS(2, scopevm_module_load(ARGUMENT(0, path), NULL, ARGUMENT(1, &loaded)));
  EACH_FAILS(2, scopevm_module_load_bytes(ARGUMENT(0, "junk"), 4, NULL, ARGUMENT(1, &loaded)));
  EACH_FAILS(2, scopevm_module_load_memory(ARGUMENT(0, "junk"), 4, NULL, NULL, NULL,
                                           ARGUMENT(1, &loaded)));
  EXPECT(loaded == NULL);
  const scopevm_external_library* library = NULL;
  EACH_FAILS(2, scopevm_external_library_load(ARGUMENT(0, "dnnl"), ARGUMENT(1, &library)));
  const scopevm_transport* transport = NULL;
  EACH_FAILS(2, scopevm_transport_load(ARGUMENT(0, "mpi"), ARGUMENT(1, &transport)));
  const scopevm_session* followed = NULL;
  EACH_FAILS(1, scopevm_session_follow(ARGUMENT(0, followed), NULL));
  const char* names[] = {"n"};
  const char* const no_names[] = {NULL};
  const int64_t values[] = {3};
  int64_t bytes = 0;
  EACH_FAILS(
      5, scopevm_module_memory_bound(ARGUMENT(0, module), ARGUMENT(1, names), ARGUMENT(2, values),
                                     1, 1, ARGUMENT(3, "global"), ARGUMENT(4, &bytes)));
  EACH_FAILS(1, scopevm_module_memory_bound(module, no_names, values, 1, 1, "global", &bytes));
  EACH_FAILS(
      5, scopevm_module_largest_bound(ARGUMENT(0, module), ARGUMENT(1, names), ARGUMENT(2, values),
                                      1, 1, ARGUMENT(3, "global"), ARGUMENT(4, &bytes)));
  EACH_FAILS(3, scopevm_module_bound(ARGUMENT(0, module), ARGUMENT(1, values), 1, 1,
                                     ARGUMENT(2, &bytes), 1));
  EXPECT(scopevm_module_scope_count(NULL) == 0);
  EXPECT(scopevm_module_scope_device(NULL, 0) == NULL);
  EXPECT(scopevm_module_scope_rank(NULL, 0) == 0);
  EXPECT(scopevm_module_scope_name(NULL, 0) == NULL);

  scopevm_session* session = NULL;
  const scopevm_memory_limit no_scope = {NULL, 1};
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.limit_count = 1;
  options.limit_size = sizeof(scopevm_memory_limit);
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.limits = &no_scope;
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.limit_count = 0;
  const scopevm_external_library* const no_library[] = {NULL};
  options.external_library_count = 1;
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.external_libraries = no_library;
  FAILS(scopevm_session_create(module, &options, &session), 10, "external library 0: is null");
  options.external_library_count = 0;
  const scopevm_scope_allocator no_allocator[] = {{"global", NULL}};
  options.allocator_count = 1;
  options.allocator_size = sizeof(scopevm_scope_allocator);
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.allocators = no_allocator;
  FAILS(scopevm_session_create(module, &options, &session), 10, "the allocator is null");
  options.allocator_count = 0;
  const scopevm_named_allocator no_name[] = {{"global", NULL, NULL}};
  options.named_allocator_count = 1;
  options.named_allocator_size = sizeof(scopevm_named_allocator);
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.named_allocators = no_name;
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.named_allocator_count = 0;
  const scopevm_device_binding no_device[] = {{NULL, "cpu", 0}};
  options.device_count = 1;
  options.device_size = sizeof(scopevm_device_binding);
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.devices = no_device;
  EACH_FAILS(1, scopevm_session_create(module, &options, &session));
  options.device_count = 0;
  missing = 0;
  expect_null_error(scopevm_session_create(NULL, &options, &session), __LINE__);
  expect_null_error(scopevm_session_create(module, &options, NULL), __LINE__);
  EXPECT(session == NULL);
}

static void check_inputs(const scopevm_session* session, scopevm_call* call) {
  scopevm_call* created = NULL;
  EACH_FAILS(2, scopevm_call_create(ARGUMENT(0, session), ARGUMENT(1, &created)));
  const char* names[] = {"n"};
  const int64_t size[] = {1};
  EACH_FAILS(4, scopevm_session_reserve(ARGUMENT(0, session), ARGUMENT(1, names), ARGUMENT(2, size),
                                        ARGUMENT(3, size), 1, 1));
  EACH_FAILS(3, scopevm_session_warm_up(ARGUMENT(0, session), ARGUMENT(1, names), ARGUMENT(2, size),
                                        1, NULL));
  scopevm_module* bound = NULL;
  EACH_FAILS(2, scopevm_session_module(ARGUMENT(0, session), ARGUMENT(1, &bound)));
  scopevm_tensor results[1];
  const scopevm_tensor given = {.data = NULL};
  EACH_FAILS(3, scopevm_session_call(ARGUMENT(0, session), ARGUMENT(1, &given), 1, NULL,
                                     ARGUMENT(2, results), 1));
  EACH_FAILS(2, scopevm_call_share_input(ARGUMENT(0, call), 0, ARGUMENT(1, &given)));
  EACH_FAILS(2, scopevm_call_share_sequence(ARGUMENT(0, call), 0, ARGUMENT(1, &given), 1));
  EACH_FAILS(2, scopevm_call_share_output(ARGUMENT(0, call), 0, ARGUMENT(1, &given)));
  size_t index = 0;
  EACH_FAILS(3, scopevm_call_find_input(ARGUMENT(0, call), ARGUMENT(1, "x"), ARGUMENT(2, &index)));
  EACH_FAILS(3, scopevm_call_find_output(ARGUMENT(0, call), ARGUMENT(1, "z"), ARGUMENT(2, &index)));
  scopevm_allocator_stats stats = {sizeof(scopevm_allocator_stats)};
  EACH_FAILS(2, scopevm_session_memory_stats(ARGUMENT(0, session), 0, ARGUMENT(1, &stats)));
  float element = 0;
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = &element;
  tensor.device.device_type = kDLCPU;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  const DLTensor* const elements[] = {&tensor};
  const DLTensor* const no_elements[] = {NULL};
  const char* const words[] = {"a"};
  const char* const no_words[] = {NULL};
  const int64_t dims[] = {1};
  const size_t sizes[] = {5};
  const scopevm_strings strings = {words, NULL, dims, 1};
  const scopevm_strings incomplete[] = {{NULL, NULL, dims, 1},
                                        {words, NULL, NULL, 1},
                                        {no_words, NULL, dims, 1},
                                        {no_words, sizes, dims, 1}};
  EACH_FAILS(2, scopevm_call_set_input(ARGUMENT(0, call), ARGUMENT(1, "x"), &tensor));
  EACH_FAILS(2, scopevm_call_set_output(ARGUMENT(0, call), ARGUMENT(1, "z"), &tensor));
  EACH_FAILS(
      3, scopevm_call_set_sequence(ARGUMENT(0, call), ARGUMENT(1, "x"), ARGUMENT(2, elements), 1));
  EACH_FAILS(1, scopevm_call_set_sequence(call, "x", no_elements, 1));
  EACH_FAILS(3, scopevm_call_set_input_strings(ARGUMENT(0, call), ARGUMENT(1, "x"),
                                               ARGUMENT(2, &strings)));
  EACH_FAILS(3, scopevm_call_set_sequence_strings(ARGUMENT(0, call), ARGUMENT(1, "x"),
                                                  ARGUMENT(2, &strings), 1));
  EACH_FAILS(4, scopevm_call_set_input_strings(call, "x", &incomplete[missing]));
  EACH_FAILS(2, scopevm_call_set_no_value(ARGUMENT(0, call), ARGUMENT(1, "x")));
  DLManagedTensorVersioned managed;
  memset(&managed, 0, sizeof managed);
  managed.dl_tensor = tensor;
  EACH_FAILS(1, scopevm_call_set_input_at(ARGUMENT(0, call), 0, &tensor));
  EACH_FAILS(2, scopevm_call_give_input(ARGUMENT(0, call), 0, ARGUMENT(1, &managed)));
  EACH_FAILS(1, scopevm_call_set_output_at(ARGUMENT(0, call), 0, &tensor));
  EACH_FAILS(1, scopevm_call_set_output_buffer(ARGUMENT(0, call), 0, &element, 4));
  EACH_FAILS(2, scopevm_call_set_sequence_at(ARGUMENT(0, call), 0, ARGUMENT(1, elements), 1));
  EACH_FAILS(2, scopevm_call_set_input_strings_at(ARGUMENT(0, call), 0, ARGUMENT(1, &strings)));
  EACH_FAILS(2,
             scopevm_call_set_sequence_strings_at(ARGUMENT(0, call), 0, ARGUMENT(1, &strings), 1));
  EACH_FAILS(1, scopevm_call_set_no_value_at(ARGUMENT(0, call), 0));
  EACH_FAILS(1, scopevm_call_run(ARGUMENT(0, call), NULL));
  EACH_FAILS(1, scopevm_call_submit(ARGUMENT(0, call), NULL, NULL, NULL));
  EACH_FAILS(1, scopevm_call_wait(ARGUMENT(0, call), -1));
}

static void check_state(const scopevm_session* session, scopevm_call* call) {
  float elements[] = {1, 1, 1, 1};
  int64_t dims[] = {1, 4};
  const DLTensor tensor = floats(elements, dims);
  const scopevm_state_pair pair = {"y", "z", &tensor};
  scopevm_state_options options = {sizeof options, &pair, 1, sizeof pair, NULL, NULL, 0};
  scopevm_state* state = NULL;
  EACH_FAILS(
      3, scopevm_state_create(ARGUMENT(0, session), ARGUMENT(1, &options), ARGUMENT(2, &state)));
  const scopevm_state_pair incomplete[] = {{NULL, "z", NULL}, {"y", NULL, NULL}};
  options.pairs = incomplete;
  EACH_FAILS(1, scopevm_state_create(session, &options, &state));
  options.pairs = &incomplete[1];
  EACH_FAILS(1, scopevm_state_create(session, &options, &state));
  options.pairs = NULL;
  EACH_FAILS(1, scopevm_state_create(session, &options, &state));
  options.pairs = &pair;
  OK(scopevm_state_create(session, &options, &state));
  scopevm_state* forked = NULL;
  DLManagedTensorVersioned* value = NULL;
  size_t size = 0;
  EACH_FAILS(1, scopevm_call_set_state(ARGUMENT(0, call), state));
  EACH_FAILS(3, scopevm_state_value(ARGUMENT(0, state), ARGUMENT(1, "y"), ARGUMENT(2, &value)));
  EACH_FAILS(3,
             scopevm_state_set_value(ARGUMENT(0, state), ARGUMENT(1, "y"), ARGUMENT(2, &tensor)));
  scopevm_tensor shared = {.data = NULL};
  EACH_FAILS(3, scopevm_state_read(ARGUMENT(0, state), ARGUMENT(1, "y"), ARGUMENT(2, &shared)));
  EACH_FAILS(3, scopevm_state_write(ARGUMENT(0, state), ARGUMENT(1, "y"), ARGUMENT(2, &shared)));
  EACH_FAILS(1, scopevm_state_reset(ARGUMENT(0, state)));
  EACH_FAILS(2, scopevm_state_fork(ARGUMENT(0, state), ARGUMENT(1, &forked)));
  // `data` can be NULL.
  expect_null_error(scopevm_state_snapshot(NULL, NULL, 0, &size), __LINE__);
  expect_null_error(scopevm_state_snapshot(state, NULL, 0, NULL), __LINE__);
  EACH_FAILS(2, scopevm_state_restore(ARGUMENT(0, state), ARGUMENT(1, elements), 4));
  EXPECT(forked == NULL && value == NULL);
  scopevm_state_free(state);
}

static void check_results(const scopevm_call* call) {
  DLManagedTensor* tensor = NULL;
  DLManagedTensorVersioned* versioned = NULL;
  size_t size = 0;
  const int64_t* dims = NULL;
  const char* text = NULL;
  EACH_FAILS(2, scopevm_call_output(ARGUMENT(0, call), 0, ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_call_output_versioned(ARGUMENT(0, call), 0, ARGUMENT(1, &versioned)));
  EACH_FAILS(
      2, scopevm_call_output_element_versioned(ARGUMENT(0, call), 0, 0, ARGUMENT(1, &versioned)));
  scopevm_call_stats stats = {sizeof(scopevm_call_stats)};
  scopevm_memory_use memory = {sizeof(scopevm_memory_use)};
  scopevm_copy_use copy = {sizeof(scopevm_copy_use)};
  EACH_FAILS(2, scopevm_call_read_stats(ARGUMENT(0, call), ARGUMENT(1, &stats)));
  EACH_FAILS(2, scopevm_call_memory_use(ARGUMENT(0, call), 0, ARGUMENT(1, &memory)));
  EACH_FAILS(2, scopevm_call_copy_use(ARGUMENT(0, call), 0, ARGUMENT(1, &copy)));
  EACH_FAILS(2, scopevm_call_output_size(ARGUMENT(0, call), 0, ARGUMENT(1, &size), NULL));
  EACH_FAILS(2, scopevm_call_output_element(ARGUMENT(0, call), 0, 0, ARGUMENT(1, &tensor)));
  EACH_FAILS(
      3, scopevm_call_output_dims(ARGUMENT(0, call), 0, 0, ARGUMENT(1, &dims), ARGUMENT(2, &size)));
  EACH_FAILS(3, scopevm_call_output_string(ARGUMENT(0, call), 0, 0, 0, ARGUMENT(1, &text),
                                           ARGUMENT(2, &size)));
  scopevm_tensor shared = {.data = NULL};
  const scopevm_tensor* elements = NULL;
  EACH_FAILS(3,
             scopevm_call_find_result(ARGUMENT(0, call), ARGUMENT(1, "z"), ARGUMENT(2, &shared)));
  EACH_FAILS(
      3, scopevm_call_elements(ARGUMENT(0, call), 0, ARGUMENT(1, &elements), ARGUMENT(2, &size)));
  EXPECT(tensor == NULL && dims == NULL && text == NULL && elements == NULL);
}

static void check_tensors(void) {
  scopevm_tensor tensor = {.data = NULL};
  const int64_t dims[] = {1};
  const char* const words[] = {"a"};
  const scopevm_strings strings = {words, NULL, dims, 1};
  float element = 0;
  DLManagedTensor* managed = NULL;
  DLManagedTensorVersioned* versioned = NULL;
  const char* text = NULL;
  size_t size = 0;
  EACH_FAILS(2, scopevm_tensor_allocate(SCOPEVM_F32, ARGUMENT(0, dims), 1, ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_borrow(&element, SCOPEVM_F32, ARGUMENT(0, dims), 1, 0,
                                      ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_adopt(&element, SCOPEVM_F32, ARGUMENT(0, dims), 1, NULL, NULL,
                                     ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_from_strings(ARGUMENT(0, &strings), 1, ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_from_dlpack(ARGUMENT(0, managed), ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_from_dlpack_versioned(ARGUMENT(0, versioned), ARGUMENT(1, &tensor)));
  EACH_FAILS(2, scopevm_tensor_to_dlpack(ARGUMENT(0, &tensor), ARGUMENT(1, &managed)));
  EACH_FAILS(2, scopevm_tensor_to_dlpack_versioned(ARGUMENT(0, &tensor), ARGUMENT(1, &versioned)));
  OK(scopevm_tensor_from_strings(&strings, 1, &tensor));
  EACH_FAILS(
      3, scopevm_tensor_string(ARGUMENT(0, &tensor), 0, ARGUMENT(1, &text), ARGUMENT(2, &size)));
  scopevm_storage_release(tensor.storage);
}

// A hook that calls each function of the state with NULL.
static scopevm_status* check_execution(void* context, const scopevm_execution_state* state) {
  uint32_t function = 0, word = 0;
  int64_t slot = 0;
  scopevm_register_value value = {sizeof(scopevm_register_value)};
  const char* text = NULL;
  size_t size = 0;
  ++*(int*)context;
  EACH_FAILS(
      3, scopevm_execution_next(ARGUMENT(0, state), ARGUMENT(1, &function), ARGUMENT(2, &word)));
  EACH_FAILS(3, scopevm_execution_return_place(ARGUMENT(0, state), 1, ARGUMENT(1, &function),
                                               ARGUMENT(2, &word)));
  EACH_FAILS(2, scopevm_execution_slot(ARGUMENT(0, state), 0, ARGUMENT(1, &slot)));
  EACH_FAILS(2, scopevm_execution_register(ARGUMENT(0, state), 0, ARGUMENT(1, &value)));
  EACH_FAILS(3, scopevm_execution_read(ARGUMENT(0, state), ARGUMENT(1, &value), 0,
                                       ARGUMENT(2, &slot), sizeof slot));
  EACH_FAILS(
      3, scopevm_execution_string(ARGUMENT(0, state), 0, ARGUMENT(1, &text), ARGUMENT(2, &size)));
  return scopevm_status_create(SCOPEVM_CANCELLED, "seen", NULL);
}

static void check_hook(scopevm_call* call) {
  float elements[] = {1, 2, 3, 4};
  int64_t dims[] = {1, 4};
  const DLTensor tensor = floats(elements, dims);
  OK(scopevm_call_set_input(call, "x", &tensor));
  OK(scopevm_call_set_input(call, "y", &tensor));
  int count = 0;
  const scopevm_run_options run = {
      .struct_size = sizeof run, .hook = check_execution, .hook_context = &count};
  FAILS(scopevm_call_run(call, &run), SCOPEVM_CANCELLED, "seen");
  EXPECT(count == 1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  scopevm_call* call = NULL;
  OK(scopevm_module_load(argv[1], NULL, &module));
  OK(scopevm_session_create(module, NULL, &session));
  OK(scopevm_call_create(session, &call));
  check_results_without_status();
  check_allocator();
  check_scheduler();
  check_monitor(session);
  check_signature(module);
  check_module(argv[1], module);
  check_inputs(session, call);
  check_state(session, call);
  check_results(call);
  check_tensors();
  check_hook(call);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return failures == 0 ? 0 : 1;
}
