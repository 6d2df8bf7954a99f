// Replaces regular files by renaming a temporary file, and writes other files directly; see
// write_file.h.
#include "vm/format/write_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace scopevm::format {
namespace {

namespace fs = std::filesystem;
using Piece = std::span<const uint8_t>;

// The error number of a failed stdio function. A function can fail without setting errno.
int failure() { return errno != 0 ? errno : EIO; }

// Writes the pieces and closes the file. Returns 0, or the system's error number.
int write_and_close(std::FILE* file, std::span<const Piece> pieces) {
  errno = 0;
  const bool is_written = std::ranges::all_of(pieces, [&](Piece piece) {
    return piece.empty() || std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
  });
  int error = is_written ? 0 : failure();
  // fclose() writes buffered bytes, so it can be the first to report a full disk.
  if (std::fclose(file) != 0 && error == 0) error = failure();
  return error;
}

int write_directly(const std::string& path, std::span<const Piece> pieces) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  return file == nullptr ? errno : write_and_close(file, pieces);
}

// The path with symbolic links to files replaced by their targets, which need not exist.
// REQUIRES: the links have no cycle.
std::string followed(const std::string& path) {
  std::error_code error;
  fs::path file = path;
  while (fs::is_symlink(file, error)) file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

// Replaces or creates a regular file. `old` is the status of the file to replace, or null.
int replace(const std::string& path, const struct stat* old, std::span<const Piece> pieces) {
  // Processes that write the same file at the same time must not share the temporary name.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  // The file can be writable although no file can be created in its folder.
  if (file == nullptr) return write_directly(path, pieces);
  int error = 0;
  constexpr mode_t kPermissions = 07777;
  if (old != nullptr && fchmod(fileno(file), old->st_mode & kPermissions) != 0) error = errno;
  const int write_error = write_and_close(file, pieces);
  if (error == 0) error = write_error;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) std::remove(temporary.c_str());
  return error;
}

}  // namespace

Status write_file(const std::string& path, std::span<const Piece> pieces) {
  struct stat old{};
  const bool exists = stat(path.c_str(), &old) == 0;
  // After another error of stat(), such as a cycle of links, a direct write reports the same error.
  const bool is_regular = exists ? S_ISREG(old.st_mode) : errno == ENOENT;
  const int error = is_regular ? replace(followed(path), exists ? &old : nullptr, pieces)
                               : write_directly(path, pieces);
  if (error == 0) return {};
  return {StatusCode::kInvalidArgument, path + ": cannot write: " + std::strerror(error)};
}

}  // namespace scopevm::format
