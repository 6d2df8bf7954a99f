// Starts a child with posix_spawnp(); see child_process.h.
#include "tools/command_line/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace scopevm::tool {
namespace {

// The environment of this process with some variables replaced.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool is_replaced = false;
    for (const auto& [name, value] : variables)
      is_replaced |= text.starts_with(name) && text.substr(name.size()).starts_with('=');
    if (!is_replaced) entries.emplace_back(text);
  }
  for (const auto& [name, value] : variables) entries.emplace_back(name).append("=").append(value);
  return entries;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& string : strings) out.push_back(const_cast<char*>(string.c_str()));
  out.push_back(nullptr);
  return out;
}

// While the child runs, SIGINT and SIGQUIT of the terminal end the child only.
class IgnoredInterrupts {
 public:
  IgnoredInterrupts() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoredInterrupts() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_, quit_;
};

void read_all(int file, std::string& output) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    output.append(buffer.data(), static_cast<size_t>(count));
  }
}

// The process still exists afterwards, so that its id is not that of another one.
void wait_for_end(int pid) {
  siginfo_t end = {};
  while (waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

int exit_code_of(int pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ChildProcess> run_child(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& variables,
                               std::string* output, Captured captured,
                               const std::stop_token& stop) {
  const std::vector<std::string> environment = environment_with(variables);
  const auto failed = [&](int error) {
    return Status(StatusCode::kInvalidArgument,
                  command.front() + ": cannot run: " + std::strerror(error));
  };
  int ends[2] = {-1, -1};
  if (output != nullptr && pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output != nullptr) posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (output != nullptr && captured == Captured::kOutputAndErrors)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  ChildProcess child;
  std::optional<IgnoredInterrupts> ignored;
  if (!stop.stop_possible()) ignored.emplace();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&child.pid, command.front().c_str(), &actions, &attributes,
                                 pointers(command).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (ends[1] >= 0) close(ends[1]);
  if (error == 0) {
    const std::stop_callback on_stop(stop, [&] { kill(child.pid, SIGTERM); });
    if (output != nullptr) read_all(ends[0], *output);
    wait_for_end(child.pid);
  }
  if (ends[0] >= 0) close(ends[0]);
  if (error != 0) return failed(error);
  child.exit_code = exit_code_of(child.pid);
  return child;
}

}  // namespace scopevm::tool
