// Checks requests and words their errors; see request_check.h.
#include "vm/run/bound/request_check.h"

#include <algorithm>
#include <vector>

#include "runtime/name_text.h"
#include "runtime/nearest_name.h"

namespace scopevm::vm {
namespace {

// Replaces every occurrence of a placeholder, such as "{0}", by the value of the slot.
void replace_all(std::string& text, std::string_view mark, const int64_t* slots, uint32_t slot) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), std::to_string(slots[slot]));
}

}  // namespace

Status check_dimension(const DimensionSignature& dimension, int64_t value,
                       const std::string& where) {
  std::string need;
  if (value < dimension.min)
    need = "at least " + std::to_string(dimension.min);
  else if (value > dimension.max)
    need = "at most " + std::to_string(dimension.max);
  else if (dimension.multiple_of > 1 && value % dimension.multiple_of != 0)
    need = "a multiple of " + std::to_string(dimension.multiple_of);
  else
    return {};
  const bool is_default = value == 0 && dimension.min == 1;
  const std::string hint =
      is_default ? "; compile with --dim '" + runtime::name_text(dimension.name) + ">=0'" : "";
  return {StatusCode::kInvalidArgument,
          where + " is " + std::to_string(value) + "; dimension " +
              runtime::name_text(dimension.name) + " must be " + need + hint,
          {.subject = dimension.name, .expected = need, .given = std::to_string(value)}};
}

Status check_names(const Signature& signature, const std::map<std::string, int64_t>& dims) {
  std::vector<std::string> known;
  for (const DimensionSignature& dimension : signature.dimensions) known.push_back(dimension.name);
  for (const auto& [name, value] : dims)
    if (std::ranges::find(known, name) == known.end())
      return {
          StatusCode::kInvalidArgument,
          "the module has no dimension \"" + name + "\"" + runtime::name_suggestion(name, known),
          {name, -1, {}, {}}};
  return {};
}

Status check_request(const Signature& signature, const std::map<std::string, int64_t>& dims,
                     int threads) {
  if (threads < 1)
    return {StatusCode::kInvalidArgument,
            "threads is " + std::to_string(threads) + ", expected at least 1"};
  SCOPEVM_RETURN_IF_ERROR(check_names(signature, dims));
  for (const DimensionSignature& dimension : signature.dimensions)
    if (const auto given = dims.find(dimension.name); given != dims.end())
      SCOPEVM_RETURN_IF_ERROR(
          check_dimension(dimension, given->second, "dimension " + dimension.name));
  return {};
}

Status check_failure(const format::ShapeFunctionDecl& function, int64_t check,
                     const int64_t* slots) {
  if (check >= static_cast<int64_t>(function.checks.size()))
    return {StatusCode::kInvalidModel, "shape function \"" + function.symbol + "\": failed check " +
                                           std::to_string(check) + " is out of range [0, " +
                                           std::to_string(function.checks.size()) + ")"};
  const format::CheckDecl& decl = function.checks[static_cast<size_t>(check)];
  std::string text = decl.message;
  replace_all(text, "{0}", slots, decl.lhs_slot);
  replace_all(text, "{1}", slots, decl.rhs_slot);
  for (size_t i = 0; i < decl.more_slots.size(); ++i)
    replace_all(text, "{" + std::to_string(i + 2) + "}", slots, decl.more_slots[i]);
  return {StatusCode::kInvalidArgument, std::move(text)};
}

}  // namespace scopevm::vm
