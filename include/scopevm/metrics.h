/// @file
/// Metrics of sessions and schedulers, in the text format of Prometheus: docs/metrics.md.
///
///     auto text = prometheus_text({{{"digits", *session}}});
#pragma once

#include <span>
#include <string>

#include "scopevm/c/export.h"
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
SCOPEVM_API Result<std::string> prometheus_text(std::span<const MetricsSource> sources);

}  // namespace scopevm
