// scopevm machine: prints a description of this host, or of a job, in the format of --machine.
#include "runtime/drivers/built_in.h"
#include "scopevm/session.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/machine/ranks.h"
#include "tools/scopevm/commands/machine_description.h"

namespace scopevm::tool {
namespace {

struct MachineOptions {
  bool has_numa_nodes = false;
  bool is_job = false;
};

void declare(CLI::App& command, MachineOptions& options) {
  CLI::Option* const numa =
      command.add_flag("--numa", options.has_numa_nodes, "Describe a rank for each NUMA node");
  command
      .add_flag("--mpi", options.is_job,
                "Describe the ranks of the job that mpirun has started, with the measured speeds "
                "of their links")
      ->excludes(numa);
}

Result<std::string> description_of(const MachineOptions& options) {
  if (options.has_numa_nodes) return describe_numa_nodes();
  if (!options.is_job) return describe_machine(runtime::built_in_drivers(), stderr);
  SCOPEVM_ASSIGN_OR_RETURN(const Transport transport, Transport::load("mpi"));
  return describe_job(*transport.get());
}

int machine(const MachineOptions& options) {
  const Result<std::string> description = description_of(options);
  if (!description.ok()) return report(description.status());
  if (!description->empty()) write_output(*description + "\n");
  return kExitOk;
}

const Command<MachineOptions> machine_command(
    {.position = 30,
     .name = "machine",
     .description = "Print the devices of this host as a machine description for --machine"},
    declare, machine);

}  // namespace
}  // namespace scopevm::tool
