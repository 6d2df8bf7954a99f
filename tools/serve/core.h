// What the transports share.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "scopevm/scheduler.h"
#include "tools/serve/http/http_server.h"
#include "tools/serve/repository/repository.h"

namespace scopevm::serve {

struct Core {
  Repository& repository;
  Scheduler scheduler;
  // Executes loads, one after the other, on another thread.
  std::function<void(std::function<void()>)> run_later;
  std::atomic<bool> is_ready{false};  // what the server reports to clients
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  const HttpStatistics* http = nullptr;  // null: no HTTP
};

}  // namespace scopevm::serve
