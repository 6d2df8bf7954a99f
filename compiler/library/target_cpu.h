// Checks a value of the option "target-cpu", with LLVM.
#pragma once

#include <string_view>

#include "scopevm/status.h"

namespace scopevm::compiler {

// Errors: kInvalidArgument.
Status check_target_cpu(std::string_view value);

}  // namespace scopevm::compiler
