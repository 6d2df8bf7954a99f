// Errors of what clients and users give.
#pragma once

#include <string>
#include <utility>

#include "scopevm/status.h"

namespace scopevm::serve {

inline Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

}  // namespace scopevm::serve
