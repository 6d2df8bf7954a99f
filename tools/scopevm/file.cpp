// Reads and writes whole files; see file.h.
#include "tools/scopevm/file.h"

#include <filesystem>

#include "runtime/mapped_file.h"
#include "vm/format/write_file.h"

namespace scopevm::tool {

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

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  return format::write_file(path, {&bytes, 1});
}

}  // namespace scopevm::tool
