// CBOR encoding of the structs of scopevm/compiler.h, the arguments and results of the functions of
// scopevm/compiler_table.h. A struct is an array of its members in order, so that a new member
// needs no change here. The compiler library and the `scopevm` command include this header; it does
// not depend on LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::compiler {

// Converts to the type of any member, for member_count().
struct AnyMember {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

// The members of an aggregate.
template <typename T, typename... Members>
consteval size_t member_count() {
  if constexpr (requires { T{Members{}..., AnyMember{}}; })
    return member_count<T, Members..., AnyMember>();
  else
    return sizeof...(Members);
}

// References to the members of an aggregate.
template <typename T>
auto members_of(T& value) {
  constexpr size_t kCount = member_count<std::remove_const_t<T>>();
  static_assert(kCount >= 1 && kCount <= 24, "add a line below");
#define SCOPEVM_MEMBERS(count, ...) \
  if constexpr (kCount == count) {  \
    auto& [__VA_ARGS__] = value;    \
    return std::tie(__VA_ARGS__);   \
  }
  SCOPEVM_MEMBERS(1, m1)
  SCOPEVM_MEMBERS(2, m1, m2)
  SCOPEVM_MEMBERS(3, m1, m2, m3)
  SCOPEVM_MEMBERS(4, m1, m2, m3, m4)
  SCOPEVM_MEMBERS(5, m1, m2, m3, m4, m5)
  SCOPEVM_MEMBERS(6, m1, m2, m3, m4, m5, m6)
  SCOPEVM_MEMBERS(7, m1, m2, m3, m4, m5, m6, m7)
  SCOPEVM_MEMBERS(8, m1, m2, m3, m4, m5, m6, m7, m8)
  SCOPEVM_MEMBERS(9, m1, m2, m3, m4, m5, m6, m7, m8, m9)
  SCOPEVM_MEMBERS(10, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10)
  SCOPEVM_MEMBERS(11, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11)
  SCOPEVM_MEMBERS(12, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12)
  SCOPEVM_MEMBERS(13, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13)
  SCOPEVM_MEMBERS(14, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14)
  SCOPEVM_MEMBERS(15, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
  SCOPEVM_MEMBERS(16, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16)
  SCOPEVM_MEMBERS(17, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17)
  SCOPEVM_MEMBERS(18, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18)
  SCOPEVM_MEMBERS(19, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19)
  SCOPEVM_MEMBERS(20, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19, m20)
  SCOPEVM_MEMBERS(21, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19, m20, m21)
  SCOPEVM_MEMBERS(22, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19, m20, m21, m22)
  SCOPEVM_MEMBERS(23, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19, m20, m21, m22, m23)
  SCOPEVM_MEMBERS(24, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17,
                  m18, m19, m20, m21, m22, m23, m24)
#undef SCOPEVM_MEMBERS
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsMap = false;
template <typename T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
// Callbacks and external libraries, which cross the boundary as C pointers.
template <typename T>
inline constexpr bool kIsOmitted = std::is_pointer_v<T>;
template <typename T>
inline constexpr bool kIsOmitted<std::function<T>> = true;

template <typename T>
nlohmann::json to_message(const T& value) {
  if constexpr (kIsOmitted<T>) {
    return {};
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (kIsOptional<T>) {
    return value ? to_message(*value) : nlohmann::json();
  } else if constexpr (kIsVector<T>) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& element : value) out.push_back(to_message(element));
    return out;
  } else if constexpr (kIsMap<T>) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [key, element] : value) out[key] = to_message(element);
    return out;
  } else {
    nlohmann::json out = nlohmann::json::array();
    std::apply([&](const auto&... member) { (out.push_back(to_message(member)), ...); },
               members_of(value));
    return out;
  }
}

template <typename T>
void from_message(const nlohmann::json& in, T& value) {
  if constexpr (kIsOmitted<T>) {
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(in.get<std::underlying_type_t<T>>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    in.get_to(value);
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!in.is_null()) from_message(in, value.emplace());
  } else if constexpr (kIsVector<T>) {
    value.clear();
    if constexpr (!kIsOmitted<typename T::value_type>)
      for (const nlohmann::json& element : in) from_message(element, value.emplace_back());
  } else if constexpr (kIsMap<T>) {
    value.clear();
    for (const auto& [key, element] : in.items()) from_message(element, value[key]);
  } else {
    size_t next = 0;
    std::apply([&](auto&... member) { (from_message(in.at(next++), member), ...); },
               members_of(value));
    if (next != in.size()) throw nlohmann::json::out_of_range::create(401, "unknown members", &in);
  }
}

template <typename T>
std::vector<uint8_t> encode(const T& value) {
  return nlohmann::json::to_cbor(to_message(value));
}

// Errors: kInternal (the bytes are not a message of this type).
template <typename T>
Result<T> decode(std::span<const uint8_t> bytes) {
  try {
    T value;
    from_message(nlohmann::json::from_cbor(bytes.begin(), bytes.end()), value);
    return value;
  } catch (const nlohmann::json::exception& error) {
    return Status(StatusCode::kInternal,
                  std::string("malformed compiler message: ") + error.what());
  }
}

}  // namespace scopevm::compiler
