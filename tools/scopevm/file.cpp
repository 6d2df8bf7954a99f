// Reads and writes whole files; see file.h.
#include "tools/scopevm/file.h"

#include "runtime/mapped_file.h"
#include "vm/format/write_file.h"

namespace scopevm::tool {

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  return std::vector<uint8_t>(file.data, file.data + file.size);
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  return format::write_file(path, {&bytes, 1});
}

}  // namespace scopevm::tool
