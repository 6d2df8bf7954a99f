// Statuses of the C APIs of libscopevm and libscopevm_compiler, and checks of arguments and
// structs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/without_exceptions.h"
#include "scopevm/c/status.h"
#include "scopevm/status.h"

struct scopevm_status {
  scopevm::Status status;
  // The status that to_c() returns if it cannot allocate one. It is never released. Each library
  // has one, and a program can release it with the function of the other library.
  bool is_shared = false;
};

namespace scopevm {

scopevm_status* to_c(Status status) noexcept;

// The size of a struct up to and including a member: what a caller of the first version has.
#define SCOPEVM_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(decltype(type::member)))

// Checks the size of a struct that the caller filled in or that the library fills in, which is the
// value of the member `member`. `first_size`: its size in the first version of the API. Errors:
// kInvalidArgument.
inline Status check_size(size_t size, size_t first_size, std::string_view member) {
  if (size >= first_size) return {};
  return {StatusCode::kInvalidArgument, std::string(member) + " is " + std::to_string(size) +
                                            ", expected at least " + std::to_string(first_size)};
}

// Reads a struct of `size` bytes that the caller filled in, of an older or newer version. Members
// that the caller's version lacks are 0. `member` has the size, and messages call the struct
// `name`. Errors: kInvalidArgument (the struct is smaller than the first version), kUnsupported (it
// sets a member that this version lacks).
template <typename T>
Result<T> read_struct(const void* given, size_t size, size_t first_size, std::string_view member,
                      std::string_view name) {
  SCOPEVM_RETURN_IF_ERROR(check_size(size, first_size, member));
  const auto* bytes = static_cast<const unsigned char*>(given);
  if (size > sizeof(T) &&
      std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; }))
    return Status(StatusCode::kUnsupported,
                  std::string(name) + " sets members that this version of scopevm lacks");
  T out{};
  std::memcpy(&out, given, std::min(size, sizeof out));
  return out;
}

// Like read_struct(), for a struct with a member struct_size. NULL: all members are 0.
template <typename T>
Result<T> read_options(const T* given, size_t first_size, std::string_view name) {
  if (given == nullptr) return T{};
  return read_struct<T>(given, given->struct_size, first_size,
                        "struct_size of " + std::string(name), name);
}

// Sets the members of *out that the caller's version has, except struct_size.
template <typename T>
void fill_struct(T value, T* out) {
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min(out->struct_size, sizeof value));
}

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

// Reads an array of structs, whose elements have `size` bytes: the value of the member `member`.
// `name` is the plural of what the array contains. Errors: those of read_struct() and
// check_array().
template <typename T>
Result<std::vector<T>> read_array(const T* given, size_t count, size_t size, size_t first_size,
                                  std::string_view member, std::string_view name) {
  std::vector<T> out;
  const std::string array = "the array of " + std::string(name);
  SCOPEVM_RETURN_IF_ERROR(check_array(given, count, array));
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(
        T element, read_struct<T>(reinterpret_cast<const char*>(given) + i * size, size, first_size,
                                  member, array));
    out.push_back(element);
  }
  return out;
}

// Like checked(), after the check of the arguments, which `body` uses.
template <typename Body>
scopevm_status* checked(std::initializer_list<Argument> arguments, Body&& body) noexcept {
  bool is_any_null = false;
  for (const Argument& argument : arguments) is_any_null |= argument.is_null;
  return checked([&]() -> Status { return is_any_null ? check_not_null(arguments) : body(); });
}

// A string argument. Errors: kInvalidArgument (it is NULL).
inline Result<std::string_view> to_text(const char* given, std::string_view argument) {
  if (given != nullptr) return std::string_view(given);
  return Status(StatusCode::kInvalidArgument,
                std::string(argument) + " is NULL, expected a string");
}

// The text of a view of a whole std::string, which is NUL-terminated.
inline const char* to_c(std::string_view whole) { return whole.data(); }

// The element of a list. Errors: kNotFound; `what` is the singular of what the list contains.
template <typename List>
auto element_at(const List& list, size_t index, std::string_view what)
    -> Result<decltype(&list[0])> {
  if (index < list.size()) return &list[index];
  return Status(StatusCode::kNotFound, "no " + std::string(what) + " " + std::to_string(index) +
                                           ": there are " + std::to_string(list.size()));
}

}  // namespace scopevm
