// The status of the server: as JSON, and as a page that reads it again each second.
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "scopevm/scopevm.h"
#include "tools/page/page.h"
#include "tools/serve/api/api.h"
#include "tools/serve/api/json.h"

extern const std::string_view kStatusPage;

namespace scopevm::serve {
namespace {

Json pools_of(const Session& session) {
  Json pools = Json::array();
  const auto stats = session.memory_stats();
  if (!stats.ok()) return pools;
  for (const ScopeStats& scope : *stats)
    pools.push_back({{"name", scope.device + "." + scope.scope},
                     {"live", scope.memory.live_bytes},
                     {"peak", scope.memory.peak_bytes},
                     {"cached", scope.memory.cached_bytes}});
  return pools;
}

Json latency_of(const ModelStatistics& statistics) {
  Json counts = Json::array();
  for (const auto& count : statistics.latency) counts.push_back(count.load());
  return counts;
}

Json models_of(const Repository& repository) {
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<LoadedModel>> loaded;
  for (auto& model : repository.loaded()) loaded[{model->name, model->version}] = model;
  Json models = Json::array();
  for (const IndexEntry& entry : repository.index()) {
    Json item = {{"name", entry.name}, {"reason", entry.reason}};
    if (entry.version > 0) item["version"] = entry.version;
    const auto model = loaded.find({entry.name, entry.version});
    if (model != loaded.end()) {
      item["statistics"] = statistics_of(*model->second);
      item["latency"] = latency_of(model->second->statistics);
      item["pools"] = pools_of(model->second->session);
    }
    models.push_back(std::move(item));
  }
  return models;
}

Json scheduler_of(const Scheduler& scheduler) {
  const auto stats = scheduler.stats();
  const SchedulerStats now = stats.ok() ? *stats : SchedulerStats();
  Json pools = Json::array();
  for (const PoolUse& pool : now.pools)
    pools.push_back({{"name", pool.pool},
                     {"capacity", pool.capacity_bytes},
                     {"reserved", pool.reserved_bytes},
                     {"held", pool.held_bytes}});
  return {{"workers", scheduler.workers()},
          {"waiting", now.waiting},
          {"ready", now.ready},
          {"running", now.running},
          {"pools", pools}};
}

}  // namespace

std::string status_json(const Core& core) {
  const auto uptime = std::chrono::steady_clock::now() - core.started;
  Json http = {{"connections", 0}, {"requests", 0}, {"left", 0}};
  if (core.http != nullptr)
    http = {{"connections", core.http->connections.load()},
            {"requests", core.http->requests.load()},
            {"left", core.http->left.load()}};
  const Json status = {
      {"version", scopevm_version()},
      {"is_ready", core.is_ready.load()},
      {"uptime_s", std::chrono::duration_cast<std::chrono::seconds>(uptime).count()},
      {"http", http},
      {"scheduler", scheduler_of(core.scheduler)},
      {"models", models_of(core.repository)}};
  return dumped(status);
}

std::string status_page(const Core& core) {
  return tool::html_page(kStatusPage, status_json(core));
}

}  // namespace scopevm::serve
