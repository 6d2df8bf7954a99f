// The functions of the C API for metrics and the log (scopevm/c/monitor.h).
#include <string>
#include <utility>
#include <vector>

#include "scopevm/log.h"
#include "scopevm/metrics.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

struct scopevm_metrics {
  std::string text;
};

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_metrics_read(const scopevm_metrics_source* sources, size_t count,
                                     size_t source_size, scopevm_metrics** out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        const auto given, scopevm::read_array(sources, count, source_size,
                                              SCOPEVM_SIZE_UP_TO(scopevm_metrics_source, session),
                                              "source_size", "sources"));
    std::vector<scopevm::MetricsSource> converted;
    for (const scopevm_metrics_source& source : given) {
      SCOPEVM_RETURN_IF_ERROR(scopevm::check_not_null({{source.session, "session"}}));
      SCOPEVM_ASSIGN_OR_RETURN(const std::string_view model,
                               scopevm::to_text(source.model, "model"));
      converted.push_back({std::string(model), source.session->session});
    }
    SCOPEVM_ASSIGN_OR_RETURN(std::string text, scopevm::prometheus_text(converted));
    *out = new scopevm_metrics{std::move(text)};
    return {};
  });
}

const char* scopevm_metrics_text(const scopevm_metrics* metrics) {
  return metrics == nullptr ? nullptr : metrics->text.c_str();
}

void scopevm_metrics_free(scopevm_metrics* metrics) { delete metrics; }

scopevm_status* scopevm_set_log(const scopevm_log_options* options) {
  return checked({}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm_log_options c,
        scopevm::read_options(options, SCOPEVM_SIZE_UP_TO(scopevm_log_options, least),
                              "scopevm_log_options"));
    if (c.least < SCOPEVM_LOG_INFO || c.least > SCOPEVM_LOG_ERROR)
      return {scopevm::StatusCode::kInvalidArgument,
              "severity " + std::to_string(c.least) + ", expected 0 to 2"};
    if (c.function == nullptr) return scopevm::set_log({});
    return scopevm::set_log(
        [c](const scopevm::LogMessage& message) {
          const std::string text(message.text);
          const scopevm_log_message given = {sizeof given, static_cast<int>(message.severity),
                                             text.c_str(), message.request_id};
          c.function(c.context, &given);
        },
        static_cast<scopevm::LogSeverity>(c.least));
  });
}
