// The parts of Status that must not fail when memory is exhausted, and the conversion of exceptions
// to statuses.
#include "scopevm/status.h"

#include <cstddef>
#include <exception>

#include "runtime/without_exceptions.h"

namespace scopevm {

Status Status::out_of_memory() noexcept {
  // Never destroyed: the first reference is never released. The message is short enough to be
  // stored inside the string object.
  alignas(Rep) static std::byte memory[sizeof(Rep)];
  static Rep* const rep = new (memory) Rep{1, StatusCode::kOutOfMemory, "out of memory", {}};
  rep->references.fetch_add(1, std::memory_order_relaxed);
  Status status;
  status.rep_ = rep;
  return status;
}

Status&& Status::with_context(std::string_view context) && noexcept {
  if (rep_ == nullptr) return std::move(*this);
  try {
    std::string message(context);
    message.append(": ").append(rep_->message);
    Status longer;
    longer.rep_ = new Rep{1, rep_->code, std::move(message), rep_->fields};
    *this = std::move(longer);
  } catch (const std::bad_alloc&) {
    return std::move(*this);  // keeps the shorter message
  }
  return std::move(*this);
}

namespace runtime {
namespace {

// REQUIRES: called in a catch block.
Status describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& error) {
    return {StatusCode::kInternal, std::string("unexpected exception: ") + error.what()};
  } catch (...) {
    return {StatusCode::kInternal, "unexpected exception"};
  }
}

}  // namespace

Status status_of_exception() noexcept {
  try {
    return describe_exception();
  } catch (...) {  // the description cannot be allocated
    return Status::out_of_memory();
  }
}

}  // namespace runtime
}  // namespace scopevm
