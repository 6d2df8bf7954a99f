// Does the memory of a server grow? Runs requests with random dims in one session, and prints the
// allocations and the resident memory of the process after 10^3, 10^4, ... requests. Fails if the
// resident memory grows by more than 2 % after the first 1000 requests, or 100,000 with clients.
//
//   memory_requests_bench MODULE NAME=LEAST..MOST... [--requests N] [--reserve] [--threads N]
//                         [--clients N [--capacity BYTES] [--spin US]]
//
// With clients, a scheduler runs their requests, each pool within the capacity. The output then
// also has the throughput, compared with as many threads as CPUs that run requests without a
// scheduler, and the latencies of the smallest and the largest tenth of the requests.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/session.h"

namespace scopevm {
namespace {

// Requests before the growth: of one thread, and of clients, whose memory each grows to the size of
// the largest request.
constexpr int64_t kWarmRequests = 1000, kWarmClientRequests = 100'000;
constexpr double kMostGrowth = 0.02;

struct Options {
  std::string module;
  std::map<std::string, DimRange> dims;
  int64_t requests = 1'000'000;
  bool is_reserved = false;
  int threads = 1;
  int clients = 0;       // 0: one thread runs the requests, without a scheduler
  int64_t capacity = 0;  // bytes of each pool; 0: not limited
  int64_t spin_us = 0;   // SchedulerOptions::spin
};

// Numbers of latencies, in buckets whose width is at most 1/32 of their least latency. It has all
// its memory from the start, so that it does not change the growth.
class Latencies {
 public:
  void add(std::chrono::nanoseconds latency) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(latency.count(), kParts));
    const int shift = std::bit_width(ns) - std::bit_width(uint64_t{kParts});
    ++counts_[static_cast<size_t>(shift) * kParts + (ns >> shift) - kParts];
  }
  void add(const Latencies& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  int64_t count() const { return std::accumulate(counts_.begin(), counts_.end(), int64_t{0}); }
  // In us: the least latency of the bucket of this part of the latencies.
  double quantile(double part) const {
    auto before = static_cast<int64_t>(part * static_cast<double>(count() - 1));
    size_t i = 0;
    while (before >= counts_[i]) before -= counts_[i++];
    return std::ldexp(static_cast<double>(kParts + i % kParts), static_cast<int>(i / kParts)) / 1e3;
  }

 private:
  static constexpr uint64_t kParts = 32;
  std::array<int64_t, 60 * kParts> counts_{};
};

// KiB of all mappings of the process. Unlike the number in /proc/self/statm, it is exact. The file
// is read into a buffer on the stack, since allocations would change the result.
int64_t resident_kib() {
  char text[4096] = {};
  const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  const char* rss = size <= 0 ? nullptr : std::strstr(text, "Rss:");
  if (rss == nullptr) return 0;
  rss += std::strlen("Rss:");
  while (*rss == ' ') ++rss;
  int64_t kib = 0;
  std::from_chars(rss, std::end(text), kib);
  return kib;
}

// Parses NAME=LEAST..MOST or NAME=VALUE.
Status parse_dim(const std::string& text, std::map<std::string, DimRange>& dims) {
  const size_t equals = text.find('='), dots = text.find("..");
  DimRange range;
  const auto parse = [&](size_t begin, size_t end, int64_t& value) {
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && rest == text.data() + end;
  };
  const bool is_range = dots != std::string::npos;
  if (equals == std::string::npos ||
      !parse(equals + 1, is_range ? dots : text.size(), range.least) ||
      !parse(is_range ? dots + 2 : equals + 1, text.size(), range.most) || range.least > range.most)
    return {StatusCode::kInvalidArgument, text + ": expected NAME=LEAST..MOST or NAME=VALUE"};
  dims[text.substr(0, equals)] = range;
  return {};
}

// Inputs of zeros in one buffer per input, which grows to the largest size.
class Requests {
 public:
  Requests(const Module& module, const Options& options, uint64_t seed)
      : module_(module),
        options_(options),
        buffers_(module.signature().inputs.size()),
        random_(seed) {}

