#include "tools/files/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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
  std::string result;
  uint8_t previous = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    // In UTF-8, U+0080 to U+009F are 0xc2 and a byte from 0x80 to 0x9f.
    const bool is_c1 = previous == 0xc2 && byte >= 0x80 && byte < 0xa0;
    if (is_c1) result.replace(result.size() - 1, 1, "\\xc2");
    if (is_c1 || ((byte < ' ' || byte == 0x7f) && kept.find(c) == std::string_view::npos))
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
    previous = byte;
  }
  return result;
}

void write_output(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace scopevm::tool
