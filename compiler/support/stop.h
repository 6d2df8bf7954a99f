// Requests to stop a compilation (CompileOptions::stop_token).
#pragma once

#include <stop_token>

#include "scopevm/status.h"

namespace scopevm::compiler {

// Errors: kCancelled (a stop is requested).
inline Status check_not_stopped(const std::stop_token& token) {
  if (!token.stop_requested()) return {};
  return {StatusCode::kCancelled, "the compilation is cancelled"};
}

}  // namespace scopevm::compiler
