// The program of `scopevm compile` and `scopevm explain`: its name and those of its commands.
#pragma once

#include "tools/command_line/command.h"

namespace scopevm::tool {

inline constexpr char kCompileProgram[] = "scopevm-compile";

inline const CommandName kCompile{
    .position = 10, .name = "compile", .description = "Compile a model to a module"};
inline const CommandName kExplain{
    .position = 20,
    .name = "explain",
    .description =
        "Print a report on a model: what it contains, and what the compiler makes of it"};

}  // namespace scopevm::tool
