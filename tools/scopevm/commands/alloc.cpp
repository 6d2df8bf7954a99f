// scopevm alloc: the group of commands for allocators and memory plans.
#include "tools/command_line/command.h"

namespace scopevm::tool {
namespace {

const CommandGroup registered(
    {.position = 100,
     .name = "alloc",
     .description = "Plan memory; record, replay, compare and plot allocations"});

}  // namespace
}  // namespace scopevm::tool
