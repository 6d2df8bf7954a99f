// The HTTP paths of the server: the Open Inference Protocol with its extensions, the metrics, and
// the status page. docs/serve.md lists them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/status.h"
#include "tools/serve/http/http_server.h"
#include "tools/serve/http/message.h"
#include "tools/serve/repository/repository.h"

namespace scopevm::serve {

// Thread-safe.
class Api {
 public:
  // `run_later` executes loads, one after the other, on another thread.
  Api(Repository& repository, Scheduler scheduler,
      std::function<void(std::function<void()>)> run_later);

  // Answers a request of the inference address.
  void handle(const std::shared_ptr<Exchange>& exchange);
  // Answers a request of the metrics address.
  void handle_metrics(const std::shared_ptr<Exchange>& exchange, const HttpStatistics& http) const;
  // Whether `v2/health/ready` answers 200.
  void set_ready(bool is_ready) { is_ready_ = is_ready; }

 private:
  using Path = std::vector<std::string>;

  void handle_model(const std::shared_ptr<Exchange>& exchange, const Path& path);
  void handle_repository(const std::shared_ptr<Exchange>& exchange, const Path& path);
  void infer(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<LoadedModel> model);
  void change(const std::shared_ptr<Exchange>& exchange, const std::string& name, bool is_load);

  Repository& repository_;
  const Scheduler scheduler_;
  const std::function<void(std::function<void()>)> run_later_;
  std::atomic<bool> is_ready_{false};
};

// Parts of the API, each the body of a response.
std::string server_metadata();
std::string model_metadata(const LoadedModel& model, const std::vector<int64_t>& versions);
std::string model_statistics(const std::vector<std::shared_ptr<LoadedModel>>& models);
std::string repository_index(const std::vector<IndexEntry>& index);
// Metrics in the text format of Prometheus. Errors: kOutOfMemory.
Result<std::string> metrics_text(const std::vector<std::shared_ptr<LoadedModel>>& models,
                                 const HttpStatistics& http);

HttpResponse error_response(int status, std::string_view message);
// The response to a request that failed.
HttpResponse error_response(const Status& status);

}  // namespace scopevm::serve
