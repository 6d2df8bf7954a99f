// Tests metrics, the log and request ids of the C API. Arguments: sum.bc, a module of
// z = (x + y) * 2 for f32[n, 4].
#include <stdint.h>
#include <string.h>

#include "scopevm/scopevm.h"
#include "tests/vm/api/expect.h"

static void read_metrics(const scopevm_session* session) {
  const scopevm_metrics_source sources[] = {{"first", session}, {"second \"2\"", session}};
  scopevm_metrics* metrics = NULL;
  OK(scopevm_metrics_read(sources, 2, sizeof sources[0], &metrics));
  const char* text = scopevm_metrics_text(metrics);
  EXPECT(text != NULL &&
         strstr(text, "scopevm_requests_total{model=\"first\",outcome=\"success\"} 1\n") != NULL);
  EXPECT(text != NULL && strstr(text, "{model=\"second \\\"2\\\"\"} 0\n") != NULL);
  scopevm_metrics_free(metrics);
  metrics = NULL;
  OK(scopevm_metrics_read(NULL, 0, 0, &metrics));
  scopevm_metrics_free(metrics);
  FAILS(scopevm_metrics_read(sources, 2, 1, &metrics), SCOPEVM_INVALID_ARGUMENT,
        "source_size is 1, expected at least");
}

struct last_message {
  int count;
  int severity;
  uint64_t request_id;
};
static void keep(void* context, const scopevm_log_message* message) {
  struct last_message* last = context;
  EXPECT(message->struct_size == sizeof *message);
  EXPECT(strstr(message->text, "a submitted call failed") != NULL);
  ++last->count;
  last->severity = message->severity;
  last->request_id = message->request_id;
}

static uint64_t traced_request;
static scopevm_status* keep_request(void* context, const scopevm_trace_event* event) {
  (void)context;
  traced_request = event->request_id;
  if (event->kind != 0) return NULL;
  EXPECT(event->status == SCOPEVM_OK && event->bytes > 0);
  EXPECT(event->dim_count == 1 && event->dim_size == sizeof(scopevm_trace_dim));
  if (event->dim_count == 1)
    EXPECT(strcmp(event->dims[0].name, "n") == 0 && event->dims[0].value == 1);
  return NULL;
}

static scopevm_call* new_call(const scopevm_session* session, float* x, int64_t* dims) {
  scopevm_call* call = NULL;
  const DLTensor tensor = floats(x, dims);
  OK(scopevm_call_create(session, &call));
  OK(scopevm_call_set_input_at(call, 0, &tensor));
  OK(scopevm_call_set_input_at(call, 1, &tensor));
  return call;
}

static void read_log(const scopevm_module* module) {
  struct last_message last = {0, 0, 0};
  scopevm_log_options log = {sizeof(scopevm_log_options)};
  log.function = keep;
  log.context = &last;
  log.least = 3;
  FAILS(scopevm_set_log(&log), SCOPEVM_INVALID_ARGUMENT, "severity 3, expected 0 to 2");
  log.least = SCOPEVM_LOG_INFO;
  OK(scopevm_set_log(&log));

  scopevm_scheduler* scheduler = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_scheduler_create(NULL, &scheduler));
  scopevm_session_options options = {sizeof(scopevm_session_options)};
  options.scheduler = scheduler;
  OK(scopevm_session_create(module, &options, &session));
  float x[4] = {0};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  scopevm_submit_options submit = {sizeof(scopevm_submit_options)};
  const scopevm_run_options identified = {.struct_size = sizeof identified, .request_id = 41};
  submit.run = &identified;
  scopevm_call_cancel(call);
  OK(scopevm_call_submit(call, &submit, NULL, NULL));
  FAILS(scopevm_call_wait(call, -1), SCOPEVM_CANCELLED, "cancelled");
  EXPECT(last.count == 1 && last.severity == SCOPEVM_LOG_INFO && last.request_id == 41);
  OK(scopevm_set_log(NULL));
  scopevm_call_cancel(call);
  OK(scopevm_call_submit(call, &submit, NULL, NULL));
  FAILS(scopevm_call_wait(call, -1), SCOPEVM_CANCELLED, "cancelled");
  EXPECT(last.count == 1);
  scopevm_call_free(call);
  scopevm_session_free(session);
  scopevm_scheduler_free(scheduler);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scopevm_module* module = NULL;
  scopevm_session* session = NULL;
  OK(scopevm_module_load(argv[1], NULL, &module));
  if (module == NULL) return 1;
  OK(scopevm_session_create(module, NULL, &session));
  float x[4] = {0};
  int64_t dims[] = {1, 4};
  scopevm_call* call = new_call(session, x, dims);
  scopevm_run_options run = {sizeof(scopevm_run_options)};
  run.trace = keep_request;
  run.request_id = 99;
  OK(scopevm_call_run(call, &run));
  EXPECT(traced_request == 99);
  scopevm_call_free(call);
  read_metrics(session);
  read_log(module);
  scopevm_session_free(session);
  scopevm_module_free(module);
  return failures == 0 ? 0 : 1;
}
