// scopevm debug: steps through the instructions of a call.
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/debug/debugger.h"
#include "tools/scopevm/commands/run/inputs.h"
#include "tools/scopevm/commands/run/run_record.h"
#include "tools/scopevm/module_file.h"

namespace scopevm::tool {
namespace {

struct DebugOptions {
  std::string module;
  std::vector<std::string> values;
  std::vector<std::string> inputs;
  std::vector<std::string> external_libraries;
  int threads = 1;
  uint64_t seed = 1;
};

void declare(CLI::App& command, DebugOptions& options) {
  command.add_option("MODULE", options.module, "Module file")->required();
  command.add_option("VALUES", options.values, "Dimensions and scalar inputs, as for run");
  command.add_option("--input", options.inputs, "NAME=VALUE: an input, as for run")
      ->allow_extra_args(false);
  command
      .add_option("--external", options.external_libraries,
                  "NAME or PATH of a plug-in that computes external functions of the module")
      ->allow_extra_args(false);
  command.add_option("--threads", options.threads, "Number of worker threads; 0: one per CPU")
      ->check(thread_count())
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of random inputs")
      ->check(integer_in<uint64_t>(0))
      ->capture_default_str();
}

// The dimensions of the signature, from the dims of the inputs that have exactly these names.
DimensionValues dimensions_of(const std::vector<NamedValue>& inputs, const Signature& signature) {
  DimensionValues values;
  for (const NamedValue& input : inputs)
    for (const TensorSignature& declared : signature.inputs) {
      if (declared.name != input.name || declared.kind != ValueKind::kTensor) continue;
      const std::span<const int64_t> dims = input.elements.at(0).dims();
      for (size_t axis = 0; axis < std::min(dims.size(), declared.dims.size()); ++axis)
        for (const DimensionSignature& dimension : signature.dimensions)
          if (dimension.name == declared.dims[axis]) values[dimension.name] = dims[axis];
    }
  return values;
}

Status debug_call(const DebugOptions& options, const ObservedModule& module,
                  const RunInputs& given) {
  SessionOptions session_options;
  session_options.threads = options.threads;
  RunRecord::prepare(session_options, module);
  for (const std::string& name : options.external_libraries) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    session_options.external_libraries.push_back(library.get());
  }
  SCOPEVM_ASSIGN_OR_RETURN(const Session session,
                           Session::create(module.module, std::move(session_options)));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedValue> inputs,
                           make_inputs(given, module.module, options.seed));
  for (const NamedValue& input : inputs) SCOPEVM_RETURN_IF_ERROR(set_value(call, input));
  CodeMap code(module.contents);
  const Signature& signature = module.module.signature();
  Debugger debugger(code, call, signature, std::cin, ::isatty(STDIN_FILENO) == 1 ? "(debug) " : "");
  debugger.set_dimensions(dimensions_of(inputs, signature));
  debugger.run();
  return {};
}

int debug(const DebugOptions& options) {
  if (options.module == kStandardStream)
    return report_usage("the commands are read from standard input: expected a module file");
  const Result<ObservedModule> module = load_observed_module(options.module);
  if (!module.ok()) return report(module.status());
  const Result<RunInputs> inputs =
      parse_inputs(options.inputs, options.values, module->module.signature());
  if (!inputs.ok()) return report_usage(inputs.status().message());
  return report(debug_call(options, *module, *inputs));
}

const Command<DebugOptions> registered({.position = 46,
                                        .name = "debug",
                                        .description = "Step through a call of a module"},
                                       declare, debug);

}  // namespace
}  // namespace scopevm::tool
