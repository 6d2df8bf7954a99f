/// @file
/// Metrics of sessions and schedulers, in the text format of Prometheus: docs/metrics.md.
///
///     auto text = prometheus_text({{{"digits", *session}}});
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scopevm/c/monitor.h"
#include "scopevm/layer/status.h"
#include "scopevm/session.h"
#include "scopevm/status.h"

namespace scopevm {

/// A session and its name in the metrics.
struct MetricsSource {
  std::string model;  ///< value of the label `model`: any UTF-8 text
  Session session;    ///< a handle; its counters start when it is created
};

/// The current metrics of the sessions and of their schedulers, in version 0.0.4 of Prometheus'
/// text format (content type `text/plain; version=0.0.4`). Metrics of schedulers have the label
/// `scheduler`: the position of their first session in `sources`. Numbers are read one after the
/// other while calls run, so that two of them can be of slightly different times. Thread-safe.
/// Errors: kInvalidArgument (two sources have one name), kOutOfMemory.
inline Result<std::string> prometheus_text(std::span<const MetricsSource> sources) {
  return layer::guarded([&]() -> Result<std::string> {
    std::vector<scopevm_metrics_source> given;
    given.reserve(sources.size());
    for (const MetricsSource& source : sources)
      given.push_back({source.model.c_str(), source.session.c_session()});
    scopevm_metrics* metrics = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_metrics_read(
        given.data(), given.size(), sizeof(scopevm_metrics_source), &metrics)));
    const std::unique_ptr<scopevm_metrics, void (*)(scopevm_metrics*)> owner(metrics,
                                                                             scopevm_metrics_free);
    return std::string(scopevm_metrics_text(metrics));
  });
}

}  // namespace scopevm
