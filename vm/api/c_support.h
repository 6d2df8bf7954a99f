// What all functions of the C API use: handles, each of which owns a C++ object, statuses, and
// checks of arguments.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/without_exceptions.h"
#include "scopevm/allocator.h"
#include "scopevm/allocators.h"
#include "scopevm/module.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "scopevm/status.h"

struct scopevm_status {
  scopevm::Status status;
};
struct scopevm_module {
  scopevm::Module module;
};
struct scopevm_session {
  scopevm::Session session;
};
struct scopevm_call {
  scopevm::Call call;
};
struct scopevm_allocator {
  std::shared_ptr<scopevm::Allocator> allocator;
};

namespace scopevm {

scopevm_status* to_c(Status status) noexcept;

// The options of an allocator; NULL: the defaults. Errors: kInvalidArgument.
Result<AllocatorOptions> allocator_options(const scopevm_allocator_options* given);

// Calls `body`, which returns a Status. Converts this status, or the exception that `body` threw,
// to a status of the C API.
template <typename Body>
scopevm_status* checked(Body&& body) noexcept {
  return to_c(runtime::without_exceptions(std::forward<Body>(body)));
}

// A pointer argument of a function, and its name in messages.
struct Argument {
  template <typename T>
  Argument(const T* pointer, std::string_view name) : is_null(pointer == nullptr), name(name) {}
  bool is_null;
  std::string_view name;
};

// Errors: kInvalidArgument (an argument is NULL).
inline Status check_not_null(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments)
    if (argument.is_null)
      return {StatusCode::kInvalidArgument, std::string(argument.name) + " is NULL"};
  return {};
}

// An array argument can be NULL if it has no elements. Errors: kInvalidArgument.
template <typename T>
Status check_array(const T* array, size_t count, std::string_view name) {
  return count == 0 ? Status() : check_not_null({{array, name}});
}

// Like checked(), after the check of the arguments, which `body` uses.
template <typename Body>
scopevm_status* checked(std::initializer_list<Argument> arguments, Body&& body) noexcept {
  return checked([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_not_null(arguments));
    return body();
  });
}

// A string argument. Errors: kInvalidArgument (it is NULL).
inline Result<std::string_view> to_text(const char* given, std::string_view argument) {
  if (given != nullptr) return std::string_view(given);
  return Status(StatusCode::kInvalidArgument,
                std::string(argument) + " is NULL, expected a string");
}

}  // namespace scopevm
