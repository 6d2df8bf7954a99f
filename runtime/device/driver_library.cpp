// dlopen and dlsym for driver libraries.
#include "runtime/device/driver_library.h"

#include <dlfcn.h>

#include <string>

namespace scopevm::runtime {

Result<DriverLibrary> DriverLibrary::load(const char* file) {
  if (void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return DriverLibrary(file, handle);
  const char* reason = dlerror();  // starts with the file's name
  return Status(StatusCode::kNotFound,
                reason ? reason : std::string(file) + ": cannot load the library");
}

Result<void*> DriverLibrary::find_symbol(const char* name) const {
  if (void* found = dlsym(handle_, name)) return found;
  return Status(StatusCode::kNotFound, std::string(file_) + " does not define " + name);
}

}  // namespace scopevm::runtime
