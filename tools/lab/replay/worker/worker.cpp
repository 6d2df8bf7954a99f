// Both sides of a worker process: its start in the parent, and its main function; see worker.h.
#include "tools/lab/replay/worker/worker.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "tools/command_line/child_process.h"
#include "tools/lab/replay/worker/execution.h"
#include "tools/lab/replay/worker/system_calls.h"

namespace scopevm::lab {
namespace {

constexpr int kExitNotPreloaded = 70;
constexpr int kExitNoMemory = 71;

// What the parent passes to the worker as one argument: both are the same program.
struct Request {
  int descriptor = -1;
  int has_threads = 0;
  int touches_pages = 0;
  int counts_system_calls = 0;
  int time_limit_ms = 0;
};
constexpr char kRequestFormat[] = "%d,%d,%d,%d,%d";

std::string text_of(const ScheduleFile& schedule, const ReplayOptions& options) {
  char text[128];
  std::snprintf(text, sizeof(text), kRequestFormat, schedule.descriptor(),
                static_cast<int>(options.has_threads), static_cast<int>(options.touches_pages),
                static_cast<int>(options.counts_system_calls),
                static_cast<int>(options.time_limit_s * 1000));
  return text;
}

// Whether malloc() is that of the library.
bool is_preloaded(const std::string& library) {
  Dl_info found = {};
  return library.empty() ||
         (dladdr(dlsym(RTLD_DEFAULT, "malloc"), &found) != 0 &&
          std::string_view(found.dli_fname).find(library) != std::string_view::npos);
}

double measure_ticks_per_ns() {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t ticks = record::now_ticks();
  std::chrono::nanoseconds elapsed{0};
  while (elapsed < std::chrono::milliseconds(5)) elapsed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(record::now_ticks() - ticks) / static_cast<double>(elapsed.count());
}

void summarise(const ThreadResult& result, double ticks_per_ns, ReplayMeasurement& out) {
  LatencyHistogram all;
  for (int kind = 0; kind < 3; ++kind) {
    const LatencyHistogram& latencies = result.latencies[kind];
    out.counts[kind] = latencies.count();
    out.kind_p50_ns[kind] = latencies.percentile(0.5) / ticks_per_ns;
    out.kind_p99_ns[kind] = latencies.percentile(0.99) / ticks_per_ns;
    all.merge(latencies);
  }
  out.failures = result.failures;
  out.p50_ns = all.percentile(0.5) / ticks_per_ns;
  out.p99_ns = all.percentile(0.99) / ticks_per_ns;
  // CPU time does not count other processes of the machine, but cannot be read around each
  // operation. It is divided in the ratio of the ticks.
  const auto allocator = static_cast<double>(all.total_ticks());
  const double ticks = std::max(1.0, allocator + static_cast<double>(result.touch_ticks));
  out.touched_ns =
      static_cast<double>(result.cpu_ns) / static_cast<double>(std::max<uint64_t>(1, all.count()));
  out.mean_ns = out.touched_ns * allocator / ticks;
  out.elapsed_ns =
      allocator / ticks_per_ns / static_cast<double>(std::max<uint64_t>(1, all.count()));
}

template <typename Target>
int measure(Target target, const Schedule& schedule, const ReplayOptions& options,
            ReplayMeasurement& out) {
  const double ticks_per_ns = measure_ticks_per_ns();
  Execution<Target> execution(std::move(target), schedule, options, ticks_per_ns, out);
  if (!execution.has_memory()) return kExitNoMemory;
  const bool is_counting = options.counts_system_calls && start_counting_system_calls();
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  const ThreadResult result = execution.run();
  getrusage(RUSAGE_SELF, &after);
  if (is_counting) out.system_calls = static_cast<int64_t>(counted_system_calls());
  out.minor_faults = static_cast<uint64_t>(after.ru_minflt - before.ru_minflt);
  out.major_faults = static_cast<uint64_t>(after.ru_majflt - before.ru_majflt);
  summarise(result, ticks_per_ns, out);
  return 0;
}

int measure_entry(const AllocatorEntry& entry, const Schedule& schedule,
                  const ReplayOptions& options, ReplayMeasurement& out) {
  if (!entry.is_own) {
    if (!is_preloaded(entry.library)) return kExitNotPreloaded;
    return measure(MallocTarget(), schedule, options, out);
  }
  std::vector<std::shared_ptr<Allocator>> allocators;
  const auto alignment =
      std::max<int64_t>(kBlockAlignment, static_cast<int64_t>(schedule.alignment));
  for (uint32_t i = 0; i < schedule.scopes; ++i)
    allocators.push_back(make_own_allocator(entry.name, alignment));
  return measure(AllocatorTarget(std::move(allocators)), schedule, options, out);
}

}  // namespace

Result<ReplayMeasurement> run_worker(const ScheduleFile& schedule, const AllocatorEntry& allocator,
                                     const ReplayOptions& options) {
  std::vector<std::pair<std::string, std::string>> variables = allocator.variables;
  if (!allocator.library.empty()) {
    const std::string library = installed_library(allocator.library);
    if (library.empty())
      return Status(StatusCode::kUnsupported,
                    allocator.library + " is not installed (package " + allocator.package + ")");
    variables.emplace_back("LD_PRELOAD", library);
  }
  std::string output;
  SCOPEVM_ASSIGN_OR_RETURN(const tool::ChildProcess child,
                           tool::run_child({"/proc/self/exe", "--replay-worker", allocator.name,
                                            text_of(schedule, options)},
                                           variables, &output));
  if (child.exit_code == kExitNotPreloaded)
    return Status(StatusCode::kUnsupported, allocator.library + " could not be preloaded");
  if (child.exit_code == kExitNoMemory) return Status::out_of_memory();
  ReplayMeasurement measurement;
  if (child.exit_code != 0 || output.size() != sizeof(measurement))
    return Status(StatusCode::kInternal,
                  "the replay failed with exit code " + std::to_string(child.exit_code));
  std::memcpy(&measurement, output.data(), sizeof(measurement));
  return measurement;
}

int worker_main(int argc, char** argv) {
  Request request;
  if (argc != 4 || std::sscanf(argv[3], kRequestFormat, &request.descriptor, &request.has_threads,
                               &request.touches_pages, &request.counts_system_calls,
                               &request.time_limit_ms) != 5)
    return 2;
  const Result<AllocatorEntry> entry = find_allocator(argv[2]);
  const Schedule* schedule = ScheduleFile::map(request.descriptor);
  if (!entry.ok() || schedule == nullptr) return kExitNoMemory;
  const ReplayOptions options = {
      .has_threads = request.has_threads != 0,
      .touches_pages = request.touches_pages != 0,
      .counts_system_calls = request.counts_system_calls != 0,
      .time_limit_s = request.time_limit_ms / 1e3,
  };
  ReplayMeasurement measurement;
  if (const int code = measure_entry(*entry, *schedule, options, measurement); code != 0)
    return code;
  std::fwrite(&measurement, sizeof(measurement), 1, stdout);
  std::fflush(stdout);
  // Live blocks are not released: neither did the trace.
  _exit(0);
}

}  // namespace scopevm::lab
