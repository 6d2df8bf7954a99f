// The message of the verifier.
#pragma once

#include <string>

#include "vm/format/verify/verify.h"

namespace scopevm::format {

// Empty if the module is valid.
inline std::string error_of(const ModuleContents& module) {
  return std::string(verify(module).message());
}

}  // namespace scopevm::format
