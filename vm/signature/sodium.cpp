// Loads libsodium; see sodium.h.
#include "vm/signature/sodium.h"

#include "runtime/device/driver_library.h"

namespace scopevm::signature {
namespace {

Result<Sodium> load_sodium() {
  // Of libsodium 1.0.19 and later, and of 1.0.4 to 1.0.18. The functions are the same.
  Result<runtime::DriverLibrary> library = runtime::DriverLibrary::load("libsodium.so.26");
  if (!library.ok()) library = runtime::DriverLibrary::load("libsodium.so.23");
  if (!library.ok())
    return std::move(library).status().with_context(
        "signatures and files of weights need libsodium");
  Sodium found;
#define SCOPEVM_SODIUM_FIND(name) SCOPEVM_RETURN_IF_ERROR(library->find(#name, found.name));
  SCOPEVM_SODIUM_FUNCTIONS(SCOPEVM_SODIUM_FIND)
#undef SCOPEVM_SODIUM_FIND
  if (found.sodium_init() < 0) return Status(StatusCode::kInternal, "libsodium: cannot initialise");
  return found;
}

}  // namespace

Result<const Sodium*> sodium() {
  // A failure is stored too, so that the library is searched once per process.
  static const Result<Sodium> loaded = load_sodium();
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace scopevm::signature
