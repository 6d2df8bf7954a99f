// The access log: a line of JSON for each HTTP request.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

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

  // Continues in a new file if the old one was renamed. Errors: as for open(); the old file
  // remains.
  Status reopen();
  // A line that cannot be written is lost.
  void write(const AccessEntry& entry);

 private:
  AccessLog(std::string path, int file) : path_(std::move(path)), file_(file) {}

  const std::string path_;
  const int file_;
};

}  // namespace scopevm::serve
