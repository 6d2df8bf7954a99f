// Does the memory of a server grow? Runs requests with random dims in one session, and prints the
// allocations and the resident memory of the process after 10^3, 10^4, ... requests. Fails if the
// resident memory grows by more than 2 % after the first 1000 requests.
//
//   memory_requests_bench MODULE NAME=LEAST..MOST... [--requests N] [--reserve] [--threads N]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scopevm/session.h"

namespace scopevm {
namespace {

constexpr int64_t kWarmRequests = 1000;
constexpr double kMostGrowth = 0.02;

struct Options {
  std::string module;
  std::map<std::string, DimRange> dims;
  int64_t requests = 1'000'000;
  bool is_reserved = false;
  int threads = 1;
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
  Requests(const Module& module, const Options& options)
      : module_(module), options_(options), buffers_(module.signature().inputs.size()) {}

  Status run(Call& call) {
    std::map<std::string, int64_t> dims;
    for (const auto& [name, range] : options_.dims)
      dims[name] = std::uniform_int_distribution(range.least, range.most)(random_);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const DType dtype = module_.signature().inputs[i].dtype;
      SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, module_.input_shape(i, dims));
      size_t bytes = static_cast<size_t>(byte_size(dtype));
      for (const int64_t dim : shape) bytes *= static_cast<size_t>(dim);
      if (bytes > buffers_[i].size()) buffers_[i].assign(bytes, 0);
      SCOPEVM_ASSIGN_OR_RETURN(Tensor input, Tensor::borrow(buffers_[i].data(), dtype, shape));
      SCOPEVM_RETURN_IF_ERROR(call.set_input(i, std::move(input)));
    }
    return call.run();
  }

 private:
  const Module& module_;
  const Options& options_;
  std::vector<std::vector<char>> buffers_;
  std::mt19937_64 random_{1};
};

// Returns the growth of resident memory after the first 1000 requests.
Result<double> measure(const Options& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, Module::load(options.module));
  SessionOptions session_options;
  session_options.threads = options.threads;
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, session_options));
  if (options.is_reserved) SCOPEVM_RETURN_IF_ERROR(session.reserve(options.dims));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  Requests requests(module, options);
  int64_t allocations = 0, first_kib = 0, kib = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int64_t done = 1, next = 1; done <= options.requests; ++done) {
    SCOPEVM_RETURN_IF_ERROR(requests.run(call));
    for (const ScopeUse& use : call.stats().memory) allocations += use.allocations;
    if (done != next && done != options.requests) continue;
    next *= 10;
    kib = resident_kib();
    if (done <= kWarmRequests) first_kib = kib;
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - began;
    fmt::print("{:>8} requests: {} allocations, {} KiB resident, {:.1f} us a request\n", done,
               allocations, kib, elapsed.count() / static_cast<double>(done));
    std::fflush(stdout);
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
  if (options.requests <= kWarmRequests) return 0;
  fmt::print("growth of resident memory after {} requests: {:.1f} %\n", kWarmRequests,
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
