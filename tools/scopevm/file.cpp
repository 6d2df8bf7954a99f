// Reads and writes whole files; see file.h.
#include "tools/scopevm/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/mapped_file.h"

namespace scopevm::tool {

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  return std::vector<uint8_t>(file.data, file.data + file.size);
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  // A temporary name and a rename: readers never see a partial file, and concurrent processes do
  // not share it.
  const std::string partial = path + "." + std::to_string(getpid()) + ".part";
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  bool is_written = file != nullptr;
  if (file != nullptr) {
    is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    is_written = std::fclose(file) == 0 && is_written;
  }
  if (is_written && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const Status status(StatusCode::kInvalidArgument, path + ": " + std::strerror(errno));
  std::remove(partial.c_str());
  return status;
}

}  // namespace scopevm::tool
