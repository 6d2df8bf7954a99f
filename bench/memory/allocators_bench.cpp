// Question: what does an allocation and a deallocation cost in scopevm's allocators and in the
// general-purpose allocators that programs link today, and how much memory do they occupy?
//
//   memory_allocators_bench [--rounds N] [--trace NAME]... [--allocator NAME]...
//                           [--json FILE]
//
// Every measurement is a child process of this program with the same driver and the same trace. A
// peer replaces malloc by LD_PRELOAD; scopevm's allocators are called through scopevm::Allocator.
// Blocks are aligned to 64 bytes. The rounds of all allocators are interleaved. The table has the
// median of the rounds and, as spread, half the difference between the highest and the lowest.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/memory/measure.h"
#include "bench/memory/results.h"
#include "bench/memory/traces.h"

namespace scopevm::bench {
namespace {

// An allocator of the comparison.
struct Peer {
  std::string_view name;
  std::string_view allocator;  // of measure()
  std::string_view library;    // for LD_PRELOAD; empty: none
  std::string_view settings;   // environment, separated by spaces
};

constexpr Peer kPeers[] = {
    {"(driver alone)", "none", "", ""},
    {"pool", "pool", "", ""},
    {"planned", "planned", "", ""},
    {"glibc", "malloc", "", ""},
    {"glibc, tuned", "malloc", "",
     "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold="
     "68719476736:glibc.malloc.mmap_max=0"},
    {"mimalloc", "malloc", "libmimalloc.so.2", ""},
    {"jemalloc", "malloc", "libjemalloc.so.2", ""},
    {"jemalloc, tuned", "malloc", "libjemalloc.so.2",
     "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0"},
    {"tcmalloc", "malloc", "libtcmalloc_minimal.so.4", ""},
    {"tbbmalloc", "malloc", "libtbbmalloc_proxy.so.2", ""},
};

struct Case {
  std::string trace;
  Work work;
  std::string_view title;
};

std::string library_path(std::string_view library) {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/"})
    if (std::filesystem::exists(folder + std::string(library)))
      return folder + std::string(library);
  return {};
}

// Replaces the process by one that measures `test` with `peer`.
[[noreturn]] void exec_child(const Peer& peer, const Case& test, const std::string& self) {
  if (!peer.library.empty()) setenv("LD_PRELOAD", library_path(peer.library).c_str(), 1);
  if (const size_t equals = peer.settings.find('='); equals != std::string_view::npos)
    setenv(std::string(peer.settings.substr(0, equals)).c_str(),
           std::string(peer.settings.substr(equals + 1)).c_str(), 1);
  const std::string allocator(peer.allocator);
  const std::string work = std::to_string(static_cast<int>(test.work));
  execl(self.c_str(), self.c_str(), "--child", allocator.c_str(), test.trace.c_str(), work.c_str(),
        nullptr);
  _exit(127);
}

std::optional<Measurement> run_child(const Peer& peer, const Case& test, const std::string& self) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    exec_child(peer, test, self);
  }
  close(ends[1]);
  FILE* output = fdopen(ends[0], "r");
  Measurement m;
  const int fields = std::fscanf(output, "%lf %lf %lf %lf %lf", &m.pair_ns, &m.p50_ns, &m.p99_ns,
                                 &m.rss_ratio, &m.faults);
  std::fclose(output);
  int status = 0;
  waitpid(child, &status, 0);
  return fields == 5 && status == 0 ? std::optional(m) : std::nullopt;
}

int child(char** arguments) {
  const Trace trace = make_trace(arguments[1]);
  const Measurement m = measure(arguments[0], trace, static_cast<Work>(std::atoi(arguments[2])));
  std::printf("%g %g %g %g %g\n", m.pair_ns, m.p50_ns, m.p99_ns, m.rss_ratio, m.faults);
  return 0;
}

// Appends the results of each peer.
void run_case(const Case& test, const std::vector<Peer>& peers, int rounds, const std::string& self,
              std::vector<Results>& all) {
  print_header(test.trace, test.title);
  const size_t first = all.size();
  for (const Peer& peer : peers)
    all.push_back({test.trace, std::string(test.title), std::string(peer.name), {}});
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < peers.size(); ++i)
      if (const std::optional<Measurement> m = run_child(peers[i], test, self))
        all[first + i].rounds.push_back(*m);
  for (size_t i = first; i < all.size(); ++i) print_row(all[i]);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {
      {"small", Work::kUntouched, "blocks not accessed"},
      {"small", Work::kTwoThreads, "two threads"},
      {"small", Work::kRemote, "deallocated by another thread"},
      {"mixed", Work::kUntouched, "blocks not accessed"},
      // Includes the planned allocator, which repeats the request.
      {"inference", Work::kUntouched, "blocks not accessed"},
      // Too long for branch predictors to learn, and for allocators that fault each block.
      {"mixed_long", Work::kUntouched, "blocks not accessed"},
  };
  for (const std::string& trace : trace_names())
    if (trace != "mixed_long") cases.push_back({trace, Work::kTouched, "every page written"});
  return cases;
}

bool has_case(const Peer& peer, const Case& test) {
  const bool is_untouched = test.work == Work::kUntouched;
  if (peer.allocator == "planned") return is_untouched && test.trace == "inference";
  return peer.allocator != "none" || is_untouched;
}

int parent(int argc, char** argv) {
  int rounds = 5;
  std::vector<std::string> traces, names;
  std::string json;
  CLI::App app("Compares the time and memory of allocators on generated traces.");
  app.add_option("--rounds", rounds, "rounds, of which the table has medians")
      ->check(CLI::PositiveNumber);
  app.add_option("--trace", traces, "name of a trace; can be repeated (default: all)");
  app.add_option("--allocator", names, "name of an allocator; can be repeated (default: all)");
  app.add_option("--json", json, "file for the results, in the form of Google Benchmark");
  CLI11_PARSE(app, argc, argv);
  std::vector<Peer> peers;
  for (const Peer& peer : kPeers)
    if ((names.empty() || std::ranges::find(names, peer.name) != names.end()) &&
        (peer.library.empty() || !library_path(peer.library).empty()))
      peers.push_back(peer);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<Results> all;
  for (const Case& test : all_cases()) {
    if (!traces.empty() && std::ranges::find(traces, test.trace) == traces.end()) continue;
    std::vector<Peer> used;
    std::ranges::copy_if(peers, std::back_inserter(used),
                         [&](const Peer& peer) { return has_case(peer, test); });
    run_case(test, used, rounds, self, all);
  }
  if (json.empty() || write_json(all, json)) return 0;
  std::fprintf(stderr, "%s: cannot write\n", json.c_str());
  return 1;
}

}  // namespace
}  // namespace scopevm::bench

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], "--child") == 0) return scopevm::bench::child(argv + 2);
  return scopevm::bench::parent(argc, argv);
}
