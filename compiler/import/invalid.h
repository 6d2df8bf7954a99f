// The error of a model that is not valid.
#pragma once

#include <string>

#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

inline Status invalid(const std::string& message) {
  return Status(StatusCode::kInvalidModel, message);
}

}  // namespace scopevm::compiler::frontend
