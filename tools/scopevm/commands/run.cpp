// scopevm run: makes one or more calls, prints the results, and writes them to files.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/session.h"
#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/lab/trace/run_recorder.h"
#include "tools/scopevm/commands/run/call_arguments.h"
#include "tools/scopevm/commands/run/inputs.h"
#include "tools/scopevm/commands/run/report.h"
#include "tools/scopevm/commands/run/run_record.h"
#include "tools/scopevm/commands/run/stream.h"
#include "tools/scopevm/commands/trace/rank_traces.h"
#include "tools/scopevm/commands/trace/trace_file.h"
#include "tools/scopevm/module_file.h"
#include "tools/tensors/npy.h"

namespace scopevm::tool {
namespace {

struct RunOptions : CallArguments {
  std::vector<std::string> outputs;  // NAME=FILE.npy
  std::vector<std::string> reserve;  // NAME=VALUE or NAME=LEAST..MOST; "all": no range
  StreamOptions stream;
  std::string trace;         // a file; empty: none
  std::string memory_trace;  // a file; empty: none
  std::string record;        // a file; empty: none
  bool has_recorded_tensors = false;
  int repeat = 1;
  int timeout_ms = 0;  // 0: none
  bool emulate = false;
  bool stats = false;
  bool json = false;
};

void declare(CLI::App& command, RunOptions& options) {
  declare_inputs(command, options);
  command
      .add_option("--output", options.outputs,
                  "NAME=FILE.npy; the elements of a sequence or optional are written to "
                  "FILE.0.npy, FILE.1.npy, ...")
      ->allow_extra_args(false);
  declare_threads(command, options);
  CLI::Option* const repeat = command.add_option("--repeat", options.repeat, "Number of calls")
                                  ->check(integer_in(1))
                                  ->capture_default_str();
  command
      .add_option("--state", options.stream.states,
                  "INPUT=OUTPUT: each call gets this output of the call before it as input; "
                  "the first one gets the given input, or zeros; a * in both names: all inputs "
                  "that match (default: the pairs that the module declares)")
      ->allow_extra_args(false);
  command.add_option(
      "--state-file", options.stream.file,
      "Read the state from this file, if it exists, and write it there after the last "
      "call");
  command
      .add_option(
          "--steps", options.stream.steps,
          "INPUT=AXIS[:SIZE]: split this input along an axis into parts of SIZE (default: "
          "1), and make a call for each; outputs get a first axis with the calls (one input "
          "per option); INPUT=AXIS:+SIZE: a call gets all parts up to its own")
      ->allow_extra_args(false)
      ->excludes(repeat);
  command
      .add_option("--timeout", options.timeout_ms,
                  "Time limit of each call in milliseconds; a call that exceeds it fails with "
                  "exit code 3 (default: none)")
      ->check(integer_in(1));
  declare_session(command, options);
  declare_transport(command, options);
  command
      .add_option("--reserve", options.reserve,
                  "NAME=LEAST..MOST, NAME=VALUE or all: before the first call, allocate the memory "
                  "that a call needs at most for these ranges of dimensions, or for all values "
                  "that the module permits; calls then take no memory from the system")
      ->allow_extra_args(false);
  command.add_flag("--emulate", options.emulate,
                   "Delay copies and launches to match the speeds of the module's pools");
  command.add_option(
      "--trace", options.trace,
      "Write the times of calls, launches and copies to this file, in Chrome trace format");
  command.add_option("--memory-trace", options.memory_trace,
                     "Write the allocations of all memory scopes to this file, for alloc plot, "
                     "replay and compare");
  command.add_option("--record", options.record,
                     "Write the inputs, the digests of what each launch writes and the results to "
                     "this file, for replay and compare-runs");
  command.add_flag("--record-tensors", options.has_recorded_tensors,
                   "Also record the tensors that each launch writes");
  command.add_flag("--stats", options.stats, "Print times and memory use");
  command.add_flag("--json", options.json, "Print JSON, including times and memory use");
}

// The parsed command line. An error in it is a usage error.
struct Plan {
  RunInputs inputs;
  StreamPlan stream;
  std::vector<NamedText> outputs;
  SessionOptions session;
  std::map<std::string, DimRange> reserved;

