// The exit codes of the commands, and functions that report a failure.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "scopevm/status.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {

inline constexpr int kExitOk = 0;
inline constexpr int kExitWrong = 1;  // all other errors, such as an invalid model
inline constexpr int kExitUsage = 2;
inline constexpr int kExitLimit = 3;  // out of memory or time

// Prints a message to stderr. Messages of MLIR and of drivers have several lines.
inline void print_error(std::string_view message) {
  std::fprintf(stderr, "scopevm: %s\n", escaped(message, "\n\t").c_str());
}

// Returns the exit code of a status. Prints the message of an error to stderr.
inline int report(const Status& status) {
  if (status.ok()) return kExitOk;
  print_error(status.message());
  const bool is_limit = status.code() == StatusCode::kOutOfMemory ||
                        status.code() == StatusCode::kResourceLimit ||
                        status.code() == StatusCode::kDeadlineExceeded;
  return is_limit ? kExitLimit : kExitWrong;
}

// Reports the error and ends the process at once. In a job, what a process does at its exit waits
// for the other ranks. If they do not know of the error, they wait for this one, until they notice
// its end.
[[noreturn]] inline void exit_from_job(const Status& status) {
  const int code = report(status);
  (void)std::fflush(nullptr);
  std::_Exit(code);
}

inline int report_usage(std::string_view message) {
  print_error(message);
  return kExitUsage;
}

}  // namespace scopevm::tool
