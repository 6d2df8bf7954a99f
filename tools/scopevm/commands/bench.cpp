// scopevm bench: measures latency, throughput and memory of a module, and its kernels.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/process/available_cpus.h"
#include "scopevm/session.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/page/page.h"
#include "tools/scopevm/commands/bench/kernel_flops.h"
#include "tools/scopevm/commands/bench/load.h"
#include "tools/scopevm/commands/bench/profile.h"
#include "tools/scopevm/commands/bench/report.h"
#include "tools/scopevm/commands/run/call_arguments.h"
#include "tools/scopevm/commands/run/inputs.h"
#include "tools/scopevm/commands/trace/rank_traces.h"
#include "tools/scopevm/commands/trace/trace_file.h"
#include "tools/scopevm/module_file.h"

// The page of commands/bench/page, which CMake embeds.
extern const std::string_view kBenchPage;

namespace scopevm::tool {
namespace {

struct BenchOptions : CallArguments {
  int64_t requests = 100;
  int64_t warm_up = 10;
  int in_flight = 1;
  std::vector<int> cpus;  // of the scheduler; empty: all
  int numa_node = -1;     // its CPUs, if not negative
  int64_t spin_us = 0;
  bool profile = false;
  std::string html;   // a file; empty: none
  std::string json;   // a file; empty: none
  std::string trace;  // a file; empty: none
};

constexpr int kMaxInFlight = 65536;

void declare(CLI::App& command, BenchOptions& options) {
  declare_inputs(command, options);
  command.add_option("--requests", options.requests, "Number of measured requests")
      ->check(integer_in<int64_t>(1, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--in-flight", options.in_flight,
                  "Number of requests at a time; above 1, a scheduler with one worker per CPU "
                  "runs them")
      ->check(integer_in(1, kMaxInFlight))
      ->capture_default_str();
  auto* const cpus = command
                         .add_option("--cpus", options.cpus,
                                     "Numbers of the CPUs on which the scheduler's workers run")
                         ->delimiter(',')
                         ->allow_extra_args(false);
  command
      .add_option("--numa-node", options.numa_node,
                  "Run the scheduler's workers on the CPUs of this NUMA node")
      ->check(integer_in(0, INT32_MAX))
      ->excludes(cpus);
  command
      .add_option(
          "--spin", options.spin_us,
          "Microseconds for which a worker without a request waits actively before it sleeps")
      ->check(integer_in<int64_t>(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--warm-up", options.warm_up, "Number of requests before the measurement")
      ->check(integer_in<int64_t>(0, 100'000'000))
      ->capture_default_str();
  declare_threads(command, options);
  declare_session(command, options);
  declare_transport(command, options);
  command.add_flag("--profile", options.profile,
                   "Print the times of each kernel, and the limits of this machine");
  command.add_option("--html", options.html, "Write the report to this file, as an HTML page");
  command.add_option("--json", options.json, "Write the report to this file, as JSON");
  command.add_option(
      "--trace", options.trace,
      "Write the times of the measured requests to this file, in Chrome trace format");
}

// Files that the command can write: not its inputs, and none twice. Errors: kInvalidArgument.
Status check_files(const BenchOptions& options) {
  const std::string files[] = {options.html, options.json, options.trace};
  for (size_t i = 0; i < std::size(files); ++i) {
    SCOPEVM_RETURN_IF_ERROR(check_is_no_input(files[i], {options.module}));
    for (size_t j = 0; j < i; ++j)
      if (!files[i].empty() && files[i] == files[j])
        return {StatusCode::kInvalidArgument, "output file \"" + files[i] + "\" is given twice"};
  }
  return {};
}

// Errors: those of check_is_writable(), before the requests run.
Status check_are_writable(const BenchOptions& options) {
  for (const std::string& file : {options.html, options.json, options.trace})
    SCOPEVM_RETURN_IF_ERROR(check_is_writable(file));
  return {};
}

bool writes_to_stdout(const BenchOptions& options) {
  return options.html == kStandardStream || options.json == kStandardStream ||
         options.trace == kStandardStream;
}

// The number of workers that can run at once.
int worker_count(int in_flight) { return std::min(in_flight, runtime::available_cpus()); }

// Of the module that is loaded. A stream cannot be read again, so that its numbers are unknown.
Result<KernelFlops> read_kernel_flops(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return KernelFlops();
  SCOPEVM_ASSIGN_OR_RETURN(const ReadModule module,
                           read_module_file(path, /*needs_weights=*/false));
  return KernelFlops(module.contents);
}

// The memory limits as capacities, so that requests wait for memory.
std::vector<PoolCapacity> capacities(const Module& module, const SessionOptions& options) {
  std::vector<PoolCapacity> capacities;
  for (const MemoryScope& scope : module.memory_scopes())
    for (const ScopeLimit& limit : options.memory_limits)
      if (const std::string pool = scope.device + "." + scope.scope;
          limit.scope == scope.scope || limit.scope == pool)
        capacities.push_back({pool, limit.bytes});
  return capacities;
}

Result<SchedulerOptions> scheduler_options(const BenchOptions& options, const Module& module,
                                           const SessionOptions& session) {
  SchedulerOptions scheduler{.workers = worker_count(options.in_flight),
                             .cpus = options.cpus,
                             .spin = std::chrono::microseconds(options.spin_us),
                             .capacities = capacities(module, session)};
  if (options.numa_node >= 0) {
    SCOPEVM_ASSIGN_OR_RETURN(scheduler.cpus, cpus_of_numa_node(options.numa_node));
  }
  return scheduler;
}

Result<BenchReport::Kernels> measure_kernels(const BenchOptions& options, const Session& session,
                                             const Prepare& prepare) {
  BenchReport::Kernels kernels;
  kernels.limits = machine_peak::measure_limits(session.threads());
  SCOPEVM_ASSIGN_OR_RETURN(KernelFlops flops, read_kernel_flops(options.module));
  Profile profile(std::move(flops));
  SCOPEVM_RETURN_IF_ERROR(run_load(session, options.requests, 1, prepare, &profile).status());
  kernels.kernels = profile.kernels();
  kernels.calls = profile.calls();
  kernels.call_ns = profile.call_ns();
  return kernels;
}

// Makes the requests, or computes the parts of another rank, and writes the results. `has_session`
// is set when the ranks of a job have a session. `session_options` lacks the scheduler.
Status measure(const BenchOptions& options, const Module& module, const RunInputs& inputs,
               SessionOptions session_options, std::chrono::steady_clock::time_point began,
               TraceFile& trace, bool& has_session) {
  BenchReport report{.module = options.module};
  report.in_flight = static_cast<int>(std::min<int64_t>(options.in_flight, options.requests));
  if (options.in_flight > 1) {
    SCOPEVM_ASSIGN_OR_RETURN(const SchedulerOptions scheduler,
                             scheduler_options(options, module, session_options));
    SCOPEVM_ASSIGN_OR_RETURN(session_options.scheduler, Scheduler::create(scheduler));
    report.workers = scheduler.workers;
    session_options.memory_limits.clear();
  }
  session_options.time_devices = options.profile || !options.trace.empty();
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, session_options));
  has_session = true;
  if (session_options.transport != nullptr && session_options.transport->rank > 0)
    return session.follow(options.trace.empty() ? nullptr : &trace);
  report.load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  report.threads = session.threads();
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedValue> values,
                           make_inputs(inputs, module, options.seed));
  const Prepare prepare = [&](Call& call) -> Status {
    for (const NamedValue& value : values) SCOPEVM_RETURN_IF_ERROR(set_value(call, value));
    return {};
  };
  if (options.warm_up > 0) {
    SCOPEVM_ASSIGN_OR_RETURN(
        report.warm_up, run_load(session, options.warm_up, options.in_flight, prepare, nullptr));
  }
  SCOPEVM_ASSIGN_OR_RETURN(report.load,
                           run_load(session, options.requests, options.in_flight, prepare,
                                    options.trace.empty() ? nullptr : &trace));
  SCOPEVM_ASSIGN_OR_RETURN(report.memory, session.memory_stats());
  if (options.profile) {
    SCOPEVM_ASSIGN_OR_RETURN(report.profile, measure_kernels(options, session, prepare));
  }
  const nlohmann::ordered_json json = bench_json(report);
  if (!options.json.empty()) SCOPEVM_RETURN_IF_ERROR(write_file(options.json, json_text(json)));
  if (!options.html.empty()) {
    const std::string data = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    SCOPEVM_RETURN_IF_ERROR(write_file(options.html, html_page(kBenchPage, data)));
  }
  if (!writes_to_stdout(options)) print_bench(report);
  return {};
}

Status measure_and_trace(const BenchOptions& options, const Module& module, const RunInputs& inputs,
                         SessionOptions session_options,
                         std::chrono::steady_clock::time_point began) {
  SCOPEVM_RETURN_IF_ERROR(add_transport(options, module, session_options));
  const scopevm_transport* const transport = session_options.transport;
  TraceFile trace(transport);
  return run_traced(transport, trace, options.trace, [&](bool& has_session) -> Status {
    // The other ranks do not know which of the traced requests are those of the profile.
    if (transport != nullptr && transport->ranks > 1 && options.profile && !options.trace.empty())
      return {StatusCode::kInvalidArgument,
              "expected at most one of --profile and --trace in a job of several ranks"};
    if (transport == nullptr || transport->rank == 0)
      SCOPEVM_RETURN_IF_ERROR(check_are_writable(options));
    SCOPEVM_RETURN_IF_ERROR(add_external_libraries(options, session_options));
    return measure(options, module, inputs, session_options, began, trace, has_session);
  });
}

int bench(const BenchOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const Result<LoadOptions> load = load_options(options);
  if (!load.ok()) return report(load.status());
  const Result<Module> module = load_module(options.module, *load);
  if (!module.ok()) return report(module.status());
  const Result<RunInputs> inputs =
      parse_inputs(options.inputs, options.values, module->signature());
  if (!inputs.ok()) return report_usage(inputs.status().message());
  Result<SessionOptions> session = session_options(options);
  if (!session.ok()) return report_usage(session.status().message());
  if (Status files = check_files(options); !files.ok()) return report_usage(files.message());
  return report(measure_and_trace(options, *module, *inputs, *std::move(session), began));
}

const Command<BenchOptions> bench_command({.position = 41,
                                           .name = "bench",
                                           .description = "Measure latency, throughput and memory"},
                                          declare, bench);

}  // namespace
}  // namespace scopevm::tool
