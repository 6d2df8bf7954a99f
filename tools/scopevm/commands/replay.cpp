// scopevm replay: runs a recorded call again and compares everything with the recording.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/tensor/shape.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/execution/recorder.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/run/call_arguments.h"
#include "tools/scopevm/commands/run/run_record.h"
#include "tools/scopevm/module_file.h"
#include "tools/tensors/difference.h"
#include "tools/tensors/element_text.h"

namespace scopevm::tool {
namespace {

using runtime::count_text;
using runtime::type_text;

struct ReplayOptions {
  std::string recording;
  std::string module;  // empty: the path in the recording
  std::optional<int> threads;
  std::vector<std::string> external_libraries;  // empty: those of the recording
  std::vector<std::string> devices;             // NAME=KIND:NUMBER; empty: those of the recording
};

void declare(CLI::App& command, ReplayOptions& options) {
  command.add_option("RECORDING", options.recording, "File of run --record")->required();
  command.add_option("--module", options.module,
                     "Module file (default: the path that was recorded)");
  command
      .add_option("--threads", options.threads,
                  "Number of worker threads; 0: one per CPU (default: as recorded)")
      ->check(thread_count());
  command
      .add_option("--device", options.devices,
                  "NAME=KIND:NUMBER: bind a device of the module to a device of this host "
                  "(default: as recorded)")
      ->allow_extra_args(false);
  command
      .add_option("--external", options.external_libraries,
                  "NAME or PATH of a plug-in that computes external functions of the module "
                  "(default: as recorded)")
      ->allow_extra_args(false);
}

void print_launch(std::string_view what, const RecordedLaunch& launch) {
  print("  {} {} at {}:{}, position {}", what, launch.name, launch.function, launch.word,
        launch.position);
  if (!launch.op.empty()) print(", of {}", launch.op);
  print("\n");
}

// Prints the first difference of two tensors of equal types.
void print_elements(const Tensor& expected, const Tensor& given) {
  const std::optional<int64_t> index = first_unequal_element(expected, given);
  if (!index) return;
  print("  first at {}: recorded {}, given {}\n", index_text(given.dims(), *index),
        exact_element_text(expected, *index), exact_element_text(given, *index));
}

void print_output(const RecordedLaunch& expected, const RecordedLaunch& given, size_t output) {
  const TensorDigest& digest = given.outputs[output];
  print("  output {}: {}\n", output, type_text(digest.dtype, digest.dims));
  if (!expected.tensors.empty())
    return print_elements(expected.tensors[output], given.tensors[output]);
  const auto range = first_difference(expected.outputs[output], digest);
  print("  first in elements {} to {} (run --record-tensors locates the element)\n",
        index_text(digest.dims, range->first), index_text(digest.dims, range->second - 1));
}

void print_difference(const LaunchDifference& difference, size_t launch) {
  print("launch {} differs\n", launch);
  if (difference.output) {
    print_launch("kernel", *difference.given);
    return print_output(*difference.expected, *difference.given, *difference.output);
  }
  if (difference.expected)
    print_launch("recorded:", *difference.expected);
  else
    print("  recorded: no further launch\n");
  if (difference.given)
    print_launch("given:", *difference.given);
  else
    print("  given: no further launch\n");
  if (!difference.expected || !difference.given) return;
  for (size_t i = 0; i < difference.given->outputs.size(); ++i) {
    const TensorDigest& digest = difference.given->outputs[i];
    print("  given output {}: {}\n", i, type_text(digest.dtype, digest.dims));
  }
}

bool have_equal_types(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && std::ranges::equal(a.dims(), b.dims());
}

// Whether the results equal the recorded ones. Prints the first difference.
bool compare_results(const std::vector<NamedValue>& expected,
                     const std::vector<NamedValue>& given) {
  for (size_t i = 0; i < std::max(expected.size(), given.size()); ++i) {
    if (i >= expected.size() || i >= given.size() || expected[i].name != given[i].name ||
        expected[i].has_value != given[i].has_value ||
        expected[i].elements.size() != given[i].elements.size()) {
      print("result {} differs\n", i);
      return false;
    }
    for (size_t e = 0; e < given[i].elements.size(); ++e) {
      const Tensor &a = expected[i].elements[e], &b = given[i].elements[e];
      if (have_equal_types(a, b) && !first_unequal_element(a, b)) continue;
      print("result {} differs: recorded {}, given {}\n", given[i].name,
            type_text(a.dtype(), a.dims()), type_text(b.dtype(), b.dims()));
      if (have_equal_types(a, b)) print_elements(a, b);
      return false;
    }
  }
  return true;
}

Result<Session> create_session(const ReplayOptions& options, const Recording& recording,
                               const ObservedModule& module) {
  SessionOptions session;
  session.threads = options.threads.value_or(recording.threads);
  session.devices = recording.devices;
  if (!options.devices.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(session.devices, parse_devices(options.devices));
  }
  session.memory_limits = recording.memory_limits;
  session.emulate = recording.is_emulated;
  RunRecord::prepare(session, module);
  const std::vector<std::string>& names = options.external_libraries.empty()
                                              ? recording.external_libraries
                                              : options.external_libraries;
  for (const std::string& name : names) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    session.external_libraries.push_back(library.get());
  }
  return Session::create(module.module, std::move(session));
}

// Returns whether the run equals the recording.
Result<bool> replay_recording(const ReplayOptions& options, const Recording& recording,
                              const ObservedModule& module) {
  if (module.digest != recording.module_digest)
    return Status(StatusCode::kInvalidArgument,
                  "the module differs from the recorded one, which " + recording.producer +
                      " has compiled: expected the file " + recording.module + " of that time");
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, create_session(options, recording, module));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  for (const NamedValue& input : recording.inputs) SCOPEVM_RETURN_IF_ERROR(set_value(call, input));
  CodeMap code(module.contents);
  LaunchComparison launches(code, recording.launches);
  CallOptions with;
  with.hook = &launches;
  const Status status = call.run(with);
  SCOPEVM_RETURN_IF_ERROR(launches.failure());
  const auto difference = launches.difference();
  // For example, a deadline that passed.
  const bool goes_on = difference && !difference->expected && !recording.error.empty();
  const std::string error = goes_on                  ? "another launch"
                            : launches.has_stopped() ? recording.error
                                                     : std::string(status.message());
  if (error != recording.error) {
    print("the call differs\n  recorded: {}\n  given: {}\n",
          recording.error.empty() ? "success" : recording.error, error.empty() ? "success" : error);
    return false;
  }
  if (difference) {
    print_difference(*difference, launches.count());
    return false;
  }
  std::vector<NamedValue> results;
  if (status.ok()) {
    SCOPEVM_ASSIGN_OR_RETURN(results, results_of(call, module.module.signature()));
  }
  if (!compare_results(recording.results, results)) return false;
  print("equal: {} {}, {}{}\n", launches.count(), launches.count() == 1 ? "launch" : "launches",
        count_text(results.size(), "result"),
        error.empty() ? "" : "; the call failed as recorded: " + error);
  return true;
}

Result<Recording> read_file_of(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  Result<Recording> recording = read_recording({file.data, file.size});
  if (!recording.ok()) return std::move(recording).status().with_context(input_name(path));
  return recording;
}

int replay(const ReplayOptions& options) {
  if (const auto devices = parse_devices(options.devices); !devices.ok())
    return report_usage(devices.status().message());
  const Result<Recording> recording = read_file_of(options.recording);
  if (!recording.ok()) return report(recording.status());
  const std::string& path = options.module.empty() ? recording->module : options.module;
  const Result<ObservedModule> module = load_observed_module(path);
  if (!module.ok()) return report(module.status());
  const Result<bool> is_equal = replay_recording(options, *recording, *module);
  if (!is_equal.ok()) return report(is_equal.status());
  return *is_equal ? kExitOk : kExitWrong;
}

const Command<ReplayOptions> replay_command(
    {.position = 42, .name = "replay", .description = "Run a recorded call again and compare"},
    declare, replay);

}  // namespace
}  // namespace scopevm::tool
