// Member: one value of a JSON text, and the way to it, so that a message can name it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::compiler {

// Refers to the JSON value, which outlives it. Errors: kInvalidModel, with the way:
// `machine.json: pools[2].limit: expected a string, found 3`.
class Member {
 public:
  // The root's way is the text's name and a colon.
  Member(const nlohmann::json& value, std::string path) : value_(value), path_(std::move(path)) {}

  Status fail(const std::string& what) const;
  // An object with no other members than these.
  Status check_object(std::span<const std::string_view> members) const;
  // Empty when the object lacks it.
  std::optional<Member> find(const std::string& name) const;
  Result<std::vector<Member>> elements() const;
  Result<std::string> text() const;
  Result<int64_t> whole_number(int64_t least) const;
  // Subnormal numbers are 0.
  Result<double> number(double least, double most) const;

 private:
  bool is_root() const { return path_.ends_with(":"); }
  std::string path_of(const std::string& name) const;
  std::string found() const;

  const nlohmann::json& value_;
  std::string path_;
};

}  // namespace scopevm::compiler
