// Parses the second field of /proc/self/statm; see resident_memory.h.
#include "tools/lab/replay/worker/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace scopevm::lab {

ResidentMemory::ResidentMemory() : file_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

ResidentMemory::~ResidentMemory() {
  if (file_ >= 0) close(file_);
}

uint64_t ResidentMemory::read() const {
  char text[128] = "";
  if (pread(file_, text, sizeof(text) - 1, 0) <= 0) return 0;
  char* end = text;
  std::strtoull(text, &end, 10);
  return std::strtoull(end, nullptr, 10) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace scopevm::lab
