// Finds and loads plug-ins with dlopen (scopevm/c/session.h).
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "runtime/c_api/c_arguments.h"
#include "runtime/device/driver_library.h"
#include "scopevm/scopevm.h"

namespace scopevm {
namespace {

namespace fs = std::filesystem;

// The folder of the shared object, or of the program, that contains this function.
fs::path own_folder() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &found) == 0) return {};
  return fs::path(found.dli_fname).parent_path();
}

// The argument of dlopen(): a path, or a file name without a folder, which the loader searches.
std::string file_of(const std::string& name) {
  const fs::path path = name;
  if (name.find_first_of("/.") != std::string::npos)
    return path.has_parent_path() ? name : "./" + name;
  const std::string file = "libscopevm_" + name + ".so";
  const fs::path sibling = own_folder() / file;
  std::error_code error;
  return fs::exists(sibling, error) ? sibling.string() : file;
}

Result<const scopevm_external_library*> open(const std::string& file) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::DriverLibrary plug_in,
                           runtime::DriverLibrary::load(file.c_str()));
  const scopevm_external_library* (*entry)(int) = nullptr;
  SCOPEVM_RETURN_IF_ERROR(plug_in.find(SCOPEVM_EXTERNAL_ENTRY, entry));
  if (const scopevm_external_library* library = entry(SCOPEVM_EXTERNAL_ABI_VERSION)) return library;
  return Status(StatusCode::kUnsupported, file + " does not support ABI version " +
                                              std::to_string(SCOPEVM_EXTERNAL_ABI_VERSION));
}

}  // namespace

}  // namespace scopevm

scopevm_status* scopevm_external_library_load(const char* name,
                                              const scopevm_external_library** out) {
  using scopevm::Status;
  return scopevm::checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    const std::string given(text);
    scopevm::Result<const scopevm_external_library*> library =
        scopevm::open(scopevm::file_of(given));
    if (!library.ok())
      return std::move(library).status().with_context("external library \"" + given + "\"");
    *out = *library;
    return {};
  });
}
