// Searches the folders of this program; see own_library.h.
#include "tools/files/own_library.h"

#include <fmt/format.h>

namespace scopevm::tool {

namespace fs = std::filesystem;

std::vector<fs::path> library_folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path prefix = program.parent_path();
  std::vector<fs::path> folders = {program, prefix / "lib", prefix / "lib64"};
  // CMake's name of the multiarch folder, "x86_64-linux-gnu"; empty on systems without one.
  if constexpr (sizeof(SCOPEVM_LIBRARY_ARCHITECTURE) > 1)
    folders.push_back(prefix / "lib" / SCOPEVM_LIBRARY_ARCHITECTURE);
  return folders;
}

Result<std::string> find_own_library(const std::string& name) {
  std::string searched;
  for (const fs::path& folder : library_folders()) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return (folder / name).string();
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  return Status(StatusCode::kNotFound, fmt::format("{} not found in {}", name, searched));
}

}  // namespace scopevm::tool
