// Owners whose objects an exception leaks.
#pragma once

#include <exception>
#include <memory>
#include <utility>

namespace scopevm::compiler {

// Owns a T, and destroys it unless an exception unwinds the stack. For objects of LLVM and MLIR,
// which are compiled without exceptions: std::bad_alloc passes through their frames by means of the
// unwind tables, but runs no destructor in them. Their objects can then be inconsistent or refer to
// frames that no longer exist, so that a destructor could crash.
template <typename T>
class LeakedOnException {
 public:
  template <typename... Arguments>
  explicit LeakedOnException(Arguments&&... arguments)
      : object_(new T(std::forward<Arguments>(arguments)...)) {}
  ~LeakedOnException() {
    if (std::uncaught_exceptions() == exceptions_) delete object_;
  }
  LeakedOnException(const LeakedOnException&) = delete;
  LeakedOnException& operator=(const LeakedOnException&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  const int exceptions_ = std::uncaught_exceptions();
  T* const object_;
};

struct DeleteUnlessUnwinding {
  template <typename T>
  void operator()(T* object) const {
    if (std::uncaught_exceptions() == 0) delete object;
  }
};

// Like LeakedOnException, but can be moved.
template <typename T>
using LeakablePtr = std::unique_ptr<T, DeleteUnlessUnwinding>;

template <typename T, typename... Arguments>
LeakablePtr<T> make_leakable(Arguments&&... arguments) {
  return LeakablePtr<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace scopevm::compiler
