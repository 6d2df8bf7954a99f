// scopevm alloc and scopevm serve: commands that are programs of their own.
#include "tools/command_line/command.h"
#include "tools/lab/program.h"
#include "tools/serve/program.h"

namespace scopevm::tool {
namespace {

const ForwardedCommand alloc(
    {.position = 100, .name = lab::kGroup, .description = lab::kDescription}, lab::kProgram);
const ForwardedCommand server(serve::kServe, serve::kProgram);

}  // namespace
}  // namespace scopevm::tool
