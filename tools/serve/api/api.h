// The HTTP paths of the server: the Open Inference Protocol with its extensions, the metrics, and
// the status page. docs/serve.md describes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "tools/serve/api/paths.h"
#include "tools/serve/core.h"
#include "tools/serve/http/http_server.h"
#include "tools/serve/http/message.h"

namespace scopevm::serve {

// Thread-safe.
class Api {
 public:
  explicit Api(Core& core) : core_(core) {}

  // Answers a request of the inference address.
  void handle(const std::shared_ptr<Exchange>& exchange);
  // Answers a request of the metrics address.
  void handle_metrics(const std::shared_ptr<Exchange>& exchange, const HttpStatistics& http) const;

 private:
  using Path = std::vector<std::string>;

  void handle_model(const std::shared_ptr<Exchange>& exchange, const Path& path);
  void handle_repository(const std::shared_ptr<Exchange>& exchange, const Path& path);
  void run(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<LoadedModel> model,
           bool is_generation);
  void change(const std::shared_ptr<Exchange>& exchange, const std::string& name, bool is_load);

  Core& core_;
  const Paths paths_;
};

// Parts of the API, each the body of a response.
std::string server_metadata();
std::string model_metadata(const LoadedModel& model, const std::vector<int64_t>& versions);
std::string model_statistics(const std::vector<std::shared_ptr<LoadedModel>>& models);
std::string repository_index(const std::vector<IndexEntry>& index);
std::string status_json(const Core& core);
std::string status_page(const Core& core);
// Metrics in the text format of Prometheus. Errors: kOutOfMemory.
Result<std::string> metrics_text(const std::vector<std::shared_ptr<LoadedModel>>& models,
                                 const HttpStatistics& http);

HttpResponse error_response(int status, std::string_view message);
// The response to a request that failed.
HttpResponse error_response(const Status& status);

}  // namespace scopevm::serve
