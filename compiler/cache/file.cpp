// Reads files of the cache, models and external data; see file.h.
#include "compiler/cache/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace scopevm::compiler::cache {

std::optional<File> File::open(const std::string& path) {
  struct stat status{};
  // The open() of a device can have effects. The file can be replaced before open().
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return std::nullopt;
  }
  return File(descriptor, static_cast<size_t>(status.st_size));
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<size_t> File::read(std::span<char> bytes) const {
  size_t count = 0;
  while (count < bytes.size()) {
    const ssize_t more = ::read(descriptor_, bytes.data() + count, bytes.size() - count);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return std::nullopt;
    if (more == 0) break;
    count += static_cast<size_t>(more);
  }
  return count;
}

std::unique_ptr<llvm::WritableMemoryBuffer> File::read_rest(size_t position) const {
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size_ - position);
  if (!buffer || read({buffer->getBufferStart(), buffer->getBufferSize()}) != size_ - position)
    return nullptr;
  char next = 0;
  if (read({&next, 1}) != size_t{0}) return nullptr;
  return buffer;
}

}  // namespace scopevm::compiler::cache
