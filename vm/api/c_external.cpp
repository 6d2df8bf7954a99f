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

// Finds the entry of a plug-in.
template <typename Entry>
Result<Entry> load_entry(const std::string& file, const char* symbol) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::DriverLibrary plug_in,
                           runtime::DriverLibrary::load(file.c_str()));
  Entry entry = nullptr;
  SCOPEVM_RETURN_IF_ERROR(plug_in.find(symbol, entry));
  return entry;
}

Status unsupported(const std::string& file, int version) {
  return {StatusCode::kUnsupported,
          file + " does not support ABI version " + std::to_string(version)};
}

Result<const scopevm_external_library*> open_library(const std::string& file) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto entry,
                           load_entry<scopevm_external_entry>(file, SCOPEVM_EXTERNAL_ENTRY));
  if (const scopevm_external_library* library = entry(SCOPEVM_EXTERNAL_ABI_VERSION)) return library;
  return unsupported(file, SCOPEVM_EXTERNAL_ABI_VERSION);
}

Result<const scopevm_transport*> open_transport(const std::string& file) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto entry,
                           load_entry<scopevm_transport_open>(file, SCOPEVM_TRANSPORT_ENTRY));
  char message[512] = "";
  if (const scopevm_transport* transport =
          entry(SCOPEVM_TRANSPORT_ABI_VERSION, message, sizeof message))
    return transport;
  message[sizeof message - 1] = '\0';
  return message[0] == '\0' ? unsupported(file, SCOPEVM_TRANSPORT_ABI_VERSION)
                            : Status(StatusCode::kDevice, message);
}

// Loads what `open` opens, whose kind is `what`, by name or path.
template <typename Open, typename T>
scopevm_status* load(const char* name, const T** out, const char* what, Open open) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, to_text(name, "name"));
    const std::string given(text);
    Result<const T*> opened = open(file_of(given));
    if (!opened.ok())
      return std::move(opened).status().with_context(std::string(what) + " \"" + given + "\"");
    *out = *opened;
    return {};
  });
}

}  // namespace

}  // namespace scopevm

scopevm_status* scopevm_external_library_load(const char* name,
                                              const scopevm_external_library** out) {
  return scopevm::load(name, out, "external library", scopevm::open_library);
}

scopevm_status* scopevm_transport_load(const char* name, const scopevm_transport** out) {
  return scopevm::load(name, out, "transport", scopevm::open_transport);
}
