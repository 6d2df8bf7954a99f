// Prints the memory of models; see check.h.
#include "tools/serve/check.h"

#include <map>
#include <string>
#include <utility>

#include "runtime/bytes_text.h"
#include "tools/files/standard_streams.h"
#include "tools/serve/repository/repository.h"
#include "tools/serve/tls/credentials.h"

namespace scopevm::serve {
namespace {

using Pools = std::map<std::string, int64_t>;  // bytes by DEVICE.SCOPE

// The bytes that a session holds without a request: constants.
Result<Pools> held_bytes(const Session& session) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto stats, session.memory_stats());
  Pools held;
  for (const ScopeStats& scope : stats)
    held[scope.device + "." + scope.scope] += scope.memory.live_bytes;
  return held;
}

std::string text_of(int64_t bytes) { return runtime::bytes_text(bytes); }

// How many requests of `bytes` fit in what the models leave of a capacity; "any number" without a
// capacity.
std::string fitting(const Pools& capacities, const Pools& held, const std::string& pool,
                    int64_t bytes, bool& fits) {
  const auto capacity = capacities.find(pool);
  if (capacity == capacities.end() || bytes == 0) return "any number";
  const auto used = held.find(pool);
  const int64_t count = (capacity->second - (used != held.end() ? used->second : 0)) / bytes;
  fits &= count > 0;
  return std::to_string(std::max<int64_t>(count, 0));
}

class Report {
 public:
  Report(const ServerOptions& options, const std::vector<std::shared_ptr<LoadedModel>>& models)
      : models_(models) {
    for (const PoolCapacity& capacity : options.capacities)
      capacities_[capacity.pool] = capacity.bytes;
  }

  // Returns whether the largest request of every model fits.
  Result<bool> print() {
    for (const auto& model : models_) {
      SCOPEVM_ASSIGN_OR_RETURN(const Pools held, held_bytes(model->session));
      for (const auto& [pool, bytes] : held) held_[pool] += bytes;
    }
    bool fits = true;
    for (const auto& model : models_) SCOPEVM_RETURN_IF_ERROR(print_model(*model, fits));
    for (const auto& [pool, capacity] : capacities_) {
      const int64_t held = held_.contains(pool) ? held_.at(pool) : 0;
      tool::print("{}: {} of {} hold constants\n", pool, text_of(held), text_of(capacity));
      fits &= held <= capacity;
    }
    return fits;
  }

 private:
  Status print_model(const LoadedModel& model, bool& fits) {
    tool::print("{}/{}\n", model.name, std::to_string(model.version));
    const Result<MemoryBound> bound = model.module.largest_bound({}, model.session.threads());
    if (!bound.ok()) {
      tool::print("  largest request: {}\n", bound.status().message());
      return {};
    }
    for (const ScopeBound& scope : bound->scopes) {
      const std::string pool = scope.device + "." + scope.scope;
      tool::print("  {}: largest request {}, at the same time: {}\n", pool, text_of(scope.bytes),
                  fitting(capacities_, held_, pool, scope.bytes, fits));
    }
    for (const MemoryLine& line : bound->lines)
      if (line.depends_on_data)
        tool::print("  {}.{}: {} depends on data: \"data_budgets\" of config.json limits it\n",
                    line.device, line.scope, line.what);
    return {};
  }

  const std::vector<std::shared_ptr<LoadedModel>>& models_;
  Pools capacities_;
  Pools held_;
};

}  // namespace

Status check(const ServerOptions& options) {
  if (options.tls) SCOPEVM_RETURN_IF_ERROR(TlsCredentials::load(*options.tls).status());
  SCOPEVM_ASSIGN_OR_RETURN(const Scheduler scheduler,
                           Scheduler::create({.workers = options.threads}));
  Repository repository({options.models,
                         options.cache,
                         {scheduler, scheduler.workers(), {.public_keys = options.public_keys}}});
  SCOPEVM_RETURN_IF_ERROR(repository.load_all());
  const auto models = repository.loaded();
  Report report(options, models);
  SCOPEVM_ASSIGN_OR_RETURN(const bool fits, report.print());
  for (const IndexEntry& entry : repository.index())
    if (!entry.is_ready) return {StatusCode::kInvalidModel, entry.name + ": " + entry.reason};
  if (!fits) return {StatusCode::kResourceLimit, "a model does not fit in the capacities"};
  return {};
}

}  // namespace scopevm::serve