  // Whether the calls are those of rank 0 of a job.
  bool is_follower() const { return session.transport != nullptr && session.transport->rank > 0; }
};

// The value of --reserve for all dims.
constexpr char kAll[] = "all";

// True if an output or a trace is written to stdout.
bool writes_to_stdout(const Plan& plan, const RunOptions& options) {
  return options.trace == kStandardStream || options.memory_trace == kStandardStream ||
         options.record == kStandardStream ||
         std::ranges::find(plan.outputs, kStandardStream, &NamedText::text) != plan.outputs.end();
}

Status check_files(const Plan& plan, const RunOptions& options) {
  std::vector<std::string> files;
  for (const NamedText& output : plan.outputs) files.push_back(output.text);
  if (!options.trace.empty()) files.push_back(options.trace);
  if (!options.memory_trace.empty()) files.push_back(options.memory_trace);
  if (!options.stream.file.empty()) files.push_back(options.stream.file);
  if (!options.record.empty()) files.push_back(options.record);
  for (auto file = files.begin(); file != files.end(); ++file)
    if (std::find(files.begin(), file, *file) != file)
      return {StatusCode::kInvalidArgument, "output file \"" + *file + "\" is given twice"};
  if (options.stream.file == kStandardStream)
    return {StatusCode::kInvalidArgument,
            "--state-file -: expected a file, which is read and written"};
  if (writes_to_stdout(plan, options) && (options.json || options.stats))
    return {StatusCode::kInvalidArgument,
            "expected at most one of an output file -, --json and --stats: each writes to stdout"};
  return {};
}

Status check_record(const Plan& plan, const RunOptions& options) {
  if (options.record.empty()) {
    if (!options.has_recorded_tensors) return {};
    return {StatusCode::kInvalidArgument, "--record-tensors: expected also --record FILE"};
  }
  if (options.repeat != 1)
    return {StatusCode::kInvalidArgument, "--record records one call: expected no --repeat"};
  if (!plan.stream.pairs.empty() || !plan.stream.steps.empty())
    return {StatusCode::kInvalidArgument,
            "--record records one call: expected no state and no --steps"};
  // Both replace the allocators of the session.
  if (!options.memory_trace.empty())
    return {StatusCode::kInvalidArgument, "expected at most one of --record and --memory-trace"};
  return {};
}

Result<Plan> make_plan(const RunOptions& options, const Signature& signature) {
  Plan plan;
  SCOPEVM_ASSIGN_OR_RETURN(plan.inputs, parse_inputs(options.inputs, options.values, signature));
  SCOPEVM_ASSIGN_OR_RETURN(plan.stream, parse_stream(options.stream, plan.inputs.given, signature));
  for (const NamedText& pair : plan.stream.pairs) plan.inputs.never_random.push_back(pair.name);
  for (const Steps& steps : plan.stream.steps) plan.inputs.split.push_back(steps.input);
  SCOPEVM_ASSIGN_OR_RETURN(plan.outputs, parse_named(options.outputs, signature.outputs, "output"));
  SCOPEVM_RETURN_IF_ERROR(check_files(plan, options));
  SCOPEVM_RETURN_IF_ERROR(check_record(plan, options));
  SCOPEVM_ASSIGN_OR_RETURN(plan.session, session_options(options));
  if (options.reserve != std::vector<std::string>{kAll}) {
    SCOPEVM_ASSIGN_OR_RETURN(plan.reserved, parse_dim_ranges(options.reserve));
  }
  plan.session.emulate = options.emulate;
  plan.session.time_devices = !options.trace.empty();
  return plan;
}

constexpr std::string_view kNpy = ".npy";

// The file of an element of a sequence or optional: FILE.0.npy, FILE.1.npy, ...
std::string element_file(std::string file, size_t index) {
  if (file.ends_with(kNpy)) file.resize(file.size() - kNpy.size());
  return file + "." + std::to_string(index) + std::string(kNpy);
}

// Reports unknown outputs, and files that cannot be written, before the call.
Status check_outputs(const Plan& plan, const RunOptions& options, const Signature& signature) {
  for (const NamedText& output : plan.outputs) {
    const auto declared = std::ranges::find(signature.outputs, output.name, &TensorSignature::name);
    if (declared == signature.outputs.end()) continue;  // reported by call.output()
    const bool is_tensor = declared->kind == ValueKind::kTensor;
    const std::string file = is_tensor ? output.text : element_file(output.text, 0);
    SCOPEVM_RETURN_IF_ERROR(check_is_no_input(file, {options.module}));
    SCOPEVM_RETURN_IF_ERROR(check_is_writable(file));
  }
  for (const std::string& file :
       {options.trace, options.memory_trace, options.record, options.stream.file}) {
    SCOPEVM_RETURN_IF_ERROR(check_is_no_input(file, {options.module}));
    SCOPEVM_RETURN_IF_ERROR(check_is_writable(file));
  }
  return {};
}

// Writes a tensor to the file, or the elements of a sequence or optional to FILE.0.npy, FILE.1.npy,
// ...
Status write_output(const Call& call, const Stream& stream, const NamedText& output,
                    const Signature& signature) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor tensor, call.output(output.name));
  const auto declared = std::ranges::find(signature.outputs, output.name, &TensorSignature::name);
  if (const Tensor* all = stream.output(static_cast<size_t>(declared - signature.outputs.begin())))
    return write_npy(output.text, *all);
  if (declared->kind == ValueKind::kTensor) return write_npy(output.text, tensor);
  SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(output.name));
  for (size_t i = 0; i < elements.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(write_npy(element_file(output.text, i), elements[i]));
  return {};
}

