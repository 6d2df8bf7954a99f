// scopevm alloc: the commands of the memory laboratory, a program of its own.
#include "tools/command_line/command.h"
#include "tools/lab/program.h"

namespace scopevm::tool {
namespace {

const ForwardedCommand registered(
    {.position = 100, .name = lab::kGroup, .description = lab::kDescription}, lab::kProgram);

}  // namespace
}  // namespace scopevm::tool
