// For each module, rank 0 sends its file to all others, receives an error or an empty text from
// each, and sends them whether all have loaded it. Then all create a session. An empty file ends
// the job.
#include "tools/serve/model/job.h"

#include <chrono>
#include <thread>
#include <utility>

#include "runtime/count_text.h"
#include "scopevm/session.h"

namespace scopevm::serve {
namespace {

constexpr char kGo[] = "go";
// The last requests of a model that was unloaded have this time to end.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

Job::~Job() {
  for (int rank = 1; rank < transport_.ranks; ++rank) exchange_.send_text(rank, "");
}

Result<Job::Use> Job::begin(const std::string& path, int ranks) {
  if (ranks != transport_.ranks)
    return Status(StatusCode::kInvalidArgument,
                  "the module is for " + runtime::count_text(ranks, "rank") + ", the job has " +
                      std::to_string(transport_.ranks));
  const std::lock_guard lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!use_.expired() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!use_.expired())
    return Status(StatusCode::kUnsupported, "another model, or another version, uses the ranks");
  for (int rank = 1; rank < transport_.ranks; ++rank) exchange_.send_text(rank, path);
  Status failure;
  for (int rank = 1; rank < transport_.ranks; ++rank) {
    const std::string error = exchange_.receive_text(rank);
    if (!error.empty() && failure.ok())
      failure = Status(StatusCode::kInvalidModel, "rank " + std::to_string(rank) + ": " + error);
  }
  for (int rank = 1; rank < transport_.ranks; ++rank)
    exchange_.send_text(rank, failure.ok() ? kGo : "");
  SCOPEVM_RETURN_IF_ERROR(exchange_.status());
  SCOPEVM_RETURN_IF_ERROR(failure);
  Use use(&transport_, [](const scopevm_transport*) {});
  use_ = use;
  return use;
}

Status follow_job(const scopevm_transport& transport, const LoadOptions& load, int threads) {
  LoadOptions of_rank = load;
  of_rank.rank = transport.rank;
  tool::Exchange exchange(transport);
  while (true) {
    const std::string path = exchange.receive_text(0);
    SCOPEVM_RETURN_IF_ERROR(exchange.status());
    if (path.empty()) return {};
    const Result<Module> module = Module::load(path, of_rank);
    exchange.send_text(0, module.ok() ? "" : std::string(module.status().message()));
    if (exchange.receive_text(0) != kGo) continue;
    SessionOptions options;
    options.threads = threads;
    options.transport = &transport;
    SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(*module, options));
    SCOPEVM_RETURN_IF_ERROR(session.follow());
  }
}

}  // namespace scopevm::serve
