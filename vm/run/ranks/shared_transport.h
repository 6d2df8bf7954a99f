// The transport of a session, which several requests use at the same time.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "scopevm/c/transport.h"

namespace scopevm::vm {

// Functions of scopevm_transport. Thread-safe.
class SharedTransport {
 public:
  // `c` must outlive this object.
  explicit SharedTransport(const scopevm_transport& c) : c_(c) {}
  SharedTransport(const SharedTransport&) = delete;
  SharedTransport& operator=(const SharedTransport&) = delete;

  const scopevm_transport& c() const { return c_; }
  void* send(int to, int tag, const void* data, int64_t bytes);
  void* receive(int from, int tag, void* data, int64_t bytes);
  int test(void* operation);
  void cancel(void* operation);
  int64_t probe(int from, int tag);
  // The message of the first failure.
  std::string failure() const;

 private:
  // Keeps the message of a failure. REQUIRES: mutex_ is locked.
  void record_failure() noexcept;

  const scopevm_transport& c_;
  mutable std::mutex mutex_;
  std::string failure_;
};

}  // namespace scopevm::vm
