// Threads, signals and timers of the server; see server.h.
#include "tools/serve/server.h"

#include <signal.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "tools/command_line/exit_code.h"
#include "tools/files/standard_streams.h"
#include "tools/ranks/launcher.h"
#include "tools/serve/api/api.h"
#include "tools/serve/grpc/grpc_server.h"
#include "tools/serve/http/agent.h"
#include "tools/serve/repository/repository.h"

namespace scopevm::serve {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr int kIoThreads = 2;

// A connection is a file: takes as many as the system permits.
void raise_file_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

class Server {
 public:
  Server(const ServerOptions& options, Scheduler scheduler, std::shared_ptr<Job> job,
         std::unique_ptr<AccessLog> log, std::shared_ptr<TlsCredentials> tls)
      : options_(options),
        access_log_(std::move(log)),
        tls_(std::move(tls)),
        signals_(io_, SIGTERM, SIGINT, SIGHUP),
        sweep_timer_(io_),
        poll_timer_(io_),
        drain_timer_(io_),
        repository_({options.models,
                     options.cache,
                     {scheduler,
                      scheduler.workers(),
                      {.public_keys = options.public_keys,
                       .rank = job == nullptr ? std::nullopt : std::optional(0)},
                      std::move(job)}}),
        core_{repository_, scheduler,
              [this](std::function<void()> load) { asio::post(loader_, std::move(load)); }},
        api_(core_) {}

  Status run() {
    SCOPEVM_RETURN_IF_ERROR(listen());
    wait_for_signal();
    std::vector<std::thread> threads;
    for (int i = 0; i < kIoThreads; ++i) threads.emplace_back([this] { io_.run(); });
    const Status loaded = repository_.load_all();
    if (loaded.ok() && !is_draining_) {
      start_timers();
      core_.is_ready = true;
      if (grpc_) grpc_->set_serving(true);
      tool::print("ready\n");
      std::fflush(stdout);
    } else if (!loaded.ok()) {
      asio::post(io_, [this] { io_.stop(); });
    }
    for (std::thread& thread : threads) thread.join();
    loader_.join();
    // A call that did not stop in time would end in a connection without its io_context.
    if (!is_idle()) std::_Exit(tool::report(loaded));
    return loaded;
  }

 private:
  Status listen() {
    if (!options_.http.empty()) {
      HttpOptions limits = options_.limits;
      limits.access_log = access_log_.get();
      limits.tls = tls_;
      SCOPEVM_ASSIGN_OR_RETURN(
          http_, HttpServer::listen(
                     io_, options_.http, limits,
                     [this](const std::shared_ptr<Exchange>& exchange) { api_.handle(exchange); }));
      core_.http = &http_->statistics();
      tool::print("http {}\n", http_->address());
    }
    if (!options_.grpc.empty()) {
      SCOPEVM_ASSIGN_OR_RETURN(
          grpc_, GrpcServer::listen(core_, {options_.grpc, options_.limits.max_body_bytes, tls_}));
      grpc_->set_serving(false);
      tool::print("grpc {}\n", grpc_->address());
    }
    if (!options_.metrics.empty()) {
      SCOPEVM_ASSIGN_OR_RETURN(
          metrics_, HttpServer::listen(io_, options_.metrics, options_.limits,
                                       [this](const std::shared_ptr<Exchange>& exchange) {
                                         const HttpServer& of = http_ ? *http_ : *metrics_;
                                         api_.handle_metrics(exchange, of.statistics());
                                       }));
      tool::print("metrics {}\n", metrics_->address());
    }
    if (!options_.agent.empty()) {
      SCOPEVM_ASSIGN_OR_RETURN(
          agent_, AgentServer::listen(io_, options_.agent, [this] { return agent_line(); }));
      tool::print("agent {}\n", agent_->address());
    }
    std::fflush(stdout);
    return {};
  }

  // The weight for a proxy: the free share of the pool with the least, at least 1 %.
  std::string agent_line() const {
    if (!core_.is_ready) return "drain";
    const auto stats = core_.scheduler.stats();
    double free = 1;
    if (stats.ok())
      for (const PoolUse& pool : stats->pools)
        if (pool.capacity_bytes > 0)
          free = std::min(free, 1 - static_cast<double>(pool.reserved_bytes + pool.held_bytes) /
                                        static_cast<double>(pool.capacity_bytes));
    return "ready up " + std::to_string(std::max(1, static_cast<int>(100 * free))) + "%";
  }

  void wait_for_signal() {
    signals_.async_wait([this](boost::system::error_code error, int signal) {
      if (error) return;
      if (signal == SIGHUP)
        reload();
      else
        drain();
      wait_for_signal();
    });
  }

