// The transport of a job of MPI: each message is a message of a communicator of its own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "plugins/mpi/peers.h"
#include "scopevm/c/transport.h"

namespace scopevm::mpi {

class MpiTransport {
 public:
  MpiTransport() = default;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  // Initialises MPI, if the program has not, and connects to the other ranks. Returns false on
  // failure: see error().
  bool open();
  const scopevm_transport* c() const { return &c_; }
  const std::string& error() const { return error_; }

 private:
  static MpiTransport& of(void* context) { return *static_cast<MpiTransport*>(context); }
  // Whether MPI has succeeded, else sets the error.
  bool succeeds(int code, const char* function);
  // Sets the error if a rank has ended.
  bool has_ended();
  void* started(int code, const char* function, MPI_Request request);

  static void* send(void* context, int to, int tag, const void* data, int64_t bytes);
  static void* receive(void* context, int from, int tag, void* data, int64_t bytes);
  static int test(void* context, void* operation);
  static void cancel(void* context, void* operation);
  static int64_t probe(void* context, int from, int tag);

  MPI_Comm comm_ = MPI_COMM_NULL;
  Peers peers_;
  std::string error_;
  scopevm_transport c_ = {};
};

}  // namespace scopevm::mpi
