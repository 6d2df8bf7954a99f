// Runs a command as a child process.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::tool {

struct ChildProcess {
  int pid = 0;
  // The exit code; for a command that a signal ended, 128 plus the number of the signal, as in
  // shells.
  int exit_code = 0;
};

enum class Captured : uint8_t { kOutput, kOutputAndErrors };

// Runs the command with additional environment variables and waits for its end. The standard
// streams are those of this process; if `output` is not null, it receives stdout, and stderr if
// `captured` says so. A request to stop sends SIGTERM to the child. Without one that is possible,
// this process ignores SIGINT and SIGQUIT during the run, because a terminal sends them to the
// child, too. Errors: kInvalidArgument (the command cannot be started).
Result<ChildProcess> run_child(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& variables,
                               std::string* output = nullptr, Captured captured = Captured::kOutput,
                               const std::stop_token& stop = {});

}  // namespace scopevm::tool
