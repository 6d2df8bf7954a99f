// Reads and writes whole files; see file.h.
#include "tools/scopevm/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "runtime/mapped_file.h"
#include "vm/format/write_file.h"

namespace scopevm::tool {
namespace {

constexpr char kStandardStream[] = "-";

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  return std::vector<uint8_t>(file.data, file.data + file.size);
}

Status check_is_no_input(const std::string& output, std::initializer_list<std::string> inputs) {
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

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  if (path == kStandardStream) {
    (void)!std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return {};
  }
  return format::write_file(path, {&bytes, 1});
}

}  // namespace scopevm::tool
