// The function that the plug-in exports.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "plugins/mpi/transport.h"

namespace scopevm::mpi {
namespace {

// MPI can be initialised once in a process, so there is one transport. It is not destroyed:
// sessions of other static objects can still use it.
MpiTransport* opened = nullptr;

// Every rank must call MPI_Finalize. Its calls wait for each other.
void finalise() {
  int is_finalised = 0;
  if (MPI_Finalized(&is_finalised) == MPI_SUCCESS && is_finalised == 0 && opened->error().empty())
    MPI_Finalize();
}

const scopevm_transport* open(char* message, size_t message_size) {
  if (opened != nullptr) return opened->c();
  auto transport = std::make_unique<MpiTransport>();
  if (!transport->open()) {
    std::snprintf(message, message_size, "%s", transport->error().c_str());
    return nullptr;
  }
  opened = transport.release();
  std::atexit(finalise);
  return opened->c();
}

}  // namespace
}  // namespace scopevm::mpi

extern "C" __attribute__((visibility("default"))) const scopevm_transport* scopevm_transport_entry(
    int abi_version, char* message, size_t message_size) {
  if (abi_version != SCOPEVM_TRANSPORT_ABI_VERSION) return nullptr;
  try {
    return scopevm::mpi::open(message, message_size);
  } catch (const std::exception& error) {
    std::snprintf(message, message_size, "%s", error.what());
    return nullptr;
  }
}
