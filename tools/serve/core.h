// What the transports share.
#pragma once

#include <atomic>
#include <functional>

#include "tools/serve/repository/repository.h"

namespace scopevm::serve {

struct Core {
  Repository& repository;
  // Executes loads, one after the other, on another thread.
  std::function<void(std::function<void()>)> run_later;
  std::atomic<bool> is_ready{false};  // what the server reports to clients
};

}  // namespace scopevm::serve
