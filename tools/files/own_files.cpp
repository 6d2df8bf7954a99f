// Searches the folders of this program; see own_files.h.
#include "tools/files/own_files.h"

#include <fmt/format.h>

namespace scopevm::tool {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// The installation prefix: programs are in PREFIX/bin or PREFIX/libexec/scopevm.
fs::path prefix() {
  fs::path folder = program_folder();
  const fs::path libexec = SCOPEVM_LIBEXEC_FOLDER;
  if (!folder.string().ends_with("/" + libexec.string())) return folder.parent_path();
  for (auto part = libexec.begin(); part != libexec.end(); ++part) folder = folder.parent_path();
  return folder;
}

Result<std::string> find_in(const std::vector<fs::path>& folders, const std::string& name) {
  std::string searched;
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return (folder / name).string();
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  return Status(StatusCode::kNotFound, fmt::format("{} not found in {}", name, searched));
}

}  // namespace

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders = {program_folder(), prefix() / "lib", prefix() / "lib64"};
  // CMake's name of the multiarch folder, "x86_64-linux-gnu"; empty on systems without one.
  if constexpr (sizeof(SCOPEVM_LIBRARY_ARCHITECTURE) > 1)
    folders.push_back(prefix() / "lib" / SCOPEVM_LIBRARY_ARCHITECTURE);
  return folders;
}

Result<std::string> find_own_library(const std::string& name) {
  return find_in(library_folders(), name);
}

Result<std::string> find_own_program(const std::string& name) {
  return find_in({program_folder(), prefix() / SCOPEVM_LIBEXEC_FOLDER}, name);
}

}  // namespace scopevm::tool
