// The access log: a line of JSON for each HTTP request.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "scopevm/status.h"
#include "tools/serve/http/message.h"

namespace scopevm::serve {

struct AccessEntry {
  const HttpRequest& request;
  const AccessNote& note;
  int status = 0;
  size_t response_bytes = 0;
  std::chrono::nanoseconds duration{};  // from the last byte of the request to the response
};

// Thread-safe.
class AccessLog {
 public:
  // Appends to a file; "-" denotes stdout. Errors: kInvalidArgument (the file cannot be written).
  static Result<std::unique_ptr<AccessLog>> open(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // A line that cannot be written is lost.
  void write(const AccessEntry& entry);

 private:
  explicit AccessLog(int file) : file_(file) {}
  const int file_;
};

}  // namespace scopevm::serve