  // Sets inputs of random dims, and returns their size, relative to the
  // ranges: from 0 to 1.
  Result<double> prepare(Call& call) {
    std::map<std::string, int64_t> dims;
    double size = 0;
    for (const auto& [name, range] : options_.dims) {
      dims[name] = std::uniform_int_distribution(range.least, range.most)(random_);
      size += static_cast<double>(dims[name] - range.least) /
              static_cast<double>(std::max<int64_t>(range.most - range.least, 1));
    }
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const DType dtype = module_.signature().inputs[i].dtype;
      SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, module_.input_shape(i, dims));
      int64_t count = 1;
      for (const int64_t dim : shape) count *= dim;
      const auto bytes = static_cast<size_t>(byte_size(dtype, count));
      if (bytes > buffers_[i].size()) buffers_[i].assign(bytes, 0);
      SCOPEVM_ASSIGN_OR_RETURN(Tensor input, Tensor::borrow(buffers_[i].data(), dtype, shape));
      SCOPEVM_RETURN_IF_ERROR(call.set_input(i, std::move(input)));
    }
    return size / static_cast<double>(std::max<size_t>(options_.dims.size(), 1));
  }

 private:
  const Module& module_;
  const Options& options_;
  std::vector<std::vector<char>> buffers_;
  std::mt19937_64 random_;
};

// A thread that runs one request after the other.
struct Client {
  Requests requests;
  Call call;
  Latencies smallest = {}, largest = {};  // of requests whose size is below 0.1, or above 0.9
  int64_t allocations = 0;
  Status failure = {};

  Status run() {
    SCOPEVM_ASSIGN_OR_RETURN(const double size, requests.prepare(call));
    const auto start = std::chrono::steady_clock::now();
    SCOPEVM_RETURN_IF_ERROR(call.run());
    const std::chrono::nanoseconds latency = std::chrono::steady_clock::now() - start;
    if (size <= 0.1) smallest.add(latency);
    if (size >= 0.9) largest.add(latency);
    call.clear_outputs();
    for (const ScopeUse& use : call.stats().memory) allocations += use.allocations;
    return {};
  }
};

Result<std::vector<Client>> make_clients(const Session& session, const Module& module,
                                         const Options& options, int count) {
  std::vector<Client> clients;
  for (int i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
    clients.push_back({Requests(module, options, static_cast<uint64_t>(i) + 1), std::move(call)});
  }
  return clients;
}

// Runs requests on one thread per client. Returns the seconds.
Result<double> run_clients(std::vector<Client>& clients, int64_t requests) {
  std::atomic<int64_t> left = requests;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (Client& client : clients)
      threads.emplace_back([&] {
        while (client.failure.ok() && left.fetch_sub(1) > 0) client.failure = client.run();
      });
  }
  for (const Client& client : clients) SCOPEVM_RETURN_IF_ERROR(client.failure);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_latencies(const std::vector<Client>& clients) {
  for (const auto& [what, member] :
       {std::pair("smallest", &Client::smallest), std::pair("largest", &Client::largest)}) {
    Latencies all;
    for (const Client& client : clients) all.add(client.*member);
    if (all.count() == 0) continue;
    fmt::print("  {} tenth: median {:.1f} us, 99 % {:.1f} us, maximum {:.1f} us\n", what,
               all.quantile(0.5), all.quantile(0.99), all.quantile(1));
  }
}

// The baseline of clients: one thread per CPU runs requests without a scheduler.
Status measure_baseline(const Module& module, const Options& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const Session session,
                           Session::create(module, {.threads = options.threads}));
  const auto cpus = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Client> clients,
                           make_clients(session, module, options, cpus));
  SCOPEVM_RETURN_IF_ERROR(run_clients(clients, kWarmRequests).status());
  for (Client& client : clients) client.smallest = client.largest = {};
  SCOPEVM_ASSIGN_OR_RETURN(const double seconds, run_clients(clients, options.requests));
  fmt::print("{} threads without a scheduler: {:.0f} requests/s\n", cpus,
             static_cast<double>(options.requests) / seconds);
  print_latencies(clients);
  return {};
}

