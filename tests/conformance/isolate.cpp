// A child process sends its outcome as three fields through a pipe. If a time limit or SIGKILL ends
// it, the verdict is a timeout. If another signal ends it, or if it exits with an error or without
// an outcome, the verdict is a crash.
#include "tests/conformance/isolate.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCOPEVM_CONFORMANCE_SANITIZED 1
#endif
#endif

namespace scopevm::conformance {
namespace {

constexpr char kSeparator = '\0';

void set_limits(const Limits& limits) {
#ifdef SCOPEVM_CONFORMANCE_SANITIZED
  constexpr int kSlower = 10;
#else
  constexpr int kSlower = 1;
  rlimit space{static_cast<rlim_t>(limits.address_space_bytes),
               static_cast<rlim_t>(limits.address_space_bytes)};
  setrlimit(RLIMIT_AS, &space);
#endif
  auto seconds = static_cast<rlim_t>(limits.cpu_seconds * kSlower);
  rlimit cpu{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
  alarm(static_cast<unsigned>(limits.wall_seconds));
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

void send(int pipe, const Outcome& outcome) {
  std::string message(1, static_cast<char>('0' + static_cast<int>(outcome.verdict)));
  message += outcome.op + kSeparator + outcome.detail + kSeparator;
  for (size_t sent = 0; sent < message.size();) {
    ssize_t n = write(pipe, message.data() + sent, message.size() - sent);
    if (n <= 0) return;
    sent += static_cast<size_t>(n);
  }
}

Outcome receive(const std::string& message, int status) {
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL)
    return {Verdict::kTimeout, "", strsignal(signal)};
  if (signal != 0) return {Verdict::kCrash, "", strsignal(signal)};
  size_t first = message.find(kSeparator);
  size_t second = first == std::string::npos ? first : message.find(kSeparator, first + 1);
  if (second == std::string::npos || WEXITSTATUS(status) != 0)
    return {Verdict::kCrash, "", "exit status " + std::to_string(WEXITSTATUS(status))};
  return {static_cast<Verdict>(message[0] - '0'), message.substr(1, first - 1),
          message.substr(first + 1, second - first - 1)};
}

class ForkedChild : public Child {
 public:
  ForkedChild(pid_t pid, int pipe) : pid_(pid), pipe_(pipe) {}
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild() override {
    if (pipe_ >= 0) finish();
  }

  Outcome finish() override {
    std::string message;
    char buffer[4096];
    for (ssize_t n; (n = read(pipe_, buffer, sizeof buffer)) > 0;)
      message.append(buffer, static_cast<size_t>(n));
    close(pipe_);
    pipe_ = -1;
    int status = 0;
    waitpid(pid_, &status, 0);
    return receive(message, status);
  }

 private:
  pid_t pid_;
  int pipe_;
};

}  // namespace

std::unique_ptr<Child> Child::start(const std::function<Outcome()>& work, const Limits& limits) {
  int ends[2];
  // The parent reads until no process has the write end. The child must therefore be the only
  // writer: the pipe is close-on-exec, and the parent closes its write end below.
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return nullptr;
  }
  if (pid == 0) {
    close(ends[0]);
    set_limits(limits);
    send(ends[1], work());
    _exit(0);
  }
  close(ends[1]);
  return std::make_unique<ForkedChild>(pid, ends[0]);
}

}  // namespace scopevm::conformance
