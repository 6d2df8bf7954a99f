// The conversion of exceptions to statuses.
#include "scopevm/status.h"

#include <exception>
#include <new>
#include <string>

#include "runtime/without_exceptions.h"

namespace scopevm::runtime {
namespace {

// REQUIRES: called in a catch block.
Status describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const StatusError& error) {
    return error.status;
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

}  // namespace scopevm::runtime