Result<SessionOptions> session_options(const Module& module, const Options& options) {
  SessionOptions session;
  session.threads = options.threads;
  if (options.clients == 0) return session;
  SchedulerOptions scheduler;
  for (const MemoryScope& scope : module.memory_scopes())
    if (options.capacity > 0)
      scheduler.capacities.push_back({scope.device + "." + scope.scope, options.capacity});
  scheduler.spin = std::chrono::microseconds(options.spin_us);
  SCOPEVM_ASSIGN_OR_RETURN(session.scheduler, Scheduler::create(scheduler));
  return session;
}

int64_t warm_requests(const Options& options) {
  return options.clients > 0 ? kWarmClientRequests : kWarmRequests;
}

// Returns the growth of resident memory after warm_requests().
Result<double> measure(const Options& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(options.module));
  if (options.clients > 0) SCOPEVM_RETURN_IF_ERROR(measure_baseline(module, options));
  SCOPEVM_ASSIGN_OR_RETURN(SessionOptions with, session_options(module, options));
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, std::move(with)));
  if (options.is_reserved) SCOPEVM_RETURN_IF_ERROR(session.reserve(options.dims));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Client> clients,
                           make_clients(session, module, options, std::max(options.clients, 1)));
  int64_t first_kib = 0, kib = 0, done = 0;
  double seconds = 0;
  for (int64_t next = 1; done < options.requests; next *= 10) {
    const int64_t count = std::min(next, options.requests) - done;
    SCOPEVM_ASSIGN_OR_RETURN(const double took, run_clients(clients, count));
    done += count;
    seconds += took;
    int64_t allocations = 0;
    for (const Client& client : clients) allocations += client.allocations;
    kib = resident_kib();
    if (done <= warm_requests(options)) first_kib = kib;
    fmt::print("{:>8} requests: {} allocations, {} KiB resident, {:.1f} us a request\n", done,
               allocations, kib, 1e6 * seconds / static_cast<double>(done));
    std::fflush(stdout);
  }
  if (options.clients > 0) {
    fmt::print("{} clients of a scheduler: {:.0f} requests/s\n", options.clients,
               static_cast<double>(done) / seconds);
    print_latencies(clients);
  }
  return static_cast<double>(kib - first_kib) /
         static_cast<double>(std::max(first_kib, int64_t{1}));
}

int run(const Options& options) {
  const Result<double> growth = measure(options);
  if (!growth.ok()) {
    fmt::print(stderr, "memory_requests_bench: {}\n", growth.status().message());
    return 1;
  }
  if (options.requests <= warm_requests(options)) return 0;
  fmt::print("growth of resident memory after {} requests: {:.1f} %\n", warm_requests(options),
             100 * *growth);
  return *growth <= kMostGrowth ? 0 : 1;
}

}  // namespace
}  // namespace scopevm

int main(int argc, char** argv) {
  scopevm::Options options;
  std::vector<std::string> dims;
  CLI::App app{"Runs requests of random sizes and shows the growth of the process's memory"};
  app.add_option("module", options.module, "A module");
  app.add_option("dims", dims, "NAME=LEAST..MOST or NAME=VALUE, for each dimension");
  app.add_option("--requests", options.requests, "Number of requests")->capture_default_str();
  app.add_flag("--reserve", options.is_reserved, "Reserve the memory of these sizes first");
  app.add_option("--threads", options.threads, "Threads of the session")->capture_default_str();
  app.add_option("--clients", options.clients, "Threads that submit requests to a scheduler")
      ->capture_default_str();
  app.add_option("--capacity", options.capacity, "Bytes of each pool for the scheduler")
      ->needs("--clients");
  app.add_option("--spin", options.spin_us, "Microseconds that an idle worker waits actively")
      ->needs("--clients");
  CLI11_PARSE(app, argc, argv);
  if (options.module.empty()) {
    fmt::print(
        "memory_requests_bench MODULE NAME=LEAST..MOST...: no module given, nothing is "
        "measured\n");
    return 0;
  }
  for (const std::string& dim : dims)
    if (const scopevm::Status status = scopevm::parse_dim(dim, options.dims); !status.ok()) {
      fmt::print(stderr, "memory_requests_bench: {}\n", status.message());
      return 1;
    }
  return scopevm::run(options);
}
