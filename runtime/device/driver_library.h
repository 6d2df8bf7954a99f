// A driver's library, loaded by name when the program runs: nothing here links a driver.
#pragma once

#include "scopevm/status.h"

namespace scopevm::runtime {

class DriverLibrary {
 public:
  // Stays loaded for as long as the process: drivers have threads of their own. Errors: kNotFound,
  // with the file's name and the reason.
  static Result<DriverLibrary> load(const char* file);

  // Sets a pointer to the library's function of this name. Errors: kNotFound.
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
