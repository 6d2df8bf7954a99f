// Reads and writes whole files; see file.h.
#include "tools/files/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "tools/files/standard_streams.h"
#include "vm/format/binary/write_file.h"

namespace scopevm::tool {
namespace {

Status input_error(const std::string& name, const char* reason) {
  return {StatusCode::kNotFound, name + ": " + reason};
}

// Reads a pipe to its end. `name`: for messages.
Result<runtime::MappedFile> read_stream(int descriptor, const std::string& name) {
  constexpr size_t kChunk = size_t{1} << 20;
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (size_t size = 0;;) {
    bytes->resize(size + kChunk);
    const ssize_t count = read(descriptor, bytes->data() + size, kChunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return input_error(name, std::strerror(errno));
    size += static_cast<size_t>(count);
    if (count > 0) continue;
    return runtime::MappedFile{bytes, bytes->data(), size};
  }
}

Result<runtime::MappedFile> read_standard_input() {
  static bool is_read = false;
  const std::string name = input_name(std::string(kStandardStream));
  if (std::exchange(is_read, true))
    return input_error(name, "can be read once, given for two inputs");
  return read_stream(STDIN_FILENO, name);
}

Result<runtime::MappedFile> read_pipe(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return input_error(path, std::strerror(errno));
  Result<runtime::MappedFile> read = read_stream(descriptor, path);
  close(descriptor);
  return read;
}

}  // namespace

std::string input_name(const std::string& path) {
  return path == kStandardStream ? "standard input" : path;
}

Result<runtime::MappedFile> map_input(const std::string& path) {
  if (path == kStandardStream) return read_standard_input();
  std::error_code error;
  return std::filesystem::is_fifo(path, error) ? read_pipe(path) : runtime::map_file(path);
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, map_input(path));
  return std::vector<uint8_t>(file.data, file.data + file.size);
}

Status check_is_no_input(const std::string& output, std::initializer_list<std::string> inputs) {
  if (output == kStandardStream) return {};
  std::error_code error;
  for (const std::string& input : inputs)
    if (std::filesystem::is_regular_file(input, error) &&
        std::filesystem::equivalent(input, output, error))
      return {StatusCode::kInvalidArgument,
              output + ": is an input of this command; expected another output file"};
  return {};
}

Status check_is_writable(const std::string& output) {
  if (output.empty() || output == kStandardStream) return {};
  std::error_code error;
  const std::filesystem::path path = output;
  const bool exists = std::filesystem::exists(path, error);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  int reason = 0;
  if (std::filesystem::is_directory(path, error))
    reason = EISDIR;
  else if (access(exists ? path.c_str() : folder.c_str(), W_OK) != 0)
    reason = errno;
  else if (!exists && !std::filesystem::is_directory(folder, error))
    reason = ENOTDIR;
  if (reason == 0) return {};
  return {StatusCode::kInvalidArgument, output + ": cannot write: " + std::strerror(reason)};
}

Status write_file(const std::string& path, std::span<const std::span<const uint8_t>> pieces) {
  if (path != kStandardStream) return format::write_file(path, pieces);
  for (const std::span<const uint8_t> piece : pieces)
    write_output({reinterpret_cast<const char*>(piece.data()), piece.size()});
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return write_file(path, {&bytes, 1});
}

}  // namespace scopevm::tool