  void reload() {
    const auto report = [](const Status& status) {
      if (!status.ok()) tool::print_message(stderr, "scopevm serve: {}\n", status.message());
    };
    if (access_log_) report(access_log_->reopen());
    if (tls_) report(tls_->reload());
    asio::post(loader_, [this] {
      // Files that have just changed count from the second look on.
      repository_.poll();
      repository_.poll();
    });
  }

  void start_timers() {
    repeat(sweep_timer_, std::chrono::seconds(1), [this] {
      for (const auto& model : repository_.loaded()) model->sequences.end_idle();
    });
    if (options_.poll.count() > 0)
      repeat(poll_timer_, options_.poll,
             [this] { asio::post(loader_, [this] { repository_.poll(); }); });
  }

  void repeat(asio::steady_timer& timer, std::chrono::seconds period,
              const std::function<void()>& action) {
    timer.expires_after(period);
    timer.async_wait([this, &timer, period, action](boost::system::error_code error) {
      if (error || is_draining_) return;
      action();
      repeat(timer, period, action);
    });
  }

  // The second signal cancels the requests in flight.
  void drain() {
    if (is_draining_.exchange(true)) {
      is_hurried_ = true;
      return;
    }
    repository_.stop_loading();
    tool::print("draining\n");
    std::fflush(stdout);
    core_.is_ready = false;
    drain_end_ = steady_clock::now() + options_.drain_timeout;
    if (http_) http_->drain();
    if (grpc_) {
      grpc_->set_serving(false);
      grpc_end_ = std::async(std::launch::async, [this] {
        grpc_->drain(std::chrono::system_clock::now() + options_.drain_timeout);
      });
    }
    wait_for_end();
  }

  // Whether no client waits for a response.
  bool is_idle() const {
    const bool is_grpc_idle = !grpc_end_.valid() || grpc_end_.wait_for(std::chrono::seconds(0)) ==
                                                        std::future_status::ready;
    return (!http_ || http_->statistics().connections == 0) && is_grpc_idle;
  }

  void wait_for_end() {
    if (is_hurried_) drain_end_ = std::min(drain_end_, steady_clock::now());
    const bool is_late = steady_clock::now() > drain_end_ + std::chrono::seconds(2);
    if (is_idle() || is_late) return io_.stop();
    if (steady_clock::now() > drain_end_ && http_) http_->close();
    drain_timer_.expires_after(std::chrono::milliseconds(20));
    drain_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) wait_for_end();
    });
  }

  const ServerOptions& options_;
  const std::unique_ptr<AccessLog> access_log_;
  const std::shared_ptr<TlsCredentials> tls_;
  // Destroyed in reverse order: first what uses the io_context, whose pending handlers hold
  // connections and requests.
  asio::io_context io_;
  asio::thread_pool loader_{1};
  asio::signal_set signals_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer poll_timer_;
  asio::steady_timer drain_timer_;
  Repository repository_;
  Core core_;
  Api api_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<HttpServer> metrics_;
  std::unique_ptr<AgentServer> agent_;
  std::unique_ptr<GrpcServer> grpc_;
  std::future<void> grpc_end_;  // of its draining
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> is_hurried_{false};
  steady_clock::time_point drain_end_;
};

// Launchers send signals to all processes of a job: rank 0 decides when it ends.
Status follow(const scopevm_transport& transport, const ServerOptions& options) {
  for (const int ignored : {SIGTERM, SIGINT, SIGHUP}) signal(ignored, SIG_IGN);
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  const Status status = follow_job(transport, {.public_keys = options.public_keys},
                                   options.threads > 0 ? options.threads : std::max(cpus, 1));
  if (!status.ok()) tool::exit_from_job(status);
  return status;
}

}  // namespace

Status serve(const ServerOptions& options) {
  raise_file_limit();
  signal(SIGPIPE, SIG_IGN);
  std::shared_ptr<Job> job;
  if (const std::string name = tool::transport_name(options.transport); !name.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(const Transport transport, Transport::load(name));
    if (transport.get()->rank > 0) return follow(*transport.get(), options);
    if (transport.get()->ranks > 1) job = std::make_shared<Job>(*transport.get());
  }
  SchedulerOptions scheduler_options;
  scheduler_options.workers = options.threads;
  scheduler_options.capacities = options.capacities;
  SCOPEVM_ASSIGN_OR_RETURN(const Scheduler scheduler, Scheduler::create(scheduler_options));
  std::unique_ptr<AccessLog> log;
  if (!options.access_log.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(log, AccessLog::open(options.access_log));
  }
  std::shared_ptr<TlsCredentials> tls;
  if (options.tls) {
    SCOPEVM_ASSIGN_OR_RETURN(tls, TlsCredentials::load(*options.tls));
  }
  Server server(options, scheduler, std::move(job), std::move(log), std::move(tls));
  return server.run();
}

}  // namespace scopevm::serve
