// scopevm machine: prints a description of this host in the format of --machine.
#include "runtime/drivers/built_in.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/machine_description.h"

namespace scopevm::tool {
namespace {

struct MachineOptions {};

void declare(CLI::App& /*command*/, MachineOptions& /*options*/) {}

int machine(const MachineOptions& /*options*/) {
  write_output(describe_machine(runtime::built_in_drivers(), stderr) + "\n");
  return kExitOk;
}

const Command<MachineOptions> registered(
    {.position = 30,
     .name = "machine",
     .description = "Print the devices of this host as a machine description for --machine"},
    declare, machine);

}  // namespace
}  // namespace scopevm::tool
