// The memory laboratory, which `scopevm alloc` starts with its own arguments (docs/memory-lab.md):
//   plan/    assigns offsets to buffers
//   record/  runs a command with libscopevm_record.so, and writes memory traces (trace/)
//   replay/  executes the operations of a trace with allocators, and compares them
//   plot/    draws a trace or a plan as a page
#include <string_view>

#include "tools/command_line/command.h"
#include "tools/lab/program.h"
#include "tools/lab/replay/worker/worker.h"

namespace scopevm::lab {
namespace {

const tool::CommandGroup alloc_group({.position = 0, .name = kGroup, .description = kDescription});

}  // namespace
}  // namespace scopevm::lab

int main(int argc, char** argv) {
  // A child process of `alloc replay`. It must not allocate more than it measures, so it does not
  // parse a command line.
  if (argc > 1 && std::string_view(argv[1]) == "--replay-worker")
    return scopevm::lab::worker_main(argc, argv);
  return scopevm::tool::run_program(argc, argv);
}
