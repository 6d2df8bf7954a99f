// The program of `scopevm serve`: its name and that of its command.
#pragma once

#include "tools/command_line/command.h"

namespace scopevm::serve {

inline constexpr char kProgram[] = "scopevm-serve";

inline const tool::CommandName kServe{

    .position = 48, .name = "serve", .description = "Answer requests for the models of a folder"};

}  // namespace scopevm::serve
