// scopevm debug: steps through the instructions of a call.
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/debug/debugger.h"
#include "tools/scopevm/commands/run/call_arguments.h"
#include "tools/scopevm/commands/run/inputs.h"
#include "tools/scopevm/commands/run/run_record.h"
#include "tools/scopevm/module_file.h"

namespace scopevm::tool {
namespace {

void declare(CLI::App& command, CallArguments& arguments) {
  declare_inputs(command, arguments);
  declare_threads(command, arguments);
  declare_session(command, arguments);
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

Status debug_call(const CallArguments& arguments, SessionOptions options,
                  const ObservedModule& module, const RunInputs& given) {
  RunRecord::prepare(options, module);
  SCOPEVM_RETURN_IF_ERROR(add_external_libraries(arguments, options));
  SCOPEVM_ASSIGN_OR_RETURN(const Session session,
                           Session::create(module.module, std::move(options)));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedValue> inputs,
                           make_inputs(given, module.module, arguments.seed));
  for (const NamedValue& input : inputs) SCOPEVM_RETURN_IF_ERROR(set_value(call, input));
  CodeMap code(module.contents);
  const Signature& signature = module.module.signature();
  Debugger debugger(code, call, signature, std::cin, ::isatty(STDIN_FILENO) == 1 ? "(debug) " : "");
  debugger.set_dimensions(dimensions_of(inputs, signature));
  debugger.run();
  return {};
}

int debug(const CallArguments& arguments) {
  if (arguments.module == kStandardStream)
    return report_usage("the commands are read from standard input: expected a module file");
  const Result<ObservedModule> module = load_observed_module(arguments.module);
  if (!module.ok()) return report(module.status());
  const Result<RunInputs> inputs =
      parse_inputs(arguments.inputs, arguments.values, module->module.signature());
  if (!inputs.ok()) return report_usage(inputs.status().message());
  Result<SessionOptions> session = session_options(arguments);
  if (!session.ok()) return report_usage(session.status().message());
  return report(debug_call(arguments, *std::move(session), *module, *inputs));
}

const Command<CallArguments> debug_command({.position = 46,
                                            .name = "debug",
                                            .description = "Step through a call of a module"},
                                           declare, debug);

}  // namespace
}  // namespace scopevm::tool
