// Prints a program for --dump-after=kernels: one value, constant or step per line, in order.
#pragma once

#include <string>

#include "compiler/program.h"

namespace scopevm::compiler {

std::string str(const Program& program);

}  // namespace scopevm::compiler