// The recordings of a run. Those without an output file are unused.
struct Traces {
  TraceFile times;
  std::shared_ptr<lab::RunRecorder> memory;  // shared with the allocators of the session

  Traces(const RunOptions& options, const scopevm_transport* transport) : times(transport) {
    if (!options.memory_trace.empty())
      memory = std::make_shared<lab::RunRecorder>("scopevm run " + options.module,
                                                  options.trace.empty() ? nullptr : &times);
  }
  TraceSink* sink(const RunOptions& options) {
    if (memory != nullptr) return memory.get();
    return options.trace.empty() ? nullptr : &times;
  }
  Status write_memory(const RunOptions& options) {
    return memory == nullptr ? Status() : memory->write(options.memory_trace);
  }
};

CallOptions call_options(const RunOptions& options, Traces& traces) {
  CallOptions call;
  call.trace = traces.sink(options);
  if (options.timeout_ms > 0)
    call.deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options.timeout_ms);
  return call;
}

Result<Session> create_session(const Plan& plan, const RunOptions& options, const Module& module,
                               const Traces& traces) {
  SessionOptions session = plan.session;
  if (traces.memory != nullptr) session.wrap_allocator = lab::RunRecorder::wrapper(traces.memory);
  SCOPEVM_RETURN_IF_ERROR(add_external_libraries(options, session));
  return Session::create(module, std::move(session));
}

// A call with a recording, which is written also if the call fails.
Status run_recorded(const Plan& plan, const RunOptions& options, const ObservedModule& observed,
                    std::vector<NamedValue> inputs, Call& call, CallOptions with) {
  RunRecord record(observed, options.has_recorded_tensors);
  with.hook = &record.hook();
  const Status status = call.run(with);
  Recording about;
  about.module = options.module;
  about.threads = options.threads;
  about.is_emulated = options.emulate;
  about.devices = plan.session.devices;
  about.memory_limits = plan.session.memory_limits;
  about.external_libraries = options.external_libraries;
  about.inputs = std::move(inputs);
  const Status written = record.write(options.record, std::move(about), call, status);
  return status.ok() ? written : status;
}

