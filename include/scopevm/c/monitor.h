/** @file
 * Metrics and the log of the C API; see scopevm/scopevm.h, scopevm/metrics.h and scopevm/log.h. */
#ifndef SCOPEVM_C_MONITOR_H_
#define SCOPEVM_C_MONITOR_H_

#include <stddef.h>
#include <stdint.h>

#include "scopevm/c/export.h"
#include "scopevm/c/session.h"
#include "scopevm/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A session and its name in the metrics. */
typedef struct scopevm_metrics_source {
  const char* model;              /**< value of the label `model`: UTF-8 */
  const scopevm_session* session; /**< not owned */
} scopevm_metrics_source;

/** The metrics of sessions at one time. */
typedef struct scopevm_metrics scopevm_metrics;

/** Reads the metrics of `count` sessions and of their schedulers: prometheus_text. `source_size` is
 * sizeof(scopevm_metrics_source). */
SCOPEVM_API scopevm_status* scopevm_metrics_read(const scopevm_metrics_source* sources,
                                                 size_t count, size_t source_size,
                                                 scopevm_metrics** out);
/** The metrics in the text format of Prometheus, version 0.0.4. NULL for NULL. */
SCOPEVM_API const char* scopevm_metrics_text(const scopevm_metrics* metrics);
/** Releases the metrics and their text. */
SCOPEVM_API void scopevm_metrics_free(scopevm_metrics* metrics);

/** The severities of messages, in ascending order: LogSeverity in scopevm/log.h. */
enum scopevm_log_severities {
  SCOPEVM_LOG_INFO = 0,    /**< expected; explains times and memory */
  SCOPEVM_LOG_WARNING = 1, /**< something did not happen as requested */
  SCOPEVM_LOG_ERROR = 2,   /**< a failure that later calls can have, too */
};

/** A message of the log. */
typedef struct scopevm_log_message {
  size_t struct_size; /**< sizeof(scopevm_log_message) in the library */
  int severity;       /**< one of scopevm_log_severities */
  const char* text;   /**< without a line break at its end; valid during the call of the function */
  uint64_t request_id; /**< scopevm_run_options::request_id of the call; 0: none */
} scopevm_log_message;

/** The log of the process. Initialise with {sizeof(scopevm_log_options)}. */
typedef struct scopevm_log_options {
  size_t struct_size; /**< sizeof(scopevm_log_options) */
  /** Receives messages, on any thread; concurrent messages call it concurrently. It can use the
   * library, but messages of its own calls are discarded. NULL: messages are discarded. */
  void (*function)(void* context, const scopevm_log_message* message);
  void* context; /**< first argument of `function` */
  int least;     /**< the lowest severity that is reported */
  /** Called once, when another function has replaced this one and all its calls have returned. Can
   * be NULL. If scopevm_set_log() fails, it is not called. */
  void (*release)(void* context);
} scopevm_log_options;

/** Replaces the function that receives the messages of the process: set_log. Returns after the last
 * call of the previous function has returned. Not in the function itself. NULL `options`: messages
 * are discarded, as by default. */
SCOPEVM_API scopevm_status* scopevm_set_log(const scopevm_log_options* options);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_MONITOR_H_ */
