// The boundary of the API: exceptions of the implementation become statuses. The implementation
// itself throws nothing. Exceptions come from the standard library, above all std::bad_alloc, and
// from an embedder's callbacks.
#pragma once

#include "scopevm/status.h"

namespace scopevm::runtime {

// The failure of an embedder's callback that has no result to report it. It is thrown by the code
// that calls the callback, because the functions in between return no status.
struct StatusError {
  Status status;
};

// The status of the exception being handled: that of a StatusError, kOutOfMemory for
// std::bad_alloc, else kInternal with the exception's message. REQUIRES: called in a catch block.
Status status_of_exception() noexcept;

// Calls `body`, which returns a Status or a Result, and returns its result or the status of the
// exception that it threw.
template <typename Body>
auto without_exceptions(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace scopevm::runtime
