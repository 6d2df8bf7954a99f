// A driver's shared library, loaded with dlopen: scopevm does not link against drivers.
#pragma once

#include "scopevm/status.h"

namespace scopevm::runtime {

class DriverLibrary {
 public:
  // Loads the library. It is never unloaded, because drivers run their own threads. Errors:
  // kNotFound, with the reason. The reason names the file, or the dependency that is missing.
  // REQUIRES: `file` outlives this object.
  static Result<DriverLibrary> load(const char* file);

  // Sets `function` to the library's function `name`. Errors: kNotFound.
  template <typename Function>
  Status find(const char* name, Function*& function) const {
    SCOPEVM_ASSIGN_OR_RETURN(void* const found, find_symbol(name));
    function = reinterpret_cast<Function*>(found);
    return {};
  }

 private:
  DriverLibrary(const char* file, void* handle) : file_(file), handle_(handle) {}
  Result<void*> find_symbol(const char* name) const;

  const char* file_;
  void* handle_;
};

}  // namespace scopevm::runtime
