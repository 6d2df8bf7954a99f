// Maps files with mmap; see mapped_file.h.
#include "runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace scopevm::runtime {
namespace {

struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
};

Status failure(const std::string& path, const char* reason) {
  return {StatusCode::kNotFound, path + ": " + reason};
}

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  // O_NONBLOCK, because opening a FIFO must not block. S_ISREG() below rejects the FIFO.
  const OpenFile file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0) return failure(path, std::strerror(errno));
  struct stat about{};
  if (fstat(file.descriptor, &about) != 0) return failure(path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return failure(path, "is a directory");
  if (!S_ISREG(about.st_mode)) return failure(path, "is not a regular file");
  // mmap rejects a size of 0.
  if (about.st_size == 0) return MappedFile{};
  const auto size = static_cast<size_t>(about.st_size);
  // The mapping remains valid after the descriptor is closed.
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (data == MAP_FAILED) return failure(path, std::strerror(errno));
  std::shared_ptr<const void> owner(
      data, [size](const void* mapped) { munmap(const_cast<void*>(mapped), size); });
  return MappedFile{owner, static_cast<const uint8_t*>(data), size};
}

}  // namespace scopevm::runtime
