// Member: a value of a JSON document with its path, so that messages can name it.
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

// Borrows the JSON value, which must outlive it. Errors: kInvalidModel, with the path:
// `machine.json: pools[2].limit_bytes: expected an integer of at least 0, found "a"`.
class Member {
 public:
  // The path of the root is the name of the document and a colon.
  Member(const nlohmann::json& value, std::string path) : value_(value), path_(std::move(path)) {}

  Status fail(const std::string& what) const;
  // Errors: the value is not an object, or has a member that is not in `members`.
  Status check_object(std::span<const std::string_view> members) const;
  // Empty if the object has no such member.
  std::optional<Member> find(const std::string& name) const;
  Result<std::vector<Member>> elements() const;
  Result<std::string> text() const;
  // An integer of at least `least`.
  Result<int64_t> whole_number(int64_t least, int64_t most = INT64_MAX) const;
  // A number in [least, most]. Subnormal numbers are read as 0.
  Result<double> number(double least, double most) const;

 private:
  bool is_root() const { return path_.ends_with(":"); }
  std::string path_of(const std::string& name) const;
  std::string found() const;

  const nlohmann::json& value_;
  std::string path_;
};

}  // namespace scopevm::compiler
