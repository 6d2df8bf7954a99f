// Writes lines of JSON; see access_log.h.
#include "tools/serve/http/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/write_all.h"
#include "tools/files/standard_streams.h"

namespace scopevm::serve {
namespace {

// "2026-05-01T10:00:00.123Z"
std::string time_text() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     ms.count() % 1000);
}

// The id of the trace in a header "00-TRACE-SPAN-FLAGS" (W3C Trace Context); else empty.
std::string trace_of(const HttpRequest& request) {
  constexpr size_t kTraceAt = 3, kTraceSize = 32;
  const std::string* const parent = request.header("traceparent");
  if (parent == nullptr || parent->size() < kTraceAt + kTraceSize) return {};
  return parent->substr(kTraceAt, kTraceSize);
}

Result<int> open_file(const std::string& path) {
  const int file = path == tool::kStandardStream
                       ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                       : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return Status(StatusCode::kInvalidArgument, path + ": " + std::strerror(errno));
  return file;
}

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const int file, open_file(path));
  return std::unique_ptr<AccessLog>(new AccessLog(path, file));
}

Status AccessLog::reopen() {
  SCOPEVM_ASSIGN_OR_RETURN(const int file, open_file(path_));
  // Other threads write to the old or the new file, and never to a file that is closed.
  const int replaced = dup3(file, file_, O_CLOEXEC);
  const int cause = errno;
  close(file);
  if (replaced >= 0) return {};
  return {StatusCode::kInvalidArgument, path_ + ": " + std::strerror(cause)};
}

AccessLog::~AccessLog() { close(file_); }

void AccessLog::write(const AccessEntry& entry) {
  nlohmann::ordered_json line = {
      {"time", time_text()},
      {"remote", entry.request.remote},
      {"method", entry.request.method},
      {"path", entry.request.path},
      {"status", entry.status},
      {"request_bytes", entry.request.body ? entry.request.body->size() : 0},
      {"response_bytes", entry.response_bytes},
      {"us", entry.duration.count() / 1000}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) line[name] = value;
  };
  add("model", entry.note.model);
  add("version", entry.note.version);
  add("id", entry.note.id);
  add("trace", trace_of(entry.request));
  add("error", entry.note.error);
  const std::string text =
      line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  (void)runtime::write_all(file_, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace scopevm::serve
