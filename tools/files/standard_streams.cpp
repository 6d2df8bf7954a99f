#include "tools/files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/quoted.h"

namespace scopevm::tool {

void open_standard_streams() {
  // open() returns the lowest free descriptor. stdin is opened only for writing, and stdout and
  // stderr only for reading, so that their use fails.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

Status finish_output() {
  const bool has_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !has_failed) return {};
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return {StatusCode::kInvalidArgument, "standard output: cannot write" + reason};
}

std::string escaped(std::string_view text, std::string_view kept) {
  return runtime::escaped(text, kept);
}

void write_output(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace scopevm::tool
