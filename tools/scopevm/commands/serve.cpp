// scopevm serve: the server, a program of its own.
#include "tools/serve/program.h"

#include "tools/command_line/command.h"

namespace scopevm::serve {
namespace {

const tool::ForwardedCommand registered(kServe, kProgram);

}  // namespace
}  // namespace scopevm::serve
