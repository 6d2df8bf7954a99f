// See shared_transport.h.
#include "vm/run/ranks/shared_transport.h"

#include <exception>

namespace scopevm::vm {

void SharedTransport::record_failure() noexcept {
  try {
    if (failure_.empty()) failure_ = c_.error(c_.context);
    // NOLINTNEXTLINE(bugprone-empty-catch): the failure is then one without a message
  } catch (const std::exception&) {
  }
}

void* SharedTransport::send(int to, int tag, const void* data, int64_t bytes) {
  std::lock_guard lock(mutex_);
  void* const operation = c_.send(c_.context, to, tag, data, bytes);
  if (operation == nullptr) record_failure();
  return operation;
}

void* SharedTransport::receive(int from, int tag, void* data, int64_t bytes) {
  std::lock_guard lock(mutex_);
  void* const operation = c_.receive(c_.context, from, tag, data, bytes);
  if (operation == nullptr) record_failure();
  return operation;
}

int SharedTransport::test(void* operation) {
  std::lock_guard lock(mutex_);
  const int state = c_.test(c_.context, operation);
  if (state == SCOPEVM_TRANSPORT_FAILED) record_failure();
  return state;
}

void SharedTransport::cancel(void* operation) {
  std::lock_guard lock(mutex_);
  c_.cancel(c_.context, operation);
}

int64_t SharedTransport::probe(int from, int tag) {
  std::lock_guard lock(mutex_);
  const int64_t bytes = c_.probe(c_.context, from, tag);
  if (bytes < -1) record_failure();
  return bytes;
}

std::string SharedTransport::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace scopevm::vm
