/// @file
/// ExternalLibrary: an external library (scopevm/external.h) in a shared object.
///
///     auto library = ExternalLibrary::load("dnnl");
///     auto session = Session::create(module, {.external_libraries = {library->get()}});
#pragma once

#include <string>

#include "scopevm/export.h"
#include "scopevm/external.h"
#include "scopevm/status.h"

namespace scopevm {

/// A loaded plug-in. It is never unloaded, because libraries can run their own threads. Copies
/// refer to the same plug-in. Thread-safety: a value type.
class SCOPEVM_API ExternalLibrary {
 public:
  /// Loads a plug-in. A name without `/` and `.`, such as "dnnl", denotes libscopevm_NAME.so: in
  /// the folder of libscopevm.so, else where the dynamic loader finds it. Any other name is the
  /// path of a file. Errors: kNotFound (no such file, or it lacks a dependency or
  /// SCOPEVM_EXTERNAL_ENTRY), kUnsupported (the plug-in does not support
  /// SCOPEVM_EXTERNAL_ABI_VERSION), kOutOfMemory.
  static Result<ExternalLibrary> load(const std::string& name);

  /// The library. Valid until the process ends.
  const scopevm_external_library* get() const { return library_; }

 private:
  explicit ExternalLibrary(const scopevm_external_library* library) : library_(library) {}
  const scopevm_external_library* library_;
};

}  // namespace scopevm
