// Replaces regular files by renaming a temporary file, and writes other files directly; see
// write_file.h.
#include "vm/format/binary/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "runtime/blocked_signals.h"
#include "runtime/quoted.h"

namespace scopevm::format {
namespace {

namespace fs = std::filesystem;
using Piece = std::span<const uint8_t>;

// The error number of a failed stdio function. A function can fail without setting errno.
int failure() { return errno != 0 ? errno : EIO; }

// Writes the pieces. Returns 0, or the system's error number.
int write(std::FILE* file, std::span<const Piece> pieces) {
  errno = 0;
  const bool is_written = std::ranges::all_of(pieces, [&](Piece piece) {
    return piece.empty() || std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
  });
  // fflush() writes buffered bytes, so it can be the first to report a full disk.
  return is_written && std::fflush(file) == 0 ? 0 : failure();
}

int write_directly(const std::string& path, std::span<const Piece> pieces) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  int error = write(file, pieces);
  errno = 0;
  if (std::fclose(file) != 0 && error == 0) error = failure();
  return error;
}

// The path with symbolic links to files replaced by their targets, which need not exist.
// REQUIRES: the links have no cycle.
std::string followed(const std::string& path) {
  std::error_code error;
  fs::path file = path;
  while (fs::is_symlink(file, error)) file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

// Whether `path` is the name of the file that has the given status.
bool is_file(const std::string& path, const struct stat& status) {
  struct stat named{};
  return stat(path.c_str(), &named) == 0 && named.st_dev == status.st_dev &&
         named.st_ino == status.st_ino;
}

// Gives the contents of an open file without a name to `path`. Returns 0, or the system's error
// number.
int link_file(int file, const std::string& path) {
  const std::string opened = "/proc/self/fd/" + std::to_string(file);
  return linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                          : errno;
}

// Replaces or creates a regular file. `old` is the status of the file to replace, or null.
int replace(const std::string& path, const struct stat* old, std::span<const Piece> pieces) {
  // Processes that write the same file at the same time must not share the temporary name.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".part";
  const std::string folder = fs::path(path).parent_path().string();
  constexpr mode_t kNewMode = 0666;
  // A file without a name, so that no file remains if the process is killed. Not all file systems
  // support it.
  int descriptor =
      open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewMode);
  const bool has_name = descriptor < 0;
  if (has_name)
    descriptor = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, kNewMode);
  // The file can be writable although no file can be created in its folder.
  if (descriptor < 0) return write_directly(path, pieces);
  std::FILE* file = fdopen(descriptor, "wb");
  if (file == nullptr) {
    close(descriptor);
    return ENOMEM;
  }
  int error = 0;
  constexpr mode_t kPermissions = 07777;
  if (old != nullptr && fchmod(descriptor, old->st_mode & kPermissions) != 0) error = errno;
  if (error == 0) error = write(file, pieces);
  const runtime::BlockedSignals blocked;  // while a temporary file has a name
  if (error == 0 && !has_name) error = link_file(descriptor, temporary);
  errno = 0;
  if (std::fclose(file) != 0 && error == 0) error = failure();
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
  const std::string target = is_regular ? followed(path) : path;
  // An open file without a name, such as /proc/self/fd/3, cannot be replaced.
  const bool is_replaced = is_regular && (!exists || is_file(target, old));
  const int error =
      is_replaced ? replace(target, exists ? &old : nullptr, pieces) : write_directly(path, pieces);
  if (error == 0) return {};
  return {StatusCode::kInvalidArgument,
          runtime::escaped(path) + ": cannot write: " + std::strerror(error)};
}

}  // namespace scopevm::format