// Makes the calls and writes their results. `observed` is null without a recording.
Status run_calls(const Plan& plan, const RunOptions& options, const Module& module,
                 const Session& session, const ObservedModule* observed,
                 std::chrono::steady_clock::time_point began, Traces& traces) {
  const auto load_time = std::chrono::steady_clock::now() - began;
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<NamedValue> inputs,
                           make_inputs(plan.inputs, module, options.seed));
  Stream stream(plan.stream, module.signature());
  for (const NamedValue& input : inputs)
    SCOPEVM_RETURN_IF_ERROR(input.kind == ValueKind::kTensor
                                ? stream.set_input(call, input.name, input.elements.front())
                                : set_value(call, input));
  SCOPEVM_RETURN_IF_ERROR(stream.begin(session, call, plan.inputs.dims));
  RunReport report;
  report.load_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(load_time).count();
  for (int64_t i = 0; i < std::max<int64_t>(options.repeat, stream.count()); ++i) {
    SCOPEVM_RETURN_IF_ERROR(stream.set_step(call, i));
    const CallOptions with = call_options(options, traces);
    SCOPEVM_RETURN_IF_ERROR(observed == nullptr
                                ? call.run(with)
                                : run_recorded(plan, options, *observed, inputs, call, with));
    SCOPEVM_RETURN_IF_ERROR(stream.keep_outputs(call, i));
    report.latency_ns.push_back(call.stats().latency_ns);
  }
  if (session.running_threads() < session.threads())
    print_message(stderr, "scopevm: warning: the system could start {} of {} threads\n",
                  session.running_threads(), session.threads());
  SCOPEVM_RETURN_IF_ERROR(stream.keep_states(call));
  for (const NamedText& output : plan.outputs)
    SCOPEVM_RETURN_IF_ERROR(write_output(call, stream, output, module.signature()));
  SCOPEVM_RETURN_IF_ERROR(traces.write_memory(options));
  SCOPEVM_RETURN_IF_ERROR(stream.finish());
  const std::vector<ScopeUse> memory = concerned_scopes(call.stats());
  report.signature = &module.signature();
  report.function = call.stats().function;
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const bool has_value, call.has_value(i));
    SCOPEVM_ASSIGN_OR_RETURN(std::span<const Tensor> elements, call.elements(i));
    if (const Tensor* all = stream.output(i)) elements = {all, 1};
    report.outputs.push_back({has_value, elements});
  }
  report.memory = memory;
  report.copies = call.stats().copies;
  if (options.emulate) report.emulated_seconds = call.stats().emulated_seconds;
  report.has_stats = options.stats;
  if (writes_to_stdout(plan, options)) return {};
  options.json ? print_json(report) : print_text(report);
  return {};
}

// Makes the calls, or those of rank 0 on another rank. `has_session` is set when the ranks of a job
// have a session.
Status run_session(const Plan& plan, const RunOptions& options, const Module& module,
                   const ObservedModule* observed, std::chrono::steady_clock::time_point began,
                   Traces& traces, bool& has_session) {
  if (!plan.is_follower())
    SCOPEVM_RETURN_IF_ERROR(check_outputs(plan, options, module.signature()));
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, create_session(plan, options, module, traces));
  has_session = true;
  if (!options.reserve.empty()) SCOPEVM_RETURN_IF_ERROR(session.reserve(plan.reserved));
  if (plan.is_follower()) return session.follow(traces.sink(options));
  return run_calls(plan, options, module, session, observed, began, traces);
}

Status run_plan(Plan& plan, const RunOptions& options, const Module& module,
                const ObservedModule* observed, std::chrono::steady_clock::time_point began) {
  SCOPEVM_RETURN_IF_ERROR(add_transport(options, module, plan.session));
  Traces traces(options, plan.session.transport);
  if (observed != nullptr) RunRecord::prepare(plan.session, *observed);
  return run_traced(plan.session.transport, traces.times, options.trace, [&](bool& has_session) {
    return run_session(plan, options, module, observed, began, traces, has_session);
  });
}

int run_module(const RunOptions& options, const Module& module, const ObservedModule* observed,
               std::chrono::steady_clock::time_point began) {
  // Names of inputs and outputs can contain '=', so the signature is needed to parse the options.
  Result<Plan> plan = make_plan(options, module.signature());
  if (!plan.ok()) return report_usage(plan.status().message());
  return report(run_plan(*plan, options, module, observed, began));
}

int run(const RunOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  if (!options.record.empty()) {
    const Result<ObservedModule> observed = load_observed_module(options.module);
    if (!observed.ok()) return report(observed.status());
    return run_module(options, observed->module, &*observed, began);
  }
  const Result<LoadOptions> load = load_options(options);
  if (!load.ok()) return report(load.status());
  const Result<Module> module = load_module(options.module, *load);
  if (!module.ok()) return report(module.status());
  return run_module(options, *module, nullptr, began);
}

const Command<RunOptions> run_command(
    {.position = 40, .name = "run", .description = "Run a module"}, declare, run);

}  // namespace

}  // namespace scopevm::tool
