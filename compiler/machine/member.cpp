// Typed access to JSON values, with errors that name the path; see member.h.
#include "compiler/machine/member.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace scopevm::compiler {
namespace {

using nlohmann::json;

std::string list(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

Status Member::fail(const std::string& what) const {
  return {StatusCode::kInvalidModel, path_ + (is_root() ? " " : ": ") + what};
}

Status Member::check_object(std::span<const std::string_view> members) const {
  if (!value_.is_object()) return fail("expected an object, found " + found());
  for (const auto& [name, value] : value_.items())
    if (std::ranges::find(members, name) == members.end())
      return Member(value, path_of(name)).fail("unknown member; expected one of " + list(members));
  return {};
}

std::optional<Member> Member::find(const std::string& name) const {
  auto member = value_.find(name);
  if (member == value_.end()) return std::nullopt;
  return Member(*member, path_of(name));
}

Result<std::vector<Member>> Member::elements() const {
  if (!value_.is_array()) return fail("expected an array, found " + found());
  std::vector<Member> all;
  for (size_t i = 0; i < value_.size(); ++i)
    all.emplace_back(value_[i], path_ + "[" + std::to_string(i) + "]");
  return all;
}

Result<std::string> Member::text() const {
  if (!value_.is_string()) return fail("expected a string, found " + found());
  return value_.get<std::string>();
}

Result<int64_t> Member::whole_number(int64_t least, int64_t most) const {
  const bool is_too_large = value_.is_number_unsigned()
                                ? value_.get<uint64_t>() > static_cast<uint64_t>(most)
                                : value_.is_number_integer() && value_.get<int64_t>() > most;
  if (is_too_large)
    return fail("expected an integer of at most " + std::to_string(most) + ", found " + found());
  if (!value_.is_number_integer() || value_.get<int64_t>() < least)
    return fail("expected an integer of at least " + std::to_string(least) + ", found " + found());
  return value_.get<int64_t>();
}

Result<double> Member::number(double least, double most) const {
  const double read = value_.is_number() ? value_.get<double>() : std::nan("");
  // NaN, for a value that is not a number, fails both comparisons.
  if (!(read >= least && read <= most))
    return fail("expected a number from " + json(least).dump() + " to " + json(most).dump() +
                ", found " + found());
  return std::fpclassify(read) == FP_SUBNORMAL ? 0 : read;
}

std::string Member::path_of(const std::string& name) const {
  return path_ + (is_root() ? " " : ".") + name;
}

std::string Member::found() const {
  constexpr size_t kLongest = 40;
  // A message must be valid UTF-8, even if the description is not.
  std::string text = value_.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : value_.type_name();
}

}  // namespace scopevm::compiler
