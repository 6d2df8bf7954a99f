#include "vm/format/write_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace scopevm::format {
namespace {

using Piece = std::span<const uint8_t>;

// Returns 0, or the system's error number.
int write_pieces(const std::string& path, std::span<const Piece> pieces) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  errno = 0;
  const bool is_written = std::ranges::all_of(pieces, [&](Piece piece) {
    return piece.empty() || std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
  });
  int error = is_written ? 0 : errno;
  // fclose() writes buffered bytes, so it can be the first to report a full disk.
  if (std::fclose(file) != 0 && error == 0) error = errno;
  return error;
}

bool is_special(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

Status write_file(const std::string& path, std::span<const Piece> pieces) {
  const bool is_direct = is_special(path);
  // Processes that write the same file at the same time must not share the temporary name.
  const std::string written = is_direct ? path : path + "." + std::to_string(getpid()) + ".part";
  int error = write_pieces(written, pieces);
  if (error == 0 && !is_direct && std::rename(written.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  if (!is_direct) std::remove(written.c_str());
  return {StatusCode::kInvalidArgument, path + ": cannot write: " + std::strerror(error)};
}

}  // namespace scopevm::format
