// The bodies of responses that describe the server; see api.h.
#include "scopevm/metrics.h"
#include "scopevm/scopevm.h"
#include "tools/serve/api/api.h"
#include "tools/serve/api/json.h"
#include "tools/serve/protocol/binary_tensor.h"
#include "tools/serve/protocol/datatype.h"
#include "tools/serve/protocol/description.h"

namespace scopevm::serve {
namespace {

Json tensors_of(const std::vector<TensorSignature>& tensors) {
  Json list = Json::array();
  for (const TensorSignature& tensor : tensors)
    list.push_back({{"name", tensor.name},
                    {"datatype", datatype_name(tensor.dtype)},
                    {"shape", constant_dims(tensor)}});
  return list;
}

Json duration(int64_t count, int64_t ns) { return {{"count", count}, {"ns", ns}}; }

}  // namespace

Json statistics_of(const LoadedModel& model) {
  const ModelStatistics& counters = model.statistics;
  const int64_t successes = counters.successes;
  return {{"name", model.name},
          {"version", std::to_string(model.version)},
          {"last_inference", counters.last_ms.load()},
          {"inference_count", successes},
          {"execution_count", model.execution_count()},
          {"pending_count", counters.in_flight.load()},
          {"sequence_count", model.sequences.count()},
          {"inference_stats",
           {{"success", duration(successes, counters.success_ns)},
            {"fail", duration(counters.failures, counters.failure_ns)},
            {"queue", duration(successes, counters.queue_ns)},
            {"compute_infer", duration(successes, counters.compute_ns)}}}};
}

std::string server_metadata() {
  return dumped(
      {{"name", kServerName}, {"version", scopevm_version()}, {"extensions", kExtensions}});
}

std::string model_metadata(const LoadedModel& model, const std::vector<int64_t>& versions) {
  const Signature& signature = model.module.signature();
  Json texts = Json::array();
  for (const int64_t version : versions) texts.push_back(std::to_string(version));
  return dumped({{"name", model.name},
                 {"versions", texts},
                 {"platform", kServerName},
                 {"inputs", tensors_of(signature.inputs)},
                 {"outputs", tensors_of(signature.outputs)}});
}

std::string model_statistics(const std::vector<std::shared_ptr<LoadedModel>>& models) {
  Json list = Json::array();
  for (const auto& model : models) list.push_back(statistics_of(*model));
  return dumped({{"model_stats", list}});
}

std::string repository_index(const std::vector<IndexEntry>& index) {
  Json list = Json::array();
  for (const IndexEntry& entry : index) {
    Json item = {{"name", entry.name}};
    if (entry.version > 0) item["version"] = std::to_string(entry.version);
    item["state"] = entry.is_ready ? kReady : kUnavailable;
    item["reason"] = entry.reason;
    list.push_back(std::move(item));
  }
  return dumped(list);
}

Result<std::string> metrics_text(const std::vector<std::shared_ptr<LoadedModel>>& models,
                                 const HttpStatistics& http) {
  std::vector<MetricsSource> sources;
  sources.reserve(models.size());
  for (const auto& model : models)
    sources.push_back({model->name + "/" + std::to_string(model->version), model->session});
  SCOPEVM_ASSIGN_OR_RETURN(std::string text, prometheus_text(sources));
  const auto add = [&](const char* name, const char* type, const char* help, int64_t value) {
    text += "# HELP scopevm_http_" + std::string(name) + " " + help + "\n# TYPE scopevm_http_" +
            name + " " + type + "\nscopevm_http_" + name + " " + std::to_string(value) + "\n";
  };
  add("connections", "gauge", "Open connections.", http.connections);
  add("connections_total", "counter", "Accepted connections.", http.accepted);
  add("connections_refused_total", "counter", "Connections above the maximum.", http.refused);
  add("handshakes_failed_total", "counter", "Handshakes of TLS that failed.",
      http.failed_handshakes);
  add("requests_total", "counter", "Requests that were read.", http.requests);
  add("clients_left_total", "counter", "Clients that left before the response.", http.left);
  add("request_bytes_total", "counter", "Bytes of the bodies of requests.", http.request_bytes);
  add("response_bytes_total", "counter", "Bytes of the bodies of responses.", http.response_bytes);
  add("body_bytes_in_flight", "gauge", "Bytes reserved for bodies of requests in flight.",
      http.body_bytes_in_flight);
  return text;
}

}  // namespace scopevm::serve
