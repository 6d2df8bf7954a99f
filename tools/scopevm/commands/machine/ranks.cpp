// Reads the NUMA nodes of Linux, and measures links; see ranks.h.
#include "tools/scopevm/commands/machine/ranks.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/ranks/exchange.h"

namespace scopevm::tool {
namespace {

using nlohmann::ordered_json;

// The CPUs of a list such as "0-3,8".
int64_t count_cpus(std::istream& list) {
  int64_t count = 0;
  int64_t first = 0, last = 0;
  while (list >> first) {
    last = first;
    if (list.peek() == '-') list.ignore() >> last;
    count += last - first + 1;
    if (list.peek() != ',') break;
    list.ignore();
  }
  return count;
}

// "cpu", "cpu1", "cpu2", ...
ordered_json device_of(int rank) {
  ordered_json device = {{"name", "cpu" + (rank == 0 ? "" : std::to_string(rank))},
                         {"kind", "cpu"}};
  if (rank > 0) device["rank"] = rank;
  return device;
}

// The least time of a message of `bytes` bytes to `peer` and an answer of one byte.
double seconds_of_round_trip(Exchange& exchange, int peer, bool is_first, size_t bytes,
                             int repetitions) {
  std::vector<char> message(bytes, 1), answer(1, 1);
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const auto began = std::chrono::steady_clock::now();
    if (is_first) {
      exchange.send(peer, message);
      exchange.receive(peer, answer);
    } else {
      exchange.receive(peer, message);
      exchange.send(peer, answer);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    least = std::min(least, took.count());
  }
  return least;
}

struct Measured {
  double latency_seconds;
  double bytes_per_second;
};

Measured measure(Exchange& exchange, int peer, bool is_first) {
  constexpr size_t kLarge = size_t{8} << 20;
  const double small = seconds_of_round_trip(exchange, peer, is_first, 1, 2000);
  const double large = seconds_of_round_trip(exchange, peer, is_first, kLarge, 20);
  return {small / 2, static_cast<double>(kLarge) / std::max(large - small, 1e-9)};
}

// Moves the result of the pair from its first rank to rank 0.
Measured collect(Exchange& exchange, int rank, int first, Measured measured) {
  std::vector<char> bytes(sizeof measured);
  auto* const raw = reinterpret_cast<const char*>(&measured);
  if (first != 0 && rank == first) exchange.send(0, {raw, raw + sizeof measured});
  if (first != 0 && rank == 0) {
    exchange.receive(first, bytes);
    std::ranges::copy(bytes, reinterpret_cast<char*>(&measured));
  }
  return measured;
}

}  // namespace

Result<std::string> describe_numa_nodes(const std::string& folder) {
  ordered_json description = {{"devices", ordered_json::array()}};
  constexpr int kMostNodes = 1024;  // of Linux
  for (int node = 0; node < kMostNodes; ++node) {
    std::ifstream list(folder + "/node" + std::to_string(node) + "/cpulist");
    const int64_t cpus = count_cpus(list);
    if (cpus == 0) continue;  // no such node, or one with memory only
    ordered_json device = device_of(static_cast<int>(description["devices"].size()));
    device["workers"] = cpus;
    description["devices"].push_back(std::move(device));
  }
  if (description["devices"].empty())
    return Status(StatusCode::kNotFound, folder + ": lists no NUMA node with CPUs");
  return description.dump(2);
}

Result<std::string> describe_job(const scopevm_transport& transport) {
  Exchange exchange(transport);
  ordered_json description = {{"devices", ordered_json::array()}, {"links", ordered_json::array()}};
  for (int rank = 0; rank < transport.ranks; ++rank)
    description["devices"].push_back(device_of(rank));
  for (int first = 0; first < transport.ranks; ++first)
    for (int second = first + 1; second < transport.ranks; ++second) {
      Measured measured{};
      if (transport.rank == first || transport.rank == second)
        measured =
            measure(exchange, transport.rank == first ? second : first, transport.rank == first);
      measured = collect(exchange, transport.rank, first, measured);
      SCOPEVM_RETURN_IF_ERROR(exchange.status());
      description["links"].push_back({{"ranks", {first, second}},
                                      {"bytes_per_second", measured.bytes_per_second},
                                      {"latency_seconds", measured.latency_seconds}});
    }
  return transport.rank == 0 ? description.dump(2) : std::string();
}

}  // namespace scopevm::tool
