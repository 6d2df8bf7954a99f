// Prints a program for --dump-after=kernels. Each pool, constant, function, value, check and step
// has one line.
#pragma once

#include <string>

#include "compiler/program/program.h"

namespace scopevm::compiler {

std::string str(const Program& program);

}  // namespace scopevm::compiler
