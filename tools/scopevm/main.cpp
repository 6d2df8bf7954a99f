// The scopevm command. Each file of commands/ registers its command.
#include <string_view>

#include "tools/command_line/command.h"
#include "tools/scopevm/memory_lab/replay/worker/worker.h"

int main(int argc, char** argv) {
  // A child process of `alloc replay`. It must not allocate more than it measures, so it does not
  // parse a command line.
  if (argc > 1 && std::string_view(argv[1]) == "--replay-worker")
    return scopevm::lab::worker_main(argc, argv);
  return scopevm::tool::run_program(argc, argv);
}
